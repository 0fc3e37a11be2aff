/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside a recording: session.c (open, begin, close), drain.c (while it runs) and finish.c (its end).
 */
#ifndef SESSION_SESSION_P_H
#define SESSION_SESSION_P_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "archive/broker.h"
#include "bpf/abi/raw.h"
#include "capture/source.h"
#include "lateness.h"
#include "session.h"
#include "urgency.h"
#include "write_errors.h"

#define FLUSH_MS	200	/* so that a reader of a pipe, or of the file after a crash, lags no more */
#define ASKED_MS	20	/* between two rounds that somebody asks for, or waits for */

struct budget;
struct detacher;
struct flight;
struct fxt_writer;
struct gaps;
struct idle_times;
struct ledger;
struct tasks;
struct packets;
struct piece_cut;
struct piece_state;
struct programs;
struct sink;
struct initial_states;

#define NAMED_MAX	4U	/* files at a time */

/* A file that is closed, and gets its name. */
struct named {
	struct broker_call call;	/* .id is 0: none */
	struct broker_file file;
};

/* Of a recording of several files. */
struct rotation {
	struct piece_state *state;	/* NULL: there is one file, or none */
	struct broker_file file;	/* the one that is written */
	bool is_open;
	struct broker_call opening;	/* of the next one; .id is 0: none */
	struct broker_file next;
	bool has_next;			/* it is open */
	bool is_asked_for;		/* it is not to wait until it is time */
	bool at_end;			/* of the recording: no name waits for the disk */
	struct named named[NAMED_MAX];
	uint64_t cut_ns;		/* when it began, by CLOCK_BOOTTIME */
	uint64_t retry_ns;		/* when another file is asked for again */
	uint64_t begun;			/* files */
	uint64_t files, failed;		/* that are complete, that have got no name */
	bool said_no_file, said_no_name;	/* since there was one */
	uint64_t bytes, raw_bytes;	/* in all that were closed */
	struct output_time output_time;	/* spent on them */
	unsigned int postponed;		/* rounds */
	unsigned int pauses;		/* the disk was full */
	int paused_err;			/* why the last time */
	char last[PATH_MAX];		/* the last one that has its name */
};

/* What can be late: sources by kind, command lines and cgroups. */
enum { LATE_NAMES = RAW_KIND_CNT, LATE_FILTER, LATE_CNT };

/* What the trace says of a source that did not record from the beginning on: since when it does (0: not yet), and when. */
struct said_late {
	uint64_t since_ns, at_ns;
};

/* What a CPU's control words said before the last look at its ring. */
struct cpu_look {
	uint64_t gap_ns;		/* since when it is in a gap, 0: it is in none */
	bool hidden;			/* with a filter: what runs is not selected */
};

struct recorder {
	const struct recorder_cfg *cfg;
	struct sink *sink;
	int untrimmed;			/* the file that it left to sink_trim(); -1: none */
	struct rotation rotation;
	struct flight *flight;		/* NULL: nothing is kept in memory */
	struct fxt_writer *w;
	struct packets *packets;	/* NULL: not selected */
	struct programs *programs;
	struct tasks *tasks;
	struct gaps *gaps;
	struct initial_states *states;
	struct num_cpus others;		/* not recorded, and ran something since the begin */
	uint64_t others_ns;		/* when that was last noticed */
	bool idle_named;
	uint64_t start_ns, stop_ns;
	uint64_t names_lost;		/* when /proc was last read */
	uint64_t names_said, unread_said;	/* as the trace has them: lost, and lost since then */
	uint64_t read_ns;		/* when it may be read again */
	struct said_late said_late[LATE_CNT];
	struct lateness late;
	uint64_t asked_ns;		/* when somebody asked for a round last */
	uint64_t lost;			/* by full rings, at the last look */
	struct iovec *pieces;
	struct cpu_look *looks;		/* by position in cfg.cpus */
	uint64_t *cut_bounds;		/* by number of the CPU, for recorder_cut() */
	/* A CPU can be cut at @floor_ns; at @next_floor_ns once programs that began before @floor_set_ns have ended. */
	uint64_t floor_ns, next_floor_ns, floor_set_ns;
	uint64_t floor_looked_ns;	/* of the last round */
	struct ledger *ledger;
	struct unwritten unwritten;	/* counts in the ledger */
	struct budget *budget;		/* NULL: its cost is not measured */
	struct detacher *detacher;	/* NULL: not yet */
	char waits[SOURCE_WHY_BYTES];	/* what is attached by it, if it is late */
};

/* Opens the output: the only file, or the first one. 0 or -errno with *@hint, as sink_open(). */
int recorder_open_output(struct recorder *r, const char **hint);
/* Time spent on it so far. */
struct output_time recorder_output_time(const struct recorder *r);
/* Of threads that compress or write, which may be older than privileges_confine() and need no rights. */
struct thread_hooks recorder_thread_hooks(const struct recorder *r);
/* All that is written goes through one of these. 0 or -errno. */
int recorder_writev(struct recorder *r, struct iovec *iov, int cnt);
int recorder_write(void *ctx, const void *data, size_t len);
/* Those that programs use. 0 or the writer's error. */
int recorder_write_strings(struct fxt_writer *w);
/* The end of a file of several; before the last one's, what has not ended was written. The writer is flushed. 0 or -errno. */
int recorder_write_tail(struct recorder *r, const struct piece_cut *cut, bool is_last);
/* Where files are cut after a round of the drain that began at @looked_ns. Valid until the next call. */
struct piece_cut recorder_cut(struct recorder *r, uint64_t looked_ns);
/* After that round: ends the file and begins the next one, if it is time. 0 or -errno. */
int recorder_rotate(struct recorder *r, uint64_t looked_ns);
/*
 * A thread whose name was lost is without one in later files as well, until what lives is read from /proc again. So that
 * the ledger of each of several files has what it needs, the trace says at @at_ns how many names were lost since it said
 * so last, and how many since /proc was last read. 0 or the writer's error.
 */
int recorder_write_lost_names(struct recorder *r, uint64_t at_ns);
/* The same of sources that do not record yet, or did not from the beginning on; with @end not to be put off. */
int recorder_write_late(struct recorder *r, uint64_t at_ns, bool end);
/* Bytes, files and the window. */
void recorder_output_totals(const struct recorder *r, struct recorder_totals *t);
/* The event `trigger` of a file that somebody asks for. 0 or the writer's error. */
int recorder_write_request(struct recorder *r, const struct recorder_request *req, uint64_t at_ns);
/* A few times a second. 0 or -errno. */
int recorder_flush_output(struct recorder *r);
/* After the last record: ends what is written, or writes what is kept. 0 or -errno. */
int recorder_finish_output(struct recorder *r);
/* Packets that each file of several begins with, after the head of its FXT. 0 or the writer's error. */
int recorder_write_head_packets(const struct recorder *r, struct fxt_writer *w, const struct piece_state *s);
/* Closes the output, whose first error it returns, and gives the last files their names, for which it waits. */
int recorder_close_file(struct recorder *r);
/* Names the idle threads of the recorded CPUs, once. 0 or the writer's error. */
int recorder_write_idle_threads(struct recorder *r);
/* One round over all rings, names included if @with_names. 0 or the first error. */
int recorder_drain(struct recorder *r, bool with_names);
/* Reads /proc once more if names were lost since, as what still lives can be read again. 0 or the first error. */
int recorder_scan_if_needed(struct recorder *r);
/* For ledger_mark(), if all CPUs that are online are recorded: the kernel counts the switches of all together. */
void recorder_mark(struct recorder *r, unsigned int call);
/*
 * Forks the process that attaches some sources and detaches all, which is r->detacher from then on, and waits for as long as it makes
 * progress. What is not attached when it has made none for too long is late, and r->waits says why. @begin: from a while
 * ago. 0 or -errno with *@what: -ECANCELED if r->cfg->progress said no, -ECHILD if the process was ended, as *@what says.
 */
int recorder_attach_aside(struct recorder *r, const struct idle_times *begin, const char **what);
/* The same process, for a recording that has not come to that: it only detaches. */
void recorder_open_detacher(struct recorder *r);
/* Notices that the process has ended that has some sources attached. */
void recorder_look_for_detacher(struct recorder *r);
/* Notices CPUs that are not recorded and ran something. */
void recorder_look_for_others(struct recorder *r);
/*
 * What a file that began at @from_ns says at its end: the CPUs that are online now, and those that are not recorded and ran
 * something meanwhile, from which a reader sees that threads ran without a record. 0 or -errno.
 */
int recorder_online_at_stop(struct recorder *r, uint64_t from_ns, char *text, size_t size);

#endif
