// SPDX-License-Identifier: GPL-2.0
/*
 * The output: one file, or one after the other, each of which can be read without the others; or what is kept in
 * memory (flight.c).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ledger.h"
#include "base/cgroup_name.h"
#include "base/clock.h"
#include "base/log.h"
#include "bpf/abi/ctl.h"
#include "capture/programs.h"
#include "capture/sources.h"
#include "flight.h"
#include "format/perfetto/packets.h"
#include "fxt/fxt.h"
#include "io/sink.h"
#include "piece/state.h"
#include "ring/ring.h"
#include "session_p.h"

#define TRAILER_BYTES(cpus)	(65536U + 4096U * (cpus))	/* some times what end_short() of finish.c writes */
#define SETTLE_NS		100000000ULL	/* a program that has read its clock has written its record after that */
#define RETRY_NS		10000000000ULL	/* for another file, if there was none */
#define SPACE_BYTES		(16U << 20)	/* once it was full, a disk needs so much for another file */
#define READ_NS			10000000000ULL	/* between two looks through /proc, and 20 times as long as one takes */
#define POSTPONE_MAX		50U		/* rounds in which a CPU was in a gap */
#define FLOOR_OLD_NS		1000000000ULL	/* where a CPU was to be cut is too long ago */
#define SOON_NS			500000000ULL	/* before a file is to end */
#define SOON_BYTES(bytes)	((bytes) / 8 * 7)

/* ---- opening --------------------------------------------------------------------------------- */

/* What the sink was given but is not in the trace. */
static void take_back(void *ctx, const void *records, size_t len)
{
	const struct recorder *r = ctx;

	if (r->unwritten.ledger)	/* else it has not begun */
		unwritten_count(&r->unwritten, records, len);
}

/* @file is what the broker has opened; NULL: the only file. */
static int open_sink(struct recorder *r, const struct broker_file *file, struct sink **out, const char **hint)
{
	const struct recorder_cfg *cfg = r->cfg;

	return sink_open(out, &(struct sink_cfg){
		.path = file ? file->path : cfg->output, .is_open = file, .fd = file ? file->fd : -1,
		.compress = cfg->compress, .stage = cfg->stage, .reserve = TRAILER_BYTES(cfg->cpus_cnt),
		.lost = take_back, .lost_ctx = r,
		.thread = recorder_thread_hooks(r),
	}, hint);
}

static struct broker_request next_request(const struct recorder *r)
{
	return (struct broker_request){
		.purpose = "rotate", .needs_bytes = r->rotation.pauses && !r->sink ? SPACE_BYTES : 0,
	};
}

static void begin_file(struct recorder *r, const struct broker_file *file, struct sink *sink)
{
	r->sink = sink;
	r->rotation.file = *file;
	r->rotation.is_open = true;
	r->rotation.begun++;
	r->rotation.cut_ns = clock_ns(CLOCK_BOOTTIME);
}

static int open_first(struct recorder *r, const char **hint)
{
	const struct broker_request request = next_request(r);
	struct broker_file file;
	struct sink *sink;
	int err = broker_file_open(r->cfg->broker, &request, &file);

	if (err) {
		*hint = broker_why(r->cfg->broker);
		return err;
	}
	err = open_sink(r, &file, &sink, hint);
	if (err)
		broker_drop(r->cfg->broker, &file);
	else
		begin_file(r, &file, sink);
	return err;
}

int recorder_open_output(struct recorder *r, const char **hint)
{
	*hint = NULL;
	if (!r->cfg->broker && !r->cfg->keep.no_files)
		return open_sink(r, NULL, &r->sink, hint);
	if (r->cfg->keep.age_ns || r->cfg->keep.bytes)
		return flight_open(&r->flight, r);
	return piece_state_open(&r->rotation.state) ?: open_first(r, hint);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The next file may have more luck, so the recording goes on. */
static void count_file(struct recorder *r, const char *path, int err)
{
	struct rotation *t = &r->rotation;

	if (err == -ETIMEDOUT && t->at_end) {
		log_info("%s: gets its name once it is on the disk", path);
		t->files++;
		return;
	}
	if (!err) {
		snprintf(t->last, sizeof(t->last), "%s", path);
		t->files++;
	} else {
		t->failed++;
	}
	if (err && !t->said_no_name)
		log_warn("%s: gets no name: %s (%s)", path, strerror(-err), broker_why(r->cfg->broker));
	t->said_no_name = err;
}

/* If it is known whether the file has got it; @wait: that is waited for. */
static void take_name(struct recorder *r, struct named *n, bool wait)
{
	struct broker *broker = r->cfg->broker;
	int err;

	if (!n->call.id)
		return;
	err = wait ? broker_call_wait(broker, &n->call, &n->file) : broker_call_result(broker, &n->call, &n->file);
	if (err != -EAGAIN)
		count_file(r, n->file.path, err);
}

static void take_names(struct recorder *r, bool wait)
{
	unsigned int i;

	for (i = 0; i < NAMED_MAX; i++)
		take_name(r, &r->rotation.named[i], wait);
}

static unsigned int count_unnamed(const struct recorder *r)
{
	unsigned int i, cnt = 0;

	for (i = 0; i < NAMED_MAX; i++)
		cnt += r->rotation.named[i].call.id != 0;
	return cnt;
}

/* The file that was closed. */
static void name_file(struct recorder *r)
{
	struct named *n = r->rotation.named;
	int err;

	while (n->call.id && n < &r->rotation.named[NAMED_MAX - 1])
		n++;
	take_name(r, n, true);		/* as a rule it is free */
	n->file = r->rotation.file;
	err = broker_begin_publish(r->cfg->broker, &n->file, r->rotation.at_end ? BROKER_SYNC_LATER : 0, &n->call);
	if (err)
		count_file(r, n->file.path, err);
}

static int close_sink(struct recorder *r)
{
	struct rotation *t = &r->rotation;
	const uint64_t bytes = r->sink ? sink_bytes(r->sink) : 0, raw_bytes = r->sink ? sink_raw_bytes(r->sink) : 0;
	const struct output_time took = r->sink ? sink_output_time(r->sink) : (struct output_time){ 0 };
	int fd = -1, err = t->is_open ? sink_close(r->sink) : sink_close_untrimmed(r->sink, &fd);

	r->sink = NULL;
	if (fd >= 0)
		r->untrimmed = fd;
	if (!t->is_open)
		return err;
	t->is_open = false;
	t->bytes += bytes;
	t->raw_bytes += raw_bytes;
	t->output_time.ns += took.ns;
	t->output_time.unsure_ns += took.unsure_ns;
	name_file(r);
	return err;
}

static void drop_next(struct recorder *r)
{
	r->rotation.has_next = false;
	close(r->rotation.next.fd);
	broker_drop(r->cfg->broker, &r->rotation.next);
}

int recorder_close_file(struct recorder *r)
{
	int err;

	r->rotation.at_end = true;
	err = close_sink(r);

	flight_close(r->flight);
	r->flight = NULL;
	if (r->rotation.has_next)
		drop_next(r);
	take_names(r, true);
	return err;
}

uint64_t recorder_files_failed(const struct recorder *r)
{
	return r->rotation.failed;
}

/* ---- writing --------------------------------------------------------------------------------- */

/*
 * After an error of the file: if the disk is full, a recording of several files goes on without one until there is
 * space again. What could not be written is counted by then. 0 or @err.
 */
static int pause_if_full(struct recorder *r, int err)
{
	if (!r->rotation.state || (err != -ENOSPC && err != -EDQUOT))
		return err;
	log_warn("%s: %s: what happens from here on is lost until there is space", r->rotation.file.path, strerror(-err));
	r->rotation.pauses++;
	r->rotation.paused_err = err;
	r->rotation.retry_ns = clock_ns(CLOCK_BOOTTIME) + RETRY_NS;
	err = close_sink(r);
	return err == -ENOSPC || err == -EDQUOT ? 0 : err;
}

int recorder_writev(struct recorder *r, struct iovec *iov, int cnt)
{
	int i, err = 0;

	if (r->flight)
		return flight_writev(r->flight, iov, cnt);
	for (i = 0; r->rotation.state && i < cnt && !err; i++)
		err = piece_state_add(r->rotation.state, iov[i].iov_base, iov[i].iov_len);
	for (i = 0; !r->sink && i < cnt; i++)
		take_back(r, iov[i].iov_base, iov[i].iov_len);
	if (!err && r->sink)
		err = sink_writev(r->sink, iov, cnt);
	return err ? pause_if_full(r, err) : 0;
}

int recorder_write(void *ctx, const void *data, size_t len)
{
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };

	return recorder_writev(ctx, &iov, 1);
}

int recorder_flush_output(struct recorder *r)
{
	int err = r->sink ? sink_flush(r->sink) : 0;

	return err ? pause_if_full(r, err) : 0;
}

int recorder_finish_output(struct recorder *r)
{
	if (r->flight)
		return flight_end(r->flight, &(struct piece_cut){ .bound_ns = r->stop_ns, .slices_ns = r->stop_ns });
	return r->sink ? sink_finish(r->sink) : 0;
}

struct output_time recorder_output_time(const struct recorder *r)
{
	struct output_time now = r->sink ? sink_output_time(r->sink) : (struct output_time){ 0 };

	now.ns += r->rotation.output_time.ns;
	now.unsure_ns += r->rotation.output_time.unsure_ns;
	return now;
}

void recorder_output_totals(const struct recorder *r, struct recorder_totals *t)
{
	if (r->flight) {
		flight_totals(r->flight, t);
		return;
	}
	t->bytes = r->rotation.bytes + (r->sink ? sink_bytes(r->sink) : 0);
	t->raw_bytes = r->rotation.raw_bytes + (r->sink ? sink_raw_bytes(r->sink) : 0);
	t->files_unnamed = !!r->sink + count_unnamed(r);
	t->files = r->rotation.files + t->files_unnamed;
	t->files_failed = r->rotation.failed;
	t->pauses = r->rotation.pauses;
	t->paused_err = r->rotation.state && !r->sink ? r->rotation.paused_err ?: -ENOSPC : 0;
	t->last_file = r->rotation.last;
}

/* ---- the cut --------------------------------------------------------------------------------- */

/* Not through the state, which has this already. */
int recorder_write_tail(struct recorder *r, const struct piece_cut *cut, bool is_last)
{
	char online[RECORDER_CPUS_TEXT];
	struct piece_cut with = *cut;
	struct fxt_writer *w;
	int err = fxt_writer_open(&w, sink_write, r->sink);

	if (err)
		return err;
	with.online = recorder_online_at_stop(r, r->rotation.cut_ns, online, sizeof(online)) ? NULL : online;
	/* With the same strings as the other records, by which it is counted what cannot be written. */
	err = recorder_write_strings(w);
	if (!err && !is_last)
		sources_write_open(r->cfg->sources, w, &with.more_events);
	err = err ?: piece_state_write_tail(r->rotation.state, w, &with);
	err = err ?: piece_state_write_ledger(r->rotation.state, w, &with);
	return fxt_writer_close(w) ?: err;
}

static int add_process(void *ctx, const struct piece_process *process)
{
	char label[CGROUP_LABEL_BYTES] = "";

	cgroup_label(label, process->cgroup.data, process->cgroup.len);
	return packets_add_process(ctx, &(struct packets_process){
		.koid = process->koid, .parent = process->parent,
		.cmdline = process->cmdline.data, .cmdline_len = process->cmdline.len,
		.label = *label ? label : NULL,
	});
}

/* Readers of these know nothing of FXT. */
int recorder_write_head_packets(const struct recorder *r, struct fxt_writer *w, const struct piece_state *s)
{
	struct packets *p;
	int err = packets_open(&p, w);

	if (err)
		return err;
	err = packets_write_system(p, r->cfg->cpus_cnt);
	err = err ?: packets_write_clocks(p);
	err = err ?: piece_state_processes(s, add_process, p);
	err = err ?: packets_flush(p);
	packets_close(p);
	return err;
}

static int write_head(struct recorder *r, const struct piece_cut *cut)
{
	struct fxt_writer *w;
	int err = fxt_writer_open(&w, sink_write, r->sink);

	if (err)
		return err;
	err = piece_state_write_head(r->rotation.state, w, cut);
	if (!err && r->packets)
		err = recorder_write_head_packets(r, w, r->rotation.state);
	err = fxt_writer_close(w) ?: err;
	return err ?: piece_state_cut(r->rotation.state, cut);
}

static bool in_gap(const struct recorder *r, const struct piece_cut *cut)
{
	struct piece_cpu cpu;
	unsigned int i;

	for (i = 0; i < r->cfg->cpus_cnt; i++)
		if (piece_state_cpu(r->rotation.state, cut, r->cfg->cpus[i], &cpu) && cpu.in_gap)
			return true;
	return false;
}

/* The end of the file, unless the disk was full before. 0 or -errno. */
static int end_file(struct recorder *r, const struct piece_cut *cut)
{
	int err = fxt_writer_flush(r->w);

	if (err || !r->sink)
		return err;
	err = recorder_write_tail(r, cut, false);
	err = sink_finish(r->sink) ?: err;
	return err ? pause_if_full(r, err) : close_sink(r);
}

/* Without another file this one goes on: its events are not lost as long as there is space for them. */
static void go_on(struct recorder *r, int err, const char *hint)
{
	struct rotation *t = &r->rotation;

	t->retry_ns = clock_ns(CLOCK_BOOTTIME) + RETRY_NS;
	if (r->sink && !t->said_no_file)
		log_warn("%s goes on, there is no new file: %s%s%s", t->file.path, strerror(-err), hint ? ": " : "", hint ?: "");
	t->said_no_file |= r->sink != NULL;
}

/* Whether the next file is open; otherwise it is asked for. */
static bool has_next(struct recorder *r)
{
	const struct broker_request request = next_request(r);
	struct broker *broker = r->cfg->broker;
	struct rotation *t = &r->rotation;
	int err;

	if (t->has_next)
		return true;
	err = t->opening.id ? broker_call_result(broker, &t->opening, &t->next) : broker_begin_open(broker, &request, &t->opening);
	t->has_next = !err && !t->opening.id;
	if (err && err != -EAGAIN)
		go_on(r, err, broker_why(broker));
	return t->has_next;
}

static int cut_file(struct recorder *r, const struct piece_cut *cut)
{
	const bool was_open = r->sink;
	struct broker_file next = r->rotation.next;
	const char *hint = NULL;
	struct sink *sink;
	int err = open_sink(r, &next, &sink, &hint);

	r->rotation.has_next = false;
	if (err) {
		broker_drop(r->cfg->broker, &next);
		go_on(r, err, hint);
		return 0;
	}
	err = end_file(r, cut);
	if (err) {
		sink_close(sink);
		broker_drop(r->cfg->broker, &next);
		return err;
	}
	begin_file(r, &next, sink);
	r->rotation.said_no_file = r->rotation.is_asked_for = false;
	if (!was_open)
		log_info("%s: there is space again", next.path);
	err = write_head(r, cut);
	return err ? pause_if_full(r, err) : 0;
}

/* Is it time to end the file, or will it be @soon_ns from now on or with @bytes of it? */
static bool is_due(const struct recorder *r, uint64_t now_ns, uint64_t soon_ns, uint64_t bytes)
{
	const struct recorder_rotation *cfg = &r->cfg->rotation;

	now_ns += soon_ns;
	if (now_ns < r->rotation.retry_ns)
		return false;
	return !r->sink || r->rotation.is_asked_for || (cfg->every_ns && now_ns - r->rotation.cut_ns >= cfg->every_ns) ||
	       (cfg->bytes && sink_bytes(r->sink) >= bytes);
}

/*
 * That the kernel did not report a switch shows at the next one, and what is missing began when the last one was. So
 * that this is not before the beginning of a file, the programs have in time the place where one may be cut.
 */
static void set_floor(struct recorder *r, uint64_t looked_ns)
{
	unsigned int i;

	r->next_floor_ns = looked_ns - SETTLE_NS;
	for (i = 0; i < r->cfg->cpus_cnt; i++)
		__atomic_store_n(&programs_ring(r->programs, i)->ctl->cut_ns, r->next_floor_ns, __ATOMIC_RELEASE);
	r->floor_set_ns = clock_ns(CLOCK_BOOTTIME);
}

/* Whether the one that was set holds, which @floor_ns is then; else one is set, if that is to be. */
static bool floor_holds(struct recorder *r, uint64_t looked_ns, bool set)
{
	const uint64_t age_ns = looked_ns - r->floor_set_ns, round_ns = looked_ns - r->floor_looked_ns;
	/* Where a round takes long it would always be too old. */
	const uint64_t old_ns = round_ns > FLOOR_OLD_NS / 2 ? 2 * round_ns : FLOOR_OLD_NS;
	const bool holds = r->next_floor_ns && age_ns >= SETTLE_NS && age_ns <= old_ns;

	r->floor_looked_ns = looked_ns;
	if (holds)
		r->floor_ns = r->next_floor_ns;
	else if (set && (!r->next_floor_ns || age_ns > old_ns))
		set_floor(r, looked_ns);
	return holds;
}

struct piece_cut recorder_cut(struct recorder *r, uint64_t looked_ns)
{
	const uint64_t bound_ns = looked_ns - SETTLE_NS;
	const uint64_t cpu_ns = r->floor_ns < bound_ns ? r->floor_ns : bound_ns;
	unsigned int i;

	/* Records of a gap are older than when they are written; so is the end of what a filter hides. */
	for (i = 0; i < r->cfg->cpus_cnt; i++) {
		const struct cpu_look *look = &r->looks[i];
		uint64_t *bound = &r->cut_bounds[r->cfg->cpus[i]];

		*bound = look->gap_ns && look->gap_ns < cpu_ns ? look->gap_ns : cpu_ns;
		if (look->hidden || programs_ring(r->programs, i)->ctl->hidden)
			*bound = 0;
	}
	return (struct piece_cut){
		.bound_ns = bound_ns, .cpu_bound_ns = r->cut_bounds, .cpus_cnt = r->cfg->cpus[r->cfg->cpus_cnt - 1] + 1, .number = r->rotation.begun + 1,
		.realtime_offset_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME),
	};
}

static bool is_cut(const struct recorder *r)
{
	return r->flight || r->rotation.state;
}

/* What lives and has lost its name gets it back, in one twentieth of the time. */
static int read_names_again(struct recorder *r)
{
	const uint64_t from_ns = clock_ns(CLOCK_BOOTTIME), lost = r->names_lost;
	uint64_t now;
	int err;

	if (!is_cut(r) || from_ns < r->read_ns)
		return 0;
	err = recorder_scan_if_needed(r);
	now = clock_ns(CLOCK_BOOTTIME);
	if (r->names_lost != lost)
		r->read_ns = now + READ_NS + 20 * (now - from_ns);
	return err;
}

int recorder_write_lost_names(struct recorder *r, uint64_t at_ns)
{
	const uint64_t all = programs_names_lost(r->programs), lost = all - r->names_said, unread = all - r->names_lost;

	if (!is_cut(r) || (!lost && unread == r->unread_said))
		return 0;
	r->names_said = all;
	r->unread_said = unread;
	return ledger_write_event(r->w, "lost_names", at_ns > r->start_ns ? at_ns : r->start_ns, (const struct fxt_arg[]){
		fxt_arg_u64("lost", lost), fxt_arg_u64("unread", unread),
	}, 2);
}

int recorder_next_file(struct recorder *r)
{
	if (!r->rotation.state)
		return -EOPNOTSUPP;
	r->rotation.is_asked_for = true;
	return 0;
}

int recorder_rotate(struct recorder *r, uint64_t looked_ns)
{
	const uint64_t now_ns = clock_ns(CLOCK_BOOTTIME), bytes = r->cfg->rotation.bytes;
	int err = read_names_again(r);
	struct piece_cut cut;
	bool holds;

	err = err ?: recorder_write_lost_names(r, looked_ns - SETTLE_NS);
	if (err || !is_cut(r))
		return err;
	take_names(r, false);
	holds = floor_holds(r, looked_ns, r->flight || is_due(r, now_ns, SOON_NS, SOON_BYTES(bytes)));
	if (r->flight) {
		/* It may be cut in any round, at the last one that holds. */
		if (holds)
			set_floor(r, looked_ns);
		return flight_round(r->flight, looked_ns);
	}
	if (!is_due(r, now_ns, 0, bytes) || !has_next(r) || !holds || count_unnamed(r) == NAMED_MAX)
		return 0;
	cut = recorder_cut(r, looked_ns);
	/* A gap is in the file that it ends in, unless there is no end to them. */
	if (in_gap(r, &cut) && r->rotation.postponed++ < POSTPONE_MAX)
		return 0;
	r->rotation.postponed = 0;
	return cut_file(r, &cut);
}
