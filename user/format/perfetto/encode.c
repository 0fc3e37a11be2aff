// SPDX-License-Identifier: GPL-2.0
/*
 * The wire format of protobuf: tags, varints, lengths.
 */
#include "encode.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "fields.h"

#define REPLACEMENT	"\xef\xbf\xbd"	/* U+FFFD */

void pb_buf_fini(struct pb_buf *b)
{
	free(b->data);
	*b = (struct pb_buf){ 0 };
}

/* Space for @more bytes, or false for good. */
static bool reserve(struct pb_buf *b, size_t more)
{
	b->failed = b->failed || array_reserve(b->data, b->len, b->cap, more);
	return !b->failed;
}

void pb_put_raw(struct pb_buf *b, const void *data, size_t len)
{
	if (!len || !reserve(b, len))
		return;
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

/* How many bytes were put at @to. */
static size_t put_varint(uint8_t *to, uint64_t v)
{
	size_t n = 0;

	while (v > 127) {
		to[n++] = (uint8_t)(v | 128);
		v >>= 7;
	}
	to[n++] = (uint8_t)v;
	return n;
}

void pb_put_varint(struct pb_buf *b, uint64_t v)
{
	if (reserve(b, PB_VARINT_BYTES_MAX))
		b->len += put_varint(b->data + b->len, v);
}

static void put_tag(struct pb_buf *b, unsigned int field, enum pf_wire wire)
{
	pb_put_varint(b, (uint64_t)field << 3 | wire);
}

void pb_put_u64(struct pb_buf *b, unsigned int field, uint64_t v)
{
	put_tag(b, field, PF_VARINT);
	pb_put_varint(b, v);
}

void pb_put_i64(struct pb_buf *b, unsigned int field, int64_t v)
{
	pb_put_u64(b, field, (uint64_t)v);
}

void pb_put_fixed64(struct pb_buf *b, unsigned int field, uint64_t v)
{
	const uint64_t le = htole64(v);

	put_tag(b, field, PF_FIXED64);
	pb_put_raw(b, &le, sizeof(le));
}

void pb_put_double(struct pb_buf *b, unsigned int field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	pb_put_fixed64(b, field, bits);
}

void pb_put_bytes(struct pb_buf *b, unsigned int field, const void *data, size_t len)
{
	put_tag(b, field, PF_BYTES);
	pb_put_varint(b, len);
	pb_put_raw(b, data, len);
}

/* Where the first byte is that is not of a character, or @len. */
static size_t find_bad(const char *data, size_t len)
{
	size_t at = 0, n;

	while (at < len) {
		n = (unsigned char)data[at] < 0x80 ? 1 : log_utf8_len(data + at, len - at);
		if (!n)
			break;
		at += n;
	}
	return at;
}

void pb_put_string(struct pb_buf *b, unsigned int field, const void *string, size_t len)
{
	const char *data = string;
	size_t good = find_bad(data, len), begun;

	if (good == len) {
		pb_put_bytes(b, field, data, len);
		return;
	}
	begun = pb_begin(b, field);
	b->replaced++;
	for (;;) {
		pb_put_raw(b, data, good);
		if (good == len)
			break;
		pb_put_raw(b, REPLACEMENT, sizeof(REPLACEMENT) - 1);
		data += good + 1;
		len -= good + 1;
		good = find_bad(data, len);
	}
	pb_end(b, begun);
}

void pb_put_text(struct pb_buf *b, unsigned int field, const char *text)
{
	pb_put_bytes(b, field, text, strlen(text));
}

size_t pb_begin(struct pb_buf *b, unsigned int field)
{
	put_tag(b, field, PF_BYTES);
	pb_put_varint(b, 0);	/* the length, if it is below 128 */
	return b->len;
}

void pb_end(struct pb_buf *b, size_t begun)
{
	uint8_t length[PB_VARINT_BYTES_MAX];
	size_t n;

	if (!reserve(b, sizeof(length)))
		return;
	n = put_varint(length, b->len - begun);
	if (n > 1)
		memmove(b->data + begun + n - 1, b->data + begun, b->len - begun);
	memcpy(b->data + begun - 1, length, n);
	b->len += n - 1;
}
