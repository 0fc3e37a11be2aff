/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside of unwrapping: for each wrapper around the text a level, which reads
 * what is in it through the level around it. Private to this folder.
 */
#ifndef FORMAT_UNWRAP_UNWRAP_P_H
#define FORMAT_UNWRAP_UNWRAP_P_H

#include "unwrap.h"

#include <zlib.h>

#define UNWRAP_WRAPPERS_MAX	8
#define UNWRAP_LEVELS		(UNWRAP_WRAPPERS_MAX + 1)	/* the text itself is one too */
#define UNWRAP_WINDOW_BYTES	65536U
#define UNWRAP_SIGHT_BYTES	4096U	/* so many at most decide what a level holds */

struct unwrap_level;

/* What a level can be. */
struct unwrap_kind {
	const char *name;
	enum unwrap_format format;	/* UNWRAP_AUTO: compression, which says nothing of the format */
	bool has_parts;			/* any number of them, counted if there is no text in one */
	/* NULL: nothing to do. 0 or -ENOMEM. */
	int (*open)(struct unwrap_level *l);
	void (*close)(struct unwrap_level *l);
	/* On to the next part, this one having been read; false at the end. NULL: no wrapper. */
	bool (*next)(struct unwrap_level *l);
	/* Some bytes of the part, 0 at its end; @len is not 0. */
	size_t (*read)(struct unwrap_level *l, unsigned char *buf, size_t len);
};

struct unwrap_zlib {
	z_stream z;
	bool begun, ended;
};

struct unwrap_json {
	bool in_object, in_string;
	bool begun;			/* a value was there */
	unsigned char decoded[4];	/* of an escape, not handed out yet */
	unsigned int decoded_pos, decoded_cnt;
};

struct unwrap_base64 {
	uint32_t bits;
	unsigned int chars;		/* in bits, 6 of each */
};

enum unwrap_block {
	UNWRAP_BLOCK_PAGE,		/* none */
	UNWRAP_BLOCK_SCRIPT,		/* the page's own */
	UNWRAP_BLOCK_TRACE,		/* text as it is */
	UNWRAP_BLOCK_VIEWER,		/* base64 */
	UNWRAP_BLOCK_PERF,		/* a JavaScript string */
};

struct unwrap_html {
	enum unwrap_block block;
	bool block_ended;
	unsigned char quote;		/* of the JavaScript string */
	struct unwrap_base64 base64;
};

struct unwrap_level {
	struct unwrap *unwrap;
	struct unwrap_level *outer;	/* NULL: around this is the input */
	const struct unwrap_kind *kind;	/* NULL: not known yet */
	const char *name;		/* for struct unwrap_info */
	enum unwrap_format format;	/* what it must be, or UNWRAP_AUTO */
	bool strict;			/* text that does not look like a trace is none */
	bool atrace;			/* began with what atrace says first */
	bool dump;			/* a process dump */
	bool is_json;			/* JSON that is kept as it is */
	bool begun;			/* some of its text was handed out */
	bool skipped;			/* something in it was counted as skipped */
	uint64_t pieces;		/* of text, process dumps included */
	bool ended;			/* nothing follows what is in the window */
	size_t pos, end;		/* of what is in the window, not taken yet */
	unsigned char *window;		/* kept when the level is used again */
	union {
		struct unwrap_zlib zlib;
		struct unwrap_json json;
		struct unwrap_html html;
	};
};

/* What a level is, by its beginning. */
struct unwrap_sight {
	const struct unwrap_kind *kind;	/* NULL, and atrace: look again after @skip bytes */
	const struct unwrap_foreign *foreign;
	size_t skip;			/* bytes that do not belong to it */
	bool atrace, dump;
};

/* unwrap.c */

/* Reads until @cnt bytes are in the window or no more come: how many there are. */
size_t unwrap_need(struct unwrap_level *l, size_t cnt);
/* Keeps the first problem, and where the input has been taken up to. */
void unwrap_problem(struct unwrap_level *l, const char *text);
/* A part of @l, or a value where one should be, that holds no text. */
void unwrap_skipped(struct unwrap_level *l);
/* An entry of traceEvents. */
void unwrap_entry(struct unwrap_level *l);
/* For good: the caller of unwrap_read() gets it when all text is out. */
void unwrap_fail(struct unwrap_level *l, int err);

static inline const unsigned char *unwrap_data(const struct unwrap_level *l)
{
	return l->window + l->pos;
}

/* The next byte, which stays; -1 at the end. */
static inline int unwrap_peek(struct unwrap_level *l)
{
	if (l->pos == l->end && !unwrap_need(l, 1))
		return -1;
	return l->window[l->pos];
}

static inline bool unwrap_is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline bool unwrap_is_space(int c)
{
	return c == ' ' || c == '\t';
}

/* sniff.c */

enum unwrap_match {
	UNWRAP_NO,
	UNWRAP_SO_FAR,			/* the data end first */
	UNWRAP_YES,
};

/* Whether @data begin with @word (in lower case), in any case. */
enum unwrap_match unwrap_match(const unsigned char *data, size_t len, const char *word);
/* False: more bytes must be in the window to know. */
bool unwrap_look(const struct unwrap_level *l, struct unwrap_sight *sight);

/* foreign.c: the same; what it is, or *@found stays. */
bool unwrap_look_for_foreign(const unsigned char *data, size_t len, bool all, const struct unwrap_foreign **found);

/* base64.c: *@in_len and *@out_len are set to what was used; how it stopped. */
enum unwrap_base64_end {
	UNWRAP_BASE64_GOES_ON,		/* needs more input or space */
	UNWRAP_BASE64_TAG,		/* before a '<' */
	UNWRAP_BASE64_BAD,		/* before a byte that is none of base64 */
};

enum unwrap_base64_end unwrap_base64(struct unwrap_base64 *b, const unsigned char *in, size_t *in_len,
				 unsigned char *out, size_t *out_len);

/* block.c */

#define UNWRAP_SCRIPT_END	"</script"

/* Bytes of a block of a page: struct unwrap_kind's read. */
size_t unwrap_block_read(struct unwrap_level *l, unsigned char *buf, size_t len);
/* The length of "\n", "\r\n", "\r\r\n" and so on at @data; 0 if there is none. */
size_t unwrap_line_end(const unsigned char *data, size_t len);

extern const struct unwrap_kind unwrap_text, unwrap_nothing;		/* unwrap.c */
extern const struct unwrap_kind unwrap_gzip, unwrap_zlib;		/* zlib.c */
extern const struct unwrap_kind unwrap_html;			/* html.c */
extern const struct unwrap_kind unwrap_json;			/* json.c */

#endif
