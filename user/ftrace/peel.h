/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Peels ftrace text out of what people wrapped it in: systrace and catapult
 * HTML, Trace Event JSON, atrace's leading text, zlib and gzip, at any depth
 * that occurs. Streams: memory does not grow with the input.
 */
#ifndef FTRACE_PEEL_H
#define FTRACE_PEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum peel_format {
	PEEL_AUTO,		/* by content */
	PEEL_TEXT,		/* ftrace text, bare */
	PEEL_HTML,
	PEEL_JSON,
	PEEL_FORMAT_CNT
};

struct peel;

/* What was found besides the text, for the user and for tests. */
struct peel_info {
	enum peel_format format;	/* of the outermost wrapper */
	const char *wrapper;		/* "HTML with trace-data", "JSON", "gzip, HTML with viewer-data", ... */
	uint64_t texts;			/* pieces of ftrace text */
	uint64_t skipped_blocks;	/* HTML blocks and JSON values that hold no ftrace text */
	uint64_t trace_events;		/* entries of JSON "traceEvents", counted only */
	const char *problem;		/* static text: what is damaged, NULL if nothing; peeling went on */
	uint64_t problem_offset;	/* in the outermost input */
};

/* Bytes of the input: the number read, 0 at the end, or -errno. */
typedef long (*peel_read_fn)(void *ctx, void *buf, size_t len);

/* @read is not used before the first peel_read(). 0 or -ENOMEM. */
int peel_open(struct peel **out, enum peel_format format, peel_read_fn read, void *ctx);
/*
 * The text, pieces one after the other: bytes, 0 at the end of the last piece,
 * or -errno of @read. *@begins is set when the bytes returned begin a new piece
 * (each piece is then a trace of its own, or a process dump); a piece's end is
 * never in the middle of the bytes returned by one call. Bytes before a header
 * that are no ftrace text ("capturing trace... done", "TRACE:") are left out.
 */
long peel_read(struct peel *p, void *buf, size_t len, bool *begins);
void peel_info(const struct peel *p, struct peel_info *info);
/* NULL is fine. */
void peel_close(struct peel *p);

/* "auto", "text", "html", "json" */
const char *peel_format_name(enum peel_format format);

#endif
