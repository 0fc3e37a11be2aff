// SPDX-License-Identifier: GPL-2.0
/*
 * The two passes, and the reader's life.
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "reader_p.h"

#define PACKETS_A_READ	256	/* of one call */
#define RECORDS_A_READ	1000

/* ---- the first pass -------------------------------------------------------- */

/* What is no packet, with its place. */
static void note_damage(struct pf_reader *r, uint64_t offset, const char *reason)
{
	r->counts.damaged++;
	pf_note(r, r->counts.packets, offset, reason);
}

/* What the trace says of tracks is known now; their events follow. */
static int end_input(struct pf_reader *r)
{
	int err = pf_release_begin(r);

	r->record_flag = 0;	/* those that waited have theirs */
	pf_clocks_end(&r->clocks);
	err = err ? err : pf_release(r);
	err = err ? err : pf_draw_losses(r);
	r->pass++;
	memset(r->cpus, 0, PF_CPUS * sizeof(*r->cpus));
	pf_choose_states(r);
	free(r->input.buf);
	r->input.buf = NULL;
	err = err ? err : pf_tracks_name(r);
	return err ? err : pf_tasks_name(r);
}

static int read_packets(struct pf_reader *r)
{
	struct pf_cursor packet;
	uint64_t offset;
	int i, item, err = 0;

	for (i = 0; i < PACKETS_A_READ && !err; i++) {
		item = pf_input_next(&r->input, &packet, &offset);
		switch (item) {
		case PF_INPUT_END:
			err = end_input(r);
			return err ? err : 1;
		case PF_INPUT_PACKET:
			err = pf_take_packet(r, packet, offset, false);
			break;
		case PF_INPUT_TOO_LONG:
			note_damage(r, offset, "a packet of more than 256 MiB");
			break;
		case PF_INPUT_CUT:
			r->counts.cut = true;
			note_damage(r, offset, "the file ends in a packet");
			break;
		case PF_INPUT_NO_PACKET:
			note_damage(r, offset, "bytes that are no packet");
			break;
		default:
			return item;
		}
	}
	return err ? err : 1;
}

/* ---- the second pass ------------------------------------------------------- */

static int read_records(struct pf_reader *r)
{
	struct event_sort_item item = { 0 };
	int i, got = 1, err = 0;

	for (i = 0; i < RECORDS_A_READ && got > 0 && !err; i++) {
		got = event_sort_next(r->sort, &item);
		r->at = item.data;
		r->at_ns = item.key.ts;
		err = got > 0 ? pf_play(r, pf_clocks_shown(&r->clocks, item.key.ts), item.len) : got ? got : pf_play_rest(r);
	}
	return err ? err : got;
}

int pf_reader_read(struct pf_reader *r)
{
	return r->pass == 0 ? read_packets(r) : read_records(r);
}

/* ---- life ------------------------------------------------------------------ */

void pf_reader_counts(const struct pf_reader *r, struct pf_counts *counts)
{
	*counts = r->counts;
	counts->bytes = r->input.offset + r->input.len;
	counts->sequences = r->sequences.cnt;
	counts->ids_dropped = r->sequences.entries_dropped;
	counts->snapshots = r->clocks.snapshots;
	counts->refused_snapshots = r->clocks.refused;
	counts->clock_steps = r->clocks.steps;
	counts->bad_args += arg_list_dropped(r->args);
	counts->runs = event_sort_runs(r->sort) + r->waiting_runs;
}

void pf_reader_set_ftrace(struct pf_reader *r, pf_ftrace_fn fn, void *ctx)
{
	r->ftrace = fn;
	r->ftrace_ctx = ctx;
}

int pf_reader_open(struct pf_reader **out, pf_read_input_fn read, void *ctx, struct builder *b)
{
	struct pf_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->builder = b;
	r->input.read = read;
	r->input.ctx = ctx;
	r->cpus = calloc(PF_CPUS, sizeof(*r->cpus));
	r->held = calloc(PF_FLOWS_HELD, sizeof(*r->held));
	r->frames = calloc(PROFILE_FRAMES_MAX, sizeof(*r->frames));
	err = r->cpus && r->held && r->frames ? 0 : -ENOMEM;
	err = err ? err : event_sort_open(&r->sort, PF_SORT_BYTES);
	err = err ? err : arg_list_open(&r->args);
	if (err) {
		pf_reader_close(r);
		return err;
	}
	*out = r;
	return 0;
}

void pf_reader_close(struct pf_reader *r)
{
	if (!r)
		return;
	pf_input_fini(&r->input);
	pf_sequences_fini(&r->sequences);
	pf_clocks_fini(&r->clocks);
	pf_tracks_fini(r);
	pf_descriptions_fini(r);
	pf_tasks_fini(r);
	pf_syscalls_fini(r);
	pf_pool_fini(&r->pool);
	map_fini(&r->tree);
	map_fini(&r->namespaced);
	map_fini(&r->lives.by_tid);
	free(r->lives.first_ns);
	map_fini(&r->meters);
	free(r->lost_in_buffers);
	free(r->lost_on_cpus);
	event_sort_close(r->sort);
	arg_list_close(r->args);
	free(r->record);
	free(r->begun.record);
	free(r->counters);
	event_sort_close(r->waiting);
	free(r->comms);
	free(r->cpus);
	free(r->held);
	free(r->frames);
	free(r);
}
