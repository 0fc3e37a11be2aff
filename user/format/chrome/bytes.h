/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finding quotes and brackets in JSON text. The caller guarantees a quote at @end and
 * CHROME_PAD_BYTES readable bytes from there on: no search needs to look for the end, and each
 * result has to be compared with it.
 */
#ifndef FORMAT_CHROME_BYTES_H
#define FORMAT_CHROME_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define CHROME_PAD_BYTES	32

#ifdef __SSE2__

/* The first quote or backslash from @p on. */
static inline const char *chrome_find_quote(const char *p)
{
	const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');

	for (;; p += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)p);
		__m128i hit = _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash));
		int mask = _mm_movemask_epi8(hit);

		if (mask)
			return p + __builtin_ctz((unsigned int)mask);
	}
}

#else

#define CHROME_ONES	0x0101010101010101ULL

/* Not 0 if one of eight bytes is @c; bytes above the lowest hit may be wrong. */
static inline uint64_t chrome_has_byte(uint64_t word, unsigned char c)
{
	uint64_t x = word ^ CHROME_ONES * c;

	return (x - CHROME_ONES) & ~x & CHROME_ONES * 0x80;
}

static inline const char *chrome_find_quote(const char *p)
{
	uint64_t word;

	for (;; p += 8) {
		memcpy(&word, p, 8);
		if (chrome_has_byte(word, '"') | chrome_has_byte(word, '\\'))
			break;
	}
	while (*p != '"' && *p != '\\')
		p++;
	return p;
}

#endif

/* The first quote or bracket from @p on. */
static inline const char *chrome_find_structure(const char *p)
{
	while (*p != '"' && (*p | 0x20) != '{' && (*p | 0x20) != '}')
		p++;
	return p;
}

#define CHROME_EIGHT(byte)	(0x0101010101010101ULL * (byte))

/* The eight bytes at @p, and how many of them, from the first on, are digits. */
static inline unsigned int chrome_digits_at(const char *p, uint64_t *word)
{
	uint64_t others;

	memcpy(word, p, sizeof(*word));
	/* A byte that is a digit has a value of 0 to 9 now. Carries go to later bytes only. */
	others = *word ^ CHROME_EIGHT('0');
	others = ((others + CHROME_EIGHT(0x7f - 9)) | others) & CHROME_EIGHT(0x80);
	return others ? (unsigned int)__builtin_ctzll(others) / 8 : 8;
}

/* The value of the first @cnt of eight digits, 1 at least: pairs, then pairs of pairs, then both halves. */
static inline uint64_t chrome_digits_value(uint64_t word, unsigned int cnt)
{
	/* The first digit is the lowest byte: zeros come before it. */
	word = (word << (64 - 8 * cnt) & CHROME_EIGHT(0x0f)) * 2561 >> 8;
	word = (word & 0x00ff00ff00ff00ffULL) * 6553601 >> 16;
	return (word & 0x0000ffff0000ffffULL) * 42949672960001ULL >> 32;
}

/* After the digits from @p on; eight bytes from there are read. */
static inline const char *chrome_skip_digits(const char *p)
{
	unsigned int cnt;
	uint64_t word;

	do {
		cnt = chrome_digits_at(p, &word);
		p += cnt;
	} while (cnt == 8);
	return p;
}

static inline bool chrome_is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Nearly all JSON has none where they could be. */
static inline const char *chrome_skip_blanks(const char *p)
{
	while ((unsigned char)*p <= ' ' && chrome_is_blank(*p))
		p++;
	return p;
}

/* @p is after the opening quote: the closing one, or NULL if the data end first. */
static inline const char *chrome_string_end(const char *p, const char *end, bool *escaped)
{
	while (p <= end) {
		p = chrome_find_quote(p);
		if (p >= end)
			break;
		if (*p == '"')
			return p;
		*escaped = true;
		p += 2;
	}
	return NULL;
}

/* @p is at an opening bracket: after the closing one, or NULL if the data end first. */
const char *chrome_nested_end(const char *p, const char *end);
/* The same as CPUs without AVX2 do it; @p is before @end. */
const char *chrome_nested_end_plain(const char *p, const char *end);

#endif
