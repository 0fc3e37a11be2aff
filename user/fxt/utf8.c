/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UTF-8: is it, and if not, the nearest thing that is.
 *
 * Well-formed means table 3-7 of the Unicode standard: no overlong forms, no
 * surrogates, nothing above U+10FFFF. What is not well-formed becomes one
 * U+FFFD for each longest run of bytes that could have begun a character, the
 * practice the standard recommends and most decoders share.
 */
#include "utf8.h"

#include <stdint.h>
#include <string.h>

#define REPLACEMENT	"\xef\xbf\xbd"
#define HIGH_BITS	0x8080808080808080ULL

/* What may follow a first byte: how many bytes, and the range of the next one. */
struct lead {
	unsigned char first, last;
	unsigned char follow;
	unsigned char low, high;
};

static const struct lead leads[] = {
	{ 0xc2, 0xdf, 1, 0x80, 0xbf },
	{ 0xe0, 0xe0, 2, 0xa0, 0xbf },
	{ 0xe1, 0xec, 2, 0x80, 0xbf },
	{ 0xed, 0xed, 2, 0x80, 0x9f },
	{ 0xee, 0xef, 2, 0x80, 0xbf },
	{ 0xf0, 0xf0, 3, 0x90, 0xbf },
	{ 0xf1, 0xf3, 3, 0x80, 0xbf },
	{ 0xf4, 0xf4, 3, 0x80, 0x8f },
};

static const struct lead *find_lead(unsigned char c)
{
	size_t i;

	for (i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
		if (c >= leads[i].first && c <= leads[i].last)
			return &leads[i];
	return NULL;
}

/* Takes one character, or the bytes that become one U+FFFD; @n is how many bytes it was. */
static bool take_char(const unsigned char *s, size_t len, size_t *n)
{
	const struct lead *lead;
	unsigned int i;

	*n = 1;
	if (s[0] < 0x80)
		return true;
	lead = find_lead(s[0]);
	if (!lead)
		return false;
	for (i = 1; i <= lead->follow; i++) {
		unsigned char low = i == 1 ? lead->low : 0x80;
		unsigned char high = i == 1 ? lead->high : 0xbf;

		if (i >= len || s[i] < low || s[i] > high)
			return false;
		*n = i + 1;
	}
	return true;
}

/* How much of the beginning is ASCII, eight bytes at a time. */
static size_t ascii_prefix(const char *s, size_t len)
{
	size_t at = 0;
	uint64_t word;

	while (len - at >= sizeof(word)) {
		memcpy(&word, s + at, sizeof(word));
		if (word & HIGH_BITS)
			break;
		at += sizeof(word);
	}
	return at;
}

bool fxt_utf8_valid(const char *s, size_t len)
{
	size_t at = 0, n;

	while (at < len) {
		at += ascii_prefix(s + at, len - at);
		if (at == len)
			break;
		if (!take_char((const unsigned char *)s + at, len - at, &n))
			return false;
		at += n;
	}
	return true;
}

struct fxt_utf8_repair fxt_utf8_repair(char *dst, size_t max, const char *src, size_t len)
{
	struct fxt_utf8_repair done = { 0 };
	size_t at, n;

	for (at = 0; at < len; at += n) {
		bool good = take_char((const unsigned char *)src + at, len - at, &n);
		const char *from = good ? src + at : REPLACEMENT;
		size_t bytes = good ? n : sizeof(REPLACEMENT) - 1;

		if (bytes > max - done.len) {
			done.cut = true;
			break;
		}
		memcpy(dst + done.len, from, bytes);
		done.len += bytes;
		done.repaired |= !good;
	}
	return done;
}
