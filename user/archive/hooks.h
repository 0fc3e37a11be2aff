/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands that are run for files: a few at a time, each for so long at most.
 */
#ifndef ARCHIVE_HOOKS_H
#define ARCHIVE_HOOKS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#define HOOKS_MAX	4	/* at a time */
#define HOOKS_WAITING	32	/* after these */

struct hooks;

/* Of each one that failed: @why says how. Called by hooks_round() and hooks_add(). */
typedef void (*hooks_failed_fn)(void *ctx, const char *path, const char *why);

struct hooks_cfg {
	const char *command;		/* for sh -c; each {} becomes the path. Borrowed. */
	uint64_t limit_ns;		/* then it is sent SIGTERM, and SIGKILL 2 s later */
	const struct rlimit *files;	/* how many it may have open; NULL: as many as we */
	hooks_failed_fn failed;
	void *ctx;
};

/* Numbers of hooks so far. */
struct hooks_counts {
	uint32_t run, failed;		/* started; of these, ended with another status than 0 */
	uint32_t killed;		/* of those that failed, over the limit */
	uint32_t skipped;		/* not started: too many, or it was not possible */
	uint32_t running, waiting;	/* now */
};

int hooks_open(struct hooks **out, const struct hooks_cfg *cfg);
/*
 * Runs the command for the file @path as soon as fewer than HOOKS_MAX are running, in a process group of its own. Its
 * environment has KFXT_FILE, the path, and KFXT_TRIGGER, @purpose. stdin is empty and stdout is stderr. @held is a
 * descriptor that is closed once the command has ended or is not run; -1: none.
 */
void hooks_add(struct hooks *h, const char *path, const char *purpose, int held);
/* What is readable when hooks_round() has something to do: returns how many of at most HOOKS_MAX. */
unsigned int hooks_poll(const struct hooks *h, struct pollfd *fds);
/* Or so many ms from now; -1: never. */
int hooks_timeout_ms(const struct hooks *h);
/* Reaps those that have ended, kills those over the limit, starts those that wait. Returns whether any has ended. */
bool hooks_round(struct hooks *h);
/* Whether one for the file @path runs, or is to. */
bool hooks_has(const struct hooks *h, const char *path);
void hooks_get_counts(const struct hooks *h, struct hooks_counts *counts);
/* Those that still run are left alone. NULL is fine. */
void hooks_close(struct hooks *h);

/* @command with @path for each {}, quoted for the shell where it needs it. malloc'ed; NULL: no memory. */
char *hooks_command(const char *command, const char *path);

#endif
