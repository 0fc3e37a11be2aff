/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text of an input: any bytes, borrowed for the call that it is passed to.
 */
#ifndef MODEL_TEXT_H
#define MODEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/text_hash.h"

struct model_text {
	const char *data;
	size_t len;
};

static inline bool text_is(struct model_text text, const char *with)
{
	return text.len == strlen(with) && !memcmp(text.data, with, text.len);
}

static inline bool text_same_word(const char *a, const char *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x == y;
}

/* Whether @len bytes are the same, without a call: names are short. Eight a step; the last ones overlap. */
static inline bool text_same(const char *a, const char *b, size_t len)
{
	size_t at = 0;

	if (len < sizeof(uint64_t)) {
		while (at < len && a[at] == b[at])
			at++;
		return at == len;
	}
	for (; at + sizeof(uint64_t) < len; at += sizeof(uint64_t))
		if (!text_same_word(a + at, b + at))
			return false;
	return text_same_word(a + len - sizeof(uint64_t), b + len - sizeof(uint64_t));
}

/* How many of @len bytes are left of a text that may have @max: not a part of a character. */
static inline size_t text_cut(const char *data, size_t len, size_t max)
{
	size_t at = max;

	if (len <= max)
		return len;
	while (at && max - at < 3 && (data[at] & 0xc0) == 0x80)
		at--;
	return at;
}

#endif
