// SPDX-License-Identifier: GPL-2.0
/*
 * JSON text in memory.
 */
#include "buf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define EXACT_MAX	(1ULL << 53)	/* each integer up to it is a double */
#define NUMBER_BYTES	32		/* no number is longer */
#define REPLACEMENT	"\xef\xbf\xbd"	/* U+FFFD */

void write_buf_fini(struct write_buf *b)
{
	free(b->data);
	*b = (struct write_buf){ 0 };
}

/* Space for @len more bytes. */
static bool reserve(struct write_buf *b, size_t len)
{
	if (!b->failed && array_reserve(b->data, b->len, b->cap, len))
		b->failed = true;
	return !b->failed;
}

void write_buf_bytes(struct write_buf *b, const void *data, size_t len)
{
	if (!len || !reserve(b, len))
		return;
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

void write_buf_text(struct write_buf *b, const char *text)
{
	write_buf_bytes(b, text, strlen(text));
}

void write_buf_char(struct write_buf *b, char c)
{
	if (reserve(b, 1))
		b->data[b->len++] = c;
}

void write_buf_printf(struct write_buf *b, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len > 0)
		write_buf_bytes(b, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

/* ---- strings ---------------------------------------------------------------------- */

/* The length of what is raw ASCII at the start of @data. */
static size_t plain_len(const char *data, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)data[i];

		if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\')
			break;
	}
	return i;
}

/* How many bytes follow a first byte, and what the second may be. */
struct sequence {
	size_t more;
	unsigned char low, high;
};

static struct sequence sequence_of(unsigned char first)
{
	if (first >= 0xc2 && first <= 0xdf)
		return (struct sequence){ 1, 0x80, 0xbf };
	if (first >= 0xe0 && first <= 0xef)
		return (struct sequence){ 2, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf };
	if (first >= 0xf0 && first <= 0xf4)
		return (struct sequence){ 3, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf };
	return (struct sequence){ 0 };
}

/* The bytes of the character at @data, or of what cannot begin one; *@whole: it is one. */
static size_t character_len(const unsigned char *data, size_t len, bool *whole)
{
	struct sequence s = sequence_of(data[0]);
	size_t i;

	*whole = false;
	if (!s.more)
		return 1;
	for (i = 1; i <= s.more && i < len; i++) {
		if (data[i] < s.low || data[i] > s.high)
			return i;
		s.low = 0x80;
		s.high = 0xbf;
	}
	*whole = i > s.more;
	return i;
}

/* Puts one character that is not plain; returns the bytes taken. */
static size_t put_special(struct write_buf *b, const char *data, size_t len)
{
	size_t taken;
	bool whole;

	switch (*data) {
	case '"':
		write_buf_text(b, "\\\"");
		return 1;
	case '\\':
		write_buf_text(b, "\\\\");
		return 1;
	case '\n':
		write_buf_text(b, "\\n");
		return 1;
	case '\t':
		write_buf_text(b, "\\t");
		return 1;
	}
	if (!(*data & 0x80)) {
		write_buf_printf(b, "\\u%04x", (unsigned int)*data);
		return 1;
	}
	taken = character_len((const unsigned char *)data, len, &whole);
	if (whole)
		write_buf_bytes(b, data, taken);
	else
		write_buf_text(b, REPLACEMENT);
	return taken;
}

void write_buf_escaped(struct write_buf *b, const char *data, size_t len)
{
	size_t n;

	while (len) {
		n = plain_len(data, len);
		write_buf_bytes(b, data, n);
		if (n < len)
			n += put_special(b, data + n, len - n);
		data += n;
		len -= n;
	}
}

void write_buf_string(struct write_buf *b, const char *data, size_t len)
{
	write_buf_char(b, '"');
	write_buf_escaped(b, data, len);
	write_buf_char(b, '"');
}

/* ---- numbers ---------------------------------------------------------------------- */

void write_buf_digits(struct write_buf *b, uint64_t v)
{
	char digits[NUMBER_BYTES], *at = digits + sizeof(digits);

	do {
		*--at = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	write_buf_bytes(b, at, (size_t)(digits + sizeof(digits) - at));
}

void write_buf_us(struct write_buf *b, uint64_t ns)
{
	unsigned int rest = (unsigned int)(ns % 1000);
	char decimals[] = { '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10) };

	write_buf_digits(b, ns / 1000);
	write_buf_bytes(b, decimals, sizeof(decimals));
}

static void put_number(struct write_buf *b, uint64_t magnitude, bool negative)
{
	const char *quote = magnitude > EXACT_MAX ? "\"" : "";

	write_buf_text(b, quote);
	if (negative)
		write_buf_char(b, '-');
	write_buf_digits(b, magnitude);
	write_buf_text(b, quote);
}

void write_buf_u64(struct write_buf *b, uint64_t v)
{
	put_number(b, v, false);
}

void write_buf_i64(struct write_buf *b, int64_t v)
{
	put_number(b, v < 0 ? -(uint64_t)v : (uint64_t)v, v < 0);
}

void write_buf_hex(struct write_buf *b, uint64_t v)
{
	write_buf_printf(b, "\"0x%llx\"", (unsigned long long)v);
}

void write_buf_double(struct write_buf *b, double v)
{
	char text[NUMBER_BYTES];

	if (isnan(v)) {
		write_buf_text(b, "\"nan\"");
		return;
	}
	if (isinf(v)) {
		write_buf_text(b, v < 0 ? "\"-inf\"" : "\"inf\"");
		return;
	}
	snprintf(text, sizeof(text), "%.15g", v);
	if (strtod(text, NULL) != v)
		snprintf(text, sizeof(text), "%.17g", v);
	write_buf_text(b, text);
	/* Without a point it would be read as an integer. */
	if (!strpbrk(text, ".e"))
		write_buf_text(b, ".0");
}
