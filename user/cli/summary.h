/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The numbers that head the output of verify and report.
 */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include "../fxt/fxt.h"
#include "../read/timeline.h"

struct summary {
	uint64_t from_ns, duration_ns;	/* the session, or first to last event without one */
	uint64_t switches, wakeups, bytes;
	uint64_t lost_switches, lost_wakeups, lost_names;
	uint64_t unseen_switches;	/* hidden by the kernel: not lost, yet missing */
	unsigned int cpus;
	size_t threads;
};

void summary_init(struct summary *s, const struct timeline *tl,
		  const struct fxt_reader_stats *stats);
/* All that is missing. */
uint64_t summary_lost(const struct summary *s);
void summary_print_text(const struct summary *s);
/* Members of an object, without its braces. */
void summary_print_json(const struct summary *s);

#endif
