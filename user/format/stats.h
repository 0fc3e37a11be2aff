/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What was in an input, counted: records by event, by CPU, and who appears in
 * the name column. For `kfxt convert --stats=json`; nothing else needs it.
 */
#ifndef FORMAT_STATS_H
#define FORMAT_STATS_H

#include "format/ftrace/event.h"

#define EVENT_STATS_CPUS_MAX	4096

struct event_stats;

struct event_stats_event {
	const char *name;	/* the kernel's name of it: "print", "sys_enter_openat" */
	uint64_t records;
};

struct event_stats_cpu {
	uint64_t records;	/* 0: nothing of this CPU was seen */
	uint64_t first_ts, last_ts;	/* in the clock's unit, in file order */
	bool has_ts;
};

struct event_stats_thread {
	int32_t tid, tgid;	/* tgid FTRACE_ID_UNKNOWN if never known */
	char name[32];		/* the last in the name column, cut; "" if never known */
	unsigned int name_len;
};

int event_stats_open(struct event_stats **out);
/* Counts one event. 0 or -ENOMEM. */
int event_stats_add(struct event_stats *c, const struct ftrace_event *event);
/* The @i'th event name or thread, in order of appearance; NULL beyond the last. */
const struct event_stats_event *event_stats_event(const struct event_stats *c, unsigned int i);
const struct event_stats_thread *event_stats_thread(const struct event_stats *c, unsigned int i);
const struct event_stats_cpu *event_stats_cpu(const struct event_stats *c, unsigned int cpu);
/* NULL is fine. */
void event_stats_close(struct event_stats *c);

#endif
