// SPDX-License-Identifier: GPL-2.0
#include "flight.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accounting.h"
#include "archive/broker.h"
#include "base/clock.h"
#include "bpf/abi/ctl.h"
#include "capture/programs.h"
#include "fxt/fxt.h"
#include "piece/state.h"
#include "ring/ring.h"
#include "session_p.h"
#include "trigger/trigger.h"
#include "window/window.h"

#define PENDING_MAX	8U
#define POSTPONE_MAX	50U		/* rounds in which a CPU was in a gap */
#define NAME_BYTES	64U
#define SPARE_BYTES	(1U << 20)	/* of a file, beside what the window holds */

/* A file that is to be written. */
struct pending {
	char name[NAME_BYTES];		/* of the trigger or the request: for the file's name */
	uint64_t due_ns;
	struct recorder_request request;
};

struct flight {
	struct recorder *r;
	struct window *window;
	struct pending pending[PENDING_MAX];	/* the first one is written first */
	unsigned int pending_cnt, postponed;
	bool is_writing;
	struct pending writing;
	struct broker_file file;		/* if it is none of the caller's */
	uint64_t files, bytes, raw_bytes;	/* that are complete */
};

static int write_packets(void *ctx, struct fxt_writer *w, const struct piece_state *s)
{
	return recorder_write_head_packets(ctx, w, s);
}

int flight_open(struct flight **out, struct recorder *r)
{
	const struct recorder_cfg *cfg = r->cfg;
	struct flight *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->r = r;
	err = window_open(&f->window, &(struct window_cfg){
		.age_ns = cfg->keep.age_ns, .bytes = cfg->keep.bytes, .compress = cfg->compress, .stage = cfg->stage,
		.thread = recorder_thread_hooks(r), .write_more = cfg->perfetto_packets ? write_packets : NULL, .ctx = r,
	});
	if (err)
		free(f);
	else
		*out = f;
	return err;
}

int flight_writev(struct flight *f, const struct iovec *iov, int cnt)
{
	struct triggers *triggers = f->r->cfg->keep.triggers;
	int i, err = 0;

	for (i = 0; i < cnt && !err; i++) {
		err = window_add(f->window, iov[i].iov_base, iov[i].iov_len);
		if (!err && triggers)
			err = triggers_take(triggers, iov[i].iov_base, iov[i].iov_len);
	}
	return err;
}

/* ---- what is to be written --------------------------------------------------------------------- */

static int add_pending(struct flight *f, const struct pending *p)
{
	if (f->pending_cnt == PENDING_MAX)
		return -EBUSY;
	f->pending[f->pending_cnt++] = *p;
	return 0;
}

int flight_request(struct flight *f, const struct recorder_request *req)
{
	struct pending p = { .request = *req };

	snprintf(p.name, sizeof(p.name), "%s", req->name);
	p.request.name = NULL;
	return add_pending(f, &p);
}

static void report(struct flight *f, const struct pending *p, const struct recorder_file *file)
{
	struct recorder_file done = *file;

	done.name = p->name;
	done.by = p->request.by;
	done.id = p->request.id;
	if (!done.err) {
		f->files++;
		f->bytes += done.bytes;
		f->raw_bytes += done.raw_bytes;
	}
	f->r->cfg->keep.done(f->r->cfg->keep.ctx, &done);
}

static bool has_trigger_pending(const struct flight *f)
{
	unsigned int i;

	for (i = 0; i < f->pending_cnt; i++)
		if (f->pending[i].request.by == RECORDER_BY_TRIGGER)
			return true;
	return false;
}

/* On the thread that it is about, and on the recorder's own, where all of them are together. */
static int write_trigger(struct fxt_writer *w, const struct trigger_fired *t)
{
	const struct fxt_arg args[] = {
		fxt_arg_str("trigger", fxt_str_inline(t->word, strlen(t->word))),
		fxt_arg_u64("value", t->value),
		fxt_arg_u64("threshold", t->threshold),
		fxt_arg_u64("from_ns", t->from_ns),
		fxt_arg_u64("to_ns", t->to_ns),
		fxt_arg_koid("thread", t->thread),
		fxt_arg_bool("ongoing", t->is_ongoing),
		fxt_arg_bool("partial", t->is_partial),
		fxt_arg_str("text", fxt_str_inline(t->text, strlen(t->text))),
		fxt_arg_i32("cpu", t->cpu),
	};
	const unsigned int cnt = sizeof(args) / sizeof(args[0]) - (t->cpu < 0);	/* of no particular CPU: without it */
	const struct fxt_event event = {
		.type = FXT_INSTANT, .ts = t->to_ns, .thread = { .process = t->process ?: t->thread, .thread = t->thread },
		.category = fxt_str("kfxt"), .name = fxt_str("trigger"),
	};
	int err = t->thread ? fxt_write_event(w, &event, args, cnt) : 0;

	return err ?: ledger_write_event(w, "trigger", t->to_ns, args, cnt);
}

static int take_trigger(struct flight *f, const struct trigger_fired *t)
{
	const struct recorder_keep *cfg = &f->r->cfg->keep;
	struct pending p = { .due_ns = clock_ns(CLOCK_BOOTTIME) + cfg->after_ns, .request = { .by = RECORDER_BY_TRIGGER, .fd = -1 } };

	cfg->fired(cfg->ctx, t);
	snprintf(p.name, sizeof(p.name), "%s", t->word);
	/* One that fires meanwhile is in the same file. */
	if (!has_trigger_pending(f) && add_pending(f, &p))
		report(f, &p, &(struct recorder_file){ .err = -EBUSY, .path = "", .why = "too many files are to be written" });
	return write_trigger(f->r->w, t);
}

/* The time up to which nothing is missing any more: what a gap hides is in the ring once it has ended. */
static uint64_t complete_until(const struct flight *f, uint64_t looked_ns)
{
	uint64_t gap_ns;
	unsigned int i;

	for (i = 0; i < f->r->cfg->cpus_cnt; i++) {
		gap_ns = f->r->looks[i].gap_ns;
		if (gap_ns && gap_ns < looked_ns)
			looked_ns = gap_ns;
	}
	return looked_ns;
}

/* Nothing is missing up to @complete_ns. What has fired is in the window then. */
static int look_for_triggers(struct flight *f, uint64_t complete_ns)
{
	struct triggers *triggers = f->r->cfg->keep.triggers;
	const struct trigger_fired *fired;
	int err = triggers ? triggers_round(triggers, complete_ns) : 0;

	while (triggers && !err && (fired = triggers_next(triggers)))
		err = take_trigger(f, fired);
	return err ?: fxt_writer_flush(f->r->w);
}

/* ---- files ------------------------------------------------------------------------------------------ */

/* By a person: limits never delete it. */
static bool is_asked_for(const struct pending *p)
{
	return p->request.by == RECORDER_BY_SIGNAL || p->request.by == RECORDER_BY_CLIENT;
}

/* The file that the caller handed over, or one of the broker's. */
static int open_file(struct flight *f, const struct pending *p, struct recorder_file *failed)
{
	struct broker *broker = f->r->cfg->broker;
	struct window_totals t;
	int err;

	f->file = (struct broker_file){ .fd = p->request.fd };
	if (p->request.fd >= 0)
		return 0;
	window_totals(f->window, &t);
	err = broker_file_open(broker, &(struct broker_request){
		.purpose = p->name, .needs_bytes = t.bytes + SPARE_BYTES, .keep = is_asked_for(p),
	}, &f->file);
	if (err)
		*failed = (struct recorder_file){ .err = err, .path = "", .why = broker_why(broker) };
	return err;
}

/* Gives the file its name, or removes it. */
static void close_file(struct flight *f, const struct window_dumped *d)
{
	struct broker *broker = f->r->cfg->broker;
	struct recorder_file file = {
		.err = d->err, .path = f->file.path, .why = "", .bytes = d->bytes, .raw_bytes = d->raw_bytes,
		.from_ns = d->from_ns, .to_ns = d->to_ns,
	};

	close(f->file.fd);
	if (f->writing.request.fd >= 0) {
		file.path = "";
	} else if (d->err) {
		broker_file_discard(broker, &f->file);
	} else {
		file.err = broker_file_publish(broker, &f->file, f->writing.request.by == RECORDER_BY_TRIGGER);
		file.why = file.err ? broker_why(broker) : "";
	}
	report(f, &f->writing, &file);
}

/* Begins to write the @i'th pending one. */
static void begin_file(struct flight *f, unsigned int i, const struct piece_cut *cut)
{
	const struct pending p = f->pending[i];
	struct recorder_file failed = { .path = "", .why = "" };
	char online[RECORDER_CPUS_TEXT];
	struct piece_cut with = *cut;
	int err = open_file(f, &p, &failed);

	with.number = f->files + 1;
	with.online = recorder_online_cpus(online, sizeof(online)) ? NULL : online;
	memmove(f->pending + i, f->pending + i + 1, (--f->pending_cnt - i) * sizeof(f->pending[0]));
	f->postponed = 0;
	if (err) {
		report(f, &p, &failed);
		return;
	}
	f->writing = p;
	err = window_dump(f->window, &(struct window_dump){ .fd = f->file.fd, .last_ns = p.request.last_ns }, &with);
	f->is_writing = !err;
	if (err)
		close_file(f, &(struct window_dumped){ .err = err });
}

/* Is it complete? */
static void end_file(struct flight *f)
{
	struct window_dumped d;

	if (!f->is_writing || !window_dumped(f->window, &d))
		return;
	f->is_writing = false;
	close_file(f, &d);
}

int flight_round(struct flight *f, uint64_t looked_ns)
{
	const struct piece_cut cut = recorder_cut(f->r, looked_ns);
	const uint64_t now_ns = clock_ns(CLOCK_BOOTTIME);
	int err = look_for_triggers(f, complete_until(f, looked_ns));
	unsigned int i;

	err = err ?: window_round(f->window, &cut, now_ns);
	end_file(f);
	for (i = 0; i < f->pending_cnt && f->pending[i].due_ns > now_ns; i++)
		;
	if (err || f->is_writing || i == f->pending_cnt)
		return err;
	if (window_can_cut(f->window, &cut) || f->postponed++ == POSTPONE_MAX)
		begin_file(f, i, &cut);
	return 0;
}

static void wait_for_file(struct flight *f)
{
	struct pollfd done = { .fd = window_fd(f->window), .events = POLLIN };

	while (f->is_writing) {
		poll(&done, 1, -1);
		end_file(f);
	}
}

int flight_end(struct flight *f, const struct piece_cut *cut)
{
	static const struct pending last = { .name = "end", .request = { .by = RECORDER_BY_END, .fd = -1 } };
	int err = look_for_triggers(f, f->r->stop_ns + TRIGGER_SETTLE_NS);

	err = err ?: window_round(f->window, cut, clock_ns(CLOCK_BOOTTIME));
	/* With triggers only what they found is worth a file. */
	if (!f->r->cfg->keep.triggers)
		add_pending(f, &last);
	wait_for_file(f);
	while (!err && f->pending_cnt) {
		begin_file(f, 0, cut);
		wait_for_file(f);
	}
	return err;
}

void flight_totals(const struct flight *f, struct recorder_totals *t)
{
	t->files = f->files;
	t->bytes = f->bytes;
	t->raw_bytes = f->raw_bytes;
	t->dumping = f->is_writing;
	window_totals(f->window, &t->window);
}

void flight_close(struct flight *f)
{
	if (!f)
		return;
	window_close(f->window);
	free(f);
}
