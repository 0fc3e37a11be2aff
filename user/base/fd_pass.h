/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets of a local socket that keeps their borders, with open descriptors (SCM_RIGHTS of unix(7)).
 */
#ifndef BASE_FD_PASS_H
#define BASE_FD_PASS_H

#include <sys/types.h>

#define FD_PASS_MAX	2	/* descriptors in a packet of ours */
#define FD_PASS_ALL	253	/* in a packet of anybody: SCM_MAX_FD of the kernel */

struct fd_pass {
	int fds[FD_PASS_ALL];	/* -1: none */
	unsigned int cnt;
};

/* Sends @data and @cnt descriptors, which stay the caller's. @flags: of sendmsg(2). Never SIGPIPE. 0 or -errno. */
int fd_pass_send(int socket, const void *data, size_t len, const int *fds, unsigned int cnt, int flags);
/*
 * Takes a packet, and at most @max descriptors with it, which are the caller's and are closed by exec; further ones are closed.
 * Closing may wait for a file system. With FD_PASS_ALL nothing is closed, unless the process may open no more.
 * @flags: of recvmsg(2). Returns its length, @len + 1 if it is longer, 0 at the end, or -errno; then there are no descriptors.
 */
ssize_t fd_pass_receive(int socket, void *data, size_t len, struct fd_pass *passed, unsigned int max, int flags);

#endif
