/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The triggers there are, which threads they select, and those that have fired.
 */
#ifndef TRIGGER_FIRING_H
#define TRIGGER_FIRING_H

#include "threads.h"
#include "trigger.h"
#include "word.h"

#define FIRING_QUEUE	4096U	/* so many wait for triggers_next() */

struct firing_trigger {
	struct trigger_word w;
	bool has_fired;
	uint64_t last_ns;	/* end of the one that fired last */
	uint64_t round;		/* in which it did */
	uint64_t fired, suppressed;
};

struct firing_deferred {
	uint32_t mask;
	struct trigger_fired what;
};

struct firing {
	struct firing_trigger list[TRIGGERS_MAX];
	unsigned int cnt;
	uint64_t cooldown_ns;
	uint64_t round;		/* the number of the one that goes on */
	const struct threads *threads;		/* borrowed */
	struct trigger_fired queue[FIRING_QUEUE];
	unsigned int first, queued;
	struct firing_deferred *deferred;
	size_t deferred_cnt, deferred_cap;
};

/* The triggers of that kind, as bits. */
uint32_t firing_mask(const struct firing *f, enum trigger_kind kind);
/* The lowest threshold of that kind, UINT64_MAX if there is none. */
uint64_t firing_least(const struct firing *f, enum trigger_kind kind);
/* Those of @mask that select the thread, as far as it is known. */
uint32_t firing_select(const struct firing *f, uint32_t mask, const struct thread *t);
/* When the last cooldown of the @i'th trigger ends; 0: there was none. */
uint64_t firing_quiet_until(const struct firing *f, unsigned int i);
/* When the first of @mask can fire for what goes on since @from_ns, which may be after a cooldown; UINT64_MAX: none can. */
uint64_t firing_due(const struct firing *f, uint32_t mask, uint64_t from_ns);
/*
 * The @i'th trigger was reached by *@what, of which names and the threshold are filled in, if it selects the thread. False:
 * that goes on, and so does the cooldown. It counts when one of these ends. What goes on as the trigger fires is in its file.
 */
bool firing_add(struct firing *f, unsigned int i, const struct trigger_fired *what);
/* The same for all of @mask whose threshold the value is above; returns those for which that was true. */
uint32_t firing_add_above(struct firing *f, uint32_t mask, const struct trigger_fired *what);
/*
 * The same later: when the names of its thread are known for sure. What goes on counts only if the thread has ended, and that
 * with it. 0 or -ENOMEM.
 */
int firing_defer(struct firing *f, uint32_t mask, const struct trigger_fired *what);
/* Now. */
void firing_add_deferred(struct firing *f);
/* As triggers_next(). */
const struct trigger_fired *firing_next(struct firing *f);
void firing_fini(struct firing *f);

#endif
