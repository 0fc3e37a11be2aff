/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walking protobuf messages: fields in the order of the bytes, without a schema. A length is
 * checked against what is there before it is used, so a cursor never leaves its message.
 */
#ifndef FORMAT_PERFETTO_DECODE_H
#define FORMAT_PERFETTO_DECODE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fields.h"

/* What is left of a message. */
struct pf_cursor {
	const uint8_t *at, *end;
};

struct pf_field {
	uint32_t number;
	uint8_t wire;		/* enum pf_wire */
	uint64_t value;		/* of all but PF_BYTES */
	const uint8_t *data;	/* PF_BYTES: in the message */
	size_t len;
};

/* One that continues; see pf_varint(). */
bool pf_long_varint(struct pf_cursor *c, uint64_t *value);
/* The rarer fields, see pf_next(): any with its tag; what follows the tag of one of many bytes. */
int pf_other_field(struct pf_cursor *c, struct pf_field *f);
int pf_long_bytes(struct pf_cursor *c, struct pf_field *f);

static inline struct pf_cursor pf_message(const void *data, size_t len)
{
	return (struct pf_cursor){ data, len ? (const uint8_t *)data + len : data };
}

static inline struct pf_cursor pf_inner(const struct pf_field *f)
{
	return pf_message(f->data, f->len);
}

/* False: the message ends within it, or it has more than ten bytes. Bits above 64 are dropped. */
static inline bool pf_varint(struct pf_cursor *c, uint64_t *value)
{
	if (c->at < c->end && c->at[0] < 0x80) {
		*value = *c->at++;
		return true;
	}
	if (c->end - c->at > 1 && c->at[1] < 0x80) {
		*value = (c->at[0] & 0x7fU) | (uint64_t)c->at[1] << 7;
		c->at += 2;
		return true;
	}
	return pf_long_varint(c, value);
}

/* The next field: 1, 0 at the end of the message, or -EBADMSG if what follows is no field. */
static inline int pf_next(struct pf_cursor *c, struct pf_field *f)
{
	uint8_t tag;

	if (c->at == c->end)
		return 0;
	tag = *c->at;
	/* Nearly all have a tag of one byte, many a number or a length of one. */
	if (tag >= 0x80 || tag < 8 || !((1U << PF_VARINT | 1U << PF_BYTES) >> (tag & 7) & 1))
		return pf_other_field(c, f);
	c->at++;
	f->number = tag >> 3;
	f->wire = tag & 7;
	f->data = NULL;
	f->len = 0;
	if (f->wire == PF_VARINT)
		return pf_varint(c, &f->value) ? 1 : -EBADMSG;
	if (c->at == c->end || *c->at >= 0x80 || *c->at >= c->end - c->at)
		return pf_long_bytes(c, f);
	f->len = *c->at++;
	f->data = c->at;
	f->value = 0;
	c->at += f->len;
	return 1;
}

static inline bool pf_is(const struct pf_field *f, uint32_t number, enum pf_wire wire)
{
	return f->number == number && f->wire == wire;
}

/* The bits of a field of type double. */
static inline double pf_double(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* Of one of type float, as the bits of a double. */
static inline uint64_t pf_bits_of_float(uint64_t bits)
{
	uint64_t wide;
	double v;
	float f;

	memcpy(&f, &bits, sizeof(f));
	v = f;
	memcpy(&wide, &v, sizeof(wide));
	return wide;
}

/*
 * The numbers of a repeated field, which may be packed: call it with each field of that number and the
 * count so far; it returns the new count. What is beyond @max, or has another type, is left out.
 */
size_t pf_numbers(const struct pf_field *f, enum pf_wire wire, uint64_t *out, size_t cnt, size_t max);
/* The next of packed numbers; false: there is none, or it is damaged. */
bool pf_next_number(struct pf_cursor *c, enum pf_wire wire, uint64_t *value);
/* How many numbers such a field has. */
size_t pf_numbers_cnt(const struct pf_field *f, enum pf_wire wire);
/* The first field of that number and type: true, with *@out set, or false, with none of that number, value and length 0. */
bool pf_find(struct pf_cursor c, uint32_t number, enum pf_wire wire, struct pf_field *out);

#endif
