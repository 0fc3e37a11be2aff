/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whoever closes the last descriptor of a link or a perf event waits in the kernel, for each of them, for grace periods and
 * workers, and cannot be killed meanwhile. So another process has all of them, too: closing them takes the recorder no
 * time as long as that one does not, and the recorder can end before it. It is forked before the recording begins: a fork
 * waits for locks of files that are mapped, which a thread of another process may hold that does not get a CPU.
 */
#ifndef SESSION_DETACHER_H
#define SESSION_DETACHER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/progress.h"

struct detacher;
struct sources;

struct detacher_cfg {
	void (*first)(void *ctx);	/* for detacher_first(); NULL: it is not called */
	void *ctx;
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
/*
 * The process calls @first once, which closes what the caller has closed. Whether that came to its end within @wait_ms:
 * then all that the kernel was about has ended. May be called again to ask for that.
 */
bool detacher_first(struct detacher *d, unsigned int wait_ms);

/* What the process still has to close. */
struct detacher_left {
	pid_t pid;		/* 0: it has ended */
	unsigned int cnt;	/* links, programs and maps, what it is at among them; 0: not known yet */
};

/*
 * The caller has closed everything: so does the process, and ends. Waits for that for at most @wait_ms, and not after
 * @hurry_fd is readable (-1: there is none); @progress (NULL: nothing) is called meanwhile.
 */
struct detacher_left detacher_rest(struct detacher *d, unsigned int wait_ms, int hurry_fd, progress_fn progress, void *ctx);
/* The process closes everything and ends, if it has not been asked to before. NULL is fine. */
void detacher_close(struct detacher *d);

#endif
