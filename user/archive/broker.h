/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The broker: a process that opens, names and deletes the files of a recorder that has given up the right to do so, and
 * runs commands for them. All of it in one directory, with names of one pattern (name.h).
 *
 * How it is used, by one thread of the recorder:
 *
 *	broker_open()		first of all: before there are threads, open files, other priorities, and in any case
 *				before privileges_confine(). SIGPIPE is to be ignored. The filter of system calls is to
 *				allow recvmsg(2) on broker_fd() in addition.
 *	broker_file_open()	a new file, NAME.tmp, and the descriptor to write to
 *	broker_file_publish()	once all is written: it gets its name, the hook is run, the oldest are deleted
 *	broker_file_discard()	or it is removed
 *	broker_next_notice()	what happened meanwhile, when broker_fd() is readable, or a few times a second
 *	broker_close()		after the last file
 *
 * Each call returns within cfg.patience_ns: a file system that hangs costs no more than this. Who must not wait even so
 * begins a call by broker_begin_*() and asks for its result at times. What is done only after a call has ended is undone (a
 * file is removed) or reported as BROKER_LATE (it has its name).
 *
 * When the recorder ends in any way, SIGKILL included, the broker gives files that were not published their names: an
 * FXT file is cut after its last whole record, what has no record is removed, no hook is run. If both were killed, the
 * next broker of this pattern does that. Then the broker ends, after the hooks that still run or wait, each of which
 * has its limit.
 */
#ifndef ARCHIVE_BROKER_H
#define ARCHIVE_BROKER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "hooks.h"
#include "retention.h"

#define BROKER_WHY_BYTES	256
#define BROKER_FILES_MAX	8	/* open at a time */
#define BROKER_PURPOSES_MAX	64
#define BROKER_CALLS_MAX	8	/* that are not waited for, at a time */

struct broker;

struct broker_cfg {
	const char *pattern;		/* path, see name_pattern_open() */
	struct retention_limits limits;	/* of the files that nobody asked for; the date must be in their names then */
	const char *hook;		/* command for sh -c, with {} for the path; NULL: none */
	uint64_t hook_limit_ns;		/* 0: 5 minutes */
	/* What files are for, as the hook gets it, at most BROKER_PURPOSES_MAX. Borrowed until broker_close(). */
	const char *const *purposes;
	unsigned int purposes_cnt;
	uint64_t patience_ns;		/* of each call; 0: 2 s */
	const struct rlimit *files;	/* how many a hook may have open; NULL: as many as we */
};

struct broker_request {
	const char *purpose;		/* for %t: a trigger, "rotate"; the hook has it as it is only if it is one of cfg.purposes */
	time_t when;			/* CLOCK_REALTIME, seconds; 0: now */
	uint64_t needs_bytes;		/* -ENOSPC if less is free; 0: whatever there is */
	bool keep;			/* a person asked for it: it is never deleted, nor counted in the limits */
};

struct broker_file {
	uint32_t id;
	int fd;				/* for writing; the caller closes it, before or after publishing */
	char path[PATH_MAX];		/* the name it is to have; once it is published, the one it has */
};

enum broker_event {
	BROKER_HOOK_FAILED,		/* .why says how */
	BROKER_DELETED,			/* .files of them, the last one is named */
	BROKER_NOT_DELETED,
	BROKER_RECOVERED,		/* of a recorder that has ended: has its name now */
	BROKER_NOT_RECOVERED,
	BROKER_LATE,			/* published after the call had returned -ETIMEDOUT */
	BROKER_NOT_ON_DISK,		/* with BROKER_SYNC_LATER: has its name, .why says what the disk did not take */
	BROKER_COUNTED,			/* no notice: broker_get_counts() has other numbers */
};

struct broker_notice {
	enum broker_event event;
	uint32_t files;
	uint64_t bytes;			/* in them */
	char path[PATH_MAX];
	char why[BROKER_WHY_BYTES];	/* a line; "" if there is nothing to say */
};

struct broker_counts {
	struct hooks_counts hooks;
	uint64_t deleted, deleted_bytes;
	uint64_t recovered;
	uint64_t notices_lost;		/* since nobody took them */
	struct retention_total kept;	/* files that count; 0 without limits */
};

/*
 * Starts it. 0 or -errno, with a line in @why: -EINVAL if the pattern is none, or limits are given and its names have
 * no date; what opening the directory returned; -ETIMEDOUT after 30 s: large files that a recorder left take a while.
 */
int broker_open(struct broker **out, const struct broker_cfg *cfg, char *why, size_t size);
/* What is wrong with @cfg, without starting anything: as broker_open(). */
int broker_check(const struct broker_cfg *cfg, char *why, size_t size);
/* Readable when there is a notice, or when the broker has ended. */
int broker_fd(const struct broker *b);
/* The directory, from the root. */
const char *broker_dir(const struct broker *b);
/*
 * 0 or -errno, then broker_why() says more:
 *	-ENOSPC		the disk is full: nothing was made. To be tried again later.
 *	-ETIMEDOUT	it took too long
 *	-EPIPE		the broker has ended; all other calls return the same
 *	-EMFILE		BROKER_FILES_MAX files are open
 *	others		as of openat(2), renameat2(2)
 */
int broker_file_open(struct broker *b, const struct broker_request *request, struct broker_file *file);
/* As bits. */
enum broker_publish {
	BROKER_HOOK = 1,		/* the command is run for it */
	BROKER_SYNC_LATER = 2,		/* its name does not wait until all is on the disk: see BROKER_NOT_ON_DISK */
};

/*
 * @how: bits of enum broker_publish. 0 or -errno as above; -ESTALE: somebody has removed or replaced it. After a failure
 * it is not open any more.
 */
int broker_file_publish(struct broker *b, struct broker_file *file, unsigned int how);
int broker_file_discard(struct broker *b, struct broker_file *file);

/* A call that is not waited for. All zero: none. */
struct broker_call {
	uint32_t id;
	uint64_t end_ns;		/* CLOCK_MONOTONIC: then it has taken too long, 30 times cfg.patience_ns */
};

/*
 * Begin what the three above do, without waiting. 0 and *@call is one; or -errno: -EBUSY if there are too many, -EPIPE, or
 * -ETIMEDOUT: the broker takes no request. What becomes of a file that is dropped nobody asks.
 */
int broker_begin_open(struct broker *b, const struct broker_request *request, struct broker_call *call);
int broker_begin_publish(struct broker *b, const struct broker_file *file, unsigned int how, struct broker_call *call);
/* Is so much space free? The result is 0 or -ENOSPC, or one of the errors above; @file is not used. */
int broker_begin_space(struct broker *b, uint64_t needs_bytes, struct broker_call *call);
void broker_drop(struct broker *b, const struct broker_file *file);
/*
 * What has become of it, without waiting: -EAGAIN: nothing so far. Otherwise @call has ended, with what the functions above
 * return, and @file is as of them.
 */
int broker_call_result(struct broker *b, struct broker_call *call, struct broker_file *file);
/* The same; waits cfg.patience_ns, or a tenth of it if the call before it took too long. */
int broker_call_wait(struct broker *b, struct broker_call *call, struct broker_file *file);
/* What the last call that failed had to say: a line, without the name of the file. */
const char *broker_why(const struct broker *b);
/* The next one, without waiting. False: there is none. */
bool broker_next_notice(struct broker *b, struct broker_notice *notice);
/* Whether it has ended, so that nothing can be written any more; seen by broker_next_notice(). */
bool broker_has_ended(const struct broker *b);
/* As of the last call. */
void broker_get_counts(const struct broker *b, struct broker_counts *counts);
/*
 * Ends it, without waiting for hooks that still run: returns how many do or are to, 0 if none, or -errno; -ETIMEDOUT: it
 * has yet to do what it was asked for, and ends after that. Notices can still be taken, but nothing asked for.
 */
int broker_end(struct broker *b);
/* Ends it if that has not been, with the result of broker_end(). NULL is fine. */
int broker_close(struct broker *b);

#endif
