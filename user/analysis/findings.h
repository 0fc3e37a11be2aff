/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is wrong with a trace, by kind of problem.
 *
 * verify_format.c looks at records one by one in file order, verify_sense.c at
 * all of them together in time order, verify_samples.c at stack samples; findings.c
 * keeps what they find.
 */
#ifndef ANALYSIS_FINDINGS_H
#define ANALYSIS_FINDINGS_H

#include "fxt/fxt.h"
#include "timeline.h"

struct verify_samples;

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
	VERIFY_SAMPLE_UNKNOWN,
	VERIFY_SAMPLE_UNUSABLE,
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
	VERIFY_SAMPLE_TIME,
	VERIFY_SAMPLE_THREAD,
	VERIFY_LEDGER_SWITCHES,
	VERIFY_LEDGER_WAKEUPS,
	VERIFY_LEDGER_CALLS,
	VERIFY_LEDGER_LOGS,
	VERIFY_LEDGER_EVENTS,
	VERIFY_LEDGER_SUM,
	VERIFY_JOINT,
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
	struct verify_samples *samples;
	struct verify_finding findings[VERIFY_PROBLEM_CNT];
	struct fxt_reader_stats stats;
	/* of verify_format.c */
	bool begun;
	uint32_t initialized[VERIFY_PROVIDERS_MAX];	/* ids; those without are added when reported */
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

/* verify_samples.c: stack samples, which are in BLOB records. 0 or -ENOMEM. */
int verify_samples_open(struct verify_samples **out);
int verify_samples_record(struct verify_samples *s, struct verify *v, const struct fxt_record *rec);
/* What needs the whole trace. */
void verify_samples_finish(struct verify_samples *s, struct verify *v);
void verify_samples_close(struct verify_samples *s);

/* Where the CPUs end in a file of several. */
struct verify_joint {
	struct num_cpus cpus;
	struct verify_joint_cpu {
		uint64_t ts_ns, koid, offset;
	} at[TIMELINE_CPUS_MAX];
};
/* After verify_finish(), with the @j of the file before unless it is the first; @j becomes this one's. */
void verify_joint(struct verify *v, struct verify_joint *j, bool is_first);

/* The sum of all findings. */
uint64_t verify_count(const struct verify *v);
/* "woken_awake" */
const char *verify_problem_name(enum verify_problem problem);
/* What it means, in a line. */
const char *verify_problem_text(enum verify_problem problem);

#endif
