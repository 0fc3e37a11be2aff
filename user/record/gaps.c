// SPDX-License-Identifier: GPL-2.0
/*
 * Slices where events are missing.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../bpf/session.h"
#include "../build/pseudo.h"
#include "../fxt/fxt.h"
#include "clock.h"
#include "events.h"
#include "gaps.h"

/* What of a CPU is in slices already. */
struct told {
	uint64_t calls, logs, events, overwritten;
	uint64_t looked_ns;
	bool gaps_named, events_named;
};

struct gaps {
	struct fxt_writer *w;
	bool process_named;
	uint64_t look_ns, before_ns;	/* this look at the rings began then, the one before then */
	unsigned int cpus_cnt;
	struct told told[];
};

int gaps_open(struct gaps **out, struct fxt_writer *w, unsigned int cpus_cnt)
{
	struct gaps *g = calloc(1, sizeof(*g) + cpus_cnt * sizeof(g->told[0]));

	if (!g)
		return -ENOMEM;
	g->w = w;
	g->cpus_cnt = cpus_cnt;
	*out = g;
	return 0;
}

void gaps_begin(struct gaps *g, uint64_t start_ns)
{
	unsigned int i;

	g->look_ns = start_ns;
	for (i = 0; i < g->cpus_cnt; i++)
		g->told[i].looked_ns = start_ns;
}

void gaps_look(struct gaps *g)
{
	g->before_ns = g->look_ns;
	g->look_ns = clock_ns(CLOCK_BOOTTIME);
}

/* Names a track, once. */
static int name_track(struct gaps *g, enum pseudo kind, uint32_t cpu, bool *named)
{
	const struct fxt_thread at = pseudo_thread(kind, cpu);
	const struct fxt_object process = {
		.id = at.process, .kind = FXT_KOBJ_PROCESS, .name = fxt_str(pseudo_process_name(at.process)),
	};
	struct fxt_object thread = { .id = at.thread, .kind = FXT_KOBJ_THREAD };
	const struct fxt_arg arg = fxt_arg_koid("process", at.process);
	char name[32];
	int err = 0;

	if (*named)
		return 0;
	pseudo_thread_name(kind, cpu, name, sizeof(name));
	thread.name = fxt_str(name);
	if (!g->process_named)
		err = fxt_write_kernel_object(g->w, &process, NULL, 0);
	g->process_named = *named = true;
	return err ?: fxt_write_kernel_object(g->w, &thread, &arg, 1);
}

/* "lost N events", or by the name @other. */
static int write_slice(struct gaps *g, enum pseudo kind, uint64_t from_ns, uint64_t to_ns, uint64_t lost,
		       const char *other, const struct fxt_arg *args)
{
	char text[40];
	const int len = snprintf(text, sizeof(text), "lost %llu events", (unsigned long long)lost);
	const struct fxt_event event = {
		.type = FXT_DURATION_COMPLETE, .ts = from_ns, .id = to_ns,
		.thread = pseudo_thread(kind, args[0].u32),
		.category = fxt_str("kfxt"), .name = other ? fxt_str(other) : fxt_str_inline(text, len),
	};

	return fxt_write_event(g->w, &event, args, 4);
}

int gaps_write(struct gaps *g, unsigned int i, uint32_t cpu, const struct cpu_ctl *ctl, struct events *e)
{
	const uint64_t calls = __atomic_load_n(&ctl->calls.lost, __ATOMIC_RELAXED) +
			       __atomic_load_n(&ctl->deep_calls, __ATOMIC_RELAXED) +
			       __atomic_load_n(&ctl->lost_returns, __ATOMIC_RELAXED);
	const uint64_t logs = __atomic_load_n(&ctl->logs.lost, __ATOMIC_RELAXED);
	const uint64_t events = __atomic_load_n(&ctl->raws.lost, __ATOMIC_RELAXED);
	const uint64_t overwritten = events_overwritten(e, i);
	const uint64_t now = clock_ns(CLOCK_BOOTTIME);
	struct told *told = &g->told[i];
	const struct fxt_arg args[] = {
		fxt_arg_u32("cpu", cpu), fxt_arg_u64("calls", calls - told->calls),
		fxt_arg_u64("logs", logs - told->logs),
		fxt_arg_u64("events", events - told->events + overwritten - told->overwritten),
	};
	const uint64_t lost = args[1].u64 + args[2].u64 + args[3].u64;
	int err = 0;

	if (__atomic_load_n(&ctl->gaps, __ATOMIC_RELAXED))
		err = name_track(g, PSEUDO_LOST, cpu, &told->gaps_named);
	if (lost) {
		err = err ?: name_track(g, PSEUDO_LOST_EVENTS, cpu, &told->events_named);
		err = err ?: write_slice(g, PSEUDO_LOST_EVENTS, told->looked_ns, now, lost, NULL, args);
	}
	if (events != told->events)
		err = err ?: events_gap(e, false, g->before_ns, now);
	if (overwritten != told->overwritten)
		err = err ?: events_gap(e, true, g->before_ns, now);
	*told = (struct told){
		.calls = calls, .logs = logs, .events = events, .overwritten = overwritten, .looked_ns = now,
		.gaps_named = told->gaps_named, .events_named = told->events_named,
	};
	return err;
}

int gaps_write_open(struct gaps *g, unsigned int i, uint32_t cpu, struct cpu_ctl *ctl, uint64_t stop_ns)
{
	const struct fxt_arg args[] = {
		fxt_arg_u32("cpu", cpu), fxt_arg_u64("switches", ctl->lost_switches - ctl->told_switches),
		fxt_arg_u64("wakeups", ctl->lost_wakeups - ctl->told_wakeups),
		fxt_arg_u64("unseen", (uint32_t)ctl->unseen_switches - ctl->told_unseen),
	};
	const uint64_t lost = args[1].u64 + args[2].u64;
	int err;

	if (!ctl->gap_ns)
		return 0;
	err = name_track(g, PSEUDO_LOST, cpu, &g->told[i].gaps_named);
	return err ?: write_slice(g, PSEUDO_LOST, ctl->gap_ns, stop_ns, lost,
				  lost || !args[3].u64 ? NULL : "not reported by the kernel", args);
}

int gaps_write_cut(struct gaps *g, unsigned int i, uint32_t cpu, uint64_t from_ns, uint64_t stop_ns,
		   uint64_t switches)
{
	const struct fxt_arg args[] = {
		fxt_arg_u32("cpu", cpu), fxt_arg_u64("switches", switches), fxt_arg_u64("wakeups", 0),
		fxt_arg_u64("unseen", 0),
	};
	const int err = name_track(g, PSEUDO_LOST, cpu, &g->told[i].gaps_named);

	return err ?: write_slice(g, PSEUDO_LOST, from_ns, stop_ns, switches, NULL, args);
}

void gaps_close(struct gaps *g)
{
	free(g);
}
