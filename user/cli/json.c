// SPDX-License-Identifier: GPL-2.0
/*
 * JSON that every parser takes and no terminal stumbles over.
 */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "log.h"

/* The length of what can stand as it is at the start of @data. */
static size_t plain_len(const char *data, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)data[i];

		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			break;
	}
	return i;
}

/* Prints one character that needs care; returns the bytes taken. */
static size_t print_special(const char *data, size_t len)
{
	char safe[LOG_TEXT_MAX];
	size_t n = log_utf8_len(data, len);

	if (!n) {
		fputs("\\ufffd", stdout);
		return 1;
	}
	if (n == 1) {
		if (*data == '"' || *data == '\\')
			printf("\\%c", *data);
		else
			printf("\\u%04x", (unsigned int)*data);
		return 1;
	}
	/* C1 and bidirectional marks, all of two or three bytes, drive terminals too. */
	log_text(safe, sizeof(safe), data, n);
	if (n == 2 && *safe == '\\')
		printf("\\u%04x", (unsigned int)((data[0] & 0x1f) << 6 | (data[1] & 0x3f)));
	else if (n == 3 && *safe == '\\')
		printf("\\u%04x", (unsigned int)((data[0] & 0x0f) << 12 | (data[1] & 0x3f) << 6 |
						 (data[2] & 0x3f)));
	else
		fwrite(data, 1, n, stdout);
	return n;
}

void json_print_string(const char *data, size_t len)
{
	size_t n;

	putchar('"');
	while (len) {
		n = plain_len(data, len);
		fwrite(data, 1, n, stdout);
		if (n < len)
			n += print_special(data + n, len - n);
		data += n;
		len -= n;
	}
	putchar('"');
}

void json_print_text(const char *text)
{
	if (text)
		json_print_string(text, strlen(text));
	else
		fputs("null", stdout);
}

void json_print_double(double v)
{
	if (isnan(v))
		fputs("\"nan\"", stdout);
	else if (isinf(v))
		fputs(v < 0 ? "\"-inf\"" : "\"inf\"", stdout);
	else
		printf("%.17g", v);
}

void json_print_hex(const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t i;

	putchar('"');
	for (i = 0; i < len; i++) {
		putchar("0123456789abcdef"[p[i] >> 4]);
		putchar("0123456789abcdef"[p[i] & 15]);
	}
	putchar('"');
}
