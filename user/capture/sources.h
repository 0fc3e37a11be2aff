/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The set of sources of a recording. Scheduling is none of them. Which are selected, and each
 * operation of struct source_ops for all that are.
 */
#ifndef CAPTURE_SOURCES_H
#define CAPTURE_SOURCES_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi/raw.h"
#include "source.h"

struct sources;
struct fxt_writer;
struct kfxt_bpf;

/* None is selected. @table is borrowed; one of its RAW_KIND_CNT sources takes any word. 0 or -ENOMEM. */
int sources_open(struct sources **out, const struct source_ops *const *table);
/* Selects what a trigger needs, before sources_choose(), whose words may take it out again. Errors are the same. */
int sources_need(struct sources *s, const char *word, char *why, size_t why_size);
/*
 * Selects those that are on by default and what @words say, as for -e and in order; "!" before one
 * takes it out again. On failure @why says in one line what is wrong: -EINVAL: no such events,
 * -ENOTSUP: there are, but not on this kernel or not for us, -ENOMEM.
 */
int sources_choose(struct sources *s, const char *const *words, unsigned int cnt, char *why, size_t why_size);
/* Whether something of what a word of sources_need() means is selected. */
bool sources_have_needed(const struct sources *s, const char *word);
/* Selects one that is chosen otherwise: it has this state, NULL: it is not selected. The caller closes it. */
void sources_add(struct sources *s, unsigned int kind, void *state);
/* One that is on by default, that nobody asked for by name and for which this kernel lacks something; NULL: none. */
const struct source_ops *sources_missing(const struct sources *s);
/* Whether programs of any source of this class record. */
bool sources_have(const struct sources *s, enum ledger_source class);
/* Whether programs of any source do that has no ring of its own, or, if @many, of any that has more than a few records. */
bool sources_any(const struct sources *s, bool many);
/* All there are, by kind, selected or not. */
const struct source_ops *const *sources_table(const struct sources *s);
/* What they work with, for the recording to complete before they need it. */
struct source_ctx *sources_ctx(struct sources *s);
/*
 * Life of the programs, as prepare(), loaded(), attach() and detach() of struct source_ops: before
 * and after loading, and those that libbpf does not attach. 0 or -errno.
 */
int sources_prepare(struct sources *s, struct kfxt_bpf *skel);
int sources_fill(struct sources *s);
int sources_attach(struct sources *s, const char **which);
/* Of all, which may wait in the kernel for long. */
void sources_detach(struct sources *s);
/* Whose a program is that has this name; NULL: no source's, or an optional one's. */
const struct source_ops *sources_of_program(const struct sources *s, const char *program);
/* The kind of the source that has it, be it optional; RAW_KIND_CNT: none has. */
unsigned int sources_kind_of_program(const struct sources *s, const char *program);
/* As header(). */
int sources_write_header(struct sources *s, struct fxt_writer *w);
/*
 * Of those from @kind on, the next one that did not record when the recording began, and the kind after it; false:
 * there is none.
 */
bool sources_late(const struct sources *s, unsigned int *kind, struct source_late *late);
/* Capabilities that they need while they record, as bits; and the @i'th system call; NULL: there are no more. */
uint64_t sources_capabilities(const struct sources *s);
const struct source_call *sources_call(const struct sources *s, unsigned int i);
/* As start(), fd(), before_look() and after_look(); sources_fds() returns how many there are. */
int sources_start(struct sources *s);
unsigned int sources_fds(const struct sources *s, struct pollfd fds[RAW_KIND_CNT]);
int sources_before_look(struct sources *s, uint64_t now_ns);
int sources_after_look(struct sources *s);
/* Of what class a deferred record (bpf/abi/raw.h) is counted. */
enum ledger_source sources_class(const struct sources *s, const uint64_t *rec);
/* Decodes it; -EINVAL if it is none, or the writer's error. *@written is how many records it became. */
int sources_decode(struct sources *s, const uint64_t *rec, unsigned int *written);
/* How many there were so far of a kind. */
uint64_t sources_decoded(const struct sources *s, unsigned int kind);
/* Whether a source is selected, and of what class it is. */
bool sources_selected(const struct sources *s, unsigned int kind, enum ledger_source *class);
/* The @i'th CPU's ring of the next source from *@kind on that has its own; NULL: there are no more. */
struct event_ring *sources_ring(const struct sources *s, unsigned int *kind, unsigned int i);
/* Adds what sources of a class count by themselves on the @i'th CPU. */
void sources_row(const struct sources *s, enum ledger_source class, unsigned int i, struct ledger_row *row);
/* Of a class, what the kernel overwrote of the @cpu'th CPU's before it was read. */
uint64_t sources_overwritten(const struct sources *s, enum ledger_source class, unsigned int cpu);
/*
 * Between these two looks the event rings have lost some or, if @overwritten, the kernel has
 * overwritten some. 0 or -ENOMEM.
 */
int sources_gap(struct sources *s, bool overwritten, uint64_t from_ns, uint64_t to_ns);
/* The recording has ended. */
void sources_stop(struct sources *s);
/*
 * Called a few times a second and, with @final, at the end: writes what no program reports.
 * 0 or the first error.
 */
int sources_poll(struct sources *s, uint64_t now_ns, bool final);
/*
 * A file ends here and the recording goes on: writes to @w, to which nothing is written later but what ends that file, what has
 * begun and not ended, as write_open(): up to now, which is after all that was drained. Adds to @events how many records of class
 * LEDGER_EVENTS that were. What cannot be looked up is left out; errors of the writer are the writer's.
 */
void sources_write_open(struct sources *s, struct fxt_writer *w, uint64_t *events);
/* Of a class, what no CPU counts. */
void sources_counts(const struct sources *s, enum ledger_source class, struct source_counts *counts);
/* The state of a source by its kind, for who knows the source; NULL: it is not selected, or has none. */
void *sources_state(const struct sources *s, unsigned int kind);
/* NULL is fine. */
void sources_close(struct sources *s);

#endif
