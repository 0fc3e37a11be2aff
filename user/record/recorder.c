// SPDX-License-Identifier: GPL-2.0
/*
 * The course of a recording. Owns the order of things: what the file's first and
 * last records are, that names come before the records that need them, and that
 * a ring is drained before it is full.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../fxt/fxt.h"
#include "clock.h"
#include "events.h"
#include "filter.h"
#include "funcs.h"
#include "gaps.h"
#include "ledger.h"
#include "logs.h"
#include "markers.h"
#include "names.h"
#include "packets.h"
#include "probes.h"
#include "recorder.h"
#include "ring.h"
#include "sink.h"
#include "states.h"
#include "unwritten.h"

#define NS_PER_SECOND	1000000000ULL
#define FLUSH_MS	200	/* so that a reader of a pipe, or of the file after a crash, lags no more */
#define EVENT_PIECES	64	/* written at once */
#define LAST_WORDS_BYTES(cpus)	(65536U + 4096U * (cpus))	/* some times what end_short() writes */
#define END_TRIES	100	/* a CPU with no room for its last record is drained and asked again */

const uint32_t recorder_strings_from = STR_CNT;

struct recorder {
	const struct recorder_cfg *cfg;
	struct sink *sink;
	struct fxt_writer *w;
	struct packets *packets;	/* NULL: not wanted */
	struct probes *probes;
	struct names *names;
	struct logs *logs;		/* NULL: not wanted */
	struct gaps *gaps;
	struct states *states;
	bool idle_named, scanned;
	uint64_t start_ns, stop_ns;
	uint64_t names_lost;		/* of those, known when /proc was last read */
	struct iovec *pieces;
	struct ledger *ledger;
	struct unwritten unwritten;	/* counts in the ledger */
};

int recorder_online_cpus(char *text, size_t size)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	int err = 0;

	text[0] = 0;
	if (!f)
		return -errno;
	if (!fgets(text, size, f))
		err = -EIO;
	fclose(f);
	text[strcspn(text, "\n")] = 0;
	return err;
}

/*
 * Functions that interrupts call on an idle CPU, and what they print there, belong to its idle
 * thread; there is one to a CPU. Once is enough.
 */
static int write_idle_threads(struct recorder *r)
{
	const struct fxt_arg process = fxt_arg_koid("process", 0);
	char name[32];
	unsigned int i;
	int err = 0;

	for (i = 0; !r->idle_named && !err && i < r->cfg->cpus_cnt; i++) {
		const struct fxt_object object = {
			.id = IDLE_KOID(r->cfg->cpus[i]), .kind = FXT_KOBJ_THREAD,
			.name = fxt_str_inline(name, snprintf(name, sizeof(name), "swapper/%u", r->cfg->cpus[i])),
		};

		err = fxt_write_kernel_object(r->w, &object, &process, 1);
	}
	r->idle_named = true;
	return err;
}

static int write_header(struct recorder *r)
{
	static const char *const strings[STR_CNT] = {
#define X(id, text) [id] = text,
		SESSION_STRINGS(X)
#undef X
	};
	int err = fxt_write_magic(r->w), i;

	err = err ?: fxt_write_provider_info(r->w, LEDGER_PROVIDER, fxt_str("kfxt"));
	err = err ?: fxt_write_initialization(r->w, NS_PER_SECOND);
	for (i = 1; !err && i < STR_CNT; i++)
		err = fxt_write_string(r->w, i, fxt_str(strings[i]));
	if (!err && r->cfg->funcs)
		err = funcs_write_strings(r->cfg->funcs, r->w);
	if (!err && (r->cfg->funcs || events_any_but_log(r->cfg->events)))
		err = write_idle_threads(r);
	if (!err && r->packets)
		err = packets_write_system(r->packets, r->cfg->cpus_cnt);
	if (!err && r->packets)
		err = packets_write_clocks(r->packets);
	return err ?: fxt_writer_flush(r->w);
}

static int write_start(struct recorder *r)
{
	char online[RECORDER_CPUS_TEXT];
	struct utsname uts;

	uname(&uts);
	recorder_online_cpus(online, sizeof(online));
	const char *filter = r->cfg->filter ? filter_text(r->cfg->filter) : "";
	const struct fxt_arg args[] = {
		fxt_arg_str("cpus", fxt_str_inline(r->cfg->cpus_text, strlen(r->cfg->cpus_text))),
		fxt_arg_str("online", fxt_str_inline(online, strlen(online))),
		fxt_arg_u64("ring_bytes", r->cfg->ring_bytes),
		fxt_arg_str("kernel", fxt_str_inline(uts.release, strlen(uts.release))),
		fxt_arg_str("filter", fxt_str_inline(filter, strlen(filter))),
	};

	return ledger_write_event(r->w, "start", r->start_ns, args, sizeof(args) / sizeof(args[0]) - !*filter);
}

/* What the sink was given but is not in the trace. */
static void take_back(void *ctx, const void *records, size_t len)
{
	const struct recorder *r = ctx;

	if (r->unwritten.ledger)	/* else it has not begun */
		unwritten_count(&r->unwritten, records, len);
}

int recorder_open(struct recorder **out, const struct recorder_cfg *cfg, const char **what,
		  const char **hint)
{
	const struct probes_cfg probes_cfg = {
		.ring_bytes = cfg->ring_bytes, .cpus = cfg->cpus, .cpus_cnt = cfg->cpus_cnt,
		.funcs = cfg->funcs, .events = cfg->events, .filter = cfg->filter,
	};
	struct recorder *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	*what = "allocating memory";
	*hint = NULL;
	if (!r)
		return err;
	r->cfg = cfg;
	err = probes_open(&r->probes, &probes_cfg, what);
	err = err ?: probes_attach(r->probes, what);
	err = err ?: probes_attach_events(r->probes, what, cfg->progress, cfg->progress_ctx);
	if (err)
		goto err_close;
	*what = "attaching to the functions";
	err = probes_attach_funcs(r->probes, cfg->progress, cfg->progress_ctx);
	if (err)
		goto err_close;
	*what = NULL;
	err = sink_open(&r->sink, &(struct sink_cfg){
		.path = cfg->output, .compress = cfg->compress, .reserve = LAST_WORDS_BYTES(cfg->cpus_cnt),
		.lost = take_back, .lost_ctx = r,
	}, hint);
	err = err ?: fxt_writer_open(&r->w, sink_write, r->sink);
	if (!err && cfg->perfetto_packets)
		err = packets_open(&r->packets, r->w);
	err = err ?: names_open(&r->names, r->w, r->probes, r->packets);
	if (!err && events_has(cfg->events, SOURCE_LOG))
		err = logs_open(&r->logs, r->w, r->packets, "/dev/kmsg");
	err = err ?: gaps_open(&r->gaps, r->w, cfg->cpus_cnt);
	r->pieces = calloc(probes_ring(r->probes, 0)->chunks + 1, sizeof(*r->pieces));
	r->unwritten.cuts = calloc(cfg->cpus_cnt, sizeof(*r->unwritten.cuts));
	if (!r->pieces || !r->unwritten.cuts)
		err = -ENOMEM;
	err = err ?: ledger_open(&r->ledger, &(struct ledger_cfg){
		.probes = r->probes, .cpus = cfg->cpus, .cpus_cnt = cfg->cpus_cnt,
		.funcs = cfg->funcs, .events = cfg->events, .logs = r->logs,
	});
	r->unwritten.ledger = r->ledger;
	r->unwritten.cpus = cfg->cpus;
	r->unwritten.cpus_cnt = cfg->cpus_cnt;
	err = err ?: write_header(r);
	if (err)
		goto err_close;
	*out = r;
	return 0;
err_close:
	recorder_close(r);
	return err;
}

/* The kernel counts the switches of all CPUs together. */
static void mark(struct recorder *r, unsigned int call)
{
	char online[RECORDER_CPUS_TEXT];

	if (!recorder_online_cpus(online, sizeof(online)) && !strcmp(online, r->cfg->cpus_text))
		ledger_mark(r->ledger, call);
}

int recorder_begin(struct recorder *r)
{
	int err;

	r->start_ns = clock_ns(CLOCK_BOOTTIME);
	err = write_start(r);
	err = err ?: events_begin(r->cfg->events, &(struct markers_cfg){
		.names = r->names, .start_ns = r->start_ns, .cpus = r->cfg->cpus, .cpus_cnt = r->cfg->cpus_cnt,
		.ring_bytes = r->cfg->ring_bytes, .own_tracks = funcs_are_slices(r->cfg->funcs),
		.filter = r->cfg->filter,
	});
	gaps_begin(r->gaps, r->start_ns);
	mark(r, 0);
	err = err ?: probes_begin(r->probes);
	mark(r, 1);
	return err ?: states_write(&r->states, r->w, r->probes, r->cfg->cpus_cnt, r->cfg->cpus[0]);
}

/* Writes what the @i'th CPU's ring holds up to @head and gives it back. */
static int drain_ring(struct recorder *r, unsigned int i, uint64_t head)
{
	struct ring *ring = probes_ring(r->probes, i);
	int cnt = ring_pieces(ring, head, r->pieces);
	int err = cnt ? sink_writev(r->sink, r->pieces, cnt) : 0;

	ring_release(ring, head);
	return err;
}

/* Writes a run of finished records, which may be in several pieces. */
static int write_events(struct recorder *r, unsigned int i, struct iovec *pieces, int cnt, uint64_t calls)
{
	struct ledger_drained *drained = &ledger_drained(r->ledger, i)[LEDGER_CALLS];

	drained->taken += calls;
	drained->records += calls;
	return cnt ? sink_writev(r->sink, pieces, cnt) : 0;
}

static int take_raw(struct recorder *r, unsigned int i, const uint64_t *rec)
{
	struct ledger_drained *drained = ledger_drained(r->ledger, i);
	unsigned int written = 0;
	int err = 0, failed;

	if (rec[RAW_THREAD] == IDLE_KOID(r->cfg->cpus[i]))
		err = write_idle_threads(r);
	if (FXT_GET(rec[RAW_HEADER], RAW_F_KIND) == RAW_LOG) {
		drained[LEDGER_LOGS].taken++;
		return logs_take(r->logs, rec) ?: err;
	}
	failed = events_write_raw(r->cfg->events, r->w, rec, &written);
	drained[LEDGER_EVENTS].taken++;
	drained[LEDGER_EVENTS].records += written;
	drained[LEDGER_EVENTS].unwritten += !!failed;
	return err ?: failed;
}

/*
 * What a CPU's event ring holds: finished records go as they lie, run by run; those
 * that are to be completed go through the writer.
 */
static int drain_events(struct recorder *r, unsigned int i)
{
	struct ledger_drained *drained = &ledger_drained(r->ledger, i)[LEDGER_CALLS];
	struct event_ring *ring = probes_event_ring(r->probes, i);
	struct iovec pieces[EVENT_PIECES];
	const uint64_t *rec, *next = NULL;
	uint64_t runs = 0;
	int cnt = 0, err = 0, failed;

	while (ring && (rec = event_ring_next(ring))) {
		size_t bytes = FXT_GET(*rec, FXT_F_SIZE) * 8;

		if (FXT_GET(*rec, FXT_F_TYPE) == RAW_TYPE) {
			err = take_raw(r, i, rec) ?: err;
			continue;
		}
		if (funcs_is_raw(rec)) {
			failed = funcs_write_raw(r->cfg->funcs, r->w, rec);
			drained->taken++;
			drained->records += !failed && !(rec[FUNC_ID] & FUNC_UNFINISHED);
			drained->unwritten += !!failed;
			err = err ?: failed;
			continue;
		}
		if (rec != next) {
			if (cnt == EVENT_PIECES) {
				err = write_events(r, i, pieces, cnt, runs) ?: err;
				cnt = runs = 0;
			}
			pieces[cnt++] = (struct iovec){ (void *)rec, 0 };
		}
		pieces[cnt - 1].iov_len += bytes;
		next = rec + bytes / 8;
		runs++;
	}
	err = write_events(r, i, pieces, cnt, runs) ?: err;
	if (ring)
		event_ring_release(ring);
	return err;
}

/*
 * One round. A thread's name is sent before its first record is written, so the
 * heads are taken before the names and what lies before them is written after.
 * Once the output fails, the rings are emptied all the same, to count what is lost.
 */
static int drain(struct recorder *r, bool with_names)
{
	uint64_t heads[r->cfg->cpus_cnt];
	unsigned int i;
	int err = 0;

	gaps_look(r->gaps);
	for (i = 0; i < r->cfg->cpus_cnt; i++)
		heads[i] = ring_head(probes_ring(r->probes, i));
	for (i = 0; i < r->cfg->cpus_cnt && probes_event_ring(r->probes, i); i++)
		event_ring_look(probes_event_ring(r->probes, i));
	if (with_names)
		err = names_drain(r->names);
	if (!err && with_names && r->packets)
		err = packets_flush(r->packets);
	err = err ?: fxt_writer_flush(r->w);
	err = events_read(r->cfg->events) ?: err;
	for (i = 0; i < r->cfg->cpus_cnt; i++) {
		err = drain_ring(r, i, heads[i]) ?: err;
		err = drain_events(r, i) ?: err;
		if (!err)
			err = gaps_write(r->gaps, i, r->cfg->cpus[i], probes_ring(r->probes, i)->ctl, r->cfg->events);
		/* A flood of calls takes long to write, and the side ring is small. */
		if (with_names && !err)
			err = names_drain(r->names);
	}
	if (r->logs)
		err = logs_write(r->logs, clock_ns(CLOCK_BOOTTIME)) ?: err;
	if (r->cfg->events)
		err = events_poll(r->cfg->events, r->w, clock_ns(CLOCK_BOOTTIME), false) ?: err;
	return sink_flush(r->sink) ?: err;
}

/* Reads /proc in steps and keeps the rings from filling between them. */
static int scan(struct recorder *r)
{
	struct probes_counts counts;
	int more, err = 0;

	probes_counts(r->probes, &counts);
	r->names_lost = counts.names_lost;
	r->scanned = true;
	do {
		more = names_scan(r->names);
		err = more < 0 ? more : drain(r, false);
	} while (!err && more);
	return err;
}

/* Not yet, as where the command could not be started; or names were lost, and what still lives can be read again. */
static int scan_if_needed(struct recorder *r)
{
	struct probes_counts counts;

	probes_counts(r->probes, &counts);
	return !r->scanned || counts.names_lost > r->names_lost ? scan(r) : 0;
}

int recorder_run(struct recorder *r, int stop_fd, void (*tick)(void *ctx), void *ctx)
{
	struct pollfd fds[] = {
		{ .fd = stop_fd, .events = POLLIN },
		{ .fd = names_fd(r->names), .events = POLLIN },
		{ .fd = events_fd(r->cfg->events), .events = POLLIN },
		{ .events = POLLIN },
	};
	int err = scan(r);

	while (!err) {
		fds[3].fd = logs_fd(r->logs);
		if (poll(fds, 4, FLUSH_MS) < 0 && errno != EINTR)
			return -errno;
		err = drain(r, true);
		if (fds[0].revents)
			break;
		if (tick)
			tick(ctx);
	}
	return err;
}

/* The last record of a CPU: who ran until then is switched out. */
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
 * room to the last: its last record is written here, from its control words. How
 * long the last thread ran is then unknown, so its slice has no length.
 */
static int end_by_hand(struct recorder *r, struct fxt_writer *w, struct gaps *gaps, unsigned int i)
{
	struct cpu_ctl *ctl = probes_ring(r->probes, i)->ctl;
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
	return err ?: gaps_write_open(gaps, i, r->cfg->cpus[i], ctl, r->stop_ns);
}

/* Which CPUs are online now tells a reader whether others came that were not recorded. */
static int write_stop(struct recorder *r, struct fxt_writer *w)
{
	char online[RECORDER_CPUS_TEXT];
	int err = recorder_online_cpus(online, sizeof(online));
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
	return err ?: gaps_write_cut(gaps, i, r->cfg->cpus[i], cut->ts, r->stop_ns,
				     drained[LEDGER_SWITCHES].unwritten);
}

/*
 * The output took no more: with its last words the trace tells where it ends and what is missing.
 * By a new writer, since not all that the other one has written is there.
 */
static int end_short(struct recorder *r)
{
	struct fxt_writer *w = NULL;
	struct packets *packets = NULL;
	struct gaps *gaps = NULL;
	int err = sink_last_words(r->sink);
	unsigned int i;

	err = err ?: fxt_writer_open(&w, sink_write, r->sink);
	err = err ?: gaps_open(&gaps, w, r->cfg->cpus_cnt);
	if (!err && r->packets)
		err = packets_open(&packets, w);
	for (i = 0; !err && i < r->cfg->cpus_cnt; i++)
		err = cut_cpu(r, w, gaps, i);
	err = err ?: write_stop(r, w);
	err = err ?: ledger_write(r->ledger, w, packets, r->stop_ns);
	packets_close(packets);
	gaps_close(gaps);
	err = fxt_writer_close(w) ?: err;
	return sink_finish(r->sink) ?: err;
}

int recorder_end(struct recorder *r)
{
	int tries = 0, err = drain(r, true);
	unsigned int i;

	mark(r, 2);
	while (probes_end(r->probes) && tries++ < END_TRIES)
		err = drain(r, true);
	mark(r, 3);
	r->stop_ns = clock_ns(CLOCK_BOOTTIME);
	events_stop(r->cfg->events);
	probes_detach_funcs(r->probes, r->cfg->progress, r->cfg->progress_ctx);
	err = drain(r, true) ?: err;
	if (r->logs)
		err = logs_write(r->logs, UINT64_MAX) ?: err;
	if (r->cfg->events)
		err = events_poll(r->cfg->events, r->w, r->stop_ns, true) ?: err;
	for (i = 0; !err && i < r->cfg->cpus_cnt; i++)
		err = end_by_hand(r, r->w, r->gaps, i);
	if (!err && r->cfg->funcs)
		err = funcs_write_unfinished(r->cfg->funcs, r->w, r->stop_ns);
	err = err ?: scan_if_needed(r);
	err = err ?: states_write_end(r->states, r->names, r->stop_ns);
	err = err ?: write_stop(r, r->w);
	err = err ?: ledger_write(r->ledger, r->w, r->packets, r->stop_ns);
	if (!err && r->packets)
		err = packets_flush(r->packets);
	if (!err && r->packets)
		err = packets_write_clocks(r->packets);
	err = fxt_writer_flush(r->w) ?: err;
	err = sink_finish(r->sink) ?: err;
	if (err && sink_raw_bytes(r->sink))
		end_short(r);
	/* Last, since it takes long and nothing of them is recorded any more. */
	probes_detach_events(r->probes, r->cfg->progress, r->cfg->progress_ctx);
	return err;
}

void recorder_cpu(const struct recorder *r, unsigned int i, enum ledger_source source, struct ledger_row *row)
{
	ledger_row(r->ledger, i, source, row);
}

void recorder_totals(const struct recorder *r, struct recorder_totals *t)
{
	struct probes_counts counts;
	struct logs_counts logs;
	struct events_counts events;

	probes_counts(r->probes, &counts);
	events_counts(r->cfg->events, &events);
	*t = (struct recorder_totals){
		.shared_koids = counts.generations_exhausted, .filtered_events = events.filtered,
		.untold_switches = ledger_untold_switches(r->ledger),
		.start_ns = r->start_ns, .stop_ns = r->stop_ns,
		.bytes = sink_bytes(r->sink), .raw_bytes = sink_raw_bytes(r->sink), .memory_bytes = probes_memory(r->probes),
	};
	ledger_totals(r->ledger, t->of);
	if (r->logs) {
		logs_counts(r->logs, &logs);
		t->bare_logs = logs.bare;
		t->kmsg_err = logs.kmsg_err;
	}
}

int recorder_close(struct recorder *r)
{
	int err;

	if (!r)
		return 0;
	names_close(r->names);
	logs_close(r->logs);
	gaps_close(r->gaps);
	states_close(r->states);
	packets_close(r->packets);
	err = fxt_writer_close(r->w);
	err = sink_close(r->sink) ?: err;
	probes_close(r->probes);
	free(r->pieces);
	free(r->unwritten.cuts);
	ledger_close(r->ledger);
	free(r);
	return err;
}
