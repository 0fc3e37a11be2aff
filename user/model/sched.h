/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scheduling: the current thread of each CPU and the state of each thread, by the records
 * written.
 */
#ifndef MODEL_SCHED_H
#define MODEL_SCHED_H

#include "core.h"
#include "threads.h"

#define MAYBE_MAX_NS	1000000U	/* between a waking and the switch-out it raced with */

/* One end of a switch. */
struct side {
	const struct thread *t;
	int32_t prio;
};

struct switch_record {
	uint64_t ts;
	struct side out, in;
	enum fxt_thread_state state;	/* of the outgoing thread */
	struct model_text linux_state;
	enum fixed mark;		/* 0: a switch of the machine */
	bool is_filtered;		/* the outgoing thread is not selected: its state is not known from then on */
};

/* Whether it cannot be put in order with what is written; @c NULL: not known. */
bool sched_is_late(const struct builder *b, const struct cpu *c, uint64_t ns, const struct thread *out,
		   const struct thread *in);
/* Writes a switch that is not late, and before it what makes it consistent. 0 or -errno. */
int sched_play_switch(struct builder *b, struct cpu *c, struct switch_record *s);

/* Writes one as a recorder did, with its mark, whatever the records before it say. An outcome or -errno. */
int sched_write_switch(struct builder *b, struct cpu *c, struct switch_record *s);

/* One wakeup, of which CPU and waker are known. */
struct wake {
	struct thread *t;
	uint64_t waker;
	uint16_t cpu;
};

/* A trace with wakeups: those that are implied are written, too. 0 or -errno. */
int sched_have_wakes(struct builder *b);
/* Writes one that is not late, or finds that the thread is awake; an outcome or -errno. */
int sched_play_wake(struct builder *b, uint64_t ts, const struct wake *w);
/* Writes one in any case. */
int sched_write_wake(struct builder *b, uint64_t ts, struct thread *t, uint64_t waker, uint16_t cpu);
/* The same as a recorder did, with its mark. */
int sched_write_marked_wake(struct builder *b, uint64_t ts, const struct wake *w, enum fixed mark);
bool sched_is_awake(const struct builder *b, const struct thread *t, uint64_t ns);

/* The stacks that follow the record in the text. */
void sched_put_stacks(struct builder *b, unsigned int *words, unsigned int *nargs);

void sched_set_state(struct builder *b, struct thread *t, enum sched_state state, uint64_t ts);
/* What is known of the thread at that time. */
enum sched_state sched_state_at(const struct builder *b, const struct thread *t, uint64_t ns);
/* Whether a record of this time comes after all there are of the thread. */
bool sched_in_order(const struct builder *b, const struct thread *t, uint64_t ns);
/* A line of @t on @c: it runs there, and did since its last line if there was no other between. */
void sched_line(struct builder *b, struct cpu *c, struct thread *t, uint64_t ts, uint64_t ns);
/* Records of the CPU are missing from here on. */
int sched_lose(struct builder *b, struct cpu *c);
/* The trace ends: whatever runs is switched out. */
int sched_stop(struct builder *b);
/* Another trace begins, after sched_stop(). */
void sched_reset(struct builder *b);
/* Before @t is switched in on @c. */
int sched_ensure_woken(struct builder *b, struct cpu *c, struct thread *t, uint64_t ts);

#endif
