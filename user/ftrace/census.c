// SPDX-License-Identifier: GPL-2.0
/*
 * Counts of events, CPUs and threads. Tables grow with the number of different
 * names and threads, never with the number of records.
 */
#include "census.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../read/map.h"

#define NAME_MAX_BYTES	200	/* longer event names are told apart by their beginning */

struct census {
	struct map names;		/* hash of a name -> index, next on a clash */
	struct census_event *events;
	unsigned int events_cnt, events_cap;
	struct map tids;
	struct census_thread *threads;
	unsigned int threads_cnt, threads_cap;
	struct census_cpu cpus[CENSUS_CPUS_MAX];
};

int census_open(struct census **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

/* Makes room for one more element. */
static int grow(void **array, unsigned int cnt, unsigned int *cap, size_t size)
{
	unsigned int bigger = *cap ? *cap * 2 : 64;
	void *p;

	if (cnt < *cap)
		return 0;
	p = realloc(*array, bigger * size);
	if (!p)
		return -ENOMEM;
	*array = p;
	*cap = bigger;
	return 0;
}

/* FNV-1a */
static uint64_t hash(const char *name)
{
	uint64_t h = 14695981039346656037ULL;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 1099511628211ULL;
	return h;
}

static int count_name(struct census *c, const char *name)
{
	uint64_t key = hash(name);
	uint32_t at;
	int err;

	for (; (at = map_get(&c->names, key)) != MAP_NONE; key++)
		if (!strcmp(c->events[at].name, name)) {
			c->events[at].records++;
			return 0;
		}
	err = grow((void **)&c->events, c->events_cnt, &c->events_cap, sizeof(*c->events));
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

static int count_event(struct census *c, const struct ftrace_event *e)
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

static void count_cpu(struct census *c, const struct ftrace_event *e)
{
	struct census_cpu *cpu;

	if (e->cpu < 0 || e->cpu >= CENSUS_CPUS_MAX)
		return;
	cpu = &c->cpus[e->cpu];
	cpu->records += e->kind == FTRACE_GRAPH_LEAF ? 2 : 1;
	if (e->clock == FTRACE_CLOCK_NONE)
		return;
	if (!cpu->has_ts)
		cpu->first_ts = e->ts;
	cpu->has_ts = true;
	cpu->last_ts = e->ts;
}

static int note_thread(struct census *c, const struct ftrace_event *e)
{
	struct census_thread *t;
	uint32_t at;
	int err;

	if (e->tid < 0)
		return 0;
	at = map_get(&c->tids, e->tid);
	if (at == MAP_NONE) {
		at = c->threads_cnt;
		err = grow((void **)&c->threads, at, &c->threads_cap, sizeof(*c->threads));
		err = err ? err : map_add(&c->tids, e->tid, at);
		if (err)
			return err;
		c->threads[c->threads_cnt++] = (struct census_thread){
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

int census_add(struct census *c, const struct ftrace_event *e)
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

const struct census_event *census_event(const struct census *c, unsigned int i)
{
	return i < c->events_cnt ? &c->events[i] : NULL;
}

const struct census_thread *census_thread(const struct census *c, unsigned int i)
{
	return i < c->threads_cnt ? &c->threads[i] : NULL;
}

const struct census_cpu *census_cpu(const struct census *c, unsigned int cpu)
{
	return &c->cpus[cpu];
}

void census_close(struct census *c)
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
