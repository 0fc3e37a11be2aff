/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command's end: asks a recorder, and waits for its answer.
 */
#ifndef CONTROL_CLIENT_H
#define CONTROL_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

#include "message.h"

struct control_query {
	enum control_kind kind;
	bool json;		/* as of struct control_ask */
	uint64_t last_ns;
	const char *name;	/* see control_name_check(); NULL: none */
	int fd;			/* snapshot: an empty regular file to be written to. Borrowed. -1: none */
	uint64_t begin_ns;	/* how long to wait until the recorder has understood it */
	uint64_t limit_ns;	/* how long after that; 0: until it answers or ends */
};

struct control_reply {
	int err;		/* what the recorder answers: 0 or -errno; then @text says why */
	char *text;		/* for free(); any bytes, NUL-terminated */
	size_t len, cap;	/* of @text */
	char *note;		/* a line, for free(); NULL: none */
	bool begun;		/* the recorder has taken the request: @err is of what it did for it */
	unsigned int version;	/* of the recorder, if it is another one */
};

/*
 * 0: it has answered; then, and only then, @out->text and @out->note are the caller's. Or -errno:
 *	-EACCES		we may not ask it
 *	-ECONNREFUSED, -ENOENT	there is no recorder
 *	-ETIMEDOUT	it does not answer; -EAGAIN: and too many wait for it already
 *	-EPIPE		it ended before it had answered
 *	-EPROTO		it has another version of these packets: @out->version
 *	-EBADMSG	what it answers is not understood
 */
int control_query(const struct sockaddr_un *address, const struct control_query *q, struct control_reply *out);

#endif
