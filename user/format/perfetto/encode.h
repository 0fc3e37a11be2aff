/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Protobuf messages in memory. A nested message is begun and ended; its length is put before it
 * when it ends, in as few bytes as it takes.
 */
#ifndef FORMAT_PERFETTO_ENCODE_H
#define FORMAT_PERFETTO_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PB_VARINT_BYTES_MAX	10U

/* All zero is an empty one. After memory ran out nothing more is put, and @failed stays set. */
struct pb_buf {
	uint8_t *data;
	size_t len, cap;	/* bytes */
	bool failed;		/* no memory */
	uint64_t replaced;	/* strings that had bytes which are not UTF-8 */
};

void pb_buf_fini(struct pb_buf *b);

/* Bytes as they are, and a number as a varint, without a tag: for packed arrays and whole messages. */
void pb_put_raw(struct pb_buf *b, const void *data, size_t len);
void pb_put_varint(struct pb_buf *b, uint64_t v);

/* One field. */
void pb_put_u64(struct pb_buf *b, unsigned int field, uint64_t v);
/* A negative number takes ten bytes, as int32 and int64 of the format do. */
void pb_put_i64(struct pb_buf *b, unsigned int field, int64_t v);
void pb_put_fixed64(struct pb_buf *b, unsigned int field, uint64_t v);
void pb_put_double(struct pb_buf *b, unsigned int field, double v);
void pb_put_bytes(struct pb_buf *b, unsigned int field, const void *data, size_t len);
/* A string, which readers take as UTF-8 only: other bytes become U+FFFD each, and it counts as replaced. */
void pb_put_string(struct pb_buf *b, unsigned int field, const void *string, size_t len);
/* @text ends with a NUL. */
void pb_put_text(struct pb_buf *b, unsigned int field, const char *text);

/* A nested message or packed array: returns what pb_end() takes. */
size_t pb_begin(struct pb_buf *b, unsigned int field);
void pb_end(struct pb_buf *b, size_t begun);

#endif
