/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recordings made by hand that go through triggers. Any failure ends the test. Times are milliseconds.
 */
#ifndef TRIGGER_MADE_H
#define TRIGGER_MADE_H

#include <stdbool.h>
#include <stdint.h>

#include "fxt/fxt.h"
#include "fxt/fxt_mem.h"
#include "trigger/trigger.h"

#define STREAM_MS		1000000ULL

struct stream {
	struct triggers *t;
	struct fxt_writer *w;
	struct fxt_mem mem;
};

/* With triggers, up to a NULL. */
void stream_open(struct stream *m, const char *const *words);
void stream_close(struct stream *m);
/* The instant `start`; @filter may be NULL. */
void stream_start(struct stream *m, const char *cpus, const char *online, const char *filter);
void stream_thread(struct stream *m, uint64_t koid, uint64_t process, const char *comm);
void stream_process(struct stream *m, uint64_t koid, const char *cgroup);
/* A process that exits: "exit_code" or "exit_signal". */
void stream_exit(struct stream *m, uint64_t koid, const char *how, int value);
/* @state: of @out, as Linux has it: R S D Z. */
void stream_switch(struct stream *m, uint16_t cpu, uint64_t ms, uint64_t out, char state, uint64_t in);
void stream_mark(struct stream *m, uint16_t cpu, uint64_t ms, uint64_t out, uint64_t in, const char *mark);
/* A thread that has not run. */
void stream_state(struct stream *m, uint16_t cpu, uint64_t ms, uint64_t out, char state);
void stream_wakeup(struct stream *m, uint64_t ms, uint64_t thread, const char *mark);
void stream_slice(struct stream *m, uint64_t thread, const char *category, const char *name, uint64_t from, uint64_t to);
/* One that has not ended: it has the argument `unfinished`. */
void stream_unfinished(struct stream *m, uint64_t thread, const char *category, const char *name, uint64_t from, uint64_t to);
/* With an argument `text`, if that is not NULL. */
void stream_instant(struct stream *m, const char *category, const char *name, const char *text, uint64_t ms);
/* What the recording says of a source that does not record yet or, if @why is NULL, has begun to. */
void stream_late(struct stream *m, const char *source, const char *why);
/* All records of times up to @ms are there. */
void stream_round(struct stream *m, uint64_t ms);
/* The next that has fired has this word, and its value is that, in ms; nothing else of it is looked at. */
const struct trigger_fired *stream_fired(struct stream *m, const char *word, uint64_t ms);
void stream_none(struct stream *m);

#endif
