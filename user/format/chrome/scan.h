/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the events of a Trace Event JSON file, in one pass and in bounded memory, whatever is
 * wrong with it: an array or an object with traceEvents, closed or not, commas too many or too
 * few, damaged events. After a damaged event reading goes on with the next one.
 */
#ifndef FORMAT_CHROME_SCAN_H
#define FORMAT_CHROME_SCAN_H

#include "event.h"

#define CHROME_EVENT_BYTES_MAX	(16U << 20)	/* a longer event is damaged */
#define CHROME_DAMAGE_KEPT	3

struct chrome_scan;

enum chrome_form { CHROME_FORM_NONE, CHROME_FORM_ARRAY, CHROME_FORM_OBJECT };

enum chrome_item {
	CHROME_END,
	CHROME_EVENT,
	CHROME_SAMPLE,		/* an element of the array samples, split as an event is */
	CHROME_FRAME,		/* a member of the object stackFrames */
	CHROME_MEMBER,		/* of the outermost object, other than those and a traceEvents array */
};

#define CHROME_MEMBER_BYTES_MAX	(4U << 20)	/* longer ones are skipped */

/* A member of an object; texts as in the file, the scanner's until the next call. */
struct chrome_member {
	const char *name, *value;	/* the name without quotes, its end cut if it is long */
	size_t name_len, value_len;
	char first;		/* of the value: what kind it is */
	bool skipped;		/* longer than 4 MiB: there is no value */
};

struct chrome_damage {
	uint64_t offset, event;	/* in the input; number in the event list, from 1 */
	const char *reason;	/* static string */
};

/* events + empty + not_objects + damaged are the elements of the event list. */
struct chrome_scan_counts {
	enum chrome_form form;
	bool has_list;		/* an array of events was there */
	uint64_t bytes;
	uint64_t events;	/* handed out, without empty ones */
	uint64_t empty;		/* {} */
	uint64_t not_objects;	/* null, numbers, lists of no events instead of an event */
	uint64_t damaged;
	uint64_t stray_commas, missing_commas;
	uint64_t stray_bytes;	/* runs of bytes that belong to nothing */
	uint64_t members;	/* of the outermost object, handed out */
	uint64_t bad_samples;	/* elements of samples that are no objects, or damaged */
	struct chrome_damage first[CHROME_DAMAGE_KEPT];	/* of damaged events */
	/* Of the whole: NULL if nothing; static string. */
	const char *problem;
	uint64_t problem_offset, problem_event;
};

/* Bytes of the input: the number read, 0 at the end, or -errno. */
typedef long (*chrome_read_fn)(void *ctx, void *buf, size_t len);

/* Nothing is read yet. 0 or -ENOMEM. */
int chrome_scan_open(struct chrome_scan **out, chrome_read_fn read, void *ctx);
/*
 * Pieces of the string systemTraceEvents of the outermost object go there, decoded, as they are
 * read; a piece of length 0 ends the string. An error of it is returned by chrome_scan_next().
 */
typedef int (*chrome_text_fn)(void *ctx, const char *data, size_t len);
void chrome_scan_set_text(struct chrome_scan *s, chrome_text_fn fn, void *ctx);
/* The next item: enum chrome_item, or -errno of @read, -ENOMEM. Only what it is about is set: @event of
 * events and samples, @member of the others. */
int chrome_scan_next(struct chrome_scan *s, struct chrome_event *event, struct chrome_member *member);
/*
 * Hands the members of stackFrames to @take, of an input that begins with the quote of that name. 0; -EDOM: it does
 * not, or they are damaged; -ENOMEM, or -errno of @read.
 */
typedef void (*chrome_frame_fn)(void *ctx, const struct chrome_member *frame);
int chrome_scan_frames(chrome_read_fn read, void *read_ctx, chrome_frame_fn take, void *ctx);
void chrome_scan_counts(const struct chrome_scan *s, struct chrome_scan_counts *counts);
/* NULL is fine. */
void chrome_scan_close(struct chrome_scan *s);

#endif
