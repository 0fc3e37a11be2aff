/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What each CPU does: how long a thread runs without a break, and for which share of a time the CPU
 * is not idle. The switches of one CPU are in order.
 */
#ifndef TRIGGER_CPUS_H
#define TRIGGER_CPUS_H

#include "base/num.h"
#include "asked.h"
#include "firing.h"

#define SHARE_STEPS	10U	/* a window moves by a tenth of its length */

/* The window of one trigger on one CPU. */
struct share_window {
	uint64_t step;		/* the number of the step that goes on, since the clock's 0 */
	uint64_t ns[SHARE_STEPS];	/* busy, or idle, in the last steps, by number modulo SHARE_STEPS */
	bool is_partial[SHARE_STEPS];	/* some of the step is not recorded, and does not count */
	bool is_over;		/* the last window was above the threshold */
	bool is_settled;	/* since it is, the trigger has fired, or another CPU has fired it at that time */
};

struct cpu {
	uint64_t koid;		/* of the thread that runs; 0: idle, or unknown */
	uint64_t since_ns;	/* it runs, or it is not known what does */
	uint64_t counted_ns;	/* the windows are up to date to here */
	uint64_t gap_ns;	/* where a gap begins, whose end is the next mark */
	uint64_t blind_ns;	/* what its CPU did since then is not known for sure */
	uint64_t offline_ns;	/* up to here it was offline, or may have been */
	struct share_window *windows;	/* by trigger of that kind; NULL until the CPU's first record */
	uint32_t fired;		/* slice triggers that the thread that runs has fired */
	bool is_known;		/* what runs; else there are no records just now */
	bool is_marked;		/* it ran already when it was recorded to */
	bool in_gap;
	bool has_started;
	bool is_offline;	/* when that was last looked at */
};

struct cpus {
	struct firing *firing;	/* borrowed, both */
	struct asked *asked;
	struct cpu *list;	/* NUM_CPUS_MAX */
	unsigned int used;	/* those above have no records */
	uint64_t least_ns;	/* the lowest threshold of slice */
	uint32_t slice, busy, idle;	/* triggers, as bits */
	bool is_filtered;	/* idle may be a thread that is not recorded */
	uint64_t asleep_ns, awake_ns;	/* the last suspend was somewhere between */
};

/* A switch on a CPU: what begins there. */
struct cpu_switch {
	uint64_t ts_ns;
	uint64_t out, in;	/* koids, 0: idle */
	bool is_known;		/* it is recorded what runs from here on */
	bool is_marked;		/* @in ran already */
	bool out_is_marked;	/* @out runs on */
	bool out_may_have_left;	/* before, without a record */
};

/* 0 or -ENOMEM. */
int cpus_init(struct cpus *c, struct firing *firing);
/* Sets what follows from the triggers. */
void cpus_set_triggers(struct cpus *c);
/* What triggers ask for of a switch; for the next function. */
int cpus_look_at_switch(struct cpus *c, struct cpu *cpu, const struct cpu_switch *s);

/* 0 or -ENOMEM. */
static inline int cpus_switch(struct cpus *c, struct cpu *cpu, const struct cpu_switch *s)
{
	int err = 0;

	if (c->busy | c->idle || (cpu->koid && s->ts_ns - cpu->since_ns > c->least_ns))
		err = cpus_look_at_switch(c, cpu, s);
	cpu->koid = s->in;
	cpu->since_ns = s->ts_ns;
	cpu->fired = 0;
	cpu->is_known = s->is_known;
	cpu->is_marked = s->is_marked;
	return err;
}

/* These CPUs are online now. */
void cpus_look(struct cpus *c, const struct num_cpus *online, uint64_t now_ns);
/* See triggers_suspended(). */
void cpus_suspended(struct cpus *c, uint64_t from_ns, uint64_t to_ns);
/* All records of times before @complete_ns are there: what goes on is looked at. 0 or -ENOMEM. */
int cpus_round(struct cpus *c, uint64_t complete_ns);
void cpus_fini(struct cpus *c);

#endif
