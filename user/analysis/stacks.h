/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stack samples of a trace, added up: for each thread and source a tree of frames, with how many
 * samples and how much time ended where. Memory grows with distinct stacks, not with samples.
 *
 * Callers read the structs; only stacks.c writes them.
 */
#ifndef ANALYSIS_STACKS_H
#define ANALYSIS_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "format/perfetto/pool.h"
#include "profile/profile.h"
#include "stack_tree.h"

#define STACKS_INLINED_MAX	32U	/* functions at one address */
#define STACKS_PROCESS_ANY	UINT64_MAX

/* A frame; strings are numbers of stacks.text. */
struct stacks_frame {
	uint32_t name, mapping, build_id, source_file;
	uint32_t line;
	uint64_t rel_pc;
	enum profile_frame_kind kind;
	uint32_t same_hash;		/* the next one of its hash; MAP_NONE: none */
};

struct stacks_thread {
	uint64_t process, thread;	/* koids */
	uint32_t pid, tid;		/* of Linux */
};

/* Of one source. */
struct stacks_counts {
	struct stack_value all;
	uint64_t unweighted;		/* of these samples: of unknown weight */
	uint64_t from_ns, to_ns;	/* first and last sample */
};

/* A sample that was added. */
struct stacks_sample {
	enum profile_source source;
	uint64_t ts;
	uint64_t weight_ns;
	uint32_t thread;		/* of stacks.threads */
	uint32_t node;			/* of stacks.tree: where its stack ends */
};

struct stacks_cfg {
	uint64_t from_ns, to_ns;	/* only samples of these times, the ends included; @to_ns 0: no end */
	uint64_t process;		/* only of this one, by koid or id; STACKS_PROCESS_ANY: of all */
	bool every_address;		/* frames differ by address and line; else a function is one frame */
	int (*sample)(void *ctx, const struct stacks_sample *sample);	/* each one added; NULL: not needed */
	void *ctx;
	/*
	 * The functions at the address of a frame, the outermost first, if the compiler inlined some: how many it put
	 * into @out, at most @max; 0: the frame is what it is. What they point to lives until the next call. NULL:
	 * frames are not looked up.
	 */
	unsigned int (*inlined)(void *ctx, const struct profile_frame *frame, struct profile_frame *out, unsigned int max);
	void *inlined_ctx;
};

/* What can have a name: a thread or process by its koid, what the process was in last by the latter's. */
enum stacks_named {
	STACKS_THREAD, STACKS_PROCESS, STACKS_CGROUP,
	STACKS_CONTAINER,	/* its id */
	STACKS_UNIT,		/* of systemd */
	STACKS_NAMED_CNT
};

struct stacks {
	struct stacks_cfg cfg;
	struct pf_pool text;
	uint32_t cut_name, waker_mapping;	/* of @text: the outermost frame of a cut stack; of a line above the waker's */
	struct stacks_frame *frames;
	size_t frames_cnt, frames_cap;
	struct stack_tree tree;		/* labels: of roots the thread and source, of all others the frame */
	struct stacks_thread *threads;
	size_t threads_cnt, threads_cap;
	struct map frame_map, thread_map;	/* by hash; by process and thread koid */
	struct map named[STACKS_NAMED_CNT];	/* koid to place in @names */
	uint32_t *names;		/* numbers of @text */
	size_t names_cnt, names_cap;
	struct stacks_counts counts[PROFILE_SOURCE_CNT];
	uint64_t left_out;		/* samples for whose frames there was no space */
	struct profile_reader *reader;	/* stacks_read.c's */
};

/* @cfg is copied; NULL: everything. 0 or -ENOMEM. */
int stacks_open(struct stacks **out, const struct stacks_cfg *cfg);
/* A sample without frames counts as one frame, [no stack]. 0, -ENOMEM or an error of stacks_cfg.sample. */
int stacks_add(struct stacks *s, const struct profile_sample *sample);
/* Names of threads and processes, and samples, of a record of FXT; others are ignored. As stacks_add(). */
int stacks_read(struct stacks *s, const struct fxt_record *rec);
/* A name from now on. 0 or -ENOMEM. */
int stacks_name(struct stacks *s, enum stacks_named what, uint64_t koid, struct fxt_str name);
/* NULL is fine. */
void stacks_close(struct stacks *s);

/* The names they have; empty: not known. They live as long as @s. */
struct fxt_str stacks_name_of(const struct stacks *s, enum stacks_named what, const struct stacks_thread *t);
/* Whether its name matches a glob; NULL: any does. */
bool stacks_thread_matches(const struct stacks *s, const struct stacks_thread *t, const char *glob);
/* Whose stack ends in or goes through the node. */
const struct stacks_thread *stacks_thread_of(const struct stacks *s, const struct stack_node *n,
					     enum profile_source *source);
/* Of stacks.text. */
struct fxt_str stacks_text(const struct stacks *s, uint32_t number);
/* The source of which there are samples, if it is the only one; PROFILE_SOURCE_CNT: none or several. */
enum profile_source stacks_only_source(const struct stacks *s);
/* Whether the weight of each of its samples is known, so that shares are of time; else they are of samples. */
bool stacks_has_weights(const struct stacks *s, enum profile_source source);

/* What shares are of. */
static inline uint64_t stack_value_of(struct stack_value v, bool weights)
{
	return weights ? v.weight_ns : v.samples;
}

/* PROFILE_SOURCE_CNT: there is none of that name. */
enum profile_source stacks_source_named(const char *name);

#endif
