/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a recording costs while it runs, and what it leaves out when that is more than it may cost.
 *
 * Once a second. Over the limit, classes of events are left out in the order of enum shed_class, as many as it takes by
 * what each is known to cost. The last one is recorded again after some seconds in which the cost with it would have been
 * below BUDGET_CALM of the limit; each time it is left out again soon, that takes twice as long. Where the limit is exceeded
 * by the way to programs whose events are left out, these are detached, if they can be.
 */
#ifndef SESSION_BUDGET_H
#define SESSION_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi/shed.h"
#include "cost.h"

#define BUDGET_CALM		0.7
#define BUDGET_FAR		1.5	/* times the limit: not a second more */
#define BUDGET_HOLD_NS		3000000000ULL
#define BUDGET_HOLD_MAX_NS	300000000000ULL
#define BUDGET_RELAPSE_NS	60000000000ULL	/* left out again within this time: too soon */
#define BUDGET_DETACH_NS	60000000000ULL	/* in which a class is detached, or what it costs counts again */

/* ---- the decision ---- */

/* Shares of a CPU. */
struct budget_costs {
	double total;
	double less[SHED_CNT];	/* what is saved if a class is left out that is recorded */
	double more[SHED_CNT];	/* what it costs to record a class again */
	double rest[SHED_CNT];	/* what a class that is left out costs all the same */
	double before[SHED_CNT];	/* what was recorded of such a class before, and was in the rings: it does not come again */
};

struct budget_rule {
	double limit;
	bool selected[SHED_CNT];	/* part of this recording */
	bool detachable[SHED_CNT];	/* for good */
	bool detached[SHED_CNT];
	uint64_t detaching_ns;		/* since when one is; 0: none was when the last second began. Reset by the caller */
	bool too_much;			/* in the last look, by what can be detached */
	unsigned int level;		/* how many classes are left out, from the first one on */
	bool exceeded;			/* by a second that began with all left out that can be */
	uint64_t calm_ns;		/* since when level - 1 would do; 0: it would not */
	uint64_t restored_ns[SHED_CNT], hold_ns[SHED_CNT];
};

/* Sets @rule->level, @rule->detached and @rule->detaching_ns by what the last second cost. Times are of any clock, and not 0. */
void budget_decide(struct budget_rule *rule, const struct budget_costs *costs, uint64_t now_ns);

/* ---- memory ---- */

/*
 * Of @bytes for all, what is for maps, the rest being for the recorder itself; 0: any. Of too few a byte.
 */
uint64_t budget_memory_of_maps(uint64_t bytes);

/* ---- of a recording ---- */

struct budget;
struct recorder;

/* What was left out of a class. */
struct budget_class {
	uint64_t events;
	uint64_t ns, times;		/* for how long, how often it began */
	uint64_t first_ns, last_ns;	/* when it first began and last ended, since the start of the recording */
	uint64_t detached_ns;		/* the same, when its programs were detached: later events are not counted; 0: never */
};

/*
 * Begins to measure, as cost_open(). @limit: share of a CPU; 0: nothing is left out. Borrows @r. 0 or -ENOMEM.
 */
int budget_open(struct budget **out, struct recorder *r, double limit);
/* All below take NULL, a recording whose cost is not asked for.
 *
 * After each round of the drain: once a second writes the counter and does what the rule says. 0 or the writer's error.
 */
int budget_look(struct budget *b);
/* At @r->stop_ns: ends what is open in the trace. The same. */
int budget_end(struct budget *b);
/* Memory of this process that is neither the kernel's nor a file's; 0: not known. */
uint64_t budget_own_bytes(void);
/* What it cost so far or, if @lately, in the last second. False: not known. */
bool budget_cost(const struct budget *b, bool lately, struct cost_shares *out);
/* Whether the part of the programs is measured, not what is typical. */
bool budget_is_measured(const struct budget *b);
/* Share of a CPU; 0: no limit. */
double budget_limit(const struct budget *b);
/* Whether there was a second in which it cost more, though all that can be was left out. */
bool budget_was_exceeded(const struct budget *b);
/* A bit for each enum shed_class that is being left out. What it feeds is blind. */
uint32_t budget_shed(const struct budget *b);
void budget_class(const struct budget *b, enum shed_class class, struct budget_class *out);
/* "functions" */
const char *budget_class_name(enum shed_class class);
void budget_close(struct budget *b);

#endif
