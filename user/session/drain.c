// SPDX-License-Identifier: GPL-2.0
/*
 * A recording while it runs: names come before the records that need them, and a ring is drained
 * before it is full.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "ledger.h"
#include "budget.h"
#include "base/clock.h"
#include "bpf/abi/ids.h"
#include "bpf/abi/raw.h"
#include "flight.h"
#include "ring/event_ring.h"
#include "format/perfetto/packets.h"
#include "fxt/fxt.h"
#include "gaps.h"
#include "capture/programs.h"
#include "ring/ring.h"
#include "session_p.h"
#include "capture/sources.h"
#include "capture/tasks.h"

#define EVENT_PIECES	64	/* written at once */
#define NS_PER_MS	1000000ULL

/*
 * Functions that interrupts call on an idle CPU, and what they print there, belong to its idle
 * thread; there is one to a CPU. Once is enough.
 */
int recorder_write_idle_threads(struct recorder *r)
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

/* Writes what the @i'th CPU's ring holds up to @head and gives it back. */
static int drain_ring(struct recorder *r, unsigned int i, uint64_t head)
{
	struct ring *ring = programs_ring(r->programs, i);
	int cnt = ring_pieces(ring, head, r->pieces);
	int err = cnt ? recorder_writev(r, r->pieces, cnt) : 0;

	ring_release(ring, head);
	return err;
}

/* Writes a run of finished records, which may be in several pieces. */
static int write_events(struct recorder *r, unsigned int i, struct iovec *pieces, int cnt, uint64_t calls)
{
	struct ledger_drained *drained = &ledger_drained(r->ledger, i)[LEDGER_CALLS];

	drained->taken += calls;
	drained->records += calls;
	return cnt ? recorder_writev(r, pieces, cnt) : 0;
}

static int take_raw(struct recorder *r, unsigned int i, const uint64_t *rec)
{
	struct ledger_drained *drained = &ledger_drained(r->ledger, i)[sources_class(r->cfg->sources, rec)];
	unsigned int written;
	int err = 0, failed;

	if (rec[RAW_THREAD] == IDLE_KOID(r->cfg->cpus[i]))
		err = recorder_write_idle_threads(r);
	failed = sources_decode(r->cfg->sources, rec, &written);
	drained->taken++;
	drained->records += written;
	drained->unwritten += !!failed;
	return err ?: failed;
}

/*
 * What a ring of events holds: finished records go as they lie, run by run; those
 * that are to be completed go through the writer.
 */
static int drain_events(struct recorder *r, unsigned int i, struct event_ring *ring)
{
	struct iovec pieces[EVENT_PIECES];
	const uint64_t *rec, *next = NULL;
	uint64_t runs = 0;
	int cnt = 0, err = 0;

	while ((rec = event_ring_next(ring))) {
		size_t bytes = FXT_GET(*rec, FXT_F_SIZE) * 8;

		if (FXT_GET(*rec, FXT_F_TYPE) == RAW_TYPE) {
			err = take_raw(r, i, rec) ?: err;
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
	event_ring_release(ring);
	return err;
}

/* The event ring of the @i'th CPU, and those of sources that have their own. */
static int drain_all_events(struct recorder *r, unsigned int i)
{
	struct event_ring *ring = programs_event_ring(r->programs, i);
	int err = ring ? drain_events(r, i, ring) : 0;
	unsigned int kind = 0;

	while ((ring = sources_ring(r->cfg->sources, &kind, i)))
		err = drain_events(r, i, ring) ?: err;
	return err;
}

static void look_at_events(struct recorder *r, unsigned int i)
{
	struct event_ring *ring = programs_event_ring(r->programs, i);
	unsigned int kind = 0;

	if (ring)
		event_ring_look(ring);
	while ((ring = sources_ring(r->cfg->sources, &kind, i)))
		event_ring_look(ring);
}

/* The trace has it on the recorder's thread, where its own switches show the same. */
static int write_late_drain(struct recorder *r, const struct late_span *span)
{
	const struct fxt_arg args[] = {
		fxt_arg_str("cause", fxt_str(late_cause_name(span->cause))),
		fxt_arg_u64(span->at_most ? "at_most_ns" : "ns", span->ns),
	};

	return ledger_write_event(r->w, "late_drain", clock_ns(CLOCK_BOOTTIME), args, 2);
}

/* Were records lost since the last look, and why? */
static int look_for_losses(struct recorder *r)
{
	struct late_span span;
	uint64_t lost = 0;
	unsigned int i;

	for (i = 0; i < r->cfg->cpus_cnt; i++)
		lost += lateness_lost(programs_ring(r->programs, i)->ctl);
	span = lateness_look(&r->late, recorder_output_time(r), lost != r->lost);
	r->lost = lost;
	return span.cause ? write_late_drain(r, &span) : 0;
}

/* Before the heads are: what a gap that has ended since hides is in the ring. */
static void look_at_cpus(struct recorder *r)
{
	unsigned int i;

	for (i = 0; i < r->cfg->cpus_cnt; i++) {
		const struct cpu_ctl *ctl = programs_ring(r->programs, i)->ctl;

		r->looks[i] = (struct cpu_look){ __atomic_load_n(&ctl->gap_ns, __ATOMIC_ACQUIRE), ctl->hidden };
	}
}

/*
 * One round. A thread's name is sent before its first record is written, so the
 * heads are taken before the names and what lies before them is written after.
 * Once the output fails, the rings are emptied all the same, to count what is lost.
 */
int recorder_drain(struct recorder *r, bool with_names)
{
	uint64_t heads[r->cfg->cpus_cnt];
	unsigned int i;
	int err = sources_before_look(r->cfg->sources, clock_ns(CLOCK_BOOTTIME));

	look_at_cpus(r);
	recorder_look_for_others(r);
	gaps_look(r->gaps);
	err = look_for_losses(r) ?: err;
	for (i = 0; i < r->cfg->cpus_cnt; i++)
		heads[i] = ring_head(programs_ring(r->programs, i));
	for (i = 0; i < r->cfg->cpus_cnt; i++)
		look_at_events(r, i);
	err = sources_after_look(r->cfg->sources) ?: err;
	if (with_names)
		err = tasks_drain(r->tasks) ?: err;
	if (!err && with_names && r->packets)
		err = packets_flush(r->packets);
	err = err ?: fxt_writer_flush(r->w);
	for (i = 0; i < r->cfg->cpus_cnt; i++) {
		err = drain_ring(r, i, heads[i]) ?: err;
		err = drain_all_events(r, i) ?: err;
		if (!err)
			err = gaps_write(r->gaps, i, r->cfg->cpus[i], programs_ring(r->programs, i)->ctl, r->cfg->sources);
		/* A flood of calls takes long to write, and the metadata ring is small. */
		if (with_names && !err)
			err = tasks_drain(r->tasks);
	}
	err = sources_poll(r->cfg->sources, clock_ns(CLOCK_BOOTTIME), false) ?: err;
	err = err ?: recorder_write_late(r, clock_ns(CLOCK_BOOTTIME), false);
	return recorder_flush_output(r) ?: err;
}

/* Reads /proc in steps and keeps the rings from filling between them. */
static int scan(struct recorder *r)
{
	int more, err = 0;

	r->names_lost = programs_names_lost(r->programs);
	do {
		more = tasks_scan(r->tasks);
		err = more < 0 ? more : recorder_drain(r, false);
	} while (!err && more);
	return err;
}

int recorder_scan_if_needed(struct recorder *r)
{
	return programs_names_lost(r->programs) > r->names_lost ? scan(r) : 0;
}

/* What a round is for, beside the time. */
enum {
	FD_STOP,
	FD_NAMES,
	FD_TICK,
	FD_FLIGHT,
	FD_SOURCES = FD_FLIGHT + FLIGHT_FDS,
	FD_CNT = FD_SOURCES + RAW_KIND_CNT,
};

/* Who asks again and again does not have all of our time. 0 or -errno. */
static int wait_for_round(struct recorder *r, struct pollfd *fds, int tick_fd)
{
	const bool was_asked = clock_ns(CLOCK_BOOTTIME) - r->asked_ns < ASKED_MS * NS_PER_MS;
	int ms = was_asked ? ASKED_MS : FLUSH_MS;

	fds[FD_TICK].fd = was_asked ? -1 : tick_fd;
	if (r->flight)
		ms = flight_poll(r->flight, fds + FD_FLIGHT, ms);
	if (poll(fds, FD_SOURCES + sources_fds(r->cfg->sources, fds + FD_SOURCES), ms) < 0)
		return errno == EINTR ? 0 : -errno;
	if (fds[FD_TICK].revents)
		r->asked_ns = clock_ns(CLOCK_BOOTTIME);
	return 0;
}

static int drain_until(struct recorder *r, int stop_fd, int tick_fd, void (*tick)(void *ctx), void *ctx)
{
	struct pollfd fds[FD_CNT] = {
		[FD_STOP] = { .fd = stop_fd, .events = POLLIN },
		[FD_NAMES] = { .fd = tasks_fd(r->tasks), .events = POLLIN },
		[FD_TICK] = { .fd = -1, .events = POLLIN },
		[FD_FLIGHT] = { .fd = -1 }, [FD_FLIGHT + 1] = { .fd = -1 },
	};
	int err = output_time_init() ?: scan(r);
	uint64_t looked_ns;

	while (!err) {
		err = wait_for_round(r, fds, tick_fd);
		if (err)
			return err;
		looked_ns = clock_ns(CLOCK_BOOTTIME);
		urgency_beat(r->cfg->urgency, looked_ns);
		err = recorder_drain(r, true);
		if (fds[FD_STOP].revents)
			break;
		err = err ?: recorder_rotate(r, looked_ns);
		err = err ?: budget_look(r->budget);
		if (tick)
			tick(ctx);
	}
	return err;
}

int recorder_run(struct recorder *r, int stop_fd, int tick_fd, void (*tick)(void *ctx), void *ctx)
{
	int err;

	urgency_until(r->cfg->urgency, stop_fd);
	err = drain_until(r, stop_fd, tick_fd, tick, ctx);
	urgency_end(r->cfg->urgency);
	return err;
}
