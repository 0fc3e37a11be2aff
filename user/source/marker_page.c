// SPDX-License-Identifier: GPL-2.0
/*
 * A page (include/linux/ring_buffer.h): a time, how many bytes follow, and events. Each has a
 * word of a type, which may be its length, and the time since the event before.
 */
#include <stdio.h>
#include <string.h>

#include "marker_page.h"

#define COMMIT_AT	8
#define COMMIT_MASK	0xfffff		/* above are flags */
#define COMMIT_MISSED	(1U << 31)
#define TYPE_BITS	5
#define TYPE_MASK	((1U << TYPE_BITS) - 1)
#define DELTA_BITS	27
#define STAMP_BITS	59		/* of an absolute time */

enum type {
	TYPE_LONG	= 0,		/* the length is in the next word; else the type times 4 */
	TYPE_PADDING	= 29,
	TYPE_EXTEND	= 30,
	TYPE_STAMP	= 31,
};

/* "field:NAME;	offset:N;	size:N" */
static bool find_field(const char *text, const char *name, size_t *offset, size_t *size)
{
	const char *at = strstr(text, name);

	return at && sscanf(at + strlen(name), "; offset:%zu; size:%zu", offset, size) == 2;
}

bool marker_format_parse(struct marker_format *f, const char *header_page, const char *print)
{
	size_t at, size;
	const char *id = strstr(print, "\nID: ");

	if (!find_field(header_page, "local_t commit", &at, &size) || at != COMMIT_AT || size != 8)
		return false;
	if (!find_field(header_page, "char data", &f->data_at, &size) || f->data_at < COMMIT_AT + 8)
		return false;
	f->page_bytes = f->data_at + size;
	if (!find_field(print, "char buf[]", &f->text_at, &size) ||
	    !find_field(print, "int common_pid", &f->tid_at, &size))
		return false;
	return id && sscanf(id, " ID: %hu", &f->id) == 1 && f->page_bytes <= COMMIT_MASK &&
	       f->text_at >= f->tid_at + 4 && f->text_at < f->page_bytes;
}

static uint32_t word_at(const unsigned char *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

void marker_page_open(struct marker_page *p, const struct marker_format *format, const void *page, size_t bytes)
{
	const unsigned char *at = page;
	uint64_t commit = 0;

	*p = (struct marker_page){ .format = format, .at = at, .end = at };
	if (bytes < format->data_at)
		return;
	memcpy(&p->ts, at, sizeof(p->ts));
	memcpy(&commit, at + COMMIT_AT, sizeof(commit));
	p->missed = commit & COMMIT_MISSED;
	commit &= COMMIT_MASK;
	if (commit > bytes - format->data_at)
		commit = bytes - format->data_at;
	p->at += format->data_at;
	p->end = p->at + commit;
}

/* An event's data of @len bytes. */
static bool take_marker(const struct marker_page *p, const unsigned char *data, size_t len, struct page_marker *m)
{
	const struct marker_format *f = p->format;
	uint16_t id;

	if (len <= f->text_at)
		return false;
	memcpy(&id, data, sizeof(id));
	m->ts = p->ts;
	m->tid = word_at(data + f->tid_at);
	m->text = (const char *)data + f->text_at;
	m->len = strnlen(m->text, len - f->text_at);
	return id == f->id && m->tid > 0 && m->tid <= INT32_MAX;
}

bool marker_page_next(struct marker_page *p, struct page_marker *m)
{
	while (p->end - p->at >= 8) {
		const uint32_t head = word_at(p->at), type = head & TYPE_MASK, next = word_at(p->at + 4);
		const uint64_t delta = head >> TYPE_BITS, wide = ((uint64_t)next << DELTA_BITS) + delta;
		const unsigned char *data = p->at + (type == TYPE_LONG ? 8 : 4);
		size_t len = type < TYPE_PADDING ? type * 4 : 4;

		/* The length has its own word among what it counts. */
		if (type == TYPE_LONG || type == TYPE_PADDING)
			len = next;
		if (len < 4 || len > (size_t)(p->end - p->at - 4) || (type == TYPE_PADDING && !delta))
			break;
		if (type == TYPE_STAMP)
			p->ts = (p->ts >> STAMP_BITS << STAMP_BITS) | (wide & ((1ULL << STAMP_BITS) - 1));
		else
			p->ts += type == TYPE_EXTEND ? wide : delta;
		p->at += 4 + len;
		if (type < TYPE_PADDING && take_marker(p, data, (size_t)(p->at - data), m))
			return true;
	}
	p->at = p->end;
	return false;
}
