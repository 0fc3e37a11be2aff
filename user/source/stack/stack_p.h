/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside stack samples: their state, its programs and rings (programs.c), its records (decode.c).
 */
#ifndef SOURCE_STACK_STACK_P_H
#define SOURCE_STACK_STACK_P_H

#include "bpf/abi/stack.h"
#include "ring/event_ring.h"
#include "stack.h"

struct bpf_link;
struct kernel_symbols;
struct kfxt_bpf;
struct profile_frame;
struct profile_writer;
struct source_ctx;
struct stack_frames;

/* What a perf event has counted by then, ns or cycles, for how long it could, and what there is to be taken off. */
struct stack_reading {
	uint64_t count, enabled_ns, clock_ns, idle_ns, outside;
};

/* A perf event of a recorded CPU. */
struct stack_event {
	struct bpf_link *link;
	int fd;			/* the link's */
	struct stack_reading start;	/* when the recording began */
	/* Once it has ended: */
	uint64_t due;		/* samples by its own count */
	uint64_t idle;		/* of those, what the idle time of the CPU comes to */
	uint64_t outside;	/* taken before the CPU was recorded, or after */
};

struct stack_source {
	struct stack_cfg cfg;
	uint64_t period;	/* of the events, ns or cycles */
	enum stack_via via;	/* planned, then what is attached */
	const uint32_t *cpus;	/* the recording's */
	unsigned int cpus_cnt;
	/* From loading on: */
	struct stack_ctl *ctls;	/* by CPU */
	size_t ctls_bytes, rings_bytes;
	char *rings;
	struct event_ring *ring;	/* by position in cpus */
	struct stack_event *events;	/* the same */
	struct bpf_link *links[3];	/* of programs that are no CPU's */
	int asleep_fd;			/* an iterator over the threads that are asleep; -1: none */
	bool stopped;
	/*
	 * A perf event that was tried; -1: none. It is open to the end, as the others: on 7.3, closing the last descriptor of one
	 * waits for a grace period.
	 */
	int tried_fd;
	/* From the start on: */
	struct stack_frames *frames;
	struct profile_writer *profile;
	struct stack_counts counts;
	uint64_t asleep;	/* samples of threads that were asleep at the end */
};

/* As the operations of struct source_ops. */
int stack_programs_prepare(struct stack_source *s, struct source_ctx *c);
int stack_programs_load(struct stack_source *s, struct source_ctx *c);
int stack_programs_attach(struct stack_source *s, struct source_ctx *c, const char **which);
int stack_programs_attach_sleeps(struct stack_source *s, struct kfxt_bpf *skel, const char **which);
/* Reads what the events have counted so far. */
void stack_programs_start(struct stack_source *s);
/* Ends them and reads what they have counted. */
void stack_programs_stop(struct stack_source *s, const struct source_ctx *c);
void stack_programs_detach(struct stack_source *s);

#endif
