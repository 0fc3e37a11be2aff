/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recording from its first byte to its last: header, probes, names, drain,
 * ledger. One thread does it all and sleeps unless a ring fills; a second one compresses.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/num.h"
#include "base/progress.h"
#include "io/compress.h"
#include "io/stage.h"
#include "detacher.h"
#include "lateness.h"
#include "urgency.h"
#include "ledger.h"
#include "capture/tasks.h"
#include "window/window.h"

struct broker;
struct budget;
struct filter;
struct recorder;
struct source_late;
struct sources;
struct trigger_fired;
struct triggers;

enum recorder_by {
	RECORDER_BY_TRIGGER,
	RECORDER_BY_SIGNAL,
	RECORDER_BY_CLIENT,		/* kfxt snapshot */
	RECORDER_BY_END,		/* without triggers, at the end of the recording */
};

/* A file of what is kept in memory, as somebody asks for it. */
struct recorder_request {
	enum recorder_by by;
	const char *name;		/* what it is for: for the file's name. Copied. */
	uint64_t last_ns;		/* only so much of the end; 0: all that is kept */
	/* A file to write to, which is closed then, by a thread: it may hang, and keeps nobody waiting. -1: one of ours, kept. */
	int fd;
	int (*check)(int fd);		/* of @fd, called first by that thread: 0 or -errno; NULL: nothing */
	uint32_t id;			/* given back; not 0 if it is to be cancelled some time */
	pid_t pid;			/* of a client, which the trace says; 0: not known */
	uid_t uid;
};

/* What became of a file. Texts are valid during the call. */
struct recorder_file {
	int err;			/* 0 or -errno */
	const char *why;		/* what the error has to say, "" if nothing */
	const char *path;		/* "": of the request */
	enum recorder_by by;
	const char *name;		/* trigger, or of the request */
	uint32_t triggers;		/* that are in it, a bit for each, as of triggers_counts() */
	uint32_t id;			/* of the request */
	int fd;				/* of the request, if it was not touched: to be closed; -1: none */
	uint64_t bytes, raw_bytes;
	uint64_t from_ns, to_ns;	/* CLOCK_BOOTTIME */
	uint64_t last_ns;		/* of the request */
	bool is_late;			/* its trigger had left the window: it begins after that */
	bool is_unnamed;		/* -ETIMEDOUT at the end: it gets its name once it is on the disk */
};

/* What is recorded stays in memory until a trigger or a request makes a file of it. All zero: it is written at once. */
struct recorder_keep {
	uint64_t age_ns, bytes;		/* both bounds hold; 0: not by this */
	struct triggers *triggers;	/* borrowed; NULL: none, and a file is made at the end */
	uint64_t after_ns;		/* what follows a trigger is in its file, too */
	bool no_files;			/* nor any later: only what all this costs is of interest. Without a broker; the calls below are not made. */
	void (*fired)(void *ctx, const struct trigger_fired *fired);
	void (*done)(void *ctx, const struct recorder_file *file);
	void *ctx;
};

/* A new file every so often. All zero: one file. */
struct recorder_rotation {
	uint64_t every_ns, bytes;	/* whichever is first; 0: not by this */
};

struct recorder_cfg {
	const char *output;		/* path, or "-" for stdout */
	struct compress_cfg compress;
	const struct stage_ops *stage;	/* makes what is written of FXT; NULL: nothing does. Borrowed. */
	uint64_t ring_bytes;		/* per CPU, a power of two of at least 4096 */
	const uint32_t *cpus;		/* to record, online */
	unsigned int cpus_cnt;
	const char *cpus_text;		/* the same as a list, "0-3,7" */
	struct broker *broker;		/* makes the files of a recording of several; .output is not opened then. Borrowed. */
	struct recorder_rotation rotation;
	struct recorder_keep keep;
	bool perfetto_packets;
	bool cost;			/* is measured, and in the trace */
	double budget;			/* share of one CPU that it may cost; 0: any. With @cost */
	int nice;			/* from when all is attached on: that of threads of the output, and of the command */
	struct urgency *urgency;	/* of the thread that records. Borrowed; NULL: it is as it is. */
	bool realtime;			/* then: while it records */
	uint64_t memory_bytes;		/* that maps and the recorder may take together; 0: any */
	struct tasks_hidden hidden;	/* its expressions are also for lines of the log */
	struct sources *sources;	/* what to record beside scheduling. Borrowed. */
	struct filter *filter;	/* of which threads; NULL: all. Borrowed. */
	progress_fn progress;		/* of attaching and detaching; NULL: not reported */
	void *progress_ctx;
};

/* Fixed string indexes from here on are free for functions. */
extern const uint32_t recorder_strings_from;

struct recorder_totals {
	struct ledger_row of[LEDGER_SOURCE_CNT];
	uint64_t unreported_switches;	/* as of ledger_unreported_switches() */
	uint64_t shared_koids;		/* threads whose id was recycled too often */
	uint64_t start_ns, stop_ns;	/* CLOCK_BOOTTIME */
	uint64_t bytes, raw_bytes;	/* in the file, or in all of them; of its records, if it were not compressed */
	uint64_t files;			/* that are complete, or the only one; with those that are not named yet */
	uint64_t files_unnamed;		/* of these: the one that is written, those that are being named */
	uint64_t files_failed;		/* of a recording of several: that have got no name */
	uint64_t files_late;		/* that begin after their trigger, which had left the window */
	unsigned int pauses;		/* of a recording of several: so often the disk was full */
	int paused_err;			/* -errno: none is written at present; 0: one is, or would be */
	const char *last_file;		/* of a rotation, the last one that has its name; "": none. It is the recorder's. */
	struct window_totals window;	/* what is kept in memory */
	bool dumping;			/* a file is being made of it */
	uint64_t memory_bytes;		/* rings and other maps */
	struct late_span late;		/* why rings were full, where it took longest at a time */
	struct urgency_totals urgency;
	unsigned int full_cpus;		/* how many CPUs' rings were; the last of them */
	uint32_t full_cpu;
};

/* Space for a list of CPUs. */
#define RECORDER_CPUS_TEXT	4096

/* The CPUs that are online now, as a list. 0 or -errno. */
int recorder_online_cpus(char *text, size_t size);
/*
 * Opens the output, loads and attaches the programs, writes the header; nothing
 * is recorded yet. 0 or -errno; on failure *@what is static text naming the step,
 * or NULL if it was the output that failed, with *@hint then as of sink_open().
 * Functions to trace take seconds to attach: -ECANCELED if cfg.progress said no.
 */
int recorder_open(struct recorder **out, const struct recorder_cfg *cfg, const char **what,
		  const char **hint);
/* Begins: from here on everything is in the trace. */
int recorder_begin(struct recorder *r);
/* Puts the trace in the place of the one that is there; see sink_publish(). 0 or -errno with *@hint. */
int recorder_publish(struct recorder *r, const char **hint);
/*
 * Drains until @stop_fd is readable. Sleeps meanwhile; woken by the fill level
 * of a ring, a few times a second, and by @tick_fd (-1: none), when it also calls
 * @tick (NULL: nothing), which takes what makes @tick_fd readable.
 * 0 or the sink's -errno.
 */
int recorder_run(struct recorder *r, int stop_fd, int tick_fd, void (*tick)(void *ctx), void *ctx);
/*
 * Makes a file of what is kept; cfg.keep.done() is called once it is complete, or not to be had. 0; or -errno, and @req->fd
 * remains the caller's: -EBUSY: too many are waiting; -EOPNOTSUPP: nothing is kept; or an error of the output.
 */
int recorder_request_file(struct recorder *r, const struct recorder_request *req);
/* Nobody needs the file of the request with that id any more: done() reports it with -ECANCELED, if it is not complete. */
void recorder_cancel_request(struct recorder *r, uint32_t id);
/* Begins the next file of several as soon as may be. 0; -EOPNOTSUPP: there is one file only, or none. */
int recorder_next_file(struct recorder *r);
/* Ends each CPU, drains the rest, writes ledger and trailer. 0 or -errno. */
int recorder_end(struct recorder *r);
void recorder_totals(const struct recorder *r, struct recorder_totals *totals);
/* After recorder_end(): CPUs that were not recorded and ran something. */
const struct num_cpus *recorder_others(const struct recorder *r);
/* The @i'th CPU's row of the ledger. */
void recorder_cpu(const struct recorder *r, unsigned int i, enum ledger_source source, struct ledger_row *row);
/* What was not recorded from the beginning on, one after the other; *@kind is 0 at first. False: no more. */
bool recorder_late(const struct recorder *r, unsigned int *kind, struct source_late *late);
/* What it costs and leaves out; see budget.h. NULL: not measured. */
const struct budget *recorder_budget(const struct recorder *r);
/* Closes the trace, of which nothing can be asked any more. Returns its first error. */
int recorder_close_output(struct recorder *r);
/* Of a recording of several, also after that: files that have got no name, for whatever reason, which was printed. */
uint64_t recorder_files_failed(const struct recorder *r);
/*
 * Closes all. Detaching may take long in the kernel, is reported to cfg.progress, and goes on in a process of its own, for
 * which it waits for 0.4 s and not after @hurry_fd (-1: none) is readable. What is still to be done then, see
 * detacher.h.
 */
struct detacher_left recorder_leave(struct recorder *r, int hurry_fd);

#endif
