/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside `kfxt verify`: what is wrong with a trace, by kind of problem.
 *
 * verify_format.c looks at records one by one in file order, verify_sense.c at
 * all of them together in time order, verify.c runs both and prints.
 */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include "../fxt/fxt.h"
#include "../read/timeline.h"

enum verify_problem {
	/* format */
	VERIFY_DAMAGE,
	VERIFY_UNKNOWN_RECORD,
	VERIFY_UNRESOLVED,
	VERIFY_NO_MAGIC,
	VERIFY_NO_INITIALIZATION,
	VERIFY_BAD_TIME,
	VERIFY_BAD_STATE,
	VERIFY_BAD_CPU,
	VERIFY_BAD_ARGUMENT,
	VERIFY_IDLE_KOID,
	VERIFY_TIME_BACK,
	/* sense */
	VERIFY_NO_END,
	VERIFY_OUTSIDE_SESSION,
	VERIFY_NOT_RUNNING,
	VERIFY_TWO_CPUS,
	VERIFY_WOKEN_AWAKE,
	VERIFY_NOT_WOKEN,
	VERIFY_DEAD,
	VERIFY_NO_THREAD,
	VERIFY_NO_PROCESS,
	VERIFY_RAN,
	VERIFY_GAP,
	VERIFY_LEDGER_SWITCHES,
	VERIFY_LEDGER_WAKEUPS,
	VERIFY_LEDGER_CALLS,
	VERIFY_LEDGER_LOGS,
	VERIFY_LEDGER_EVENTS,
	VERIFY_LEDGER_SUM,
	VERIFY_PROBLEM_CNT
};

#define VERIFY_OFFSETS_MAX	5

struct verify_finding {
	uint64_t count;
	uint64_t offsets[VERIFY_OFFSETS_MAX];	/* of the first records concerned */
	char first[128];			/* the first one in words, maybe empty */
};

#define VERIFY_PROVIDERS_MAX	64	/* as many as libfxt keeps */

struct verify {
	struct timeline *tl;
	struct verify_finding findings[VERIFY_PROBLEM_CNT];
	struct fxt_reader_stats stats;
	/* of verify_format.c */
	bool begun;
	uint32_t initialized[VERIFY_PROVIDERS_MAX];	/* ids; those without are added when told */
	unsigned int initialized_cnt;
	uint64_t last_ns[TIMELINE_CPUS_MAX];		/* of the last switch in file order */
};

/* Notes a problem with the record at @offset. */
void verify_found(struct verify *v, enum verify_problem problem, uint64_t offset,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * The life of a verification: init, records in file order, finish, then read
 * the findings. Return 0 or -ENOMEM.
 */
int verify_init(struct verify *v);
int verify_format_record(struct verify *v, const struct fxt_record *rec, uint64_t ticks_per_second);
int verify_finish(struct verify *v, const struct fxt_reader *reader);
void verify_fini(struct verify *v);
/* A part of finish: all that needs the whole; sorts the timeline. */
int verify_sense_run(struct verify *v);
/* A part of that: gaps and their slices. */
int verify_gaps_run(struct verify *v);

/* The sum of all findings. */
uint64_t verify_count(const struct verify *v);
/* "woken_awake" */
const char *verify_problem_name(enum verify_problem problem);

#endif
