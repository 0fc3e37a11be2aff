// SPDX-License-Identifier: GPL-2.0
/*
 * Bundles hold what follows from the switches before: the outgoing thread, the waker. So the switches of a CPU
 * are made to follow each other, and times are made to differ by 1 ns where readers know no order.
 */
#include "sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/perfetto/fields.h"
#include "model/track_ids.h"

#define PRIO_NORMAL	120	/* of what has none: nice 0 */
#define TIE_NS		1000U	/* records this close are of one time, for an input of microseconds */
#define TIED_ITEMS	64U	/* looked at: of one time there are few, but for what was made to take long */
/* Threads that run while the states are read have no mark "state": that takes some us at most for each. */
#define SETTLE_NS	2000000ULL
#define SETTLE_EACH_NS	10000ULL
#define CLONE_THREAD	0x10000U

enum state_bit {
	STATE_S = 0x1, STATE_D = 0x2, STATE_T = 0x4, STATE_TRACED = 0x8, STATE_X = 0x10, STATE_Z = 0x20,
	STATE_P = 0x40, STATE_I = 0x80, STATE_PREEMPTED = 0x100,
};

void out_sched_init(struct out_cpus *s, struct out_tasks *tasks)
{
	s->tasks = tasks;
	out_queue_init(&s->queue);
}

void out_sched_fini(struct out_cpus *s)
{
	size_t i;

	for (i = 0; i < OUT_CPUS_MAX; i++) {
		if (s->cpus[i])
			out_bundle_fini(&s->cpus[i]->bundle);
		free(s->cpus[i]);
	}
	out_queue_fini(&s->queue);
}

static struct out_cpu *cpu_of(struct out_cpus *s, uint64_t cpu)
{
	if (cpu >= OUT_CPUS_MAX)
		return NULL;
	if (!s->cpus[cpu]) {
		s->cpus[cpu] = calloc(1, sizeof(*s->cpus[cpu]));
		if (s->cpus[cpu])
			s->cpus[cpu]->bundle.cpu = (uint16_t)cpu;
	}
	return s->cpus[cpu];
}

/* ---- records ---------------------------------------------------------------------- */

static uint16_t bit_of_letter(char letter, bool plus)
{
	switch (letter) {
	case 'S':
		return STATE_S;
	case 'D':
	case 'K':
		return STATE_D;
	case 'T':
		return STATE_T;
	case 't':
		return STATE_TRACED;
	case 'X':
	case 'x':
		return STATE_X;
	case 'Z':
		return STATE_Z;
	case 'P':
		return STATE_P;
	case 'I':
		return STATE_I;
	default:
		return plus ? STATE_PREEMPTED : 0;
	}
}

static uint16_t bit_of_state(enum fxt_thread_state state)
{
	switch (state) {
	case FXT_STATE_BLOCKED:
		return STATE_S;
	case FXT_STATE_SUSPENDED:
		return STATE_T;
	case FXT_STATE_DYING:
		return STATE_Z;
	case FXT_STATE_DEAD:
		return STATE_X;
	default:
		return 0;
	}
}

static uint16_t state_of(enum fxt_thread_state state, const struct fxt_arg *letters)
{
	if (!letters || letters->type != FXT_ARG_STRING || !letters->str.len)
		return bit_of_state(state);
	return bit_of_letter(letters->str.data[0], memchr(letters->str.data, '+', letters->str.len));
}

static bool is_text(const struct fxt_arg *arg, const char *text)
{
	return arg->type == FXT_ARG_STRING && arg->str.len == strlen(text) && !memcmp(arg->str.data, text, arg->str.len);
}

/* Switches that did not happen, and wakeups that were not reported: kfxt(1), "Marks". */
static enum pf_mark mark_of(const struct fxt_record *rec)
{
	static const char *const names[] = {
		[PF_MARK_START] = "start", [PF_MARK_STOP] = "stop", [PF_MARK_GAP] = "gap", [PF_MARK_FILTER] = "filter",
		[PF_MARK_STATE] = "state", [PF_MARK_IMPLIED] = "implied",
	};
	const struct fxt_arg *arg = fxt_record_arg(rec, "mark");
	unsigned int i;

	if (!arg)
		return fxt_record_arg(rec, "filtered") ? PF_MARK_FILTERED : PF_MARK_NONE;
	for (i = PF_MARK_START; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i] && is_text(arg, names[i]))
			return (enum pf_mark)i;
	return PF_MARK_NONE;
}

static int32_t weight_of(const struct fxt_record *rec, const char *name)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, name);

	return arg && arg->type == FXT_ARG_INT32 ? arg->i32 : PRIO_NORMAL;
}

static int set_switch(struct out_cpus *s, struct out_sched *item, const struct fxt_record *rec)
{
	const struct fxt_switch *sw = &rec->context_switch;
	int err;

	item->cpu = sw->cpu;
	item->out_prio = weight_of(rec, "outgoing_weight");
	item->in_prio = weight_of(rec, "incoming_weight");
	item->state = state_of(sw->state, fxt_record_arg(rec, "linux_state"));
	err = out_tasks_get(s->tasks, item->out_prio == FXT_WEIGHT_IDLE ? 0 : sw->out, &item->out);
	return err ? err : out_tasks_get(s->tasks, item->in_prio == FXT_WEIGHT_IDLE ? 0 : sw->in, &item->in);
}

static int set_legacy_switch(struct out_cpus *s, struct out_sched *item, const struct fxt_record *rec)
{
	const struct fxt_legacy_switch *sw = &rec->legacy_switch;
	int err = out_tasks_event(s->tasks, sw->out);

	err = err ? err : out_tasks_event(s->tasks, sw->in);
	item->cpu = sw->cpu;
	item->out_prio = sw->out_priority;
	item->in_prio = sw->in_priority;
	item->state = bit_of_state(sw->state);
	err = err ? err : out_tasks_get(s->tasks, sw->out.thread, &item->out);
	return err ? err : out_tasks_get(s->tasks, sw->in.thread, &item->in);
}

static int set_wakeup(struct out_cpus *s, struct out_sched *item, const struct fxt_record *rec)
{
	const struct fxt_arg *waker = fxt_record_arg(rec, "waker");
	int err = out_tasks_get(s->tasks, rec->wakeup.thread, &item->in);

	item->kind = OUT_SCHED_WAKEUP;
	item->cpu = rec->wakeup.cpu;
	item->in_prio = weight_of(rec, "weight");
	return err ? err : out_tasks_get(s->tasks, waker && waker->type == FXT_ARG_KOID ? waker->u64 : 0, &item->out);
}

int out_sched_add(struct out_cpus *s, const struct fxt_record *rec, uint64_t ts_ns)
{
	struct out_sched item = { .ts_ns = ts_ns, .ring = OUT_NO_CPU, .mark = (uint8_t)mark_of(rec) };
	int err;

	if (rec->kind == FXT_KIND_SWITCH)
		err = set_switch(s, &item, rec);
	else if (rec->kind == FXT_KIND_WAKEUP)
		err = set_wakeup(s, &item, rec);
	else
		err = set_legacy_switch(s, &item, rec);
	if (err)
		return err;
	if (item.cpu >= OUT_CPUS_MAX)
		return -ERANGE;
	if (item.mark == PF_MARK_STATE) {
		item.in = OUT_IDLE;
		item.in_prio = FXT_WEIGHT_IDLE;
		s->states_cnt++;
		s->tasks->tasks[item.out].has_state = true;
	}
	return out_queue_add(&s->queue, &item);
}

/* ---- births ----------------------------------------------------------------------- */

static uint32_t tid_of(const struct out_cpus *s, uint32_t task)
{
	return task == OUT_IDLE ? 0 : out_id(s->tasks->tasks[task].koid);
}

/* Whether it had no state when the recording began, and its first record is a wakeup, later than that. */
static bool was_born(const struct out_cpus *s, const struct out_task *t, const struct out_sched *item)
{
	return s->states_cnt && item->kind == OUT_SCHED_WAKEUP && t->has_process && !t->has_state &&
	       item->ts_ns > s->begun_ns + SETTLE_NS + s->states_cnt * SETTLE_EACH_NS;
}

/* The first record of a thread. Without its birth readers take it for the one that had its id before. */
static int appear(struct out_cpus *s, uint32_t task, const struct out_sched *item, struct out_cpu *c)
{
	struct out_task *t = &s->tasks->tasks[task];
	const uint64_t born_ns = item->ts_ns - 1;
	size_t event, birth;

	if (t->seen || task == OUT_IDLE)
		return 0;
	if (!out_is_linux(t->koid) || (out_is_first(t->koid) && !was_born(s, t, item)))
		return out_tasks_seen(s->tasks, task, s->begin_ns);
	event = out_bundle_begin_single(&c->bundle, born_ns, item->kind == OUT_SCHED_WAKEUP ? tid_of(s, item->out) : 0);
	birth = pb_begin(&c->bundle.single, PF_FTRACE_TASK_NEWTASK);
	pb_put_u64(&c->bundle.single, PF_NEWTASK_PID, out_id(t->koid));
	pb_put_string(&c->bundle.single, PF_NEWTASK_COMM, t->name.data, t->name.len);
	if (out_process_id(t) != out_id(t->koid))
		pb_put_u64(&c->bundle.single, PF_NEWTASK_FLAGS, CLONE_THREAD);
	pb_end(&c->bundle.single, birth);
	out_bundle_end_single(&c->bundle, event);
	return out_tasks_seen(s->tasks, task, item->ts_ns);
}

/* ---- switches --------------------------------------------------------------------- */

static int put_switch(struct out_cpus *s, struct out_cpu *c, const struct out_bundle_switch *sw)
{
	struct out_bundle_switch put = *sw;

	if (put.prio == FXT_WEIGHT_IDLE)
		put.prio = PRIO_NORMAL;
	c->current = put.next;
	c->switch_ns = put.ts_ns;
	c->begun = true;
	return out_bundle_switch(&c->bundle, s->tasks, &put);
}

static int put_fill_in(struct out_cpus *s, struct out_cpu *c, uint64_t ts_ns, uint32_t next, int32_t prio)
{
	return put_switch(s, c, &(struct out_bundle_switch){
		.ts_ns = ts_ns, .next = next, .prio = prio, .mark = PF_MARK_FILL_IN,
	});
}

/* Not before what readers must see first. */
static uint64_t after(uint64_t ts_ns, uint64_t other_ns)
{
	return other_ns >= ts_ns && other_ns - ts_ns < TIE_NS ? other_ns + 1 : ts_ns;
}

/*
 * The first switch of a CPU gives only its current thread: it goes to the idle thread. A thread that is switched out
 * without being switched in before runs for no time.
 */
static int put_outgoing(struct out_cpus *s, struct out_cpu *c, const struct out_sched *item, uint64_t ts_ns)
{
	int err = 0;

	if (!c->begun && (item->out != OUT_IDLE || item->in != OUT_IDLE))
		err = put_fill_in(s, c, ts_ns, OUT_IDLE, PRIO_NORMAL);
	if (err || c->current == item->out)
		return err;
	return put_fill_in(s, c, ts_ns, item->out, item->out_prio);
}

/* From the second mark of a gap on records are complete again. */
static int put_gap(struct out_cpu *c, const struct out_sched *item, struct pb_buf *out)
{
	int err;

	if (item->mark != PF_MARK_GAP)
		return 0;
	c->in_gap = !c->in_gap;
	if (c->in_gap)
		return 0;
	err = out_bundle_put(&c->bundle, out);
	c->bundle.lost = true;
	return err;
}

static void note_change(struct out_cpus *s, uint32_t task, uint16_t cpu, uint64_t ts_ns)
{
	s->tasks->tasks[task].cpu = task == OUT_IDLE ? OUT_NO_CPU : cpu;
	s->tasks->tasks[task].sched_ns = ts_ns;
}

static int take_switch(struct out_cpus *s, struct out_cpu *c, const struct out_sched *item, struct pb_buf *out)
{
	struct out_bundle_switch sw = {
		.next = item->in, .prio = item->in_prio, .prev_state = item->out == OUT_IDLE ? 0 : item->state,
		.mark = item->mark,
	};
	int err;

	if (item->mark == PF_MARK_START)
		s->begun_ns = item->ts_ns;
	err = put_gap(c, item, out);
	err = err ? err : appear(s, item->out, item, c);
	err = err ? err : appear(s, item->in, item, c);
	if (err)
		return err;
	sw.ts_ns = after(item->ts_ns < c->switch_ns ? c->switch_ns : item->ts_ns, c->waking_ns);
	if (item->in != OUT_IDLE)
		sw.ts_ns = after(sw.ts_ns, s->tasks->tasks[item->in].sched_ns);
	err = put_outgoing(s, c, item, sw.ts_ns);
	if (err)
		return err;
	note_change(s, item->out, OUT_NO_CPU, sw.ts_ns);
	note_change(s, item->in, item->cpu, sw.ts_ns);
	return put_switch(s, c, &sw);
}

/* ---- wakeups ---------------------------------------------------------------------- */

/* By name of the waker, of any time, on any CPU. */
static void put_single_waking(struct out_cpus *s, struct out_cpu *c, const struct out_sched *item, uint64_t ts_ns)
{
	const uint32_t waker = item->mark == PF_MARK_IMPLIED ? 0 : tid_of(s, item->out);
	size_t event = out_bundle_begin_single(&c->bundle, ts_ns, waker), waking;

	if (item->mark)
		pb_put_u64(&c->bundle.single, PF_FTRACE_COMMON_FLAGS, (uint64_t)item->mark << PF_FLAGS_MARK_SHIFT);
	waking = pb_begin(&c->bundle.single, PF_FTRACE_SCHED_WAKING);
	pb_put_u64(&c->bundle.single, PF_WAKING_PID, tid_of(s, item->in));
	pb_put_i64(&c->bundle.single, PF_WAKING_PRIO, item->in_prio);
	pb_put_u64(&c->bundle.single, PF_WAKING_TARGET_CPU, item->cpu);
	pb_end(&c->bundle.single, waking);
	out_bundle_end_single(&c->bundle, event);
}

static struct out_cpu *runs_waker(struct out_cpus *s, uint16_t cpu, const struct out_sched *item)
{
	struct out_cpu *c = cpu == OUT_NO_CPU ? NULL : s->cpus[cpu];

	return c && c->begun && (item->out == OUT_IDLE || c->current == item->out) ? c : NULL;
}

/*
 * The CPU in whose bundle the waker follows from the switches, or NULL. The ring may say which one; if not,
 * the thread does, where the switches of all CPUs are in order.
 */
static struct out_cpu *waker_cpu(struct out_cpus *s, const struct out_sched *item)
{
	const bool in_order = item->ts_ns <= s->queue.settled_ns || s->ended;
	struct out_cpu *c;

	if (item->mark != PF_MARK_NONE)
		return NULL;
	c = runs_waker(s, item->ring, item);
	return c || item->out == OUT_IDLE || !in_order ? c : runs_waker(s, s->tasks->tasks[item->out].cpu, item);
}

static int put_full(struct out_cpu *c, struct pb_buf *out)
{
	return c->bundle.events < OUT_BUNDLE_EVENTS ? 0 : out_bundle_put(&c->bundle, out);
}

static int take_wakeup(struct out_cpus *s, struct out_cpu *c, const struct out_sched *item, struct pb_buf *out)
{
	struct out_cpu *at = waker_cpu(s, item);
	struct out_bundle_waking waking = {
		.task = item->in, .prio = item->in_prio, .target_cpu = item->cpu,
		.flags = item->out == OUT_IDLE ? OUT_WAKING_HARDIRQ : 0,
	};
	int err = appear(s, item->in, item, at ? at : c);

	waking.ts_ns = after(item->ts_ns, s->tasks->tasks[item->in].sched_ns);
	s->tasks->tasks[item->in].sched_ns = waking.ts_ns;
	if (at)
		waking.ts_ns = after(waking.ts_ns, at->switch_ns);
	if (!at || waking.ts_ns < at->waking_ns || waking.ts_ns < at->switch_ns) {
		put_single_waking(s, c, item, waking.ts_ns);
		return err;
	}
	s->tasks->tasks[item->in].sched_ns = at->waking_ns = waking.ts_ns;
	err = err ? err : out_bundle_waking(&at->bundle, s->tasks, &waking);
	return err ? err : put_full(at, out);
}

/* Is it of the same time as the switch that implies it, which is one of the next records? */
static bool is_tied(const struct out_cpus *s, const struct out_sched *item)
{
	const size_t left = (size_t)(s->queue.items + s->queue.cnt - item);
	const struct out_sched *next, *end = item + (left < TIED_ITEMS ? left : TIED_ITEMS);

	for (next = item + 1; next < end && next->ts_ns == item->ts_ns; next++)
		if (next->kind == OUT_SCHED_SWITCH && next->in == item->in)
			return true;
	return false;
}

/* The switch was measured and keeps its time: it is the wakeup that gives way. */
static int take_implied(struct out_cpus *s, struct out_cpu *c, const struct out_sched *item, struct pb_buf *out)
{
	struct out_sched earlier = *item;

	if (earlier.ts_ns && is_tied(s, item))
		earlier.ts_ns--;
	return take_wakeup(s, c, &earlier, out);
}

int out_sched_power(struct out_cpus *s, struct pb_buf *out, unsigned int number, const struct fxt_record *rec,
		    uint64_t ts_ns)
{
	struct out_cpu *c = cpu_of(s, rec->event.id);
	size_t event, state;

	if (!c)
		return -ENOMEM;
	event = out_bundle_begin_single(&c->bundle, ts_ns, 0);
	state = pb_begin(&c->bundle.single, number);
	pb_put_u64(&c->bundle.single, PF_POWER_STATE, (uint32_t)rec->args[0].i32);
	pb_put_u64(&c->bundle.single, PF_POWER_CPU, rec->event.id);
	pb_end(&c->bundle.single, state);
	out_bundle_end_single(&c->bundle, event);
	return put_full(c, out);
}

/* ---- output ----------------------------------------------------------------------- */

static int take_item(struct out_cpus *s, const struct out_sched *item, struct pb_buf *out)
{
	struct out_cpu *c = cpu_of(s, item->cpu);
	int err;

	if (!c)
		return -ENOMEM;
	if (item->kind == OUT_SCHED_SWITCH)
		err = take_switch(s, c, item, out);
	else if (item->mark == PF_MARK_IMPLIED)
		err = take_implied(s, c, item, out);
	else
		err = take_wakeup(s, c, item, out);
	return err ? err : put_full(c, out);
}

uint64_t out_sched_replaced(const struct out_cpus *s)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < OUT_CPUS_MAX; i++)
		sum += s->cpus[i] ? s->cpus[i]->bundle.comms.replaced + s->cpus[i]->bundle.single.replaced : 0;
	return sum;
}

int out_sched_put_bundles(struct out_cpus *s, struct pb_buf *out)
{
	size_t i;
	int err = 0;

	for (i = 0; i < OUT_CPUS_MAX && !err; i++)
		err = s->cpus[i] ? out_bundle_put(&s->cpus[i]->bundle, out) : 0;
	return err;
}

int out_sched_put(struct out_cpus *s, struct pb_buf *out, bool all)
{
	size_t ready, i;
	int err;

	if (!all && !out_queue_is_due(&s->queue))
		return 0;
	s->ended = all;
	err = out_queue_sort(&s->queue, all, &ready);
	for (i = 0; i < ready && !err; i++)
		err = take_item(s, &s->queue.items[i], out);
	if (err)
		return err;
	out_queue_drop(&s->queue, ready);
	return out_sched_put_bundles(s, out);
}
