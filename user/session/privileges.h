/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a recorder gives up once all is attached and open: the capabilities that only attaching
 * takes, and the system calls that a recording does not make.
 */
#ifndef SESSION_PRIVILEGES_H
#define SESSION_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct sources;

/* What the rest of the recording has to do. */
struct privileges_cfg {
	pid_t command;		/* to be ended; 0: none */
	const struct sources *sources;	/* what they need; NULL: none is recorded */
	int broker_fd;		/* a socket that descriptors of files are received from; 0: none */
	int control_fd;		/* a socket that listens for clients, see control_listener(); 0: none */
};

struct confined {
	char kept[128];		/* capabilities, as "cap_kill"; "" is none */
	int filter_err;		/* -errno: why system calls are not filtered, as where the kernel cannot */
};

/*
 * Confines the calling thread and those it makes from now on; processes forked before are not
 * touched. System calls are filtered for all threads there are, capabilities are a thread's own:
 * see privileges_drop_all(). 0 or -errno: capabilities could not be dropped.
 */
int privileges_confine(const struct privileges_cfg *cfg, struct confined *out);
/* For a thread that is made before privileges_confine(): drops all capabilities of it. 0 or -errno. */
int privileges_drop_all(void);
/* The same, but for what it takes to read /proc where that hides other users' processes. */
int privileges_keep_proc(void);
/* The same, but for @cap if it has that. */
int privileges_keep_one(int cap);

#endif
