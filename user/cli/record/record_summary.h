/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a recording came to: while it runs, at its end, and as JSON; and whether it is whole.
 */
#ifndef CLI_RECORD_SUMMARY_H
#define CLI_RECORD_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/exit.h"

struct sources;
struct filter;
struct funcs;
struct stack_source;
struct recorder;
struct triggers;

struct record_summary {
	const struct recorder *recorder;
	const char *output;		/* what its output is called */
	const uint32_t *cpus;
	unsigned int cpus_cnt;
	const struct stack_source *stacks;	/* NULL: none */
	const struct funcs *funcs;	/* NULL: none */
	const struct sources *sources;
	const struct filter *filter;	/* NULL: all threads */
	const struct triggers *triggers;	/* NULL: none */
	bool keeps;			/* what is recorded is kept in memory */
	bool is_other_format;		/* the output is not the records as FXT, compressed or not */
	bool cpus_changed;		/* some came online that were not recorded */
	bool nameless;			/* threads that ran before have no names */
};

/* A line for a terminal, over the one before. */
void record_summary_progress(const struct record_summary *s);
/* Once all has ended: to stderr, with every loss and what to do about it. */
void record_summary_print(const struct record_summary *s);
/* The ledger as one JSON object on stdout; @ctx is a struct record_summary. */
void record_summary_print_json(const void *ctx);
/* EXIT_OK; EXIT_PROBLEMS: something was lost; EXIT_INCOMPLETE: something asked for could not be recorded. */
enum exit_code record_summary_verdict(const struct record_summary *s);

#endif
