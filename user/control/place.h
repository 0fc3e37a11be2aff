/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the sockets of recorders are: DIRECTORY/PID.sock. The directory is $RUNTIME_DIRECTORY, which systemd sets for
 * services with RuntimeDirectory=; without it /run/kfxt, or $XDG_RUNTIME_DIR/kfxt for who may not use that. Clients also
 * look in /run/kfxt/service, the directory of kfxt.service: that is its user's and goes when it stops, so that no other
 * recorder, as one of root, can have its socket there.
 *
 * A recorder cannot remove its socket when it ends, since by then it may not remove files. The next recorder and each
 * client remove those that nobody listens on any more, as far as they have the right to.
 */
#ifndef CONTROL_PLACE_H
#define CONTROL_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/un.h>

#define CONTROL_DIRS_MAX	3
#define CONTROL_FOUND_MAX	64

struct control_found {
	pid_t pid;			/* by the name, in the PID namespace of the recorder */
	int err;			/* 0: it listens; -EACCES: we may not connect; -EAGAIN: too many wait for it */
	struct sockaddr_un address;
};

/* The directories in which clients look, at most CONTROL_DIRS_MAX: returns how many. */
unsigned int control_dirs(char dirs[CONTROL_DIRS_MAX][PATH_MAX]);
/*
 * The directory for the socket of this process; it is made if it is not there. 0 or -errno, with a line in @why:
 * among others -EPERM: others may write to it.
 */
int control_dir_make(char dir[PATH_MAX], char *why, size_t size);
/* DIR/PID.sock@suffix. 0 or -ENAMETOOLONG: a name of a socket has 107 bytes at most. */
int control_address(struct sockaddr_un *out, const char *dir, pid_t pid, const char *suffix);
/* A new socket that does not block and is connected; -EAGAIN: too many wait already; or another -errno. */
int control_connect(const struct sockaddr_un *address);
/*
 * The recorders whose sockets are in @dir, added to the @cnt that @found has already, CONTROL_FOUND_MAX at most.
 * Removes the sockets of those that have ended. Returns how many there are then.
 */
unsigned int control_list(const char *dir, struct control_found *found, unsigned int cnt);

#endif
