/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Triggers: what makes the flight recorder keep a snapshot. They are evaluated on the records of a
 * recording of kfxt as these go by, in the order of the file.
 *
 * Nothing fires by mistake: what a gap, a filter or a CPU that is not recorded may hide is not
 * counted, and what is only known in part is reported as such. Times are nanoseconds of
 * CLOCK_BOOTTIME, as in the trace.
 */
#ifndef TRIGGER_TRIGGER_H
#define TRIGGER_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIGGERS_MAX		32U
#define TRIGGER_WHY_BYTES	256	/* for any message */
#define TRIGGER_COMM_BYTES	17
#define TRIGGER_TEXT_BYTES	128

/*
 * Records of times up to so long before triggers_round()'s may still be on their way: a program that has read
 * its clock may be kept from submitting its record by the host of a virtual machine.
 */
#define TRIGGER_SETTLE_NS	20000000ULL
#define TRIGGER_LAG_NS		2000000000ULL
#define TRIGGER_NO_RUN_NS	UINT64_MAX

struct triggers;

/* What the kernel says of a thread. */
struct trigger_answer {
	uint64_t before_ns, after_ns;	/* it was so at some time between */
	uint64_t switches;		/* how often it has been switched out */
	uint64_t run_ns;		/* for how long it has run, of one in state R; TRIGGER_NO_RUN_NS: not known */
	char state;			/* R S D T t Z X I, as in /proc/PID/status */
	char comm[TRIGGER_COMM_BYTES];
};

/* 0 or -errno. */
typedef int triggers_ask_fn(void *ctx, uint32_t tid, struct trigger_answer *out);

struct trigger_fired {
	const char *name;	/* of the kind: "runq" */
	const char *word;	/* as it was given: "runq>5ms" */
	uint64_t value;		/* ns; of busy and idle millionths of the window; 1 of what has no length: log, mark, exit */
	uint64_t threshold;	/* in the same unit, or 0 */
	uint64_t thread;	/* koid of the thread it is about; 0: none */
	uint64_t process;	/* koid: 0 of threads of the kernel; of one that is not known, that of the thread */
	uint64_t from_ns, to_ns;
	int cpu;		/* -1: of no particular one */
	bool is_ongoing;	/* it had not ended at @to_ns */
	bool is_partial;	/* it was that long at least: one of its ends is not in the trace */
	char comm[TRIGGER_COMM_BYTES];	/* of the thread, "" if unknown */
	char text[TRIGGER_TEXT_BYTES];	/* name of the interrupt, call or marker, line of the log, "signal 11 (SIGSEGV)"; else "" */
};

struct trigger_counts {
	const char *word;
	uint64_t fired;		/* handed out, or to be handed out, by triggers_next() */
	uint64_t suppressed;	/* by the cooldown, or more at once than are kept */
	const char *blind;	/* why what is recorded does not show it, at present: "CPUs are online that are not recorded"; NULL: it does */
};

/* 0 or -ENOMEM. */
int triggers_open(struct triggers **out);
/*
 * Adds one by its word, before the first triggers_take(). 0, -ENOMEM, or -EINVAL with one line in @why,
 * such as "runq>5: a time needs a unit: ns, us, ms, s, m or h"; @why has TRIGGER_WHY_BYTES at most.
 */
int triggers_add(struct triggers *t, const char *word, char *why, size_t size);
/*
 * After one has fired it is quiet for so long: those that end meanwhile are counted as suppressed, as are those that went on
 * as it fired. What still goes on after that fires then.
 */
void triggers_set_cooldown(struct triggers *t, uint64_t cooldown_ns);
struct trigger_source {
	const char *word;	/* of the trigger, as it was given */
	/*
	 * What must be recorded for it, as a word of `kfxt record -e` or, of functions that are recorded with their returns,
	 * one of -f after "func:" or of -u after "user:"; NULL: scheduling, which always is.
	 */
	const char *source;
};

/* Of the @i'th, as added; false: there is none. It lives as long as @t. */
bool triggers_source(const struct triggers *t, unsigned int i, struct trigger_source *out);
/*
 * What is not in the records, before the recorder gives up its rights: which CPUs are online, by the file below @root (""
 * except in tests), and pressure, which the kernel watches if a trigger is on that. 0 or -errno with one line in @why:
 * the first trigger that it refused, which is blind. The others are watched.
 */
int triggers_watch(struct triggers *t, const char *root, char *why, size_t size);
/*
 * How to ask what a thread does at present, which the records do not prove where a gap divides a wait, or the kernel may not have
 * reported a switch. NULL: it cannot be asked for. Asked of up to 100 threads a second, of those that have waited for as long
 * as a trigger is about.
 */
void triggers_ask(struct triggers *t, triggers_ask_fn *ask, void *ctx);
/* One, by /proc. @ctx is the directory that is in, "" except in tests. */
int triggers_ask_proc(void *ctx, uint32_t tid, struct trigger_answer *out);
/*
 * An event of a tracepoint that was recorded for @source, of the last function, has passed its filter; with @t as @ctx. If
 * there is no memory it is counted as suppressed.
 */
void triggers_found(void *ctx, const char *source, uint64_t ts_ns, uint64_t thread);
/*
 * The machine was suspended at some time between these, of which nothing later has been taken: nobody ran or waited then,
 * and nothing that goes on then counts.
 */
void triggers_suspended(struct triggers *t, uint64_t from_ns, uint64_t to_ns);
/* Whole records in the order of the file, at addresses that are multiples of 8. 0, -EINVAL or -ENOMEM. */
int triggers_take(struct triggers *t, const void *records, size_t len);
/*
 * To be called after each drain. All records of times up to @now_ns have been handed over: it is the time
 * before the drain looked at the first ring or, where a CPU is in a gap by then, when the earliest of these
 * gaps began, as what is missing there is not in the ring yet. Evaluates waits that ended
 * TRIGGER_SETTLE_NS before that, and those that go on. Selectors need names: not to be called before those of all
 * threads that are there at the start have been handed over. 0 or -ENOMEM.
 */
int triggers_round(struct triggers *t, uint64_t now_ns);
/*
 * How long before the present time the next round's is, as a CPU is in a gap: its next event ends it, and till then those
 * about scheduling are blind if that takes longer than TRIGGER_LAG_NS. What takes a moment fires all the same.
 */
void triggers_lag(struct triggers *t, uint64_t ns);
/* The next one that has fired, valid until the next call of any of these; NULL: none. */
const struct trigger_fired *triggers_next(struct triggers *t);
/* Of the @i'th, as added; false: there is none. */
bool triggers_counts(const struct triggers *t, unsigned int i, struct trigger_counts *out);
/* The kernel watches nothing any more: closes what it does that by, which may take it a grace period. NULL is fine. */
void triggers_stop(struct triggers *t);
/* NULL is fine. */
void triggers_close(struct triggers *t);

#endif
