/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets out of a stream of bytes: of the file, or of a compressed packet.
 */
#ifndef FORMAT_PERFETTO_IN_INPUT_H
#define FORMAT_PERFETTO_IN_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/perfetto/decode.h"

#define PF_PACKET_BYTES_MAX	(256U << 20)	/* a longer one is skipped */
#define PF_INFLATED_BYTES_MAX	(256U << 20)	/* of one compressed packet */

/* Bytes of the input: the number read, 0 at the end, or -errno. */
typedef long (*pf_read_fn)(void *ctx, void *buf, size_t len);

struct pf_input {
	pf_read_fn read;
	void *ctx;
	uint8_t *buf;
	size_t pos, len, cap;
	uint64_t offset;	/* of @buf in the input */
	bool ended;
	uint64_t other_fields;	/* of Trace, which are no packets */
};

enum pf_item {
	PF_INPUT_END,
	PF_INPUT_PACKET,
	PF_INPUT_TOO_LONG,	/* a packet that was skipped */
	PF_INPUT_CUT,		/* the input ends in a packet; the end follows */
	PF_INPUT_NO_PACKET,	/* what is no field of Trace; what follows it is searched for packets */
};

/*
 * The next packet, valid until the next call; *@offset is where it, or the damage, begins. An enum pf_item
 * or -errno.
 */
int pf_input_next(struct pf_input *in, struct pf_cursor *packet, uint64_t *offset);
void pf_input_fini(struct pf_input *in);

/* Reads what is in a compressed packet: a pf_read_fn, whose errors are -EBADMSG (damaged), -EFBIG and -ENOMEM. */
struct pf_inflate;
long pf_inflate_read(void *ctx, void *buf, size_t len);
/* @number: PF_PACKET_COMPRESSED or _ZSTD. Borrows @data. 0 or -ENOMEM. */
int pf_inflate_open(struct pf_inflate **out, uint32_t number, struct pf_cursor data);
/* NULL is fine. */
void pf_inflate_close(struct pf_inflate *z);

#endif
