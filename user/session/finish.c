// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a recording: each CPU is ended, the rings are drained to the last record, and the
 * ledger closes the trace.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ledger.h"
#include "budget.h"
#include "detacher.h"
#include "base/clock.h"
#include "bpf/abi/ctl.h"
#include "format/perfetto/packets.h"
#include "fxt/fxt.h"
#include "gaps.h"
#include "initial_states.h"
#include "io/sink.h"
#include "piece/state.h"
#include "capture/programs.h"
#include "ring/ring.h"
#include "session_p.h"
#include "capture/sources.h"
#include "capture/sources_aside.h"
#include "capture/tracks.h"

#define DETACH_FIRST_MS	400
#define NAMES_MS	100
#define NS_PER_MS	1000000ULL
#define END_TRIES	100	/* a CPU with no space for its last record is drained and asked again */

/* The last record of a CPU: the task that ran until then is switched out. */
static int write_stop_mark(struct recorder *r, struct fxt_writer *w, unsigned int i, const struct unwritten_cut *at)
{
	const struct fxt_switch last = {
		.ts = at->ts, .cpu = r->cfg->cpus[i], .state = FXT_STATE_RUNNING, .out = at->koid,
	};
	const struct fxt_arg args[] = {
		fxt_arg_i32("outgoing_weight", at->prio),
		fxt_arg_i32("incoming_weight", FXT_WEIGHT_IDLE),
		fxt_arg_str("mark", fxt_str("stop")),
	};

	return fxt_write_switch(w, &last, args, 3);
}

/*
 * A CPU that could not end by its own program, having gone offline or finding no
 * space to the last: its last record is written here, from its control words. How
 * long the last thread ran is then unknown, so its slice has no length.
 */
static int end_by_hand(struct recorder *r, struct fxt_writer *w, struct gaps *gaps, unsigned int i)
{
	struct cpu_ctl *ctl = programs_ring(r->programs, i)->ctl;
	struct unwritten_cut end = { true, ctl->last_ns, ctl->last_koid, ctl->last_prio };
	int err;

	if (ctl->state == CPU_OFF)
		return 0;
	ctl->state = CPU_OFF;
	if (ctl->gap_ns)
		end = (struct unwritten_cut){ true, ctl->gap_ns, ctl->gap_koid, ctl->gap_prio };
	else if (ctl->hidden)
		end = (struct unwritten_cut){ true, ctl->last_ns, 0, FXT_WEIGHT_IDLE };
	err = write_stop_mark(r, w, i, &end);
	return err ?: gaps_write_open(gaps, r->cfg->cpus[i], ctl, r->stop_ns);
}

static int write_stop(struct recorder *r, struct fxt_writer *w)
{
	char online[RECORDER_CPUS_TEXT];
	int err = recorder_online_at_stop(r, r->rotation.cut_ns ?: r->start_ns, online, sizeof(online));
	const struct fxt_arg arg = fxt_arg_str("online", fxt_str_inline(online, strlen(online)));

	return ledger_write_event(w, "stop", r->stop_ns, &arg, !err);
}

/* The end of a CPU of which switches could not be written: at the first of them. */
static int cut_cpu(struct recorder *r, struct fxt_writer *w, struct gaps *gaps, unsigned int i)
{
	const struct unwritten_cut *cut = &r->unwritten.cuts[i];
	const struct ledger_drained *drained = ledger_drained(r->ledger, i);
	int err;

	if (!cut->known)
		return end_by_hand(r, w, gaps, i);
	err = write_stop_mark(r, w, i, cut);
	return err ?: gaps_write_cut(gaps, r->cfg->cpus[i], cut->ts, r->stop_ns,
				     drained[LEDGER_SWITCHES].unwritten);
}

/*
 * The output took no more: the trailer has where the trace ends and what is missing. By a new
 * writer, since not all that the other one has written is there.
 */
static int end_short(struct recorder *r)
{
	struct fxt_writer *w = NULL;
	struct packets *packets = NULL;
	struct tracks *tracks = NULL;
	struct gaps *gaps = NULL;
	int err = sink_trailer(r->sink);
	unsigned int i;

	err = err ?: fxt_writer_open(&w, sink_write, r->sink);
	err = err ?: tracks_open(&tracks);
	err = err ?: gaps_open(&gaps, w, tracks, r->cfg->cpus_cnt);
	if (!err && r->packets)
		err = packets_open(&packets, w);
	for (i = 0; !err && i < r->cfg->cpus_cnt; i++)
		err = cut_cpu(r, w, gaps, i);
	err = err ?: write_stop(r, w);
	err = err ?: ledger_write(r->ledger, w, packets, r->stop_ns);
	packets_close(packets);
	gaps_close(gaps);
	tracks_close(tracks);
	err = fxt_writer_close(w) ?: err;
	return sink_finish(r->sink) ?: err;
}

/* What the whole recording has to say at its end; of several files, each has its own. */
static int write_end(struct recorder *r)
{
	int err;

	if (r->flight)
		return r->cfg->keep.triggers ? 0 : recorder_write_request(r, &(struct recorder_request){ .by = RECORDER_BY_END, .name = "end" }, r->stop_ns);
	if (r->rotation.state) {
		err = fxt_writer_flush(r->w);
		return err || !r->sink ? err : recorder_write_tail(r, &(struct piece_cut){ .bound_ns = r->stop_ns, .slices_ns = r->stop_ns }, true);
	}
	err = initial_states_write_end(r->states, r->tasks, r->stop_ns);
	err = err ?: write_stop(r, r->w);
	return err ?: ledger_write(r->ledger, r->w, r->packets, r->stop_ns);
}

/*
 * Where calls may still be under way, these end before the rings are read for the last time; unless that takes too long.
 * Their records, for which they have reserved space by then, are counted as lost.
 */
static void stop_sources(struct recorder *r)
{
	struct sources *sources = r->cfg->sources;
	struct source_ctx *c = sources_ctx(sources);
	char online[RECORDER_CPUS_TEXT];

	c->is_online_known = !recorder_online_cpus(online, sizeof(online)) && !num_parse_cpus(online, &c->online, NULL);
	sources_stop(sources);
	recorder_look_for_detacher(r);
	if (!sources_detach_at_stop(sources) || !r->detacher)
		return;
	detacher_first(r->detacher, DETACH_FIRST_MS);
	sources_aside_stop(sources);
}

/*
 * Of what the programs have sent until now. A thread that the kernel lets wait inside of one holds up the ring with its record:
 * then /proc is read again.
 */
static int drain_names(struct recorder *r)
{
	const uint64_t until_ns = clock_ns(CLOCK_BOOTTIME) + NAMES_MS * NS_PER_MS;
	struct programs_counts counts;
	uint64_t sent;
	int err;

	programs_counts(r->programs, &counts);
	sent = counts.names_seen - counts.names_lost;
	while (!(err = tasks_drain(r->tasks)) && tasks_taken(r->tasks) < sent && clock_ns(CLOCK_BOOTTIME) < until_ns)
		usleep(1000);
	if (tasks_taken(r->tasks) < sent)
		programs_names_unread(r->programs, sent - tasks_taken(r->tasks));
	return err ?: recorder_scan_if_needed(r);
}

int recorder_end(struct recorder *r)
{
	int tries = 0, err = recorder_drain(r, true);
	unsigned int i;

	recorder_mark(r, 2);
	/* What others ran the kernel has counted, too. */
	recorder_look_for_others(r);
	while (programs_end(r->programs) && tries++ < END_TRIES)
		err = recorder_drain(r, true);
	if (!r->others_ns)
		recorder_mark(r, 3);
	r->stop_ns = clock_ns(CLOCK_BOOTTIME);
	stop_sources(r);
	err = recorder_drain(r, true) ?: err;
	err = sources_poll(r->cfg->sources, r->stop_ns, true) ?: err;
	for (i = 0; !err && i < r->cfg->cpus_cnt; i++)
		err = end_by_hand(r, r->w, r->gaps, i);
	err = err ?: drain_names(r);
	programs_end_counts(r->programs);
	err = err ?: budget_end(r->budget);
	err = err ?: recorder_write_lost_names(r, r->stop_ns);
	err = err ?: recorder_write_late(r, r->stop_ns, true);
	err = err ?: write_end(r);
	if (!err && r->packets)
		err = packets_flush(r->packets);
	if (!err && r->packets)
		err = packets_write_clocks(r->packets);
	err = fxt_writer_flush(r->w) ?: err;
	err = recorder_finish_output(r) ?: err;
	if (err && r->sink && !r->rotation.state && sink_raw_bytes(r->sink))
		end_short(r);
	return err;
}
