/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recorders for tests of the control socket: child processes that listen and answer.
 */
#ifndef UNIT_CONTROL_MADE_H
#define UNIT_CONTROL_MADE_H

#include <stdbool.h>
#include <sys/types.h>

#include "control/client.h"
#include "control/control.h"
#include "control/status.h"

/* How a recorder answers. */
struct made_recorder {
	const char *path;	/* of a snapshot that has no descriptor; NULL: one is refused with -ENOTSUP */
	const char *note;	/* before that; NULL: none */
	bool silent;		/* it reads requests and never answers */
	bool ends;		/* it ends in the middle of the first request */
	bool confined;		/* with the filter of a recorder */
	bool stays;		/* it leaves its socket when it ends, as one that is confined */
	size_t status_bytes;	/* of the status; 0: a usual one */
	const char *status;	/* NULL: a usual one */
};

extern const char *const control_trace;		/* what is written to a descriptor */
extern const struct control_ask control_status_ask;	/* the packet of a request for the status */

/* For all tests of a group: a directory for sockets, which is $RUNTIME_DIRECTORY; removed with all that is in it. */
extern char control_dir[64];
int control_dir_open(void **state);
int control_dir_close(void **state);
/* Listens when this returns. */
pid_t control_recorder_start(const struct made_recorder *r);
/* SIGTERM, and waits for its end. */
void control_recorder_stop(pid_t pid);
/* One of what a usual recorder says. */
void control_status_make(struct control_status *s);
/* A connected socket that waits in reads, for what no client sends. */
int control_connect_raw(pid_t pid);
/* The address of the recorder @pid. */
struct sockaddr_un control_address_of(pid_t pid);
/* A request for the status, as the command makes it; what becomes of any request to the recorder @pid. */
struct control_query control_status_query(void);
int control_ask_of(pid_t pid, const struct control_query *q, struct control_reply *reply);
/* The recorder still answers. */
void control_assert_answers(pid_t pid);
/* Number of entries in the directory. */
unsigned int control_dir_entries(const char *dir);

#endif
