/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside of the reader: what its files have for one another.
 */
#ifndef FORMAT_CHROME_READER_P_H
#define FORMAT_CHROME_READER_P_H

#include <string.h>

#include "state_p.h"
#include "value.h"

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

/* metadata.c */

/* Of the outermost object: what it has besides events. 0 or -errno. */
int reader_take_member(struct chrome_reader *r, const struct chrome_member *m);
/* r->event is an element of the member samples. 0 or -errno. */
int reader_take_sample(struct chrome_reader *r);
/* M: *@is_name: it is a name or an order, which has been handed on, or counted if it is empty. 0 or -errno. */
int reader_metadata(struct chrome_reader *r, const struct chrome_event *e, bool *is_name);

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
