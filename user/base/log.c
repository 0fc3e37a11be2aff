// SPDX-License-Identifier: GPL-2.0
/*
 * Messages to the user and text made safe for terminals. Owns stderr and the
 * log level, the one piece of global state of the program.
 */
#include "log.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static enum log_level log_level = LOG_LEVEL_INFO;

void log_set_level(enum log_level level)
{
	log_level = level;
}

enum log_level log_get_level(void)
{
	return log_level;
}

/* The code point of a well-formed sequence of @n bytes. */
static uint32_t utf8_decode(const unsigned char *p, size_t n)
{
	uint32_t c;
	size_t i;

	if (n == 1)
		return p[0];
	c = p[0] & (0x7f >> n);
	for (i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}

size_t log_utf8_len(const char *data, size_t len)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)data;
	uint32_t c;
	size_t n, i;

	if (!len)
		return 0;
	n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (!n || n > len || p[0] > 0xf4)
		return 0;
	for (i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	c = utf8_decode(p, n);
	if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	return n;
}

/* C0, DEL and C1 drive the terminal; bidirectional marks reorder what is read. */
static int is_printable(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return 0;
	return !(c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
		 (c >= 0x2066 && c <= 0x2069));
}

/* Puts the safe form of one character or byte into @out; returns the bytes taken. */
static size_t text_step(const char *data, size_t len, char out[LOG_TEXT_MAX])
{
	size_t n = log_utf8_len(data, len);

	if (n && is_printable(utf8_decode((const unsigned char *)data, n))) {
		memcpy(out, data, n);
		out[n] = '\0';
		return n;
	}
	snprintf(out, LOG_TEXT_MAX, "\\x%02x", (unsigned char)*data);
	return 1;
}

const char *log_text(char *buf, size_t size, const char *data, size_t len)
{
	char one[LOG_TEXT_MAX];
	size_t used = 0, at = 0, n;

	while (at < len) {
		at += text_step(data + at, len - at, one);
		n = strlen(one);
		if (used + n >= size)
			break;
		memcpy(buf + used, one, n);
		used += n;
	}
	if (size)
		buf[used] = '\0';
	return buf;
}

void log_text_print(FILE *file, const char *data, size_t len)
{
	char one[LOG_TEXT_MAX];
	size_t at = 0, plain;

	while (at < len) {
		/* Most text is plain ASCII: hand it on in one piece. */
		for (plain = at; plain < len; plain++)
			if ((unsigned char)(data[plain] - 0x20) >= 0x7f - 0x20)
				break;
		fwrite(data + at, 1, plain - at, file);
		at = plain;
		if (at < len) {
			at += text_step(data + at, len - at, one);
			fputs(one, file);
		}
	}
}

/* Lines after the first are indented, so that none can pass for a message of ours. */
static void print_lines(const char *text)
{
	const char *prefix = "kfxt: ";
	size_t len;

	flockfile(stderr);
	do {
		len = strcspn(text, "\n");
		fputs(prefix, stderr);
		log_text_print(stderr, text, len);
		fputc('\n', stderr);
		prefix = "      ";
		text += len;
		text += *text == '\n';
	} while (*text);
	funlockfile(stderr);
}

void log_print_va(enum log_level level, const char *fmt, va_list ap)
{
	va_list again;
	char *text;
	int len;

	if (level > log_level)
		return;
	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len < 0)
		return;
	text = malloc((size_t)len + 1);
	if (!text)
		return;
	vsnprintf(text, (size_t)len + 1, fmt, ap);
	print_lines(text);
	free(text);
}

void log_print(enum log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_print_va(level, fmt, ap);
	va_end(ap);
}
