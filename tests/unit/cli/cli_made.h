/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the tests of the commands: running one with its output caught, and
 * traces made in memory. Failures end the test.
 */
#ifndef CLI_MADE_H
#define CLI_MADE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/findings.h"
#include "fxt/fxt.h"

struct run {
	int code;
	char *out, *err;	/* what it printed, NUL-terminated */
};

/* Runs @cmd with the words up to NULL, the first being its name. */
struct run run_command(int (*cmd)(int, char **), ...);
/* The same with a stdout that is a full disk. */
struct run run_command_full(int (*cmd)(int, char **), ...);
void run_free(struct run *r);
/* @text contains @part. */
void assert_has(const char *text, const char *part);

#define IDLE	0ULL	/* in place of a thread */

/* A trace in memory, written through @w, and then read from @at on. */
struct made {
	char *data;		/* of exactly len bytes once it is closed */
	size_t len, cap, at;
	struct fxt_writer *w;
};

void made_open(struct made *m);
/* Open with head and names, without a session: all CPUs count as recorded. */
void made_begin(struct made *m);
/* Ends the writing. */
void made_close(struct made *m);
void made_free(struct made *m);
/* A new file with the trace; the caller removes it before the next call. */
const char *made_path(const struct made *m);
/* An fxt_write_fn and an fxt_read_fn. */
int made_write(void *ctx, const void *data, size_t len);
long made_read(void *ctx, void *buf, size_t len);

void put_head(struct made *m);
/* @mark may be NULL; the weight is 120, of IDLE it is idle's. */
void put_switch(struct made *m, uint64_t ts, uint16_t cpu, uint64_t out, int state,
		uint64_t in, const char *mark);
void put_wakeup(struct made *m, uint64_t ts, uint16_t cpu, uint64_t thread, uint64_t waker);
void put_marked_wakeup(struct made *m, uint64_t ts, uint16_t cpu, uint64_t thread, uint64_t waker, const char *mark);
int32_t weight_of(uint64_t koid);
void put_process(struct made *m, uint64_t koid, const char *name);
void put_thread(struct made *m, uint64_t koid, uint64_t process, const char *name);
/* As it exits. */
void put_last_thread(struct made *m, uint64_t koid, uint64_t process, const char *name);
/* Threads 11 and 12 of process 10 "app", kernel thread 20, the recorder 10. */
void put_names(struct made *m);
/* An event of category "kfxt". */
void put_session(struct made *m, uint64_t ts, const char *name, const struct fxt_arg *args,
		 unsigned int nargs);
void put_start(struct made *m, uint64_t ts, const char *cpus, const char *online);
void put_ledger(struct made *m, uint64_t ts, uint32_t cpu, uint64_t switches, uint64_t wakeups,
		uint64_t lost_switches);
/* The slice of a gap, of one in an event ring, of a thread that did not run. */
void put_gap(struct made *m, uint64_t from, uint64_t to, uint32_t cpu, uint64_t switches, uint64_t wakeups,
	     uint64_t unreported);
void put_event_gap(struct made *m, uint64_t from, uint64_t to, uint32_t cpu, uint64_t calls, uint64_t logs,
		   uint64_t events);
void put_still(struct made *m, uint64_t from, uint64_t to, uint64_t thread, const char *state);
/* tests/corpus/fxt/recording.fxt.gz, a real one; for free(). */
char *read_recording(size_t *len);
/* Any words, past the writer. */
void append_words(struct made *m, const uint64_t *words, size_t cnt);

/*
 * A complete recording of two CPUs, as `kfxt record` writes it: worker runs on
 * CPU 0, sleeps, is woken by helper, runs on CPU 1, is preempted by kworker.
 */
void put_clean(struct made *m);
/* The ledgers that go with it, and the last of them alone. */
void put_clean_ledgers(struct made *m);
void put_totals(struct made *m, uint64_t ts);
/* The end of a session: the event and the last ledger. */
void put_end(struct made *m, uint64_t ts);

/* Reads it from its first byte; verify_fini() ends it. */
void verify_made(struct verify *v, struct made *m);
/* Exactly @count problems, all of this kind; VERIFY_PROBLEM_CNT: none. */
void assert_found(const struct made *m, enum verify_problem problem, unsigned int count);
/* The same of a trace still open, which is freed. */
void finish_found(struct made *m, enum verify_problem problem, unsigned int count);

#endif
