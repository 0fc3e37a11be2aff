// SPDX-License-Identifier: GPL-2.0
/*
 * Scheduling in order of time: as ftrace text, as slices of CPUs or as states of threads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/track_ids.h"
#include "args.h"
#include "writer_p.h"
#include "sched.h"

#define PROCESS_CPUS	(PROCESS_GLOBAL + 1)	/* that no trace has; its threads are CPUs */
#define PRIO_NORMAL	120	/* of what has none: nice 0 */

/* ---- records ---------------------------------------------------------------------- */

/* Printable and short, as Linux's letters are. */
static bool is_letters(const struct fxt_arg *arg)
{
	size_t i;

	if (!arg || arg->type != FXT_ARG_STRING || !arg->str.len || arg->str.len > LETTERS_MAX)
		return false;
	for (i = 0; i < arg->str.len; i++)
		if (arg->str.data[i] <= ' ' || arg->str.data[i] > '~')
			return false;
	return true;
}

static const char *letter_of(enum fxt_thread_state state)
{
	switch (state) {
	case FXT_STATE_BLOCKED:
		return "S";
	case FXT_STATE_SUSPENDED:
		return "T";
	case FXT_STATE_DYING:
		return "Z";
	case FXT_STATE_DEAD:
		return "X";
	default:
		return "R";
	}
}

static void set_state(struct sched_item *item, enum fxt_thread_state state, const struct fxt_arg *linux_state)
{
	if (is_letters(linux_state))
		memcpy(item->state, linux_state->str.data, linux_state->str.len);
	else
		strcpy(item->state, letter_of(state));
}

static enum sched_mark mark_of(const struct fxt_record *rec)
{
	static const char *const names[] = {
		[SCHED_MARK_START] = "start", [SCHED_MARK_STOP] = "stop", [SCHED_MARK_GAP] = "gap",
		[SCHED_MARK_FILTER] = "filter", [SCHED_MARK_STATE] = "state", [SCHED_MARK_IMPLIED] = "implied",
	};
	const struct fxt_arg *arg = fxt_record_arg(rec, "mark");
	unsigned int i;

	if (!arg || arg->type != FXT_ARG_STRING)
		return SCHED_MARK_NONE;
	for (i = SCHED_MARK_START; i < sizeof(names) / sizeof(names[0]); i++)
		if (arg->str.len == strlen(names[i]) && !memcmp(arg->str.data, names[i], arg->str.len))
			return (enum sched_mark)i;
	return SCHED_MARK_NONE;
}

static int32_t prio_of(const struct fxt_record *rec, const char *name)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, name);

	return arg && arg->type == FXT_ARG_INT32 && arg->i32 != FXT_WEIGHT_IDLE ? arg->i32 : PRIO_NORMAL;
}

static bool is_idle(const struct fxt_record *rec, const char *name)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, name);

	return arg && arg->type == FXT_ARG_INT32 && arg->i32 == FXT_WEIGHT_IDLE;
}

static void set_switch(struct sched_item *item, const struct fxt_record *rec)
{
	const struct fxt_switch *s = &rec->context_switch;

	item->cpu = s->cpu;
	item->out = is_idle(rec, "outgoing_weight") ? 0 : s->out;
	item->in = is_idle(rec, "incoming_weight") ? 0 : s->in;
	item->out_prio = prio_of(rec, "outgoing_weight");
	item->in_prio = prio_of(rec, "incoming_weight");
	set_state(item, s->state, fxt_record_arg(rec, "linux_state"));
}

static void set_legacy_switch(struct sched_item *item, const struct fxt_record *rec)
{
	const struct fxt_legacy_switch *s = &rec->legacy_switch;

	item->cpu = s->cpu;
	item->out = s->out.thread;
	item->in = s->in.thread;
	item->out_prio = s->out_priority;
	item->in_prio = s->in_priority;
	set_state(item, s->state, NULL);
}

static void set_wakeup(struct sched_item *item, const struct fxt_record *rec)
{
	const struct fxt_arg *waker = fxt_record_arg(rec, "waker");

	item->kind = SCHED_ITEM_WAKEUP;
	item->cpu = rec->wakeup.cpu;
	item->in = rec->wakeup.thread;
	item->in_prio = prio_of(rec, "weight");
	if (waker && waker->type == FXT_ARG_KOID)
		item->out = waker->u64;
}

static int add_item(struct chrome_writer *w, const struct sched_item *item)
{
	/* How much is lost is known before the gap begins. */
	const struct event_sort_key key = {
		.group = EARLY_SCHED, .ts = item->ts_ns, .rank = item->kind != SCHED_ITEM_LOSS,
	};

	w->has_sched = true;
	return event_sort_add(w->early, key, item, sizeof(*item));
}

int chrome_sched_add(struct chrome_writer *w, const struct fxt_record *rec, uint64_t ts_ns)
{
	struct sched_item item = { .ts_ns = ts_ns, .mark = (uint8_t)mark_of(rec) };
	int err = 0;

	if (rec->kind == FXT_KIND_SWITCH) {
		set_switch(&item, rec);
	} else if (rec->kind == FXT_KIND_WAKEUP) {
		set_wakeup(&item, rec);
	} else {
		set_legacy_switch(&item, rec);
		err = write_names_thread(&w->threads, rec->legacy_switch.out);
		err = err ? err : write_names_thread(&w->threads, rec->legacy_switch.in);
	}
	return err ? err : add_item(w, &item);
}

/* The sum of what its arguments count. */
static uint64_t lost_of(const struct fxt_record *rec)
{
	/* The fourth is what the third was called before. */
	static const char *const names[] = { "switches", "wakeups", "unreported", "unseen", "lost" };
	const struct fxt_arg *arg;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		arg = fxt_record_arg(rec, names[i]);
		if (arg && arg->type == FXT_ARG_UINT64)
			sum += arg->u64;
	}
	return sum;
}

int chrome_sched_add_loss(struct chrome_writer *w, const struct fxt_record *rec, uint64_t ts_ns)
{
	const struct fxt_thread first = pseudo_thread(PSEUDO_LOST, 0);
	const struct fxt_thread *at = &rec->event.thread;
	struct sched_item item = { .ts_ns = ts_ns, .kind = SCHED_ITEM_LOSS };

	if (at->process != first.process || at->thread < first.thread || at->thread - first.thread >= PSEUDO_STEP)
		return 0;
	item.cpu = (uint16_t)(at->thread - first.thread);
	item.lost = lost_of(rec);
	return add_item(w, &item);
}

/* ---- slices and states ------------------------------------------------------------ */

/* What a CPU or a thread does, from when on. */
struct activity {
	bool known;
	uint64_t id;		/* CPU number or koid */
	uint64_t since_ns;
	uint64_t thread;	/* of a CPU */
	int32_t prio;
	uint16_t cpu;		/* of a thread */
	char state[LETTERS_MAX + 1];	/* of a thread; "" is running */
};

struct activities {
	struct map by_id;
	struct activity *all;
	size_t cnt, cap;
};

static struct activity *activity_of(struct activities *a, uint64_t id)
{
	uint32_t at = map_get(&a->by_id, id);

	if (at != MAP_NONE)
		return &a->all[at];
	if (array_reserve(a->all, a->cnt, a->cap, 1) || map_add(&a->by_id, id, (uint32_t)a->cnt))
		return NULL;
	a->all[a->cnt] = (struct activity){ .id = id };
	return &a->all[a->cnt++];
}

static void free_activities(struct activities *a)
{
	free(a->all);
	map_fini(&a->by_id);
}

static const struct write_name *name_of(const struct write_names *threads, uint64_t koid)
{
	static const struct write_name none;
	uint32_t at = map_get(&threads->by_koid, koid);

	return at == MAP_NONE ? &none : &threads->names[at];
}

/* Of a thread of which nothing but scheduling is known, the process is not. */
static uint64_t process_of(const struct chrome_writer *w, uint64_t koid)
{
	const struct write_name *name = name_of(&w->threads, koid);

	return name->has_process ? name->process : koid;
}

static int put_stretch(struct chrome_writer *w, uint64_t since_ns, uint64_t to_ns, uint64_t rank)
{
	write_buf_text(&w->line, ",\"dur\":");
	write_buf_us(&w->line, to_ns - since_ns);
	return chrome_line_end(w, since_ns, rank);
}

/* The slice of a CPU that ends here; @state: why, "" if that is not known. Nothing for the idle thread. */
static int put_cpu_slice(struct chrome_writer *w, struct activity *c, uint64_t ts_ns, const char *state)
{
	const struct write_name *name = name_of(&w->threads, c->thread);
	const struct fxt_thread at = { .process = PROCESS_CPUS, .thread = c->id };
	const struct fxt_arg args[] = {
		fxt_arg_koid("tid", c->thread), fxt_arg_koid("pid", process_of(w, c->thread)),
		fxt_arg_i32("prio", c->prio), fxt_arg_str("state", fxt_str(state)),
	};

	if (!c->known || !c->thread)
		return 0;
	chrome_line_begin(w, "X", at, c->since_ns, fxt_str("sched"), fxt_str_n(name->name, name->len));
	w->args.len = 0;
	write_args_put(&w->args, args, *state ? 4 : 3);
	return put_stretch(w, c->since_ns, ts_ns, RANK_SLICE(ts_ns - c->since_ns));
}

static int switch_cpu(struct chrome_writer *w, struct activities *cpus, const struct sched_item *item)
{
	struct activity *c;
	int err;

	if (item->kind != SCHED_ITEM_SWITCH || item->mark == SCHED_MARK_STATE)
		return 0;
	c = activity_of(cpus, item->cpu);
	if (!c)
		return -ENOMEM;
	err = put_cpu_slice(w, c, item->ts_ns, item->mark == SCHED_MARK_NONE ? item->state : "");
	*c = (struct activity){
		.known = true, .id = item->cpu, .since_ns = item->ts_ns, .thread = item->in, .prio = item->in_prio,
	};
	return err;
}

/* The state of a thread that ends here. */
static int put_state(struct chrome_writer *w, const struct activity *t, uint64_t ts_ns)
{
	const struct fxt_thread at = { .process = process_of(w, t->id), .thread = t->id };
	const struct fxt_arg cpu = fxt_arg_u32("cpu", t->cpu);

	if (!t->known || !t->id)
		return 0;
	chrome_line_begin(w, "T", at, t->since_ns, fxt_str("thread_state"), fxt_str(*t->state ? t->state : "Running"));
	w->args.len = 0;
	if (!*t->state)
		write_args_put(&w->args, &cpu, 1);
	/* One of no length is before the next one of the thread. */
	return put_stretch(w, t->since_ns, ts_ns, RANK_OTHER);
}

/* From now on the thread is in that state; NULL: it is not known. */
static int set_thread(struct chrome_writer *w, struct activities *threads, uint64_t koid, const struct sched_item *item,
		      const char *state)
{
	struct activity *t = activity_of(threads, koid);
	int err;

	if (!t)
		return -ENOMEM;
	err = put_state(w, t, item->ts_ns);
	*t = (struct activity){ .known = state != NULL, .id = koid, .since_ns = item->ts_ns, .cpu = item->cpu };
	if (state)
		strcpy(t->state, state);
	return err;
}

/* Nothing changes for one that is awake. */
static int wake_thread(struct chrome_writer *w, struct activities *threads, const struct sched_item *item)
{
	const struct activity *t = activity_of(threads, item->in);

	if (!t)
		return -ENOMEM;
	return t->known && (!*t->state || *t->state == 'R') ? 0 : set_thread(w, threads, item->in, item, "R");
}

static int switch_threads(struct chrome_writer *w, struct activities *threads, const struct sched_item *item)
{
	const bool known = item->mark == SCHED_MARK_NONE || item->mark == SCHED_MARK_STATE;
	int err;

	if (item->kind == SCHED_ITEM_LOSS)
		return 0;
	if (item->kind == SCHED_ITEM_WAKEUP)
		return wake_thread(w, threads, item);
	err = set_thread(w, threads, item->out, item, known ? item->state : NULL);
	if (err || item->mark == SCHED_MARK_STATE)
		return err;
	return set_thread(w, threads, item->in, item, "");
}

static int name_cpu(struct chrome_writer *w, uint64_t cpu)
{
	struct write_buf *b = &w->line;
	const struct event_sort_key key = { .ts = 0, .rank = RANK_UNFINISHED };

	b->len = 0;
	write_buf_printf(b, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%llu,\"tid\":%llu,\"args\":{\"name\":\"CPU %llu\"}}",
			 (unsigned long long)PROCESS_CPUS, (unsigned long long)cpu, (unsigned long long)cpu);
	return b->failed ? -ENOMEM : event_sort_add(w->lines, key, b->data, b->len);
}

static int name_cpus(struct chrome_writer *w)
{
	static const char text[] = "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%llu,\"tid\":0,\"args\":{\"name\":\"CPUs\"}}";
	const struct event_sort_key key = { .ts = 0, .rank = RANK_UNFINISHED };

	w->line.len = 0;
	write_buf_printf(&w->line, text, (unsigned long long)PROCESS_CPUS);
	return w->line.failed ? -ENOMEM : event_sort_add(w->lines, key, w->line.data, w->line.len);
}

/* What is still going on lasts to the end of the trace. */
static int end_activities(struct chrome_writer *w, struct activities *a, uint64_t ts_ns)
{
	const bool are_cpus = w->cfg.sched == CHROME_SCHED_SLICES;
	int err = are_cpus ? name_cpus(w) : 0;
	size_t i;

	for (i = 0; i < a->cnt && !err; i++) {
		if (are_cpus)
			err = name_cpu(w, a->all[i].id);
		if (err)
			break;
		err = are_cpus ? put_cpu_slice(w, &a->all[i], ts_ns, "") : put_state(w, &a->all[i], ts_ns);
	}
	return err;
}

static int write_activities(struct chrome_writer *w, struct event_sort_item *item)
{
	struct activities a = { 0 };
	struct sched_item s = { 0 };
	int got = 1, err = 0;

	while (!err && got > 0) {
		memcpy(&s, item->data, sizeof(s));
		err = w->cfg.sched == CHROME_SCHED_SLICES ? switch_cpu(w, &a, &s) : switch_threads(w, &a, &s);
		got = err ? 0 : event_sort_next(w->early, item);
	}
	err = err ? err : got;
	err = err ? err : end_activities(w, &a, s.ts_ns);
	free_activities(&a);
	return err;
}

/* ---- text ------------------------------------------------------------------------- */

static int write_text(struct chrome_writer *w, struct event_sort_item *item)
{
	struct sched_text text = { 0 };
	struct sched_item s;
	int got = 1, err = 0;

	write_buf_text(&w->out, ",\"systemTraceEvents\":\"");
	while (!err && got > 0) {
		memcpy(&s, item->data, sizeof(s));
		w->line.len = 0;
		err = sched_text_put(&text, &w->line, &w->threads, &s);
		write_buf_escaped(&w->out, w->line.data, w->line.len);
		err = err ? err : chrome_flush(w, false);
		got = err ? 0 : event_sort_next(w->early, item);
	}
	write_buf_char(&w->out, '"');
	sched_text_fini(&text);
	return err ? err : got;
}

int chrome_sched_write(struct chrome_writer *w, struct event_sort_item *item)
{
	return w->cfg.sched == CHROME_SCHED_FTRACE ? write_text(w, item) : write_activities(w, item);
}
