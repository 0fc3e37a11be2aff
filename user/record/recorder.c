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
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../fxt/fxt.h"
#include "clock.h"
#include "funcs.h"
#include "logs.h"
#include "names.h"
#include "packets.h"
#include "probes.h"
#include "recorder.h"
#include "ring.h"
#include "sink.h"

#define PROVIDER_ID	1
#define NS_PER_SECOND	1000000000ULL
#define FLUSH_MS	200	/* so that a reader of a pipe, or of the file after a crash, lags no more */
#define EVENT_PIECES	64	/* written at once */
#define END_TRIES	100	/* a CPU with no room for its last record is drained and asked again */

/* What a CPU's ring held and the output did not take. */
struct unwritten {
	uint64_t switches, wakeups, calls;
};

const uint32_t recorder_strings_from = STR_CNT;

struct recorder {
	const struct recorder_cfg *cfg;
	struct sink *sink;
	struct fxt_writer *w;
	struct packets *packets;	/* NULL: not wanted */
	struct probes *probes;
	struct names *names;
	struct logs *logs;		/* NULL: not wanted */
	bool idle_named;
	uint64_t start_ns, stop_ns;
	uint64_t names_lost;		/* of those, known when /proc was last read */
	struct iovec *pieces;
	struct unwritten *unwritten;	/* by position in cfg.cpus */
	uint64_t *calls;		/* function events written, the same */
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

/* An event about the recording itself, on the recorder's own thread. */
static int write_own_event(struct recorder *r, const char *name, uint64_t ts,
			   const struct fxt_arg *args, unsigned int nargs)
{
	const struct fxt_event event = {
		.type = FXT_INSTANT,
		.ts = ts,
		.thread = { .process = getpid(), .thread = gettid() },
		.category = fxt_str("kfxt"),
		.name = fxt_str(name),
	};

	return fxt_write_event(r->w, &event, args, nargs);
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

	err = err ?: fxt_write_provider_info(r->w, PROVIDER_ID, fxt_str("kfxt"));
	err = err ?: fxt_write_initialization(r->w, NS_PER_SECOND);
	for (i = 1; !err && i < STR_CNT; i++)
		err = fxt_write_string(r->w, i, fxt_str(strings[i]));
	if (!err && r->cfg->funcs)
		err = funcs_write_strings(r->cfg->funcs, r->w);
	if (!err && r->cfg->funcs)
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
	const struct fxt_arg args[] = {
		fxt_arg_str("cpus", fxt_str_inline(r->cfg->cpus_text, strlen(r->cfg->cpus_text))),
		fxt_arg_str("online", fxt_str_inline(online, strlen(online))),
		fxt_arg_u64("ring_bytes", r->cfg->ring_bytes),
		fxt_arg_str("kernel", fxt_str_inline(uts.release, strlen(uts.release))),
	};

	return write_own_event(r, "start", r->start_ns, args, sizeof(args) / sizeof(args[0]));
}

int recorder_open(struct recorder **out, const struct recorder_cfg *cfg, const char **what,
		  const char **hint)
{
	const struct probes_cfg probes_cfg = {
		.ring_bytes = cfg->ring_bytes, .cpus = cfg->cpus, .cpus_cnt = cfg->cpus_cnt,
		.funcs = cfg->funcs, .logs = cfg->logs,
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
	if (err)
		goto err_close;
	*what = "attaching to the functions";
	err = probes_attach_funcs(r->probes, cfg->progress, cfg->progress_ctx);
	if (err)
		goto err_close;
	*what = NULL;
	err = sink_open(&r->sink, cfg->output, hint);
	err = err ?: fxt_writer_open(&r->w, sink_write, r->sink);
	if (!err && cfg->perfetto_packets)
		err = packets_open(&r->packets, r->w);
	err = err ?: names_open(&r->names, r->w, r->probes, r->packets);
	if (!err && cfg->logs)
		err = logs_open(&r->logs, r->w, r->packets, "/dev/kmsg");
	r->pieces = calloc(probes_ring(r->probes, 0)->chunks + 1, sizeof(*r->pieces));
	r->unwritten = calloc(cfg->cpus_cnt, sizeof(*r->unwritten));
	r->calls = calloc(cfg->cpus_cnt, sizeof(*r->calls));
	if (!r->pieces || !r->unwritten || !r->calls)
		err = -ENOMEM;
	err = err ?: write_header(r);
	if (err)
		goto err_close;
	*out = r;
	return 0;
err_close:
	recorder_close(r);
	return err;
}

int recorder_begin(struct recorder *r)
{
	int err;

	/* The drain is short and late is lost. Without the right to it, do without. */
	setpriority(PRIO_PROCESS, 0, -20);
	r->start_ns = clock_ns(CLOCK_BOOTTIME);
	err = write_start(r);
	return err ?: probes_begin(r->probes);
}

/* Counts the switches and wakeups of @piece that the output did not take; marks do not count. */
static void count_unwritten(struct unwritten *u, const struct iovec *piece, size_t taken)
{
	const uint64_t *word = piece->iov_base, *end = word + piece->iov_len / 8;
	size_t marked = FXT_PUT(STR_MARK, FXT_F_ARG_NAME);

	for (word += taken / 8; word < end; word += FXT_GET(*word, FXT_F_SIZE)) {
		if (FXT_GET(*word, FXT_F_SCHED_TYPE) == FXT_SCHED_WAKEUP)
			u->wakeups++;
		else if (FXT_GET(*word, FXT_F_SIZE) < 7 ||
			 (word[6] & FXT_PUT(~0ULL, FXT_F_ARG_NAME)) != marked)
			u->switches++;
	}
}

/* Writes what the @i'th CPU's ring holds up to @head and gives it back. */
static int drain_ring(struct recorder *r, unsigned int i, uint64_t head)
{
	struct ring *ring = probes_ring(r->probes, i);
	int cnt = ring_pieces(ring, head, r->pieces), err, n;
	uint64_t taken = sink_bytes(r->sink);

	err = cnt ? sink_writev(r->sink, r->pieces, cnt) : 0;
	taken = sink_bytes(r->sink) - taken;
	for (n = 0; err && n < cnt; n++) {
		size_t here = taken < r->pieces[n].iov_len ? taken : r->pieces[n].iov_len;

		count_unwritten(&r->unwritten[i], &r->pieces[n], here);
		taken -= here;
	}
	ring_release(ring, head);
	return err;
}

/* Writes a run of finished records, which may be in several pieces. */
static int write_events(struct recorder *r, unsigned int i, struct iovec *pieces, int cnt, uint64_t calls)
{
	uint64_t taken = sink_bytes(r->sink);
	int err = cnt ? sink_writev(r->sink, pieces, cnt) : 0;

	if (!err) {
		r->calls[i] += calls;
		return 0;
	}
	for (taken = sink_bytes(r->sink) - taken; cnt > 0; pieces++, cnt--) {
		const uint64_t *word = pieces->iov_base, *end = word + pieces->iov_len / 8;

		for (; word < end; word += FXT_GET(*word, FXT_F_SIZE)) {
			const uint64_t bytes = FXT_GET(*word, FXT_F_SIZE) * 8;
			const bool written = taken >= bytes;

			taken -= written ? bytes : taken;
			r->calls[i] += written;
			r->unwritten[i].calls += !written;
		}
	}
	return err;
}

static int take_log(struct recorder *r, unsigned int i, const uint64_t *rec)
{
	int err = 0;

	if (rec[LOG_THREAD] == IDLE_KOID(r->cfg->cpus[i]))
		err = write_idle_threads(r);
	return logs_take(r->logs, rec) ?: err;
}

/*
 * What a CPU's event ring holds: finished records go as they lie, run by run; those
 * that are to be completed go through the writer.
 */
static int drain_events(struct recorder *r, unsigned int i)
{
	struct event_ring *ring = probes_event_ring(r->probes, i);
	struct iovec pieces[EVENT_PIECES];
	const uint64_t *rec, *next = NULL;
	uint64_t runs = 0;
	int cnt = 0, err = 0, failed;

	while (ring && (rec = event_ring_next(ring))) {
		size_t bytes = FXT_GET(*rec, FXT_F_SIZE) * 8;

		if (FXT_GET(*rec, FXT_F_TYPE) == FXT_LOG) {
			err = take_log(r, i, rec) ?: err;
			continue;
		}
		if (funcs_is_raw(rec)) {
			failed = funcs_write_raw(r->cfg->funcs, r->w, rec);
			r->calls[i] += !failed && !(rec[FUNC_ID] & FUNC_UNFINISHED);
			r->unwritten[i].calls += !!failed;
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

	for (i = 0; i < r->cfg->cpus_cnt; i++)
		heads[i] = ring_head(probes_ring(r->probes, i));
	for (i = 0; i < r->cfg->cpus_cnt && probes_event_ring(r->probes, i); i++)
		event_ring_look(probes_event_ring(r->probes, i));
	if (with_names)
		err = names_drain(r->names);
	if (!err && with_names && r->packets)
		err = packets_flush(r->packets);
	err = err ?: fxt_writer_flush(r->w);
	for (i = 0; i < r->cfg->cpus_cnt; i++) {
		err = drain_ring(r, i, heads[i]) ?: err;
		err = drain_events(r, i) ?: err;
		/* A flood of calls takes long to write, and the side ring is small. */
		if (with_names && !err)
			err = names_drain(r->names);
	}
	if (r->logs)
		err = logs_write(r->logs, clock_ns(CLOCK_BOOTTIME)) ?: err;
	return err;
}

/* Reads /proc in steps and keeps the rings from filling between them. */
static int scan(struct recorder *r)
{
	struct probes_counts counts;
	int more, err = 0;

	probes_counts(r->probes, &counts);
	r->names_lost = counts.names_lost;
	do {
		more = names_scan(r->names);
		err = more < 0 ? more : drain(r, false);
	} while (!err && more);
	return err;
}

/* Names were lost on their way: what still lives can be read again. */
static int rescan_if_lost(struct recorder *r)
{
	struct probes_counts counts;

	probes_counts(r->probes, &counts);
	return counts.names_lost > r->names_lost ? scan(r) : 0;
}

int recorder_run(struct recorder *r, int stop_fd, void (*tick)(void *ctx), void *ctx)
{
	struct pollfd fds[] = {
		{ .fd = stop_fd, .events = POLLIN },
		{ .fd = names_fd(r->names), .events = POLLIN },
		{ .events = POLLIN },
	};
	int err = scan(r);

	while (!err) {
		fds[2].fd = logs_fd(r->logs);
		if (poll(fds, 3, FLUSH_MS) < 0 && errno != EINTR)
			return -errno;
		err = drain(r, true);
		if (fds[0].revents)
			break;
		if (tick)
			tick(ctx);
	}
	return err;
}

/*
 * A CPU that could not end by its own program, having gone offline or finding no
 * room to the last: its last record is written here, from its control words. How
 * long the last thread ran is then unknown, so its slice has no length.
 */
static int end_by_hand(struct recorder *r, unsigned int i)
{
	struct cpu_ctl *ctl = probes_ring(r->probes, i)->ctl;
	const bool gap = ctl->gap_ns;
	const struct fxt_switch last = {
		.ts = gap ? ctl->gap_ns : ctl->last_ns,
		.cpu = r->cfg->cpus[i],
		.state = FXT_STATE_RUNNING,
		.out = gap ? ctl->gap_koid : ctl->last_koid,
	};
	const struct fxt_arg args[] = {
		fxt_arg_i32("outgoing_weight", gap ? ctl->gap_prio : ctl->last_prio),
		fxt_arg_i32("incoming_weight", FXT_WEIGHT_IDLE),
		fxt_arg_str("mark", fxt_str("stop")),
	};

	if (ctl->state == CPU_OFF)
		return 0;
	ctl->state = CPU_OFF;
	return fxt_write_switch(r->w, &last, args, 3);
}

/* Which CPUs are online now tells a reader whether others came that were not recorded. */
static int write_stop(struct recorder *r)
{
	char online[RECORDER_CPUS_TEXT];
	int err = recorder_online_cpus(online, sizeof(online));
	const struct fxt_arg arg = fxt_arg_str("online", fxt_str_inline(online, strlen(online)));

	return write_own_event(r, "stop", r->stop_ns, &arg, !err);
}

static int write_cpu_ledger(struct recorder *r, const struct recorder_cpu *c)
{
	struct fxt_arg args[11] = {
		fxt_arg_u32("cpu", c->cpu),
		fxt_arg_u64("switches", c->switches), fxt_arg_u64("wakeups", c->wakeups),
		fxt_arg_u64("lost_switches", c->lost_switches),
		fxt_arg_u64("lost_wakeups", c->lost_wakeups),
		fxt_arg_u64("unseen_switches", c->unseen_switches),
		fxt_arg_u64("unseen_wakeups", c->unseen_wakeups),
	};
	unsigned int n = 7;

	if (r->logs)
		args[n++] = fxt_arg_u64("lost_logs", c->lost_logs);
	if (r->cfg->funcs) {
		args[n++] = fxt_arg_u64("calls", c->calls);
		args[n++] = fxt_arg_u64("lost_calls", c->lost_calls + c->deep_calls + c->unreturned_calls);
		args[n++] = fxt_arg_u64("shed_calls", c->shed_calls);
	}
	return write_own_event(r, "ledger", r->stop_ns, args, n);
}

/* What no CPU counts. */
static int write_whole_ledger(struct recorder *r)
{
	struct probes_counts counts;
	struct funcs_counts funcs;
	struct logs_counts logs;
	struct fxt_arg args[7];
	unsigned int n = 0;

	probes_counts(r->probes, &counts);
	args[n++] = fxt_arg_u64("names", counts.names_seen - counts.names_lost);
	args[n++] = fxt_arg_u64("lost_names", counts.names_lost);
	args[n++] = fxt_arg_u64("skipped", counts.skipped);
	args[n++] = fxt_arg_u64("shared_koids", counts.generations_exhausted);
	if (r->logs) {
		logs_counts(r->logs, &logs);
		args[n++] = fxt_arg_u64("logs", logs.lines);
	}
	if (r->cfg->funcs) {
		funcs_counts(r->cfg->funcs, &funcs);
		args[n++] = fxt_arg_u64("lost_calls", funcs.unreturned);
		args[n++] = fxt_arg_u64("missed_calls", funcs.missed);
	}
	return write_own_event(r, "ledger", r->stop_ns, args, n);
}

static int write_ledger(struct recorder *r)
{
	struct recorder_cpu c;
	uint64_t lost[r->cfg->cpus_cnt], lost_sum = 0;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < r->cfg->cpus_cnt; i++) {
		recorder_cpu(r, i, &c);
		err = write_cpu_ledger(r, &c);
		lost[i] = c.lost_switches + c.lost_wakeups + c.lost_calls + c.deep_calls +
			  c.unreturned_calls + c.lost_logs;
		lost_sum += lost[i];
	}
	err = err ?: write_whole_ledger(r);
	if (!err && lost_sum)
		err = fxt_write_provider_event(r->w, PROVIDER_ID, FXT_PROVIDER_EVENT_BUFFER_FULL);
	if (!err && r->packets && lost_sum)
		err = packets_write_lost(r->packets, lost, r->cfg->cpus_cnt);
	return err;
}

int recorder_end(struct recorder *r)
{
	int tries = 0, err = drain(r, true);
	unsigned int i;

	while (probes_end(r->probes) && tries++ < END_TRIES)
		err = drain(r, true);
	r->stop_ns = clock_ns(CLOCK_BOOTTIME);
	probes_detach_funcs(r->probes, r->cfg->progress, r->cfg->progress_ctx);
	err = drain(r, true) ?: err;
	if (r->logs)
		err = logs_write(r->logs, UINT64_MAX) ?: err;
	for (i = 0; !err && i < r->cfg->cpus_cnt; i++)
		err = end_by_hand(r, i);
	if (!err && r->cfg->funcs)
		err = funcs_write_unfinished(r->cfg->funcs, r->w, r->stop_ns);
	err = err ?: rescan_if_lost(r);
	err = err ?: write_stop(r);
	err = err ?: write_ledger(r);
	if (!err && r->packets)
		err = packets_flush(r->packets);
	if (!err && r->packets)
		err = packets_write_clocks(r->packets);
	return err ?: fxt_writer_flush(r->w);
}

void recorder_cpu(const struct recorder *r, unsigned int i, struct recorder_cpu *cpu)
{
	const struct cpu_ctl *ctl = probes_ring(r->probes, i)->ctl;
	const struct unwritten *u = &r->unwritten[i];

	*cpu = (struct recorder_cpu){
		.cpu = r->cfg->cpus[i],
		.switches = ctl->switches - u->switches, .wakeups = ctl->wakeups - u->wakeups,
		.unwritten_switches = u->switches, .unwritten_wakeups = u->wakeups,
		.lost_switches = ctl->lost_switches, .lost_wakeups = ctl->lost_wakeups,
		.unseen_switches = ctl->unseen_switches, .unseen_wakeups = ctl->unseen_wakeups,
		.calls = r->calls[i], .unwritten_calls = u->calls,
		.lost_calls = ctl->lost_events, .lost_logs = ctl->lost_logs, .deep_calls = ctl->lost_calls,
		.unreturned_calls = ctl->lost_returns,
		.shed_calls = ctl->shed_calls,
	};
}

void recorder_totals(const struct recorder *r, struct recorder_totals *t)
{
	struct probes_counts counts;
	struct funcs_counts funcs;
	struct logs_counts logs;
	struct recorder_cpu c;
	unsigned int i;

	probes_counts(r->probes, &counts);
	funcs_counts(r->cfg->funcs, &funcs);
	*t = (struct recorder_totals){
		.names = counts.names_seen - counts.names_lost, .names_lost = counts.names_lost,
		.skipped = counts.skipped, .shared_koids = counts.generations_exhausted,
		.sum.unreturned_calls = funcs.unreturned,
		.start_ns = r->start_ns, .stop_ns = r->stop_ns,
		.bytes = sink_bytes(r->sink), .memory_bytes = probes_memory(r->probes),
	};
	if (r->logs) {
		logs_counts(r->logs, &logs);
		t->logs = logs.lines;
		t->unwritten_logs = logs.unwritten;
		t->bare_logs = logs.bare;
		t->kmsg_err = logs.kmsg_err;
	}
	for (i = 0; i < r->cfg->cpus_cnt; i++) {
		recorder_cpu(r, i, &c);
		t->sum.switches += c.switches;
		t->sum.wakeups += c.wakeups;
		t->sum.lost_switches += c.lost_switches;
		t->sum.lost_wakeups += c.lost_wakeups;
		t->sum.unwritten_switches += c.unwritten_switches;
		t->sum.unwritten_wakeups += c.unwritten_wakeups;
		t->sum.unseen_switches += c.unseen_switches;
		t->sum.unseen_wakeups += c.unseen_wakeups;
		t->sum.calls += c.calls;
		t->sum.lost_calls += c.lost_calls;
		t->sum.deep_calls += c.deep_calls;
		t->sum.unreturned_calls += c.unreturned_calls;
		t->sum.shed_calls += c.shed_calls;
		t->sum.unwritten_calls += c.unwritten_calls;
		t->sum.lost_logs += c.lost_logs;
	}
}

int recorder_close(struct recorder *r)
{
	int err;

	if (!r)
		return 0;
	names_close(r->names);
	logs_close(r->logs);
	packets_close(r->packets);
	err = fxt_writer_close(r->w);
	err = sink_close(r->sink) ?: err;
	probes_close(r->probes);
	free(r->pieces);
	free(r->unwritten);
	free(r->calls);
	free(r);
	return err;
}
