/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the trace builder: tracks of threads and CPUs, and the slices on them.
 */
#ifndef MODEL_SLICES_H
#define MODEL_SLICES_H

#include "track_ids.h"

struct builder;
struct cpu;

/* FAMILY_SPAN: the end is known and written. FAMILY_EVENT: without an end it stays open where the trace ends. */
enum family { FAMILY_USER, FAMILY_SYSCALL, FAMILY_GRAPH, FAMILY_IRQ, FAMILY_PAIR, FAMILY_EVENT, FAMILY_SPAN };

/* A stack of open slices; frames lie in @stack, each knows where the one below begins. */
struct track {
	struct fxt_thread at;
	uint64_t last;		/* ts of the last slice record */
	char *stack;
	uint32_t used, cap, top;
	unsigned int depth, deep;	/* open ones; markers beyond the limit, not written */
	unsigned int kernel;		/* frames that are not FAMILY_USER */
	unsigned int spans, events;	/* FAMILY_SPAN, FAMILY_EVENT */
	uint64_t reach;			/* the latest end of those there were */
	bool leaf;			/* the top is a call that has returned: @leaf_end */
	uint64_t leaf_end;
};

struct slice {
	enum family family;
	uint32_t key;		/* what its end is known by */
	uint16_t depth;		/* FAMILY_GRAPH */
	struct fxt_str category, name;	/* the category must outlive the slice, but that of FAMILY_EVENT */
};

/* NULL: no memory. */
struct track *track_new(uint64_t process, uint64_t thread);
struct track *track_of_cpu(struct builder *b, struct cpu *c, enum pseudo kind);
void track_free(struct track *tr);

/* Outcomes or -errno; @tr may be NULL, which is -ENOMEM. */
int slice_begin(struct builder *b, struct track *tr, uint64_t ts, const struct slice *s,
		const struct fxt_arg *args, unsigned int n);
/* OUT_UNMATCHED: nothing was written. */
int slice_end(struct builder *b, struct track *tr, uint64_t ts, const struct slice *s,
	      const struct fxt_arg *args, unsigned int n);
/* The same for one whose end is missing. */
int slice_close(struct builder *b, struct track *tr, uint64_t ts, const struct slice *s);
/* A call whose end is known already; it ends there, or before what comes next. */
int slice_leaf(struct builder *b, struct track *tr, uint64_t ts, uint64_t end,
	       const struct slice *s, const struct fxt_arg *args, unsigned int n);
/* What is over at @ts is no more on the stack. 0 or -errno. */
int slice_settle(struct builder *b, struct track *tr, uint64_t ts);
/*
 * A slice whose end is known: one record. Only where slice_fits(). What is open inside when it
 * ends, ends with it; what is open around it lasts until it ends.
 */
int slice_span(struct builder *b, struct track *tr, uint64_t ts, uint64_t end, const struct slice *s,
	       const struct fxt_arg *args, unsigned int n);
/*
 * After slice_settle(): whether such a slice overlaps none in part, none began after it, and it is not deeper than
 * viewers draw; *@deep: that alone is why it does not fit. *@until: what ends later does not fit, UINT64_MAX: all does.
 */
bool slice_fits(const struct track *tr, uint64_t ts, uint64_t end, uint64_t *until, bool *deep);
/* What begins now is deeper than viewers draw. */
bool slice_is_full(const struct track *tr);
/* Whether there is one that @s would end. */
bool slice_is_open(const struct track *tr, const struct slice *s);
/* The innermost open slice of the family of @s, and when it began. */
bool slice_top(const struct track *tr, struct slice *s, uint64_t *ts);
/* When the innermost one began that is open, after slice_settle(); false: none is. */
bool slice_since(const struct track *tr, uint64_t *ts);
/* Closes what is open where the track's records end; NULL is fine. */
int slices_close(struct builder *b, struct track *tr);

#endif
