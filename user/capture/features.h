/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kfxt asks of the machine, each thing probed by trying it: for any recording, and for the
 * sources in a table.
 */
#ifndef CAPTURE_FEATURES_H
#define CAPTURE_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

struct source_ops;

struct feature {
	const char *name;	/* "tracepoint sched_switch" */
	const char *used_for;	/* what is lost without it */
	const char *remedy;	/* how to get it */
	bool required;		/* nothing can be recorded without it */
	bool locked;		/* lockdown=confidentiality takes it away */
	/* If it is missing @why says what came back. NULL: loading the programs. */
	bool (*have)(const struct feature *f, char *why, size_t size);
	const char *arg;	/* of @have */
	unsigned int number;	/* of @have */
};

/* The @i'th of all, of recordings of the sources in this table; NULL: there are no more. */
const struct feature *feature_at(const struct source_ops *const *sources, unsigned int i);
/* Tries it; if it is missing @why says what came back ("" where there is no more to say). */
bool feature_have(const struct feature *f, const struct source_ops *const *sources, char *why, size_t size);

/* For rows: opens the file @arg; the same below tracefs; a tracepoint of at least @number arguments. */
bool feature_have_file(const struct feature *f, char *why, size_t size);
bool feature_have_tracefs(const struct feature *f, char *why, size_t size);
bool feature_have_tracepoint(const struct feature *f, char *why, size_t size);

#define FEATURE_TRACEPOINT(tp, nargs, what) \
	{ .name = "tracepoint " tp, .used_for = what, .have = feature_have_tracepoint, .arg = tp, .number = nargs, \
	  .remedy = "kernel 5.18 or later with CONFIG_DEBUG_INFO_BTF=y" }

#endif
