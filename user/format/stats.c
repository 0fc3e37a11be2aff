// SPDX-License-Identifier: GPL-2.0
/*
 * Counts of events, CPUs and threads. Tables grow with the number of different
 * names and threads, never with the number of records.
 */
#include "stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"

#define NAME_MAX_BYTES	200	/* longer event names are compared by their beginning */

struct event_stats {
	struct map names;		/* hash of a name -> index, next on a clash */
	struct event_stats_event *events;
	unsigned int events_cnt, events_cap;
	struct map tids;
	struct event_stats_thread *threads;
	unsigned int threads_cnt, threads_cap;
	struct event_stats_cpu cpus[EVENT_STATS_CPUS_MAX];
};

int event_stats_open(struct event_stats **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

/* FNV-1a */
static uint64_t hash(const char *name)
{
	uint64_t h = 14695981039346656037ULL;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 1099511628211ULL;
	return h;
}

static int count_name(struct event_stats *c, const char *name)
{
	uint64_t key = hash(name);
	uint32_t at;
	int err;

	for (; (at = map_get(&c->names, key)) != MAP_NONE; key++)
		if (!strcmp(c->events[at].name, name)) {
			c->events[at].records++;
			return 0;
		}
	err = array_reserve(c->events, c->events_cnt, c->events_cap, 1);
	err = err ? err : map_add(&c->names, key, c->events_cnt);
	if (err)
		return err;
	c->events[c->events_cnt].name = strdup(name);
	c->events[c->events_cnt].records = 1;
	return c->events[c->events_cnt++].name ? 0 : -ENOMEM;
}

/* The kernel's name of what the event is; "" for what is no record. */
static const char *fixed_name(enum ftrace_kind kind)
{
	switch (kind) {
	case FTRACE_MARKER:		return "print";
	case FTRACE_MARKER_RAW:		return "raw_data";
	case FTRACE_FUNCTION:		return "function";
	case FTRACE_FUNCTION_REPEATS:	return "func_repeats";
	case FTRACE_GRAPH_ENTRY:	return "funcgraph_entry";
	case FTRACE_GRAPH_EXIT:		return "funcgraph_exit";
	case FTRACE_GRAPH_LEAF:		return "funcgraph_entry";
	case FTRACE_STACK:		return "kernel_stack";
	case FTRACE_USER_STACK:		return "user_stack";
	default:			return NULL;
	}
}

static int count_event(struct event_stats *c, const struct ftrace_event *e)
{
	const char *prefix = e->kind == FTRACE_SYSCALL_ENTER ? "sys_enter_" :
			     e->kind == FTRACE_SYSCALL_EXIT ? "sys_exit_" : "";
	const char *fixed = fixed_name(e->kind);
	char name[NAME_MAX_BYTES + 16];
	size_t len = e->name.len < NAME_MAX_BYTES ? e->name.len : NAME_MAX_BYTES, head;
	int err;

	if (fixed) {
		err = count_name(c, fixed);
		return err || e->kind != FTRACE_GRAPH_LEAF ? err : count_name(c, "funcgraph_exit");
	}
	head = strlen(prefix);
	memcpy(name, prefix, head);
	if (len)
		memcpy(name + head, e->name.data, len);
	name[head + len] = 0;
	return count_name(c, name[0] ? name : "unknown");
}

static void count_cpu(struct event_stats *c, const struct ftrace_event *e)
{
	struct event_stats_cpu *cpu;

	if (e->cpu < 0 || e->cpu >= EVENT_STATS_CPUS_MAX)
		return;
	cpu = &c->cpus[e->cpu];
	cpu->records += e->kind == FTRACE_GRAPH_LEAF ? 2 : 1;
	if (e->clock == MODEL_CLOCK_NONE)
		return;
	if (!cpu->has_ts)
		cpu->first_ts = e->ts;
	cpu->has_ts = true;
	cpu->last_ts = e->ts;
}

static int note_thread(struct event_stats *c, const struct ftrace_event *e)
{
	struct event_stats_thread *t;
	uint32_t at;
	int err;

	if (e->tid < 0)
		return 0;
	at = map_get(&c->tids, e->tid);
	if (at == MAP_NONE) {
		at = c->threads_cnt;
		err = array_reserve(c->threads, at, c->threads_cap, 1);
		err = err ? err : map_add(&c->tids, e->tid, at);
		if (err)
			return err;
		c->threads[c->threads_cnt++] = (struct event_stats_thread){
			.tid = e->tid, .tgid = FTRACE_ID_UNKNOWN,
		};
	}
	t = &c->threads[at];
	if (e->tgid >= 0)
		t->tgid = e->tgid;
	if (e->comm.len) {
		t->name_len = e->comm.len < sizeof(t->name) ? e->comm.len : sizeof(t->name);
		memcpy(t->name, e->comm.data, t->name_len);
	}
	return 0;
}

int event_stats_add(struct event_stats *c, const struct ftrace_event *e)
{
	int err;

	if (e->kind == FTRACE_TASK_SWITCH)
		return note_thread(c, e);
	if (e->kind >= FTRACE_KIND_RECORDS)
		return 0;
	err = count_event(c, e);
	count_cpu(c, e);
	return err ? err : note_thread(c, e);
}

const struct event_stats_event *event_stats_event(const struct event_stats *c, unsigned int i)
{
	return i < c->events_cnt ? &c->events[i] : NULL;
}

const struct event_stats_thread *event_stats_thread(const struct event_stats *c, unsigned int i)
{
	return i < c->threads_cnt ? &c->threads[i] : NULL;
}

const struct event_stats_cpu *event_stats_cpu(const struct event_stats *c, unsigned int cpu)
{
	return &c->cpus[cpu];
}

void event_stats_close(struct event_stats *c)
{
	unsigned int i;

	if (!c)
		return;
	for (i = 0; i < c->events_cnt; i++)
		free((char *)c->events[i].name);
	free(c->events);
	free(c->threads);
	map_fini(&c->names);
	map_fini(&c->tids);
	free(c);
}
