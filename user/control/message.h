/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The packets between a recorder and a command that asks it something, over a socket of type SOCK_SEQPACKET. Each
 * connection has one request and its answer; both ends trust nothing in a packet.
 *
 * Magic, version and kind are the beginning of all packets of all versions. What follows may differ.
 */
#ifndef CONTROL_MESSAGE_H
#define CONTROL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_MAGIC		0x7478666bU	/* "kfxt" on little endian machines */
#define CONTROL_VERSION		2U
#define CONTROL_NAME_BYTES	64U		/* with the NUL */
#define CONTROL_PART_BYTES	4096U		/* of the text of an answer in one packet */
#define CONTROL_TEXT_MAX	(1U << 20)	/* of a whole answer */

enum control_kind {
	CONTROL_SNAPSHOT = 1,
	CONTROL_STATUS,
};

struct control_ask {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;			/* enum control_kind */
	uint32_t json;			/* status: 1 as JSON, 0 for people; otherwise 0 */
	uint32_t reserved;		/* 0 */
	uint64_t last_ns;		/* snapshot: 0: the whole window; otherwise 0 */
	char name[CONTROL_NAME_BYTES];	/* snapshot: "" none; NUL up to its end */
};

enum control_part_kind {
	CONTROL_BEGUN = 1,		/* the request is understood and its answer will follow */
	CONTROL_MORE,			/* a part of the text, more follows */
	CONTROL_END,			/* the last part */
	CONTROL_NOTE,			/* a line, before these: what the client is to know though all goes well */
};

struct control_part {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;			/* enum control_part_kind */
	int32_t err;			/* CONTROL_END: 0 or -errno, then the text is a line that says why */
	char text[CONTROL_PART_BYTES];	/* as much as there is in the packet */
};

#define CONTROL_PART_HEAD	offsetof(struct control_part, text)

/*
 * A request of @len bytes, which came with a descriptor or without. 0; -EPROTO: of another version; -EBADMSG: no
 * request. On failure *@why is static text.
 */
int control_ask_check(const struct control_ask *ask, size_t len, bool has_fd, const char **why);
/* A part of an answer, of @len bytes. 0; -EPROTO: of another version; -EBADMSG: no answer. */
int control_part_check(const struct control_part *part, size_t len);
/* May this be the name of a snapshot? Not too long, UTF-8, without control characters. Otherwise why not, or NULL. */
const char *control_name_check(const char *name);

#endif
