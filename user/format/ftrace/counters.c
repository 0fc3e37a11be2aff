// SPDX-License-Identifier: GPL-2.0
/*
 * Counters. Viewers show one for each process, name, argument and id: what is the
 * machine's belongs to a process made for it.
 */
#include "import_p.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bpf/abi/ids.h"

#define EXIT_IDLE	4294967295LL	/* what cpu_idle prints for "not idle": (u32)-1 */

/*
 * @value: keys of the numbers, of one letter's difference if several, "" of the word after the label; @instance:
 * key of a number that distinguishes counters; @label: key of a name that does.
 */
#define ROW(name, value, instance, label) { name, NULL, on_counter, value, instance, label }

const struct handler counter_handlers[] = {
	ROW("cpu_idle", "state", "cpu_id", NULL),
	ROW("cpu_frequency", "state", "cpu_id", NULL),
	ROW("cpu_frequency_limits", "min max", "cpu_id", NULL),
	ROW("power_start", "state", "cpu_id", NULL),
	ROW("power_frequency", "state", "cpu_id", NULL),
	ROW("gpu_frequency", "state", "gpu_id", NULL),
	ROW("clock_set_rate", "state", NULL, ""),
	ROW("clock_enable", "state", NULL, ""),
	ROW("clock_disable", "state", NULL, ""),
	ROW("clk_set_rate", "", NULL, ""),
	ROW("thermal_temperature", "temp", "id", "thermal_zone"),
	ROW("cdev_update", "target", NULL, "type"),
	ROW("rss_stat", "size", NULL, "type"),
	ROW("rss_stat_throttled", "size", NULL, "type"),
	ROW("memory_bus_usage", "bw_total", NULL, "bus"),
	ROW("gpu_mem_total", "size", "pid", NULL),
	ROW("ion_heap_grow", "total_allocated", NULL, "heap_name"),
	ROW("ion_heap_shrink", "total_allocated", NULL, "heap_name"),
	ROW("ion_stat", "total_allocated", NULL, NULL),
	ROW("dma_heap_stat", "total_allocated", NULL, NULL),
	ROW("oom_score_adj_update", "oom_score_adj", NULL, NULL),
	ROW("pelt_cfs", "load util", "cpu", NULL),
	ROW("sched_util_est_cpu", "enqueued", "cpu", NULL),
	ROW("sugov_util_update", "util", "cpu", NULL),
	{ 0 },
};

/* A number, without the unit after it: "8192B". */
static bool find_value(const struct ftrace_event *ev, const char *key, size_t len, int64_t *v)
{
	struct model_text value;
	char name[32];

	if (len >= sizeof(name))
		return false;
	memcpy(name, key, len);
	name[len] = 0;
	if (!text_find(ev->args, name, &value) || !value.len)
		return false;
	if (!ev->complete && value.data + value.len == ev->args.data + ev->args.len)
		return false;
	if (value.data[value.len - 1] == 'B')
		value.len--;
	return text_int(value, v);
}

/* The first word: "NAME state=1 cpu_id=0". */
static struct model_text first_word(struct model_text text)
{
	const char *blank = memchr(text.data, ' ', text.len);

	if (blank)
		text.len = (size_t)(blank - text.data);
	return memchr(text.data, '=', text.len) ? (struct model_text){ 0 } : text;
}

static struct fxt_arg value_arg(struct fxt_str name, int64_t v)
{
	struct fxt_arg arg = v >= INT32_MIN && v <= INT32_MAX ? fxt_arg_i32("", (int32_t)v) :
								fxt_arg_i64("", v);

	arg.name = name;
	return arg;
}

/* The number of each key, up to the next blank of @keys; how many, 0 if one is missing. */
static unsigned int find_values(const struct record *r, struct fxt_arg *args, unsigned int max)
{
	const char *key = r->kind->handler->value;
	unsigned int n = 0;
	size_t len;
	int64_t v;

	for (; n < max && *key; key += len + (key[len] == ' ')) {
		len = strcspn(key, " ");
		if (!find_value(r->ev, key, len, &v))
			return 0;
		if (v == EXIT_IDLE && r->kind->name.len == 8)
			v = -1;
		args[n++] = value_arg(fxt_str_n(key, len), v);
	}
	return n;
}

/* "NAME 1000000" */
static unsigned int find_rate(const struct ftrace_event *ev, struct fxt_arg *arg)
{
	const char *blank = memchr(ev->args.data, ' ', ev->args.len);
	struct model_text rest;
	int64_t v;

	if (!blank || !ev->complete)
		return 0;
	rest = (struct model_text){ blank + 1, ev->args.len - (size_t)(blank + 1 - ev->args.data) };
	if (!text_int(rest, &v))
		return 0;
	*arg = value_arg(fxt_str(""), v);
	return 1;
}

/* Android prints "size=.. member=0", the kernel "type=MM_ANONPAGES size=8192B". */
static bool find_label(const struct record *r, struct model_text *label)
{
	const char *key = r->kind->handler->label;

	if (!*key)
		*label = first_word(r->ev->args);
	else if (!text_find(r->ev->args, key, label) &&
		 !text_find(r->ev->args, "member", label) && !text_find(r->ev->args, "name", label))
		return false;
	return label->len > 0;
}

void memories_fini(struct ftrace_import *im)
{
	map_fini(&im->memories.by_id);
	free(im->memories.owners);
}

/* 0 or -ENOMEM. */
static int keep_owner(struct memories *m, uint64_t id, uint64_t koid)
{
	const uint32_t i = map_get(&m->by_id, id);

	if (i != MAP_NONE) {
		m->owners[i] = koid;
		return 0;
	}
	if (m->cnt == MEMORIES_MAX)
		return 0;
	if (array_reserve(m->owners, m->cnt, m->cap, 1) || map_add(&m->by_id, id, m->cnt))
		return -ENOMEM;
	m->owners[m->cnt++] = koid;
	return 0;
}

/* NULL: not known, or it is not there any more. */
static const struct thread *find_owner(struct builder *b, const struct memories *m, uint64_t id)
{
	const uint32_t i = map_get(&m->by_id, id);
	const struct thread *t = i == MAP_NONE ? NULL : thread_find(b, (int32_t)(m->owners[i] % ID_GENERATION_STEP));

	return t && t->koid == m->owners[i] ? t : NULL;
}

/* Of rss_stat: without either number it is the thread's; of another's memory who had it before. */
static int memory_owner(struct builder *b, const struct record *r, const struct thread **t)
{
	struct memories *m = &r->im->memories;
	int64_t id, curr;
	const bool is_said = text_find_int(r->ev, "curr", &curr);

	*t = is_said && !curr ? NULL : r->t;
	if (!is_said || !text_find_int(r->ev, "mm_id", &id))
		return 0;
	if (curr && r->t && r->t != b->idle)
		return keep_owner(m, (uint64_t)id, r->t->koid);
	if (!curr)
		*t = find_owner(b, m, (uint64_t)id);
	return 0;
}

/* The thread whose process has it: that it says, else that of the event, if its memory is it; NULL: the machine's. */
static int thread_of(struct builder *b, const struct record *r, const struct thread **t)
{
	int64_t n;

	*t = NULL;
	if (text_is(r->ev->name, "rss_stat") || text_is(r->ev->name, "rss_stat_throttled"))
		return memory_owner(b, r, t);
	if (text_is(r->ev->name, "oom_score_adj_update"))
		*t = text_find_int(r->ev, "pid", &n) && n > 0 && n <= INT32_MAX ? thread_get(b, (int32_t)n) : r->t;
	return 0;
}

static int find_place(struct builder *b, const struct record *r, struct fxt_thread *at)
{
	const struct thread *t;
	int err = thread_of(b, r, &t);

	*at = (struct fxt_thread){ .process = PROCESS_COUNTERS, .thread = PROCESS_COUNTERS };
	if (t && t->process)
		*at = (struct fxt_thread){ .process = t->process, .thread = t->koid };
	else
		b->counted = true;
	return err;
}

int on_counter(struct builder *b, const struct record *r)
{
	const struct handler *h = r->kind->handler;
	struct fxt_event e = {
		.type = FXT_COUNTER, .ts = r->ts, .name = r->kind->name, .category = r->kind->category,
	};
	struct model_text label;
	struct fxt_arg args[2];
	unsigned int n;
	int64_t id;
	int err;

	n = *h->value ? find_values(r, args, 2) : find_rate(r->ev, args);
	if (!n)
		return OUT_OTHER;
	if (h->label) {
		if (!find_label(r, &label))
			return OUT_OTHER;
		args[0].name = build_str(b, label);
	}
	if (h->instance) {
		if (!text_find_int(r->ev, h->instance, &id))
			return OUT_OTHER;
		e.id = (uint64_t)id;
	}
	err = find_place(b, r, &e.thread);
	err = err ? err : build_event(b, &e, args, n);
	return err ? err : OUT_COUNTER;
}
