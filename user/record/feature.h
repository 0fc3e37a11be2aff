/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kfxt asks of the machine, each thing probed by trying it.
 */
#ifndef RECORD_FEATURE_H
#define RECORD_FEATURE_H

#include <stdbool.h>
#include <stddef.h>

struct feature {
	const char *name;	/* "tracepoint sched_switch" */
	const char *used_for;	/* what is lost without it */
	const char *remedy;	/* how to get it */
	bool required;		/* nothing can be recorded without it */
	bool (*have)(const struct feature *f, char *why, size_t size);
	const char *arg;	/* of @have */
	unsigned int number;	/* of @have */
};

/* All of them; *@cnt is how many. */
const struct feature *feature_table(unsigned int *cnt);
/* Tries it; if it is missing @why says what came back ("" where there is no more to say). */
bool feature_have(const struct feature *f, char *why, size_t size);

#endif
