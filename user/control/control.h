/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The recorder's end of a socket over which commands ask for a snapshot or for its status. place.h says where it is.
 *
 * Who may connect is decided by the mode of the socket, 0660: root, the user of the recorder, members of the group of
 * the socket. The group is that of the recorder, or of the directory if that has its set-group-ID bit. Nobody else is
 * served, whatever has become of the mode.
 *
 * No call waits. A client that sends nothing, or does not read its answer, is disconnected after CONTROL_PATIENCE_NS.
 */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "message.h"

struct close_later;

#define CONTROL_CLIENTS_MAX	16	/* at a time; others are refused */
#define CONTROL_PATIENCE_NS	5000000000ULL
#define CONTROL_WHY_BYTES	256

struct control;

struct control_cfg {
	const char *dir;	/* NULL: that of place.h */
	struct close_later *closer;	/* of descriptors that are of no use. Borrowed. */
};

struct control_request {
	uint32_t id;		/* for control_answer() */
	bool is_gone;		/* the client of this request has hung up before it was answered; nothing else is set */
	enum control_kind kind;
	bool json;		/* status: see control_status_json() and control_status_text() */
	uint64_t last_ns;	/* snapshot: only so much before now; 0: all there is */
	int fd;			/* snapshot: open for writing, the caller's to check and to close; -1: make one */
	char name[CONTROL_NAME_BYTES];	/* snapshot: UTF-8, as it was typed; "": none */
	pid_t pid;		/* of the client; 0: of another PID namespace */
	uid_t uid;
};

/*
 * Listens, and removes sockets of recorders that have ended. Before privileges_confine(), whose privileges_cfg.control_fd is
 * control_listener(). SIGPIPE is to be ignored. 0 or -errno with a line in @why, which begins with a path.
 */
int control_open(struct control **out, const struct control_cfg *cfg, char *why, size_t size);
/* To be polled: readable when control_next() has something to do. */
int control_fd(const struct control *c);
int control_listener(const struct control *c);
/* Its path. */
const char *control_path(const struct control *c);
/*
 * The next request; false: there is none. To be called until then when control_fd() is readable, and a few times a
 * second in any case, for clients that are too slow. Each request is to be answered, at any later time.
 */
bool control_next(struct control *c, struct control_request *req);
/*
 * Answers it: with @err 0 @text is the path of the snapshot, which is not used if that was written to control_request.fd,
 * or the status; with -errno a line that says why. Copied. Nothing is sent to a client that has gone, or without memory.
 */
void control_answer(struct control *c, uint32_t id, int err, const char *text);
/* A line of less than CONTROL_WHY_BYTES that the client is to know, before its answer. */
void control_note(const struct control *c, uint32_t id, const char *text);
/*
 * Whether @fd of a request is an empty regular file: 0, -ENOTEMPTY, or -EINVAL, of which control_file_why() is a text. As its
 * file system may hang, not for the thread of all the others.
 */
int control_file_check(int fd);
const char *control_file_why(int err);
/* Disconnects all clients, answered or not; removes the socket if that is still allowed. NULL is fine. */
void control_close(struct control *c);

#endif
