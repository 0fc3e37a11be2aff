/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whoever closes the last descriptor of a link or a perf event waits in the kernel, for each of them, for grace periods and
 * workers, and cannot be killed meanwhile. So another process has all of them, too: closing them takes the recorder no
 * time as long as that one does not, and the recorder can end before it. It is forked before the recording begins: a fork
 * waits for locks of files that are mapped, which a thread of another process may hold that does not get a CPU.
 *
 * Whoever attaches may have to wait as long. What can be late is attached by the same process, which alone has that then.
 */
#ifndef SESSION_DETACHER_H
#define SESSION_DETACHER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/progress.h"

struct detacher;
struct idle_times;
struct sources;

/* What the process does, in its own copy of all memory: all NULL, or none. */
struct detacher_cfg {
	/* At first, with all rights. What it opens only the process has; it gives up once @until_fd has no other end any more. */
	void (*attach)(void *ctx, int until_fd);
	void (*count)(void *ctx);	/* for detacher_first(): this, which is urgent, */
	void (*first)(void *ctx);	/* then this */
	void *ctx;
	const struct idle_times *begin;	/* from a while ago: it attaches on a CPU that was idle since then; NULL: on any */
	bool says;			/* to stderr, until all is attached */
	int output;			/* a file that the process calls sink_trim() for when it is to end; -1: none */
	const struct sources *sources;	/* whose system calls it may make; NULL: none */
};

/*
 * Forks the process, which keeps devices, files of /proc that are written and what has no place in a file system,
 * closes all else that is open, and confines itself, see privileges_confine(). What is opened later it does not have.
 * 0 or -errno.
 */
int detacher_open(struct detacher **out, const struct detacher_cfg *cfg);
/* Whether the process is there: else all that is closed is closed by the caller. NULL: it is not. */
bool detacher_lives(const struct detacher *d);
/* Waits until it has attached, ended, or @wait_ms have passed; whether it has attached. */
bool detacher_attached(struct detacher *d, unsigned int wait_ms);

/* How it gets on. */
struct detacher_look {
	uint64_t ran_ns;	/* on CPUs, so far */
	char state;		/* as in /proc/PID/stat; '?': not known */
	char where[64];		/* the function of the kernel in which it waits; empty: none, or not known */
};

struct detacher_look detacher_look(const struct detacher *d);
/* Where it does not get a CPU, makes it real-time, above all but the kernel's own threads, until it has attached. */
void detacher_hurry(const struct detacher *d);
/*
 * The process calls @count and @first once. Whether that came to its end within @wait_ms, or all with the process:
 * then all that the kernel was about has ended. May be called again to ask for that.
 */
bool detacher_first(struct detacher *d, unsigned int wait_ms);

/* What the process still has to close. */
struct detacher_left {
	pid_t pid;		/* 0: it has ended */
	unsigned int cnt;	/* links, programs and maps, what it is at among them; 0: not known yet */
	bool attaches;		/* it has not come to that */
};

/*
 * The caller has closed everything: so does the process, and ends. Waits for that for at most @wait_ms, and not after
 * @hurry_fd is readable (-1: there is none); @progress (NULL: nothing) is called meanwhile.
 */
struct detacher_left detacher_rest(struct detacher *d, unsigned int wait_ms, int hurry_fd, progress_fn progress, void *ctx);
#define DETACHER_LEFT_TEXT	128
/* That in words, where there is a process: @buf. */
const char *detacher_left_text(const struct detacher_left *left, char buf[DETACHER_LEFT_TEXT]);
/* The process closes everything and ends, if it has not been asked to before. NULL is fine. */
void detacher_close(struct detacher *d);

#endif
