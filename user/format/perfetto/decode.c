// SPDX-License-Identifier: GPL-2.0
/*
 * The rarer shapes of fields.
 */
#include "decode.h"

#define VARINT_BYTES_MAX	10

/* Groups of seven bits, the lowest byte first, without what is between them. */
static uint64_t squeeze(uint64_t v)
{
	v = (v & 0x7f007f007f007f00ULL) >> 1 | (v & 0x007f007f007f007fULL);
	v = (v & 0x3fff00003fff0000ULL) >> 2 | (v & 0x00003fff00003fffULL);
	return (v & 0x0fffffff00000000ULL) >> 4 | (v & 0x000000000fffffffULL);
}

bool pf_long_varint(struct pf_cursor *c, uint64_t *value)
{
	const uint8_t *p = c->at;
	unsigned int shift, bits;
	uint64_t v = 0, ends;

	if (c->end - p >= (ptrdiff_t)sizeof(v)) {
		/* Little-endian, as all hosts are. */
		memcpy(&v, p, sizeof(v));
		ends = ~v & 0x8080808080808080ULL;
		if (ends) {
			bits = (unsigned int)__builtin_ctzll(ends) + 1;
			*value = squeeze(v & (UINT64_MAX >> (64 - bits)));
			c->at = p + bits / 8;
			return true;
		}
		v = 0;
	}
	for (shift = 0; p < c->end && shift < 7 * VARINT_BYTES_MAX; shift += 7) {
		v |= (uint64_t)(*p & 0x7f) << shift;
		if (*p++ < 0x80) {
			*value = v;
			c->at = p;
			return true;
		}
	}
	return false;
}

static bool take_fixed(struct pf_cursor *c, size_t bytes, uint64_t *value)
{
	if ((size_t)(c->end - c->at) < bytes)
		return false;
	*value = 0;
	/* Little-endian, as all hosts are. */
	memcpy(value, c->at, bytes);
	c->at += bytes;
	return true;
}

static bool take_bytes(struct pf_cursor *c, struct pf_field *f)
{
	uint64_t len;

	if (!pf_varint(c, &len) || len > (uint64_t)(c->end - c->at))
		return false;
	f->data = c->at;
	f->len = (size_t)len;
	f->value = 0;
	c->at += len;
	return true;
}

int pf_long_bytes(struct pf_cursor *c, struct pf_field *f)
{
	return take_bytes(c, f) ? 1 : -EBADMSG;
}

int pf_other_field(struct pf_cursor *c, struct pf_field *f)
{
	uint64_t tag;

	if (!pf_varint(c, &tag) || !(tag >> 3) || tag >> 3 > 0x1fffffff)
		return -EBADMSG;
	f->number = (uint32_t)(tag >> 3);
	f->wire = tag & 7;
	f->data = NULL;
	f->len = 0;
	if ((f->wire == PF_VARINT && pf_varint(c, &f->value)) || (f->wire == PF_BYTES && take_bytes(c, f)) ||
	    (f->wire == PF_FIXED64 && take_fixed(c, 8, &f->value)) || (f->wire == PF_FIXED32 && take_fixed(c, 4, &f->value)))
		return 1;
	return -EBADMSG;
}

bool pf_next_number(struct pf_cursor *c, enum pf_wire wire, uint64_t *value)
{
	return c->at < c->end && (wire == PF_VARINT ? pf_varint(c, value) : take_fixed(c, 8, value));
}

size_t pf_numbers(const struct pf_field *f, enum pf_wire wire, uint64_t *out, size_t cnt, size_t max)
{
	struct pf_cursor c = pf_inner(f);
	uint64_t value;

	if (f->wire == wire && cnt < max)
		out[cnt++] = f->value;
	if (f->wire != PF_BYTES)
		return cnt;
	while (cnt < max && pf_next_number(&c, wire, &value))
		out[cnt++] = value;
	return cnt;
}

size_t pf_numbers_cnt(const struct pf_field *f, enum pf_wire wire)
{
	struct pf_cursor c = pf_inner(f);
	uint64_t value;
	size_t cnt = 0;

	if (f->wire != PF_BYTES)
		return f->wire == wire;
	while (pf_next_number(&c, wire, &value))
		cnt++;
	return cnt;
}

bool pf_find(struct pf_cursor c, uint32_t number, enum pf_wire wire, struct pf_field *out)
{
	while (pf_next(&c, out) > 0)
		if (pf_is(out, number, wire))
			return true;
	*out = (struct pf_field){ 0 };
	return false;
}
