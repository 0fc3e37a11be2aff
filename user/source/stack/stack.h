/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stack samples as a source: what is sampled is chosen by options of its own, so the command opens and
 * closes it.
 */
#ifndef SOURCE_STACK_STACK_H
#define SOURCE_STACK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi/stack.h"
#include "mechanism.h"

struct stack_source;

enum stack_user {
	STACK_BY_RULES,		/* the user stack is copied, and unwound by the recorder */
	STACK_BY_FP,		/* the kernel follows frame pointers */
	STACK_NO_USER,
};

#define STACK_HZ_MAX		20000U
#define STACK_OFF_CPU_NS	1000000ULL	/* by default */

struct stack_cfg {
	uint64_t hz;		/* samples a second and CPU of what runs; 0: none */
	bool cycles;		/* counted by the processor, not by a timer */
	bool off_cpu, wakers;	/* sleeps, and who ends them */
	uint64_t off_cpu_ns;	/* both of sleeps from this length on */
	enum stack_user user;
	uint64_t copy_bytes;	/* STACK_BY_RULES: at most */
	bool no_kernel;		/* frames */
	uint64_t ring_bytes;	/* of each CPU's ring, a power of two */
};

/* Samples that were taken out of the rings, by kind, and what became of their user stacks. */
struct stack_counts {
	uint64_t by_kind[STACK_KIND_CNT];
	uint64_t whole;			/* down to where the thread began */
	uint64_t cut;			/* longer than what was copied */
	uint64_t unmapped, no_rule;	/* an address in no known mapping, one without rule and frame pointer */
	uint64_t unreadable;		/* nothing of it could be read, as of a thread that ends */
	uint64_t maps_lost;		/* reports of mappings */
	uint64_t maps_refused;		/* mappings of files beyond the number that is kept */
	uint64_t ended;			/* perf events of CPUs that went offline: nothing is sampled there again. Once all is stopped */
	int events_err;			/* -errno: why mappings are not reported as they are made */
};

/* @cfg is copied. 0, -ENOMEM or, with one line in @why, -ENOTSUP: not on this kernel, or not for us. */
int stack_source_open(struct stack_source **out, const struct stack_cfg *cfg, char *why, size_t size);
/* How sleeps are sampled; STACK_VIA_CNT: they are not. Once all is attached. */
enum stack_via stack_source_via(const struct stack_source *s);
/* Whether this kernel gives less than was selected: sleeps have kernel frames only. */
bool stack_source_is_partial(const struct stack_source *s);
/* Whether user stacks were selected and there are none, as we are in a PID namespace. */
bool stack_source_lacks_user(const struct stack_source *s);
void stack_source_counts(const struct stack_source *s, struct stack_counts *counts);
/* NULL is fine. */
void stack_source_close(struct stack_source *s);

#endif
