// SPDX-License-Identifier: GPL-2.0
/*
 * "6,339,5140900,-,caller=T1;text\n SUBSYSTEM=acpi\n DEVICE=+acpi:PNP0A03:00\n": level and
 * facility, number, time, flags, whatever may be added; text and dictionary with all bytes
 * that are not printable ASCII as \xNN.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fxt/utf8.h"
#include "kmsg.h"

const char *kmsg_level_name(unsigned int level)
{
	static const char *const names[] = {
		"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug",
	};

	return level < sizeof(names) / sizeof(names[0]) ? names[level] : NULL;
}

const char *kmsg_facility_name(unsigned int facility)
{
	static const char *const names[] = {
		"kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron",
		"authpriv", "ftp", NULL, NULL, NULL, NULL, "local0", "local1", "local2", "local3",
		"local4", "local5", "local6", "local7",
	};

	return facility < sizeof(names) / sizeof(names[0]) ? names[facility] : NULL;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Undoes the escapes of @text, @len bytes, in place, with a NUL after it; the new length. */
static size_t unescape(char *text, size_t len)
{
	size_t in = 0, out = 0;

	while (in < len) {
		int high = in + 3 < len && text[in] == '\\' && text[in + 1] == 'x' ? hex(text[in + 2]) : -1;
		int low = high >= 0 ? hex(text[in + 3]) : -1;

		if (low >= 0) {
			text[out++] = (char)(high << 4 | low);
			in += 4;
		} else {
			text[out++] = text[in++];
		}
	}
	text[out] = 0;
	return out;
}

static void add_pair(struct kmsg *k, char *line, size_t len)
{
	char *value = memchr(line, '=', len);

	if (!value || k->pairs_cnt == KMSG_PAIRS_MAX)
		return;
	*value++ = 0;
	unescape(line, strlen(line));
	unescape(value, (size_t)(line + len - value));
	k->pairs[k->pairs_cnt].key = line;
	k->pairs[k->pairs_cnt++].value = value;
}

bool kmsg_parse(char *record, size_t len, struct kmsg *out)
{
	char *p = record, *text, *end, *next;
	unsigned long prio;

	*out = (struct kmsg){ 0 };
	record[len] = 0;
	text = memchr(record, ';', len);
	if (!text)
		return false;
	prio = strtoul(p, &p, 10);
	if (p == record || *p++ != ',')
		return false;
	out->level = prio & 7;
	out->facility = (uint8_t)(prio >> 3);
	out->seq = strtoull(p, &end, 10);
	if (end == p || *end != ',' || end > text)
		return false;
	out->ts_us = strtoull(end + 1, NULL, 10);
	text++;
	end = memchr(text, '\n', (size_t)(record + len - text));
	if (!end)
		end = record + len;
	/* The byte after each part is its newline or the one after the record. */
	for (p = end; p < record + len && p + 1 < record + len && p[1] == ' '; p = next) {
		next = memchr(p + 2, '\n', (size_t)(record + len - (p + 2)));
		if (!next)
			next = record + len;
		add_pair(out, p + 2, (size_t)(next - (p + 2)));
	}
	out->text = text;
	out->len = unescape(text, (size_t)(end - text));
	return true;
}

/* ---- text of any bytes ---------------------------------------------------------------- */

static bool is_plain(const char *s, size_t len)
{
	unsigned char c = (unsigned char)s[0];

	if (c >= 0x80)
		return fxt_utf8_valid(s, len);
	if (c == '\\')
		return len < 2 || s[1] != 'x';
	return (c >= ' ' && c != 0x7f) || c == '\n' || c == '\t';
}

/* How many bytes the character at @s has, 1 if it is none. */
static size_t char_len(const char *s, size_t len)
{
	size_t n;

	for (n = 1; n <= 4 && n <= len; n++)
		if (fxt_utf8_valid(s, n))
			return n;
	return 1;
}

size_t kmsg_escape(char *dst, const char *text, size_t len)
{
	size_t i, n, out = 0;

	for (i = 0; i < len; i += n) {
		n = char_len(text + i, len - i);
		/* Of a backslash what follows counts. */
		if (is_plain(text + i, text[i] == '\\' ? len - i : n)) {
			memcpy(dst + out, text + i, n);
			out += n;
		} else {
			char code[5];

			snprintf(code, sizeof(code), "\\x%02x", (unsigned char)text[i]);
			memcpy(dst + out, code, 4);
			out += 4;
			n = 1;
		}
	}
	return out;
}
