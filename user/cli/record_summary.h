/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a recording came to: while it runs, at its end, and as JSON; and whether it is whole.
 */
#ifndef CLI_RECORD_SUMMARY_H
#define CLI_RECORD_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "exit.h"

struct events;
struct filter;
struct funcs;
struct recorder;

struct record_summary {
	const struct recorder *recorder;
	const char *output;		/* what its output is called */
	const uint32_t *cpus;
	unsigned int cpus_cnt;
	const struct funcs *funcs;	/* NULL: none */
	const struct events *events;
	const struct filter *filter;	/* NULL: all threads */
	bool cpus_changed;		/* some came online that were not recorded */
	bool nameless;			/* threads that ran before have no names */
};

/* A line for a terminal, over the one before. */
void record_summary_progress(const struct record_summary *s);
/* Once all has ended: to stderr, with every loss and what to do about it. */
void record_summary_print(const struct record_summary *s);
/* The ledger as one JSON object on stdout. 0 or -errno. */
int record_summary_print_json(const struct record_summary *s);
/* EXIT_OK; EXIT_PROBLEMS: something was lost; EXIT_INCOMPLETE: something asked for could not be recorded. */
enum exit_code record_summary_verdict(const struct record_summary *s);

#endif
