// SPDX-License-Identifier: GPL-2.0
/*
 * JSON for every parser and harmless on a terminal. One thread writes to an output, so none of the
 * calls locks it.
 */
#include "json.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "log.h"

#define EXACT_MAX	(1ULL << 53)	/* each integer up to it is a double */

static const char hex_digits[] = "0123456789abcdef";

/* Characters that are written as they are: printable ASCII but " and the backslash. */
static const bool is_plain[256] = {
	[' '] = true, ['!'] = true, ['#' ... '['] = true, [']' ... '~'] = true,
};

/* The length of the plain characters at the start of @data. */
static size_t plain_len(const char *data, size_t len)
{
	size_t i = 0;

	while (i < len && is_plain[(unsigned char)data[i]])
		i++;
	return i;
}

/* Prints one character that needs care; returns the bytes taken. */
static size_t print_special(FILE *out, const char *data, size_t len)
{
	char safe[LOG_TEXT_MAX];
	size_t n = log_utf8_len(data, len);

	if (!n) {
		fputs("\\ufffd", out);
		return 1;
	}
	if (n == 1) {
		if (*data == '"' || *data == '\\')
			fprintf(out, "\\%c", *data);
		else
			fprintf(out, "\\u%04x", (unsigned int)*data);
		return 1;
	}
	/* C1 and bidirectional marks, all of two or three bytes, drive terminals too. */
	log_text(safe, sizeof(safe), data, n);
	if (n == 2 && *safe == '\\')
		fprintf(out, "\\u%04x", (unsigned int)((data[0] & 0x1f) << 6 | (data[1] & 0x3f)));
	else if (n == 3 && *safe == '\\')
		fprintf(out, "\\u%04x", (unsigned int)((data[0] & 0x0f) << 12 | (data[1] & 0x3f) << 6 |
						      (data[2] & 0x3f)));
	else
		fwrite(data, 1, n, out);
	return n;
}

static void print_string(FILE *out, const char *data, size_t len)
{
	size_t n;

	putc_unlocked('"', out);
	while (len) {
		n = plain_len(data, len);
		fwrite_unlocked(data, 1, n, out);
		if (n < len)
			n += print_special(out, data + n, len - n);
		data += n;
		len -= n;
	}
	putc_unlocked('"', out);
}

/* ---- structure -------------------------------------------------------------------- */

void json_init(struct json *j, FILE *out, bool spaced)
{
	*j = (struct json){ .out = out, .spaced = spaced };
}

/* What is between the last one and the next. */
static void separate(struct json *j)
{
	const uint32_t bit = 1U << j->depth;

	if (j->depth && j->is_filled & bit)
		putc_unlocked(',', j->out);
	if (j->line)
		fprintf(j->out, "\n%s", j->line);
	else if (j->spaced && j->depth && j->is_filled & bit)
		putc_unlocked(' ', j->out);
	j->is_filled |= bit;
	j->line = NULL;
}

static void before_value(struct json *j)
{
	if (!j->after_key)
		separate(j);
	j->after_key = false;
}

static void write_value(struct json *j, const char *text, size_t len)
{
	before_value(j);
	fwrite_unlocked(text, 1, len, j->out);
}

__attribute__((format(printf, 2, 3))) static void print_value(struct json *j, const char *fmt, ...)
{
	va_list ap;

	before_value(j);
	va_start(ap, fmt);
	vfprintf(j->out, fmt, ap);
	va_end(ap);
}

static void open_level(struct json *j, bool array)
{
	before_value(j);
	putc_unlocked(array ? '[' : '{', j->out);
	j->depth++;
	j->is_filled &= ~(1U << j->depth);
	j->is_array = (j->is_array & ~(1U << j->depth)) | (uint32_t)array << j->depth;
}

void json_object(struct json *j)
{
	open_level(j, false);
}

void json_array(struct json *j)
{
	open_level(j, true);
}

void json_end(struct json *j)
{
	if (j->line)
		fprintf(j->out, "\n%s", j->line);
	j->line = NULL;
	putc_unlocked(j->is_array >> j->depth & 1 ? ']' : '}', j->out);
	if (!--j->depth)
		putc_unlocked('\n', j->out);
}

void json_key(struct json *j, const char *name)
{
	separate(j);
	print_string(j->out, name, strlen(name));
	putc_unlocked(':', j->out);
	if (j->spaced)
		putc_unlocked(' ', j->out);
	j->after_key = true;
}

void json_line(struct json *j, const char *indent)
{
	j->line = indent;
}

/* ---- values ------------------------------------------------------------------------- */

void json_string(struct json *j, const char *data, size_t len)
{
	before_value(j);
	print_string(j->out, data, len);
}

void json_text(struct json *j, const char *text)
{
	if (text)
		json_string(j, text, strlen(text));
	else
		json_null(j);
}

void json_bool(struct json *j, bool v)
{
	if (v)
		write_value(j, "true", 4);
	else
		write_value(j, "false", 5);
}

void json_null(struct json *j)
{
	write_value(j, "null", 4);
}

/* An integer of this sign: by hand, for printf() takes several times as long. */
static void write_integer(struct json *j, bool negative, uint64_t v)
{
	char text[24], *end = text + sizeof(text), *at = end;
	const bool quoted = v > EXACT_MAX;

	if (quoted)
		*--at = '"';
	do
		*--at = (char)('0' + v % 10);
	while (v /= 10);
	if (negative)
		*--at = '-';
	if (quoted)
		*--at = '"';
	write_value(j, at, (size_t)(end - at));
}

void json_u64(struct json *j, uint64_t v)
{
	write_integer(j, false, v);
}

void json_i64(struct json *j, int64_t v)
{
	write_integer(j, v < 0, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void json_pointer(struct json *j, uint64_t v)
{
	char text[24], *end = text + sizeof(text), *at = end;

	*--at = '"';
	do
		*--at = hex_digits[v & 15];
	while (v >>= 4);
	at -= 3;
	memcpy(at, "\"0x", 3);
	write_value(j, at, (size_t)(end - at));
}

void json_double(struct json *j, double v)
{
	if (isnan(v))
		print_value(j, "\"nan\"");
	else if (isinf(v))
		print_value(j, v < 0 ? "\"-inf\"" : "\"inf\"");
	else
		print_value(j, "%.17g", v);
}

void json_fixed(struct json *j, double v, int digits)
{
	if (isfinite(v))
		print_value(j, "%.*f", digits, v);
	else
		json_double(j, v);
}

void json_hex(struct json *j, const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t i;

	before_value(j);
	putc_unlocked('"', j->out);
	for (i = 0; i < len; i++) {
		putc_unlocked(hex_digits[p[i] >> 4], j->out);
		putc_unlocked(hex_digits[p[i] & 15], j->out);
	}
	putc_unlocked('"', j->out);
}

/* ---- members -------------------------------------------------------------------------- */

void json_key_text(struct json *j, const char *name, const char *text)
{
	json_key(j, name);
	json_text(j, text);
}

void json_key_u64(struct json *j, const char *name, uint64_t v)
{
	json_key(j, name);
	json_u64(j, v);
}

void json_key_bool(struct json *j, const char *name, bool v)
{
	json_key(j, name);
	json_bool(j, v);
}

void json_key_fixed(struct json *j, const char *name, double v, int digits)
{
	json_key(j, name);
	json_fixed(j, v, digits);
}
