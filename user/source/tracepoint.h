/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints asked for by name: which they are, their programs, and from their records
 * instants with typed arguments.
 */
#ifndef SOURCE_TRACEPOINT_H
#define SOURCE_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/progress.h"

struct fxt_writer;
struct kfxt_bpf;
struct source_ctx;
struct tracepoint_format;
struct tracepoints;

/* None yet; 0 or -ENOMEM. @presets: a word that is wrong may have been meant for a preset, too. */
int tracepoints_open(struct tracepoints **out, bool presets);
/*
 * Adds, or with @out takes away, what @word means: "SYSTEM:EVENT", "SYSTEM/EVENT" or
 * "EVENT", globs in both, or "SYSTEM"; after it a filter between slashes. On failure @why
 * says in one line what is wrong: -EINVAL: there is none, or the filter is wrong; -ENOTSUP:
 * tracefs is not there or not for us; -ENOMEM.
 */
int tracepoints_choose(struct tracepoints *t, const char *word, bool out, char *why, size_t why_size);
/* Adds what a trigger needs, beside what is chosen and other needs; of one tracepoint each has its own filter. The same. */
int tracepoints_need(struct tracepoints *t, const char *word, char *why, size_t why_size);
/* Whether some of what that word means was not taken away since. */
bool tracepoints_have(const struct tracepoints *t, const char *word);
/* Once all words are known: the filters of each tracepoint become one. 0, -ENOMEM, or -EINVAL with @why: too many comparisons. */
int tracepoints_join(struct tracepoints *t, char *why, size_t why_size);
unsigned int tracepoints_cnt(const struct tracepoints *t);
/* The @i'th, in the order of the choice, a glob's by system and name. */
const struct tracepoint_format *tracepoints_at(const struct tracepoints *t, unsigned int i, const char **system,
					       const char **event);
/* Before and after loading. 0 or -errno. */
int tracepoints_prepare(struct tracepoints *t, struct kfxt_bpf *skel);
int tracepoints_fill(struct tracepoints *t, struct kfxt_bpf *skel);
/*
 * Attaches to all. Those that the kernel refuses are left out if a glob brought them in and no trigger needs them;
 * else that is the error, and *@which names it. -ECANCELED if @progress said no.
 */
int tracepoints_attach(struct tracepoints *t, struct kfxt_bpf *skel, const char **which, progress_fn progress,
		       void *ctx);
/* Of those that were left out: how many, and the first one's name. */
unsigned int tracepoints_refused(const struct tracepoints *t, const char **first);
/* Writes a deferred record (enum tracepoint_word); -EINVAL or the writer's error. */
int tracepoints_write(struct tracepoints *t, struct fxt_writer *w, const uint64_t *rec);
/* Calls c->found with the thread of that record, which was written. */
void tracepoints_report(const struct tracepoints *t, const struct source_ctx *c, const uint64_t *rec);
/* Records that filters left out. */
uint64_t tracepoints_filtered(const struct tracepoints *t);
/* Those that the kernel skipped, where it does not count them itself. */
uint64_t tracepoints_skipped(const struct tracepoints *t, const struct kfxt_bpf *skel);
/* NULL is fine. */
void tracepoints_close(struct tracepoints *t);

#endif
