/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading DWARF's numbers from bytes that are not trusted: past the end everything is 0 and is_bad is
 * set for good.
 */
#ifndef UNWIND_CURSOR_H
#define UNWIND_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at, *end;
	bool is_bad;
};

static inline const uint8_t *cursor_take(struct cursor *c, uint64_t bytes)
{
	const uint8_t *at = c->at;

	if (bytes > (uint64_t)(c->end - c->at)) {
		c->is_bad = true;
		c->at = c->end;
		return NULL;
	}
	c->at += bytes;
	return at;
}

/* Of 1, 2, 4 or 8 bytes, in the order of this machine. */
static inline uint64_t cursor_number(struct cursor *c, unsigned int bytes)
{
	const uint8_t *at = cursor_take(c, bytes);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, bytes);	/* little endian, as all machines of machine.h */
	return value;
}

static inline int64_t cursor_signed(struct cursor *c, unsigned int bytes)
{
	const unsigned int unused = 64 - 8 * bytes;

	return (int64_t)(cursor_number(c, bytes) << unused) >> unused;
}

/* LEB128 of at most 10 bytes; *@shift: how many bits it has. */
static inline uint64_t cursor_leb(struct cursor *c, unsigned int *shift, uint8_t *last)
{
	uint64_t value = 0;

	*shift = 0;
	do {
		*last = (uint8_t)cursor_number(c, 1);
		if (*shift >= 64) {
			c->is_bad = true;
			return 0;
		}
		value |= (uint64_t)(*last & 0x7f) << *shift;
		*shift += 7;
	} while (*last & 0x80);
	return value;
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
	unsigned int shift;
	uint8_t last;

	return cursor_leb(c, &shift, &last);
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	unsigned int shift;
	uint8_t last;
	uint64_t value = cursor_leb(c, &shift, &last);

	if (last & 0x40 && shift < 64)
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

#endif
