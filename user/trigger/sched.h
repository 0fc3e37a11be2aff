/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scheduling records, from their words: what they say of threads and of CPUs.
 */
#ifndef TRIGGER_SCHED_H
#define TRIGGER_SCHED_H

#include <stddef.h>
#include <stdint.h>

#include "base/num.h"
#include "blind.h"
#include "cpus.h"
#include "texts.h"
#include "waits.h"

struct sched {
	struct thread_waits waits;
	struct cpus cpus;
	struct blind blind;
	uint32_t exits;			/* triggers on exits, as bits */
	uint64_t *exited;		/* processes that have said so since the last round */
	size_t exited_cnt, exited_cap;
	uint64_t last_ns;		/* the latest time of any record */
	struct num_cpus expected;	/* CPUs that are to start */
	unsigned int expected_cnt;	/* of these, how many have not */
	struct num_cpus recorded;
	uint64_t looked_ns;		/* when it was last known which CPUs are online */
	bool has_others;		/* CPUs that are not recorded were */
};

/* What the recording says of itself at its start: CPUs that are recorded, those that are online. */
void sched_expect(struct sched *s, const struct num_cpus *recorded, const struct num_cpus *online);
/* Threads were selected: records of others are missing. */
void sched_set_filtered(struct sched *s);
/* See triggers_suspended(). */
void sched_suspended(struct sched *s, uint64_t from_ns, uint64_t to_ns);
/* These CPUs are online, as of now; all records of times before @now_ns are there. */
void sched_look(struct sched *s, const struct num_cpus *online, uint64_t now_ns);
/* A scheduling record of @words words. 0 or -ENOMEM. */
int sched_take(struct sched *s, const struct texts *texts, const uint64_t *rec, size_t words);
/* A process has said how it exits. 0 or -ENOMEM. */
int sched_exit(struct sched *s, uint64_t process);
/* All records of times before @complete_ns are there. 0 or -ENOMEM. */
int sched_round(struct sched *s, uint64_t complete_ns);
void sched_fini(struct sched *s);

#endif
