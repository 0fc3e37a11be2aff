// SPDX-License-Identifier: GPL-2.0
/*
 * A buffer that grows to the longest packet. After bytes that are no packet the input is searched for a
 * place from which several packets follow one another.
 */
#include "input.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define READ_BYTES	(256U << 10)
#define SEARCH_BYTES	(64U << 10)	/* must be in the buffer to look for packets */
#define FOLLOWING	3		/* packets that must follow one another */
#define FIELDS_MAX	64		/* of each that are looked at: there may be a place to try at each byte */
#define NO_FIELD	100		/* beside enum pf_item: it is not a field of Trace */

/* Reads more: whether there is any, or -errno. */
static int fill_buffer(struct pf_input *in, size_t need)
{
	long got;

	if (in->pos) {
		memmove(in->buf, in->buf + in->pos, in->len - in->pos);
		in->offset += in->pos;
		in->len -= in->pos;
		in->pos = 0;
	}
	need = need > in->len + READ_BYTES ? in->len + READ_BYTES : need;
	if (array_reserve(in->buf, in->len, in->cap, need - in->len > READ_BYTES ? need - in->len : READ_BYTES))
		return -ENOMEM;
	got = in->read(in->ctx, in->buf + in->len, in->cap - in->len);
	if (got <= 0) {
		in->ended = !got;
		return (int)got;
	}
	in->len += (size_t)got;
	return 1;
}

/* So many bytes after @pos: 1, 0 if the input ends before, or -errno. */
static int need_bytes(struct pf_input *in, size_t bytes)
{
	int got = 1;

	while (got > 0 && in->len - in->pos < bytes)
		got = in->ended ? 0 : fill_buffer(in, bytes);
	return got;
}

/* Leaves out bytes that are in the buffer or not: 1, 0 if the input ends before, or -errno. */
static int skip(struct pf_input *in, uint64_t bytes)
{
	int got = 1;

	while (got > 0 && bytes > in->len - in->pos) {
		bytes -= in->len - in->pos;
		in->pos = in->len;
		got = in->ended ? 0 : fill_buffer(in, READ_BYTES);
	}
	if (got > 0)
		in->pos += (size_t)bytes;
	return got;
}

/* ---- after damage ---------------------------------------------------------- */

static bool begins_with_fields(struct pf_cursor packet)
{
	struct pf_field f;
	int i, got = 1;

	for (i = 0; i < FIELDS_MAX && got > 0; i++)
		got = pf_next(&packet, &f);
	return got >= 0;
}

/* Whether packets follow one another from there on, up to the end of what is known. */
static bool follow(const uint8_t *at, const uint8_t *end, bool is_all)
{
	struct pf_cursor c = { at, end };
	uint64_t len;
	int i;

	for (i = 0; i < FOLLOWING && c.at < c.end; i++) {
		if (*c.at++ != PF_TRACE_TAG || !pf_varint(&c, &len) || len > (uint64_t)(c.end - c.at) || !len ||
		    !begins_with_fields(pf_message(c.at, len)))
			return false;
		c.at += len;
	}
	return i == FOLLOWING || (is_all && i);
}

/* Goes to the next place that packets follow. 0 or -errno. */
static int search(struct pf_input *in)
{
	int got = need_bytes(in, SEARCH_BYTES);

	while (got >= 0 && in->pos < in->len) {
		for (; in->pos < in->len - (in->ended ? 0 : SEARCH_BYTES / 2) && in->pos < in->len; in->pos++)
			if (in->buf[in->pos] == PF_TRACE_TAG && follow(in->buf + in->pos, in->buf + in->len, in->ended))
				return 0;
		got = need_bytes(in, SEARCH_BYTES);
	}
	return got < 0 ? got : 0;
}

/* ---- packets --------------------------------------------------------------- */

/* No input is as long, and what is added to it does not overflow. */
static uint64_t bounded(uint64_t len)
{
	return len < INT64_MAX ? len : INT64_MAX;
}

/* The rest is too short for what it begins with. */
static int cut(struct pf_input *in)
{
	in->pos = in->len;
	return PF_INPUT_CUT;
}

static int take_packet(struct pf_input *in, size_t head, uint64_t len, struct pf_cursor *packet)
{
	int got;

	if (len > PF_PACKET_BYTES_MAX) {
		got = skip(in, head + bounded(len));
		return got < 0 ? got : got ? PF_INPUT_TOO_LONG : PF_INPUT_CUT;
	}
	got = need_bytes(in, head + (size_t)len);
	if (got <= 0)
		return got ? got : cut(in);
	*packet = pf_message(in->buf + in->pos + head, (size_t)len);
	in->pos += head + (size_t)len;
	return PF_INPUT_PACKET;
}

/* Another field of Trace: 1, 0 if the input ends in it, NO_FIELD, or -errno. */
static int skip_field(struct pf_input *in, size_t tag, unsigned int wire)
{
	struct pf_cursor c = { in->buf + in->pos + tag, in->buf + in->len };
	uint64_t value = 0;

	if (wire == PF_FIXED64 || wire == PF_FIXED32)
		return skip(in, tag + (wire == PF_FIXED64 ? 8 : 4));
	if (!pf_varint(&c, &value))
		return in->ended && c.end - c.at < 10 ? 0 : NO_FIELD;
	return skip(in, (uint64_t)(c.at - in->buf) - in->pos + (wire == PF_BYTES ? bounded(value) : 0));
}

/* What is at @pos: an enum pf_item, 0 if it was another field, NO_FIELD, or -errno. */
static int take_field(struct pf_input *in, struct pf_cursor *packet)
{
	struct pf_cursor c = { in->buf + in->pos, in->buf + in->len };
	uint64_t tag, len;
	int got;

	if (*c.at == PF_TRACE_TAG) {
		c.at++;
		if (pf_varint(&c, &len))
			return take_packet(in, (size_t)(c.at - in->buf) - in->pos, len, packet);
		return in->ended && c.end - c.at < 10 ? cut(in) : NO_FIELD;
	}
	if (!pf_varint(&c, &tag))
		return in->ended && c.end - c.at < 10 ? cut(in) : NO_FIELD;
	if (!(tag >> 3) || ((tag & 7) > PF_BYTES && (tag & 7) != PF_FIXED32))
		return NO_FIELD;
	got = skip_field(in, (size_t)(c.at - in->buf) - in->pos, tag & 7);
	in->other_fields += got == 1;
	return got == 1 ? 0 : got ? got : cut(in);
}

int pf_input_next(struct pf_input *in, struct pf_cursor *packet, uint64_t *offset)
{
	int got, item;

	do {
		/* A tag and a length. */
		got = need_bytes(in, 20);
		if (got < 0)
			return got;
		*offset = in->offset + in->pos;
		if (in->pos == in->len)
			return PF_INPUT_END;
		item = take_field(in, packet);
	} while (!item);
	if (item != NO_FIELD)
		return item;
	in->pos++;
	got = search(in);
	return got ? got : PF_INPUT_NO_PACKET;
}

void pf_input_fini(struct pf_input *in)
{
	free(in->buf);
	*in = (struct pf_input){ 0 };
}
