/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the description of a source, struct source_ops, is made of.
 */
#ifndef CAPTURE_SOURCE_PARTS_H
#define CAPTURE_SOURCE_PARTS_H

#include <limits.h>
#include <stdint.h>

struct feature;

#define SOURCE_PARTS_MAX	12

/* A required tracepoint that has at least so many arguments. */
struct source_tracepoint {
	const char *name;
	unsigned int nargs;
};

#define SOURCE_WHY_BYTES	160

/* A source that did not record from the beginning on. */
struct source_late {
	const char *name;
	uint64_t since_ns;		/* CLOCK_BOOTTIME; 0: it does not record */
	char why[SOURCE_WHY_BYTES];	/* then: what it waits for, or what failed */
};

/* A system call, or only those of which the bits of @mask of an argument are @value. */
struct source_call {
	int call;		/* SCMP_SYS(NAME) of <seccomp.h> */
	unsigned int arg;
	uint64_t mask, value;	/* 0: any */
};
#define SOURCE_LAST_CALL	INT_MIN

#define SOURCE_NEEDS_MAX	2

/* An option of kfxt record that selects a source, or a part of it, without a word for -e. */
struct source_option {
	const char *name;		/* without "--"; NULL: the end of a table */
	const char *about, *shows;	/* lines of kfxt list --presets, as below */
	const struct feature *needs[SOURCE_NEEDS_MAX];	/* the first that the kernel has */
	const char *without;		/* what there is without any of them; NULL: nothing */
};

#endif
