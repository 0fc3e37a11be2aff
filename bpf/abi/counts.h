/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The classes of events that are counted, and why one may be missing: for all who count, write
 * or read counts. A count in the trace is called after both: "lost_switches".
 */
#ifndef BPF_ABI_COUNTS_H
#define BPF_ABI_COUNTS_H

/* Whose losses the trace has gaps for: X(id, name in the trace and in JSON, one, many) */
#define GAP_CLASSES(X) \
	X(SWITCHES,	"switches",	"switch",	"switches") \
	X(WAKEUPS,	"wakeups",	"wakeup",	"wakeups") \
	X(CALLS,	"calls",	"call",		"calls") \
	X(LOGS,		"logs",		"log line",	"log lines") \
	X(EVENTS,	"events",	"event",	"events")
/* Those and, drawn in no gap: */
#define EVENT_CLASSES(X) \
	GAP_CLASSES(X) \
	X(SAMPLES,	"samples",	"stack sample",	"stack samples")
#define COUNT_CLASSES(X) \
	EVENT_CLASSES(X) \
	X(NAMES,	"names",	"name",		"names")

/* Losses that the programs count themselves, among what they have seen: X(id, name) */
#define PROGRAM_LOSSES(X) \
	X(RING_FULL,	"lost") \
	X(TOO_DEEP,	"depth_exceeded")	/* calls: no place to wait for the return */ \
	X(UNRETURNED,	"unreturned")	/* calls: the return was not seen */
#define COUNT_LOSSES(X) \
	PROGRAM_LOSSES(X) \
	X(UNWRITTEN,	"write_failed")	/* drained, but the output took no more, or it was invalid */ \
	X(UNREPORTED,	"unreported")	/* the kernel ran none of our programs; found by what came next */ \
	X(SKIPPED,	"prog_skipped")	/* the same, by the kernel's count of programs it did not run */ \
	X(UNSAMPLED,	"unsampled")	/* samples that were due, for which the kernel ran none */ \
	X(UNACCOUNTED,	"unaccounted")	/* seen, and then neither drained, filtered nor lost */

#endif
