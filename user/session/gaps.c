// SPDX-License-Identifier: GPL-2.0
/*
 * Slices where events are missing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bpf/abi/ctl.h"
#include "model/track_ids.h"
#include "fxt/fxt.h"
#include "base/clock.h"
#include "base/num.h"
#include "capture/sources.h"
#include "gaps.h"
#include "capture/tracks.h"
#include "session_p.h"

/* What of a CPU is in slices already. */
struct drawn {
	uint64_t calls, logs, events, overwritten;
	uint64_t looked_ns;
};

struct gaps {
	struct fxt_writer *w;
	struct tracks *tracks;
	uint64_t look_ns, before_ns;	/* this look at the rings began then, the one before then */
	unsigned int cpus_cnt;
	struct drawn drawn[];
};

int gaps_open(struct gaps **out, struct fxt_writer *w, struct tracks *tracks, unsigned int cpus_cnt)
{
	struct gaps *g = calloc(1, sizeof(*g) + cpus_cnt * sizeof(g->drawn[0]));

	if (!g)
		return -ENOMEM;
	g->w = w;
	g->tracks = tracks;
	g->cpus_cnt = cpus_cnt;
	*out = g;
	return 0;
}

void gaps_begin(struct gaps *g, uint64_t start_ns)
{
	unsigned int i;

	g->look_ns = start_ns;
	for (i = 0; i < g->cpus_cnt; i++)
		g->drawn[i].looked_ns = start_ns;
}

void gaps_look(struct gaps *g)
{
	g->before_ns = g->look_ns;
	g->look_ns = clock_ns(CLOCK_BOOTTIME);
}

/* "lost N events", or by the name @other. */
static int write_slice(struct gaps *g, enum pseudo kind, uint64_t from_ns, uint64_t to_ns, uint64_t lost,
		       const char *other, const struct fxt_arg *args)
{
	char text[40];
	struct fxt_thread track = { 0 };
	int err = tracks_get_cpu(g->tracks, g->w, kind, args[0].u32, &track);
	const int len = snprintf(text, sizeof(text), "lost %llu events", (unsigned long long)lost);
	const struct fxt_event event = {
		.type = FXT_DURATION_COMPLETE, .ts = from_ns, .id = to_ns,
		.thread = track, .category = fxt_str("kfxt"), .name = other ? fxt_str(other) : fxt_str_inline(text, len),
	};

	return err ?: fxt_write_event(g->w, &event, args, 4);
}

int gaps_write(struct gaps *g, unsigned int i, uint32_t cpu, const struct cpu_ctl *ctl, struct sources *s)
{
	const uint64_t calls = __atomic_load_n(&ctl->calls.lost, __ATOMIC_RELAXED) +
			       __atomic_load_n(&ctl->deep_calls, __ATOMIC_RELAXED) +
			       __atomic_load_n(&ctl->lost_returns, __ATOMIC_RELAXED);
	const uint64_t logs = __atomic_load_n(&ctl->logs.lost, __ATOMIC_RELAXED);
	const uint64_t events = __atomic_load_n(&ctl->raws.lost, __ATOMIC_RELAXED);
	const uint64_t overwritten = sources_overwritten(s, LEDGER_EVENTS, i);
	const uint64_t now = clock_ns(CLOCK_BOOTTIME);
	struct drawn *drawn = &g->drawn[i];
	const struct fxt_arg args[] = {
		fxt_arg_u32("cpu", cpu), fxt_arg_u64("calls", calls - drawn->calls),
		fxt_arg_u64("logs", logs - drawn->logs),
		fxt_arg_u64("events", events - drawn->events + overwritten - drawn->overwritten),
	};
	const uint64_t lost = args[1].u64 + args[2].u64 + args[3].u64;
	struct fxt_thread track;
	int err = 0;

	/* Its slices are written by the programs. */
	if (__atomic_load_n(&ctl->gaps, __ATOMIC_RELAXED))
		err = tracks_get_cpu(g->tracks, g->w, PSEUDO_LOST, cpu, &track);
	if (lost)
		err = err ?: write_slice(g, PSEUDO_LOST_EVENTS, drawn->looked_ns, now, lost, NULL, args);
	if (events != drawn->events)
		err = err ?: sources_gap(s, false, g->before_ns, now);
	if (overwritten != drawn->overwritten)
		err = err ?: sources_gap(s, true, g->before_ns, now);
	*drawn = (struct drawn){
		.calls = calls, .logs = logs, .events = events, .overwritten = overwritten, .looked_ns = now,
	};
	return err;
}

int gaps_write_open(struct gaps *g, uint32_t cpu, struct cpu_ctl *ctl, uint64_t stop_ns)
{
	const struct fxt_arg args[] = {
		fxt_arg_u32("cpu", cpu), fxt_arg_u64("switches", ctl->lost_switches - ctl->recorded_switches),
		fxt_arg_u64("wakeups", ctl->lost_wakeups - ctl->recorded_wakeups),
		fxt_arg_u64("unreported", (uint32_t)ctl->unreported_switches - ctl->reported_in_gaps),
	};
	const uint64_t lost = args[1].u64 + args[2].u64;

	if (!ctl->gap_ns)
		return 0;
	return write_slice(g, PSEUDO_LOST, ctl->gap_ns, stop_ns, lost,
			   lost || !args[3].u64 ? NULL : "not reported by the kernel", args);
}

int gaps_write_cut(struct gaps *g, uint32_t cpu, uint64_t from_ns, uint64_t stop_ns, uint64_t switches)
{
	const struct fxt_arg args[] = {
		fxt_arg_u32("cpu", cpu), fxt_arg_u64("switches", switches), fxt_arg_u64("wakeups", 0),
		fxt_arg_u64("unreported", 0),
	};

	return write_slice(g, PSEUDO_LOST, from_ns, stop_ns, switches, NULL, args);
}

uint64_t gaps_complete_until(const struct cpu_look *looks, const uint32_t *cpus, unsigned int cnt,
			     const struct num_cpus *online, uint64_t looked_ns)
{
	uint64_t until_ns = looked_ns;
	unsigned int i;

	for (i = 0; i < cnt; i++)
		if (looks[i].gap_ns && looks[i].gap_ns < until_ns && (!online || num_cpus_has(online, cpus[i])))
			until_ns = looks[i].gap_ns;
	return until_ns;
}

void gaps_close(struct gaps *g)
{
	free(g);
}
