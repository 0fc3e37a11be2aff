/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside of the reader.
 */
#ifndef FORMAT_CHROME_READER_P_H
#define FORMAT_CHROME_READER_P_H

#include <string.h>

#include "ahead.h"
#include "each.h"
#include "frames.h"
#include "item.h"
#include "model/builder.h"
#include "model/id_table.h"
#include "order.h"
#include "queue.h"
#include "reader.h"
#include "value.h"

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

/* plain.c */

/* Takes what needs no escape out of the strings of r->event, whose text is the reader's then. 0 or -ENOMEM. */
int reader_plain(struct chrome_reader *r);

/* tracks.c */

/* The track of the event's thread, and of its process (NULL: not needed). 0 or -errno of the builder. */
int reader_track(struct chrome_reader *r, const struct chrome_event *e, uint32_t *thread, uint32_t *process);
/* The main thread of the process whose id is the event's tid. */
int reader_main_track(struct chrome_reader *r, const struct chrome_event *e, uint32_t *thread);
/* The track of the whole trace. */
int reader_global_track(struct chrome_reader *r, uint32_t *track);

/* ids.c */

/* False: the event has no id. @what keeps ids of different kinds apart. */
bool reader_async_id(struct chrome_reader *r, const struct chrome_event *e, char what, uint64_t *id);
/* Of a member that is an id by itself. */
uint64_t reader_bind_id(const struct chrome_event *e, const struct chrome_field *f);
/* Of a flow end that waits. */
uint64_t reader_held_id(uint64_t number);
/* Of a counter, which viewers show: a number as it is, another id as any; 0: it has none. */
uint64_t reader_counter_id(struct chrome_reader *r, const struct chrome_event *e);
bool reader_has_id(const struct chrome_event *e);
/* The same, and reader_async_id() can make something of it. */
bool reader_has_usable_id(struct chrome_reader *r, const struct chrome_event *e);
/* Opens or closes the id of an S. False: it was open, or closed, before. */
bool reader_begin_id(struct chrome_reader *r, uint64_t id);
void reader_end_id(struct chrome_reader *r, uint64_t id);
/* Of a frame: @scope 0 is stackFrames, any other a profile. */
uint64_t reader_frame_key(uint64_t scope, const char *id, size_t len);

/* stream.c */

/*
 * Keeps an event, @e, or what is made of one (NULL), until its turn comes: in memory, or in the
 * temporary file once that is full. 0 or -errno.
 */
int stream_add(struct chrome_reader *r, const struct chrome_record *record, const struct chrome_event *e,
	       int64_t duration_ns);
/* Plays all before @limit, for nothing earlier is to come; QUEUE_ALL: nothing at all. 0 or -errno. */
int stream_play(struct chrome_reader *r, int64_t limit);
void stream_fini(struct stream *s);
/* reader.c */

/* There is something at that time. */
void reader_note_time(struct chrome_reader *r, int64_t ts);

/* pair.c */

/* The name of a begin or an end on the stack of that track, or id, for open_pop(); 0: it has none. */
uint64_t pair_name(const struct chrome_event *e, uint64_t stack);
/* Whether an end has what is not in its begin. */
bool pair_has_more(const struct chrome_event *end);
/* At most INT64_MAX. */
int64_t pair_duration_ns(int64_t begin_ns, int64_t end_ns);
/* Keeps a begin until its end comes. @e: its members. 0 or -errno. */
int pair_push(struct chrome_reader *r, const struct chrome_record *record, const struct chrome_event *e);
/* The same of an async begin; beyond the limit it stays alone, for the builder to pair. */
int pair_push_async(struct chrome_reader *r, const struct chrome_record *record, const struct chrome_event *e);
/* Adds the text of a begin and its end, empty if there is nothing in it, as one record. */
int pair_add(struct chrome_reader *r, struct chrome_record *record, const struct pair_head *head, const char *begin,
	     const char *end);
/* A piece of the second pass: 1, 0 when that was the last, or -errno. */
int reader_pair(struct chrome_reader *r);
void reader_free_pairs(struct chrome_reader *r);

/* phases.c */

/* 0 or -errno of the builder. */
int reader_play(struct chrome_reader *r, const struct play_item *item);
/* The same of a record of the third pass. */
int reader_play_record(struct chrome_reader *r, const struct chrome_record *record);
/* What waits for a slice that did not come. */
int reader_play_rest(struct chrome_reader *r);
void reader_free_held(struct chrome_reader *r);

/* bound.c */

/* Whether it is a slice with an arrow of its own: bind_id has a meaning. */
bool reader_is_bound(const struct chrome_event *e);
/* The arrow of @slice, which has been handed on. 0 or -errno. */
int reader_play_bound(struct chrome_reader *r, const struct chrome_event *e, const struct model_event *slice);
/* Hands on what waits for a begin that did not come. 0 or -errno. */
int reader_end_bound(struct chrome_reader *r);
void reader_free_bound(struct chrome_reader *r);

/* members.c */

/* Of the outermost object: what it has besides events. 0 or -errno. */
int reader_take_member(struct chrome_reader *r, const struct chrome_member *m);
/* r->event is an element of the member samples. 0 or -errno. */
int reader_take_sample(struct chrome_reader *r);

/* stacks.c */

/* A member of stackFrames: a chrome_frame_fn, @reader is the struct chrome_reader. */
void reader_take_frame(void *reader, const struct chrome_member *m);
/* The event's stacks, as arguments. @is_end: it is the end of what they are arguments of. */
void reader_add_stacks(struct chrome_reader *r, const struct chrome_event *e, bool is_end);

/* phases.c */

/* A number, or a string that is one, as the number; false: it is neither. */
bool reader_number(const struct fxt_arg *arg, struct fxt_arg *number);

/* profile.c */

/* P: 1 if it was samples of V8, which have been handed on as instants, else 0; or -errno. */
int reader_play_profile(struct chrome_reader *r, const struct chrome_event *e, struct model_event *ev);
/* An element of the member samples. 0; 1: it has no known stack, nothing is done; or -errno. */
int reader_play_listed(struct chrome_reader *r, const struct chrome_event *e, struct model_event *ev);

/* marks.c */

/* V v c ( ) as instants; 0 or -errno. */
int reader_play_mark(struct chrome_reader *r, const struct chrome_event *e, struct model_event *ev);
/* r->event is a c at @ts. */
void reader_note_sync(struct chrome_reader *r, int64_t ts);
/* How much later the events are by the clock of the text; false: that is not known. */
bool reader_clock_offset(const struct chrome_reader *r, int64_t *ns);

/* names.c */

/* M: *@is_name: it is a name or an order, which has been handed on, or counted if it is empty. 0 or -errno. */
int reader_metadata(struct chrome_reader *r, const struct chrome_event *e, bool *is_name);

static inline bool reader_is_text(const struct chrome_event *e, enum chrome_key key, const char *text)
{
	const struct chrome_field *f = chrome_field(e, key);

	return f && f->type == CHROME_STRING && f->value.len == strlen(text) &&
	       !memcmp(chrome_text(e, f->value), text, f->value.len);
}

/* A member's value, of whatever type, as chrome_time_ns() has it. */
static inline int reader_time_ns(const struct chrome_event *e, const struct chrome_field *f, int64_t *ns)
{
	const char *text = chrome_text(e, f->value);

	return chrome_usual_time(text, ns) == text + f->value.len ? 0 : chrome_time_ns(text, f->value.len, ns);
}

/* Hands an event on; 0 or -errno. */
static inline int reader_add(struct chrome_reader *r, const struct model_event *ev)
{
	r->counts.handed_on++;
	return builder_add(r->builder, ev);
}

/* Phase of the event; 0: it has none. */
static inline char reader_phase(const struct chrome_event *e)
{
	const struct chrome_field *f = chrome_field(e, CHROME_PH);

	return f && f->type == CHROME_STRING && f->value.len ? *chrome_text(e, f->value) : 0;
}

/* Whether it has ids, a scope or a binding point that its phase has no use for. */
static inline bool reader_has_spare_ids(const struct chrome_event *e)
{
	const char phase = reader_phase(e);

	return (e->at[CHROME_ID] | e->at[CHROME_ID2] | e->at[CHROME_SCOPE] | e->at[CHROME_BP]) && phase && strchr("XBEiIR", phase);
}

static inline bool reader_is_state(const struct chrome_event *e)
{
	return chrome_field(e, CHROME_DUR) && !reader_has_id(e);
}

#endif
