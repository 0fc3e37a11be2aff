/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the trace builder: what writes each kind of struct model_event.
 */
#ifndef MODEL_PLAY_H
#define MODEL_PLAY_H

#include "arg_fold.h"
#include "core.h"
#include "slices.h"
#include "threads.h"
#include "tracks.h"

/* An event on a track: an outcome or -errno. */
typedef int play_fn(struct builder *b, const struct model_event *ev, struct source_track *st);

/* play.c: what builder_add() does. */
int play_add(struct builder *b, const struct model_event *ev);
/* play_async.c */
play_fn play_async, play_async_begin, play_async_end, play_async_instant, play_flow;
/* play_sched.c */
play_fn play_switch, play_wakeup, play_state;

/* play_stack.c */
play_fn play_stack;

/* Later times than readers take are the last one. */
uint64_t play_ts(uint64_t ts_ns);
uint64_t play_end(const struct model_event *ev);
/* The event on a thread of FXT, without its type and id. */
struct fxt_event play_event(const struct model_event *ev, const struct thread *t);
/* Counts what the record has no space for. */
void play_count_fold(struct builder *b, const struct arg_fold *fold);
/* Writes it with the event's arguments. 0 or -errno. */
int play_put(struct builder *b, struct fxt_event *e, const struct model_event *ev);
/* An instant of that name in place of what cannot be written; OUT_INSTANT or -errno. */
int play_instant(struct builder *b, const struct model_event *ev, struct source_track *st, const char *name);

#endif
