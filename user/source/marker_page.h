/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of the kernel's ring buffer, as trace_pipe_raw hands them out, and the markers in
 * them. Nothing read from a page is trusted.
 */
#ifndef SOURCE_MARKER_PAGE_H
#define SOURCE_MARKER_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As tracefs has it. */
struct marker_format {
	size_t page_bytes;
	size_t data_at;			/* after the page's header */
	uint16_t id;			/* of the events that are markers */
	size_t tid_at, text_at;		/* in such an event */
};

/* Reads events/header_page and events/ftrace/print/format; false: they are of no form known here. */
bool marker_format_parse(struct marker_format *f, const char *header_page, const char *print);

struct marker_page {
	const struct marker_format *format;
	const unsigned char *at, *end;
	uint64_t ts;
	bool missed;			/* what came right before it was overwritten */
};

struct page_marker {
	uint64_t ts;
	uint32_t tid;
	const char *text;		/* in the page */
	size_t len;
};

void marker_page_open(struct marker_page *p, const struct marker_format *format, const void *page, size_t bytes);
/* The next marker, of a known thread; false: no more. */
bool marker_page_next(struct marker_page *p, struct page_marker *m);

#endif
