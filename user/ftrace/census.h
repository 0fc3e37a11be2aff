/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What was in an input, counted: records by event, by CPU, and who appears in
 * the name column. For `kfxt convert --stats=json`; nothing else needs it.
 */
#ifndef FTRACE_CENSUS_H
#define FTRACE_CENSUS_H

#include "event.h"

#define CENSUS_CPUS_MAX	4096

struct census;

struct census_event {
	const char *name;	/* the kernel's name of it: "print", "sys_enter_openat" */
	uint64_t records;
};

struct census_cpu {
	uint64_t records;	/* 0: nothing of this CPU was seen */
	uint64_t first_ts, last_ts;	/* in the clock's unit, in file order */
	bool has_ts;
};

struct census_thread {
	int32_t tid, tgid;	/* tgid FTRACE_ID_UNKNOWN if never told */
	char name[32];		/* the last in the name column, cut; "" if never told */
	unsigned int name_len;
};

int census_open(struct census **out);
/* Counts one event. 0 or -ENOMEM. */
int census_add(struct census *c, const struct ftrace_event *event);
/* The @i'th event name or thread, in order of appearance; NULL beyond the last. */
const struct census_event *census_event(const struct census *c, unsigned int i);
const struct census_thread *census_thread(const struct census *c, unsigned int i);
const struct census_cpu *census_cpu(const struct census *c, unsigned int cpu);
/* NULL is fine. */
void census_close(struct census *c);

#endif
