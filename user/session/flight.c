// SPDX-License-Identifier: GPL-2.0
#include "flight.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/broker.h"
#include "base/clock.h"
#include "base/num.h"
#include "bpf/abi/ctl.h"
#include "capture/programs.h"
#include "capture/sources.h"
#include "fxt/fxt.h"
#include "gaps.h"
#include "piece/state.h"
#include "ring/ring.h"
#include "session_p.h"
#include "space.h"
#include "trigger/trigger.h"
#include "trigger_instant.h"
#include "window/window.h"

#define PENDING_MAX	8U
#define PENDING_GUESTS	4U		/* of these, files of clients: they may hang, those of triggers have their places */
#define POSTPONE_NS	5000000000ULL	/* at most so long, while a CPU is in a gap */
#define POSTPONE_PART	4		/* and no longer than this part of what the window has: it goes on */
#define NAME_BYTES	64U
#define NAMING_MAX	4U
#define SPARE_BYTES	(1U << 20)	/* of a file, beside what the window holds */
#define GUESTS_END_NS	5000000000ULL	/* at the end files of clients have so long */
#define END_MS		200		/* between two looks then */
#define WINDOW_MIN_BYTES	(1U << 20)	/* as of --keep */
#define GAP_OLD_NS	1000000000ULL	/* since which a CPU may be offline */
#define BLOCK_APART_BYTES	(128 << 10)	/* at least so large; glibc's default, which it raises up to 32 MiB by itself */
#define ONLINE_NS	1000000000ULL	/* between two looks which ones are online */

/* A file that is to be written. */
struct pending {
	char name[NAME_BYTES];		/* of the request: for the file's name */
	const char *word;		/* the trigger in place of that; NULL: none */
	uint32_t triggers;		/* that are in it */
	uint64_t fired_ns;		/* when the first of them did */
	uint64_t until_ns;		/* when the last of them did: up to then it says what the CPUs do */
	uint64_t due_ns;
	struct recorder_request request;
};

enum phase {
	PHASE_IDLE,
	PHASE_OPENING,			/* the broker was asked for a file */
	PHASE_OPEN,
	PHASE_WRITING,			/* by the window */
	PHASE_NAMING,			/* the broker was asked to give it its name */
};

/* A file on its way. */
struct lane {
	enum phase phase;
	bool is_cancelled;
	const char *why;		/* of that, or NULL */
	struct pending p;
	struct broker_call call;
	struct broker_file file;	/* the broker's */
	uint64_t postponed_ns;		/* until then, while a CPU is in a gap; 0: not so far */
	struct window_dumped written;
};

/*
 * Files are opened, written and named in steps, none of which is waited for. The first lane has those that we make, one
 * after the other; the others have files of clients, which may be on file systems of any kind. Each has its place in the
 * window.
 */
struct flight {
	struct recorder *r;
	struct window *window;
	struct pending pending[PENDING_MAX];	/* the first one is written first */
	unsigned int pending_cnt;
	bool is_asked;				/* since the last round: one of these is due */
	struct lane lanes[WINDOW_DUMPS];
	struct lane naming[NAMING_MAX];		/* files of ours that the disk has yet to take: the next one is written meanwhile */
	bool at_end;				/* of the recording: no name waits for the disk */
	struct space space;
	uint64_t bytes_max;			/* of the window; 0: not by this */
	struct clock_suspends suspends;
	struct num_cpus online;			/* as of @online_ns */
	bool is_online_known;
	uint64_t online_ns;
	uint64_t begun;				/* files */
	uint64_t files, bytes, raw_bytes;	/* that are complete */
	uint64_t files_late;			/* of these, as of recorder_file.is_late */
};

static int write_packets(void *ctx, struct fxt_writer *w, const struct piece_state *s)
{
	return recorder_write_head_packets(ctx, w, s);
}

/* At the end the records have it. */
static void write_open(void *ctx, struct fxt_writer *w, struct piece_cut *cut)
{
	const struct recorder *r = ctx;

	if (!r->flight->at_end)
		sources_write_open(r->cfg->sources, w, &cut->more_events);
}

int flight_open(struct flight **out, struct recorder *r)
{
	const struct recorder_cfg *cfg = r->cfg;
	struct flight *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->r = r;
	f->bytes_max = cfg->keep.bytes;
	/* Blocks come and go for weeks: not in the heap, where what is allocated between them would keep holes of their size. */
	mallopt(M_MMAP_THRESHOLD, BLOCK_APART_BYTES);
	err = window_open(&f->window, &(struct window_cfg){
		.age_ns = cfg->keep.age_ns, .bytes = cfg->keep.bytes, .compress = cfg->compress, .stage = cfg->stage,
		.thread = recorder_thread_hooks(r), .write_more = cfg->perfetto_packets ? write_packets : NULL,
		.write_open = write_open, .ctx = r,
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
	uint64_t from_ns, to_ns;
	int i, err = 0;

	if (triggers && clock_was_suspended(&f->suspends, &from_ns, &to_ns))
		triggers_suspended(triggers, from_ns, to_ns);
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

static struct pending take_pending(struct flight *f, unsigned int i)
{
	const struct pending p = f->pending[i];

	memmove(f->pending + i, f->pending + i + 1, (--f->pending_cnt - i) * sizeof(f->pending[0]));
	return p;
}

static bool is_guest(const struct pending *p)
{
	return p->request.fd >= 0;
}

int flight_request(struct flight *f, const struct recorder_request *req)
{
	struct pending p = { .request = *req };
	unsigned int i, guests = 0;

	for (i = 0; i < f->pending_cnt; i++)
		guests += is_guest(&f->pending[i]);
	/* Triggers that fire share a file: one place is enough for them. */
	if (f->pending_cnt >= PENDING_MAX - 1 || (is_guest(&p) && guests >= PENDING_GUESTS))
		return -EBUSY;
	snprintf(p.name, sizeof(p.name), "%s", req->name);
	p.request.name = NULL;
	f->is_asked = true;
	return add_pending(f, &p);
}

static uint64_t needed_bytes(const struct flight *f, const struct pending *p)
{
	return window_file_bytes(f->window, p->request.last_ns) + SPARE_BYTES;
}

static void report(struct flight *f, const struct pending *p, const struct recorder_file *file)
{
	struct recorder_file done = *file;

	if (!is_guest(p))
		space_see(&f->space, file->err, needed_bytes(f, p));
	done.name = p->word ?: p->name;
	done.by = p->request.by;
	done.id = p->request.id;
	done.triggers = p->triggers;
	done.last_ns = p->request.last_ns;
	done.is_late = !done.err && p->fired_ns && p->fired_ns < done.from_ns;
	if (!done.err) {
		f->files++;
		f->files_late += done.is_late;
		f->bytes += done.bytes;
		f->raw_bytes += done.raw_bytes;
	}
	f->r->cfg->keep.done(f->r->cfg->keep.ctx, &done);
}

/* What was not begun. */
static void report_unwritten(struct flight *f, const struct pending *p, int err, const char *why)
{
	report(f, p, &(struct recorder_file){ .err = err, .path = "", .why = why, .fd = p->request.fd });
}

/* The file of a trigger that has what fires now, too. */
static struct pending *find_shared(struct flight *f)
{
	struct lane *own = &f->lanes[0];
	unsigned int i;

	if ((own->phase == PHASE_OPENING || own->phase == PHASE_OPEN) && own->p.request.by == RECORDER_BY_TRIGGER)
		return &own->p;
	for (i = 0; i < f->pending_cnt; i++)
		if (f->pending[i].request.by == RECORDER_BY_TRIGGER)
			return &f->pending[i];
	return NULL;
}

/* Its bit. */
static uint32_t bit_of(const struct flight *f, const struct trigger_fired *t)
{
	struct trigger_counts c;
	unsigned int i;

	for (i = 0; triggers_counts(f->r->cfg->keep.triggers, i, &c); i++)
		if (c.word == t->word)
			return 1U << i;
	return 0;
}

static int take_trigger(struct flight *f, const struct trigger_fired *t)
{
	const struct recorder_keep *cfg = &f->r->cfg->keep;
	struct pending p = {
		.word = t->word, .triggers = bit_of(f, t), .fired_ns = t->to_ns, .until_ns = t->to_ns,
		.due_ns = clock_ns(CLOCK_BOOTTIME) + cfg->after_ns, .request = { .by = RECORDER_BY_TRIGGER, .fd = -1 },
	};
	struct pending *shared = find_shared(f);

	if (cfg->no_files)
		return trigger_instant_write(f->r->w, t);
	cfg->fired(cfg->ctx, t);
	if (shared) {
		shared->triggers |= p.triggers;
		shared->until_ns = p.until_ns > shared->until_ns ? p.until_ns : shared->until_ns;
	} else if (add_pending(f, &p)) {
		report_unwritten(f, &p, -EBUSY, "too many files are to be written");
	}
	return trigger_instant_write(f->r->w, t);
}

/* The time up to which nothing is missing any more. */
static uint64_t complete_until(struct flight *f, uint64_t looked_ns)
{
	const uint64_t until_ns = gaps_complete_until(f->r->looks, f->r->cfg->cpus, f->r->cfg->cpus_cnt, NULL, looked_ns);
	char online[RECORDER_CPUS_TEXT];

	if (looked_ns - until_ns < GAP_OLD_NS)
		return until_ns;
	if (looked_ns - f->online_ns > ONLINE_NS) {
		f->online_ns = looked_ns;
		f->is_online_known = !recorder_online_cpus(online, sizeof(online)) && !num_parse_cpus(online, &f->online, NULL);
	}
	return f->is_online_known ? gaps_complete_until(f->r->looks, f->r->cfg->cpus, f->r->cfg->cpus_cnt, &f->online, looked_ns)
				  : until_ns;
}

/* Nothing is missing up to @complete_ns, and now it is @looked_ns. What has fired is in the window then. */
static int look_for_triggers(struct flight *f, uint64_t complete_ns, uint64_t looked_ns)
{
	struct triggers *triggers = f->r->cfg->keep.triggers;
	const struct trigger_fired *fired;
	int err = 0;

	if (triggers) {
		triggers_lag(triggers, looked_ns - complete_ns);
		err = triggers_round(triggers, complete_ns);
	}
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

/* The lane is free again, and its file is nowhere. */
static void fail(struct flight *f, struct lane *l, int err, const char *why)
{
	l->phase = PHASE_IDLE;
	report_unwritten(f, &l->p, err, why);
}

/* The first one that is due and of the kind of the lane. */
static bool begin(struct flight *f, struct lane *l, uint64_t now_ns)
{
	struct broker *broker = f->r->cfg->broker;
	struct broker_request request = { 0 };
	unsigned int i;
	int err;

	for (i = 0; i < f->pending_cnt; i++)
		if (f->pending[i].due_ns <= now_ns && is_guest(&f->pending[i]) == (l != f->lanes))
			break;
	/* At the end it fails there, with a reason. */
	if (i == f->pending_cnt || (!f->at_end && !window_place_is_free(f->window, (unsigned int)(l - f->lanes))))
		return false;
	*l = (struct lane){ .phase = PHASE_OPEN, .p = take_pending(f, i) };
	if (is_guest(&l->p))
		return true;
	request.purpose = l->p.word ?: l->p.name;
	request.needs_bytes = needed_bytes(f, &l->p);
	request.keep = is_asked_for(&l->p);
	err = broker_begin_open(broker, &request, &l->call);
	l->phase = PHASE_OPENING;
	if (err)
		fail(f, l, err, broker_why(broker));
	return !err;
}

/* @wait: at the end, when nobody else waits. */
static int result_of(struct flight *f, struct lane *l, bool wait)
{
	struct broker *broker = f->r->cfg->broker;

	return wait ? broker_call_wait(broker, &l->call, &l->file) : broker_call_result(broker, &l->call, &l->file);
}

static void drop_file(struct flight *f, struct lane *l)
{
	if (!is_guest(&l->p))
		broker_drop(f->r->cfg->broker, &l->file);
}

static void open_file(struct flight *f, struct lane *l, bool wait)
{
	const int err = result_of(f, l, wait);

	if (err == -EAGAIN)
		return;
	l->phase = PHASE_OPEN;
	if (err)
		fail(f, l, err, broker_why(f->r->cfg->broker));
}

/* Before anything is written to it. */
static void close_file(struct flight *f, struct lane *l, int err, const char *why)
{
	if (!is_guest(&l->p))
		close(l->file.fd);
	drop_file(f, l);
	fail(f, l, err, why);
}

/* @last: there is no later try. */
static void write_file(struct flight *f, struct lane *l, const struct piece_cut *cut, bool last)
{
	const struct window_dump dump = {
		.place = (unsigned int)(l - f->lanes), .fd = is_guest(&l->p) ? l->p.request.fd : l->file.fd, .check = l->p.request.check,
		.last_ns = l->p.request.last_ns,
	};
	char online[RECORDER_CPUS_TEXT];
	struct piece_cut with = *cut;
	struct window_totals held;
	int err;

	window_totals(f->window, &held);
	with.number = f->begun + 1;
	with.online = recorder_online_at_stop(f->r, clock_ns(CLOCK_BOOTTIME) - held.held_ns, online, sizeof(online)) ? NULL : online;
	err = window_dump(f->window, &dump, &with);
	if (!err) {
		l->phase = PHASE_WRITING;
		f->begun++;
	} else if (err != -EBUSY || last) {
		close_file(f, l, err, err == -EBUSY ? "the file before it hangs" : "");
	}
}

/* What became of it. */
static void end_file(struct flight *f, struct lane *l, int err, const char *why)
{
	const struct recorder_file file = {
		.err = err, .path = is_guest(&l->p) ? "" : l->file.path, .why = why, .fd = -1, .bytes = l->written.bytes,
		.raw_bytes = l->written.raw_bytes, .from_ns = l->written.from_ns, .to_ns = l->written.to_ns,
		.is_unnamed = err == -ETIMEDOUT && f->at_end && l->phase == PHASE_NAMING,
	};

	l->phase = PHASE_IDLE;
	report(f, &l->p, &file);
}

/* Its lane is free again, if there is a place for those that get their names. */
static void move_on(struct flight *f, struct lane *l)
{
	struct lane *n;

	for (n = f->naming; n < f->naming + NAMING_MAX; n++)
		if (n->phase == PHASE_IDLE) {
			*n = *l;
			l->phase = PHASE_IDLE;
			return;
		}
}

/* It was written, or could not be. */
static void name_file(struct flight *f, struct lane *l)
{
	const unsigned int how = (l->p.request.by == RECORDER_BY_TRIGGER ? BROKER_HOOK : 0) | (f->at_end ? BROKER_SYNC_LATER : 0);
	struct broker *broker = f->r->cfg->broker;
	int err = l->written.err;

	if (err)
		drop_file(f, l);
	if (err || is_guest(&l->p)) {
		end_file(f, l, err, err == -ETIMEDOUT ? "its file system hangs" : l->why ?: "");
		return;
	}
	l->phase = PHASE_NAMING;
	err = broker_begin_publish(broker, &l->file, how, &l->call);
	if (err)
		end_file(f, l, err, broker_why(broker));
	else
		move_on(f, l);
}

static void look_at_name(struct flight *f, struct lane *l, bool wait)
{
	const int err = l->phase == PHASE_NAMING ? result_of(f, l, wait) : -EAGAIN;

	if (err != -EAGAIN)
		end_file(f, l, err, err ? broker_why(f->r->cfg->broker) : "");
}

static void look_at_window(struct flight *f)
{
	struct window_dumped d;

	while (window_dumped(f->window, &d)) {
		f->lanes[d.place].written = d;
		name_file(f, &f->lanes[d.place]);
	}
}

/* Until all gaps have ended, and what goes on, which shows up to the floor, shows up to when the trigger fired; or it is time. */
static bool postpone(struct flight *f, struct lane *l)
{
	const uint64_t now_ns = clock_ns(CLOCK_BOOTTIME);
	struct window_totals t;

	if (!l->postponed_ns) {
		window_totals(f->window, &t);
		t.held_ns /= POSTPONE_PART;
		l->postponed_ns = now_ns + (t.held_ns < POSTPONE_NS ? t.held_ns : POSTPONE_NS);
	}
	return now_ns < l->postponed_ns;
}

/* As far as it goes without waiting. */
static void step(struct flight *f, struct lane *l, const struct piece_cut *cut, bool can_cut, bool wait)
{
	if (l->phase == PHASE_IDLE && !begin(f, l, wait ? UINT64_MAX : clock_ns(CLOCK_BOOTTIME)))
		return;
	if (l->phase == PHASE_OPENING)
		open_file(f, l, wait);
	if (l->phase == PHASE_OPEN && l->is_cancelled)
		close_file(f, l, -ECANCELED, l->why ?: "");
	if (l->phase == PHASE_OPEN && (wait || (can_cut && f->r->floor_ns >= l->p.until_ns) || !postpone(f, l)))
		write_file(f, l, cut, wait);
	look_at_name(f, l, wait);
}

static void step_all(struct flight *f, const struct piece_cut *cut, bool can_cut, bool wait)
{
	struct lane *l;

	look_at_window(f);
	for (l = f->lanes; l < f->lanes + WINDOW_DUMPS; l++)
		step(f, l, cut, can_cut, wait);
	for (l = f->naming; l < f->naming + NAMING_MAX; l++)
		look_at_name(f, l, wait);
}

/* Is a lane in one of these @phases, bits of enum phase? */
static bool any_is(const struct flight *f, unsigned int phases)
{
	const struct lane *l;

	for (l = f->lanes; l < f->lanes + WINDOW_DUMPS; l++)
		if (phases >> l->phase & 1)
			return true;
	for (l = f->naming; l < f->naming + NAMING_MAX; l++)
		if (phases >> l->phase & 1)
			return true;
	return false;
}

static bool is_open(const struct flight *f)
{
	return any_is(f, 1U << PHASE_OPEN);
}

static void cancel(struct flight *f, struct lane *l, const char *why)
{
	l->is_cancelled = true;
	l->why = why;
	if (l->phase == PHASE_WRITING)
		window_cancel(f->window, (unsigned int)(l - f->lanes));
}

/* What files still need that the window has given up since is at most as much again as the window may hold. */
static void bound_memory(struct flight *f)
{
	const uint64_t bytes = f->bytes_max;
	struct window_totals t;
	struct lane *l;

	for (l = f->lanes + 1; bytes && l < f->lanes + WINDOW_DUMPS; l++) {
		if (l->phase != PHASE_WRITING)
			continue;
		window_totals(f->window, &t);
		if (t.given_up_bytes > bytes)
			cancel(f, l, "its file takes too long, and what it needs too much memory");
	}
}

int flight_round(struct flight *f, uint64_t looked_ns)
{
	const struct piece_cut cut = recorder_cut(f->r, looked_ns);
	const uint64_t complete_ns = complete_until(f, looked_ns);
	int err = look_for_triggers(f, complete_ns, looked_ns);

	f->is_asked = false;
	err = err ?: window_round(f->window, &cut, clock_ns(CLOCK_BOOTTIME));
	/* The next round tries again; if the window lacks something, so says window_add(). */
	if (err == -ENOMEM)
		err = 0;
	bound_memory(f);
	space_look(&f->space, f->r->cfg->broker);
	if (!err)
		step_all(f, &cut, (f->pending_cnt || is_open(f)) && window_can_cut(f->window, &cut), false);
	return err;
}

int flight_poll(const struct flight *f, struct pollfd *fds, int ms)
{
	/* Once it has ended it is readable for ever; its calls end with it. */
	const bool is_called = any_is(f, 1U << PHASE_OPENING | 1U << PHASE_NAMING);

	fds[0] = (struct pollfd){ .fd = window_fd(f->window), .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = is_called ? broker_fd(f->r->cfg->broker) : -1, .events = POLLIN };
	if (f->is_asked)
		return 0;
	/* One that is open waits for the end of a gap. */
	return is_open(f) && ms > ASKED_MS ? ASKED_MS : ms;
}

void flight_cancel(struct flight *f, uint32_t id)
{
	struct pending p;
	unsigned int i;

	for (i = f->pending_cnt; i--;)
		if (f->pending[i].request.by == RECORDER_BY_CLIENT && f->pending[i].request.id == id) {
			p = take_pending(f, i);
			report_unwritten(f, &p, -ECANCELED, "");
		}
	for (i = 0; i < WINDOW_DUMPS; i++)
		if (f->lanes[i].p.request.by == RECORDER_BY_CLIENT && f->lanes[i].p.request.id == id)
			cancel(f, &f->lanes[i], NULL);
}

/* ---- the end ---------------------------------------------------------------------------------------- */

static bool is_busy(const struct flight *f)
{
	return any_is(f, ~(1U << PHASE_IDLE)) || f->pending_cnt;
}

static void cancel_guests(struct flight *f)
{
	struct pending p;
	unsigned int i;

	for (i = f->pending_cnt; i--;)
		if (is_guest(&f->pending[i])) {
			p = take_pending(f, i);
			report_unwritten(f, &p, -ECANCELED, "the recording has ended");
		}
	for (i = 1; i < WINDOW_DUMPS; i++)
		cancel(f, &f->lanes[i], "the recording has ended");
}

static void give_up_pending(struct flight *f, int err)
{
	struct pending p;

	while (f->pending_cnt) {
		p = take_pending(f, 0);
		report_unwritten(f, &p, err, "");
	}
}

static void write_all(struct flight *f, const struct piece_cut *cut)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + GUESTS_END_NS;
	struct pollfd done = { .fd = window_fd(f->window), .events = POLLIN };

	for (step_all(f, cut, true, true); is_busy(f); step_all(f, cut, true, true)) {
		poll(&done, 1, END_MS);
		if (clock_ns(CLOCK_MONOTONIC) > end_ns)
			cancel_guests(f);
	}
}

int flight_end(struct flight *f, const struct piece_cut *cut)
{
	static const struct pending last = { .name = "end", .request = { .by = RECORDER_BY_END, .fd = -1 } };
	const uint64_t complete_ns = f->r->stop_ns + TRIGGER_SETTLE_NS;
	int err = look_for_triggers(f, complete_ns, complete_ns);

	/* As in any round: there may be enough for what is there. */
	if (err == -ENOMEM)
		err = 0;
	err = err ?: window_round(f->window, cut, clock_ns(CLOCK_BOOTTIME));
	if (err && err != -ENOMEM) {
		give_up_pending(f, err);
		return err;
	}
	f->at_end = true;
	write_all(f, cut);
	/* With triggers only what they found is worth a file. */
	if (!f->r->cfg->keep.triggers && !f->r->cfg->keep.no_files) {
		add_pending(f, &last);
		write_all(f, cut);
	}
	return 0;
}

bool flight_shrink(struct flight *f, uint64_t bytes)
{
	struct window_totals t;
	uint64_t left;

	window_totals(f->window, &t);
	if (t.bytes <= WINDOW_MIN_BYTES)
		return false;
	left = t.bytes > bytes + WINDOW_MIN_BYTES ? t.bytes - bytes : WINDOW_MIN_BYTES;
	if (!f->bytes_max || left < f->bytes_max) {
		f->bytes_max = left;
		window_limit(f->window, left);
	}
	return true;
}

void flight_totals(const struct flight *f, struct recorder_totals *t)
{
	t->files = f->files;
	t->bytes = f->bytes;
	t->raw_bytes = f->raw_bytes;
	t->files_late = f->files_late;
	t->dumping = any_is(f, 1U << PHASE_OPEN | 1U << PHASE_WRITING | 1U << PHASE_NAMING);
	t->paused_err = f->space.err;
	window_totals(f->window, &t->window);
}

void flight_close(struct flight *f)
{
	if (!f)
		return;
	window_close(f->window);
	free(f);
}
