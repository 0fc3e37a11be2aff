/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the reader knows while it reads a trace.
 */
#ifndef FORMAT_CHROME_STATE_P_H
#define FORMAT_CHROME_STATE_P_H

#include "ahead.h"
#include "each.h"
#include "frames.h"
#include "item.h"
#include "model/builder.h"
#include "model/id_table.h"
#include "order.h"
#include "queue.h"
#include "reader.h"

#define NAME_MAX_BYTES	4096U	/* of an event; the builder cuts shorter */
#define CATEGORY_BYTES	1024U
#define CACHED_TRACKS	1024U
#define HELD_MAX	1024U	/* flow ends that wait for a slice */
#define HELD_BYTES_MAX	(1U << 20)	/* of these */
#define BOUND_MAX	256U	/* arrows to slices that wait for the slice of the same time that they are from */
#define OPEN_BYTES_MAX	(8U << 20)	/* of slices that are open at one time */
#define STREAM_BYTES	(16U << 20)	/* of events that are kept before the temporary file is needed */

/* What a record of the order is. */
enum record_kind {
	RECORD_EVENT,
	RECORD_STATE_END,	/* has no text */
	RECORD_BEGIN, RECORD_END, RECORD_ASYNC_BEGIN, RECORD_ASYNC_END,	/* before they are paired */
	RECORD_PAIR,		/* struct pair_head, begin, a quote, end */
	RECORD_OPEN,		/* a begin without an end */
	RECORD_UNMATCHED,	/* an end without a begin */
	RECORD_METADATA,	/* is last in order, though it is shown where the trace begins */
	RECORD_MEMBER,		/* the same, and only if something has a time */
};

/* Where the reading is. */
enum reader_pass {
	PASS_INPUT,
	PASS_READ,		/* to the end */
	PASS_PAIRS, PASS_ORDER,	/* of what did not fit in memory */
	PASS_ENDED,
};

struct pair_head {
	int64_t duration_ns;
	uint32_t begin_len, end_len;	/* end_len 0: there is nothing in the end */
};

/* Ranks of what has the same time: slices, longer ones first, then the rest, then n, which is in a slice; flows last. */
#define RANK_FIRST	0ULL
#define RANK_BEGIN(duration_ns)	(1 + (uint64_t)(INT64_MAX - (duration_ns)))
#define RANK_OTHER	(UINT64_MAX - 4)
#define RANK_INSIDE	(UINT64_MAX - 3)
#define RANK_FLOW_BEGIN	(UINT64_MAX - 2)
#define RANK_FLOW_STEP	(UINT64_MAX - 1)
#define RANK_FLOW_END	UINT64_MAX

/* An id as it is written, followed by zeros. */
struct cached_id {
	uint64_t words[2];
	uint32_t kind;		/* type and length; 0: there is none */
};

/* The track of an event by the text of its ids. */
struct cached_track {
	uint32_t track, process;	/* 0: none */
	struct cached_id pid, tid;
};

struct bound_step;
struct open_slice;
struct v8_profile;

/* What is kept in memory. */
struct stream {
	struct item_store store;
	struct queue by_time;	/* as they are in the file */
	struct queue order;	/* begins and ends paired */
	struct open_node **open;	/* by track: the innermost */
	struct id_table asyncs;		/* by id: the last begun */
	struct id_table names;		/* of both, where many are open */
	size_t open_cap;
	struct kept_item *oldest, *youngest;	/* open slices of all tracks */
	size_t bytes_max;
	int64_t played_ns;	/* all before this was played */
	bool ended;		/* the rest is in the temporary files, or there is none */
};

/* An event to be played; @event and @end are NULL where there is none. */
struct play_item {
	enum record_kind kind;
	uint32_t track;
	int64_t ts_ns, duration_ns;	/* duration below 0: it has none */
	const struct chrome_event *event, *end;
};

/* A moment that has a name. */
struct named_moment {
	uint64_t id;
	int64_t ns;
};

#define MOMENTS_MAX	64U

/* What ties the clock of the events to that of the text. */
struct clock_syncs {
	struct named_moment events[MOMENTS_MAX], text[MOMENTS_MAX];
	unsigned int events_cnt, text_cnt;
	bool has_offset;
	int64_t offset_ns;	/* of the text, by its own word */
};

/* A flow end that binds to the next slice of its track. */
struct held_flow {
	uint32_t track, len;
	uint64_t id;
	int64_t ts_ns;
	char *text;		/* the event, and CHROME_PAD_BYTES */
};

/* Of a track, as they are shown; below 0: there was none. */
struct track_times {
	int64_t state_ns;	/* of its last thread state */
	int64_t slice_ns;	/* of the last slice, if there are flows */
};

struct chrome_reader {
	struct builder *builder;
	struct chrome_scan *scan;
	struct ahead *ahead;		/* NULL: the input is read once */
	uint64_t play_at;		/* the place in the input from which on to look at it again */
	struct stream stream;
	struct chrome_order *by_time;	/* the same when that is full; NULL before, and after the second pass */
	struct chrome_order *order;	/* begins and ends paired */
	struct chrome_args *args;
	struct chrome_counts counts;
	enum reader_pass pass;
	bool is_held;			/* in PASS_READ */
	int64_t first_ns, shift_ns;	/* least time of all */
	bool has_time;
	struct clock_syncs syncs;
	struct cached_track cache[CACHED_TRACKS];
	struct open_node **open;	/* by track: the innermost */
	struct id_table asyncs;		/* by id: the last begun */
	struct id_table names;		/* of both, where many are open */
	size_t open_cap, open_bytes;	/* bytes: of both */
	struct held_flow held[HELD_MAX];
	unsigned int held_cnt;
	size_t held_bytes;
	uint64_t held_ids;	/* how many there have been */
	struct bound_step *bound[BOUND_MAX];	/* all of one time */
	unsigned int bound_cnt;
	struct chrome_event held_event;	/* the one that is released */
	struct id_table begun;		/* ids of S that are open: a set */
	struct track_times *times;	/* by track */
	size_t times_cap;
	bool has_frames;	/* they were read before the events */
	struct chrome_frames frames;	/* of stackFrames, and of all profiles */
	struct profile_frame stack[CHROME_DEPTH_MAX];	/* of the sample at hand */
	struct v8_profile *profiles;
	size_t profiles_cnt, profiles_cap;
	struct chrome_event event, end, inner;	/* the one at hand, its end, an object in it */
	struct fxt_arg merged[ARG_LIST_MAX];
	char category[CATEGORY_BYTES];	/* a list, put together */
	char *plain;			/* of reader_plain() */
	size_t plain_cap;
};

#endif
