/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unwraps ftrace text from what people put it in: systrace and catapult
 * HTML, Trace Event JSON, atrace's leading text, zlib and gzip, at any depth
 * that occurs. Streams: memory does not grow with the input.
 */
#ifndef FORMAT_UNWRAP_UNWRAP_H
#define FORMAT_UNWRAP_UNWRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum unwrap_format {
	UNWRAP_AUTO,		/* by content */
	UNWRAP_TEXT,		/* ftrace text, bare */
	UNWRAP_HTML,
	UNWRAP_JSON,
	UNWRAP_FORMAT_CNT
};

struct unwrap;

/* What is no ftrace text. */
struct unwrap_foreign {
	const char *name, *hint;	/* what it is, what to do with it */
	bool is_guess;			/* it is read as text all the same */
};

/* What was found besides the text, for the user and for tests. */
struct unwrap_info {
	enum unwrap_format format;	/* of the outermost wrapper */
	const char *wrapper;		/* "HTML with trace-data", "JSON", "gzip, HTML with viewer-data", ... */
	uint64_t texts;			/* pieces of ftrace text, and of JSON if that is kept */
	uint64_t skipped_blocks;	/* HTML blocks and JSON values that hold no ftrace text */
	uint64_t trace_events;		/* entries of JSON "traceEvents", counted only */
	const char *problem;		/* static text: what is damaged, NULL if nothing; unwrapping went on */
	uint64_t problem_offset;	/* in the outermost input */
	const struct unwrap_foreign *foreign;	/* the first, NULL if there is none */
};

/* Bytes of the input: the number read, 0 at the end, or -errno. */
typedef long (*unwrap_read_fn)(void *ctx, void *buf, size_t len);

/* @read is not used before the first unwrap_read(). 0 or -ENOMEM. */
int unwrap_open(struct unwrap **out, enum unwrap_format format, unwrap_read_fn read, void *ctx);
/*
 * The text, pieces one after the other: bytes, 0 at the end of the last piece,
 * or -errno of @read. *@begins is set when the bytes returned begin a new piece
 * (each piece is then a trace of its own, or a process dump); a piece's end is
 * never in the middle of the bytes returned by one call. Bytes before a header
 * that are no ftrace text ("capturing trace... done", "TRACE:") are left out.
 */
long unwrap_read(struct unwrap *p, void *buf, size_t len, bool *begins);
/*
 * From now on JSON in a page is handed out as it is, a piece like text, instead of the ftrace text
 * that is in it.
 */
void unwrap_keep_json(struct unwrap *p);
/* Whether the bytes handed out last are of such a piece. */
bool unwrap_is_json(const struct unwrap *p);
void unwrap_info(const struct unwrap *p, struct unwrap_info *info);
/* NULL is fine. */
void unwrap_close(struct unwrap *p);

/* "auto", "text", "html", "json" */
const char *unwrap_format_name(enum unwrap_format format);

#endif
