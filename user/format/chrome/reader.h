/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace Event JSON as events of the model, each phase by its meaning. Three passes: through the
 * file, where names are handed on and all else is put in order of time; in that order, where
 * begins and ends become slices; and through the slices and all else in order of their begins.
 */
#ifndef FORMAT_CHROME_READER_H
#define FORMAT_CHROME_READER_H

#include "ahead.h"
#include "args.h"
#include "scan.h"

struct builder;
struct chrome_reader;

/* What an event became. Each is in exactly one count. */
enum chrome_fate {
	CHROME_AS_SLICE, CHROME_AS_ASYNC, CHROME_AS_COUNTER, CHROME_AS_INSTANT, CHROME_AS_FLOW,
	CHROME_AS_NAME, CHROME_AS_SAMPLE, CHROME_AS_STATE,
	CHROME_AS_MARK,		/* an instant of V v c ( ) */
	CHROME_NOT_CONVERTED,	/* phases without a meaning here; by_phase has them */
	CHROME_NO_PHASE, CHROME_NO_TIME, CHROME_BAD_TIME, CHROME_BAD_DURATION, CHROME_NEGATIVE_DURATION,
	CHROME_NO_ID, CHROME_NO_NUMBER,	/* of a counter */
	CHROME_BEGUN_TWICE,	/* S of an id that is open */
	CHROME_FATES
};

#define CHROME_UNUSED_KEPT	3

#define CHROME_UNUSABLE	CHROME_NO_PHASE	/* the first of the fates of what cannot be used */

#define CHROME_SKIPPED_KEPT	3

/* A member of the outermost object; of its name what is printable ASCII, the rest as ? */
struct chrome_skipped {
	char name[32];	/* cut; empty: there is none */
};

/* The sum of fates is scan.events. */
struct chrome_counts {
	struct chrome_scan_counts scan;
	struct chrome_args_counts args;
	uint64_t fates[CHROME_FATES];
	uint64_t by_phase[128];	/* of ASCII; others at 127; 0: none */
	uint64_t not_converted[128];
	uint64_t handed_on;	/* events of the model: a pair is one, a state may be two */
	uint64_t unmatched_begins, unmatched_ends;	/* of slices; X without a duration is a begin */
	uint64_t duplicate_members, dropped_members;
	uint64_t not_numbers;	/* series of counters */
	uint64_t empty_names;	/* events that are to name a thread and do not, or to order it */
	uint64_t members_used;		/* of the outermost object: they have been read */
	struct chrome_skipped skipped[CHROME_SKIPPED_KEPT];	/* of the others the first */
	uint64_t listed_samples, bad_samples;	/* of the member samples; without a time or a thread */
	uint64_t profile_samples;	/* of V8 */
	uint64_t overflows;	/* of buffers of the recorder: events are missing */
	uint64_t dropped_frames;	/* of stacks and profiles: damaged, or no space */
	uint64_t early_flow_ends;	/* more than can wait for their slice: at their own times */
	uint64_t shifted_s;	/* all times are shown so much later, as the first is negative */
	uint64_t cut_lists;	/* stacks that lost frames, lists of categories that lost some */
	int64_t clock_offset_ns;	/* events are shown so much later, on the clock of the text */
	unsigned int runs;	/* of the temporary file */
	struct {
		uint64_t event;	/* number in the event list, from 1 */
		const char *reason;	/* static string */
	} first_unused[CHROME_UNUSED_KEPT];
	const char *looks_like;	/* what an object without traceEvents seems to be: static string, or NULL */
};

/* "no time": for messages, of the unusable fates. */
const char *chrome_fate_name(enum chrome_fate fate);

/* Nothing is read yet; borrows @b. 0 or -ENOMEM. */
int chrome_reader_open(struct chrome_reader **out, chrome_read_fn read, void *ctx, struct builder *b);
/* As chrome_scan_set_text(). */
void chrome_reader_set_text(struct chrome_reader *r, chrome_text_fn fn, void *text_ctx);
/* A moment of that text, by its own clock. */
struct chrome_sync {
	int64_t text_ns;
	int64_t events_ns;	/* by the clock of the events */
	const char *id;		/* else, not NULL: what an event c calls it; borrowed for the call */
	size_t id_len;
};

/*
 * Events are shown on the clock of the text: by the first moment of which an event c says when it was, else
 * by the first one that says it itself. Only before the end of the input, and if none was played already.
 */
void chrome_reader_add_sync(struct chrome_reader *r, const struct chrome_sync *sync);
/*
 * The input can be read twice: events are played while it is read, as far as no earlier ones follow. Before
 * the first chrome_reader_read(). 0, or -errno of @read_at.
 */
int chrome_reader_look_ahead(struct chrome_reader *r, chrome_read_at_fn read_at, void *ctx);
/* For tests: the most bytes of events that are kept in memory before the temporary files are used. */
void chrome_reader_set_memory(struct chrome_reader *r, size_t bytes);
/*
 * Nothing is played while it is held: chrome_reader_read() returns 0 at the end of the input, and goes on
 * when it is held no more. For a text that may follow.
 */
void chrome_reader_hold(struct chrome_reader *r, bool is_held);
/* Reads a piece: 1, 0 when that was the last, or -errno of the input, the builder or the temporary file. */
int chrome_reader_read(struct chrome_reader *r);
void chrome_reader_counts(const struct chrome_reader *r, struct chrome_counts *counts);
/* Adds those of another part of the input; where there is one only, or a place in the part, the first one counts. */
void chrome_counts_add(struct chrome_counts *sum, const struct chrome_counts *c);
/* NULL is fine. */
void chrome_reader_close(struct chrome_reader *r);

#endif
