/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sources that -e knows by a word: what each is, what it needs, and its BPF programs.
 */
#ifndef RECORD_SOURCES_H
#define RECORD_SOURCES_H

#include <stdbool.h>

enum source_id {
	SOURCE_LOG,
	SOURCE_MARKER,
	SOURCE_SIGNAL, SOURCE_MIGRATE,
	SOURCE_IRQ,
	SOURCE_WORKQUEUE,
	SOURCE_POWER,
	SOURCE_BLOCK,
	SOURCE_PSI,
	SOURCE_SYSCALLS,
	SOURCE_CNT
};

#define SOURCE_PARTS_MAX	10

/* A tracepoint it cannot do without, with so many arguments. */
struct source_tracepoint {
	const char *name;
	unsigned int nargs;
};

struct source {
	const char *name;		/* as for -e */
	const char *about;		/* one line of kfxt list --presets */
	const char *shows;		/* the next: what it becomes in the trace */
	bool by_default;
	struct source_tracepoint tracepoints[SOURCE_PARTS_MAX];
	const char *file;		/* it cannot do without, either */
	const char *programs[SOURCE_PARTS_MAX];	/* loaded if it is wanted, else not */
	const char *events[SOURCE_PARTS_MAX];	/* a shorter word for these, "SYSTEM:GLOB" */
	const char *optional[SOURCE_PARTS_MAX];	/* the same, where the kernel has the tracepoint: "on_" before it */
	const char *maps[SOURCE_PARTS_MAX];	/* of these programs alone: made if it is wanted */
};

extern const struct source sources[SOURCE_CNT];

/* The tracepoint or the file (a path) that this kernel lacks and @source needs; NULL: none. */
const char *source_lacks(const struct source *source);

#endif
