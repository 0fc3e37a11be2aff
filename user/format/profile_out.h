/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What formats of profiles share: the stack samples out of the records they are given, and which source of
 * them is written. Private to user/format.
 */
#ifndef FORMAT_PROFILE_OUT_H
#define FORMAT_PROFILE_OUT_H

#include <stdio.h>

#include "analysis/stacks.h"
#include "base/pieces.h"
#include "format.h"

struct profile_out {
	struct writer_cfg cfg;
	struct stacks *stacks;
	struct fxt_reader *reader;
	struct pieces input;
	int64_t wall_ns;	/* what to add to times for those since 1970; 0: not known */
	int err;		/* the first one */
};

/* writer_ops.sources */
extern const char *const profile_out_sources[];

/* Reads records so that @stacks_cfg is as in stacks.h; 0 or -ENOMEM, then nothing is open. */
int profile_out_open(struct profile_out *o, const struct writer_cfg *cfg, const struct stacks_cfg *stacks_cfg);
/* As writer_ops.record and the like, of the struct profile_out that a writer begins with. */
int profile_out_record(void *writer, const void *records, size_t len);
uint64_t profile_out_left_out(const void *writer);
uint64_t profile_out_left_out_kind(const void *writer, unsigned int i, const char **one, const char **many);
const char *profile_out_source_name(const void *writer, bool *several);
/* The one that was asked for, else the only one there is, else the CPU's. */
enum profile_source profile_out_source(const struct profile_out *o);
/* Reads what ends the input; before anything is written. 0 or the first error. */
int profile_out_end(struct profile_out *o);
/* A stream to the output, NULL: no memory. Its end: 0 or the first error. */
FILE *profile_out_stream(struct profile_out *o);
int profile_out_stream_close(struct profile_out *o, FILE *stream);
void profile_out_fini(struct profile_out *o);

#endif
