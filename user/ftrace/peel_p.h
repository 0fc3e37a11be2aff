/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside of the peeler: for each wrapper around the text a level, which reads
 * what is in it through the level around it. Private to peel*.c.
 */
#ifndef FTRACE_PEEL_P_H
#define FTRACE_PEEL_P_H

#include "peel.h"

#include <zlib.h>

#define PEEL_WRAPPERS_MAX	8
#define PEEL_LEVELS		(PEEL_WRAPPERS_MAX + 1)	/* the text itself is one too */
#define PEEL_WINDOW_BYTES	65536U
#define PEEL_SIGHT_BYTES	4096U	/* so many at most decide what a level holds */

struct peel_level;

/* What a level can be. */
struct peel_kind {
	const char *name;
	enum peel_format format;	/* PEEL_AUTO: compression, which says nothing of the format */
	bool has_parts;			/* any number of them, counted if there is no text in one */
	/* NULL: nothing to do. 0 or -ENOMEM. */
	int (*open)(struct peel_level *l);
	void (*close)(struct peel_level *l);
	/* On to the next part, this one having been read; false at the end. NULL: no wrapper. */
	bool (*next)(struct peel_level *l);
	/* Some bytes of the part, 0 at its end; @len is not 0. */
	size_t (*read)(struct peel_level *l, unsigned char *buf, size_t len);
};

struct peel_zlib {
	z_stream z;
	bool begun, ended;
};

struct peel_json {
	bool in_object, in_string;
	bool begun;			/* a value was there */
	unsigned char decoded[4];	/* of an escape, not handed out yet */
	unsigned int decoded_pos, decoded_cnt;
};

struct peel_base64 {
	uint32_t bits;
	unsigned int chars;		/* in bits, 6 of each */
};

enum peel_block {
	PEEL_BLOCK_PAGE,		/* none */
	PEEL_BLOCK_SCRIPT,		/* the page's own */
	PEEL_BLOCK_TRACE,		/* text as it is */
	PEEL_BLOCK_VIEWER,		/* base64 */
	PEEL_BLOCK_PERF,		/* a JavaScript string */
};

struct peel_html {
	enum peel_block block;
	bool block_ended;
	struct peel_base64 base64;
};

struct peel_level {
	struct peel *peel;
	struct peel_level *outer;	/* NULL: around this is the input */
	const struct peel_kind *kind;	/* NULL: not known yet */
	const char *name;		/* for struct peel_info */
	enum peel_format format;	/* what it must be, or PEEL_AUTO */
	bool strict;			/* text that does not look like a trace is none */
	bool atrace;			/* began with what atrace says first */
	bool dump;			/* a process dump */
	bool begun;			/* some of its text was handed out */
	bool skipped;			/* something in it was counted as skipped */
	uint64_t pieces;		/* of text, process dumps included */
	bool ended;			/* nothing follows what is in the window */
	size_t pos, end;		/* of what is in the window, not taken yet */
	unsigned char *window;		/* kept when the level is used again */
	union {
		struct peel_zlib zlib;
		struct peel_json json;
		struct peel_html html;
	};
};

/* What the beginning of a level tells. */
struct peel_sight {
	const struct peel_kind *kind;	/* NULL, and atrace: look again behind skip */
	const char *problem;
	size_t skip;			/* bytes that do not belong to it */
	bool atrace, dump;
};

/* peel.c */

/* Reads until @cnt bytes are in the window or no more come: how many there are. */
size_t peel_need(struct peel_level *l, size_t cnt);
/* Keeps the first problem, and where the input has been taken up to. */
void peel_problem(struct peel_level *l, const char *text);
/* A part of @l, or a value where one should be, that holds no text. */
void peel_skipped(struct peel_level *l);
/* An entry of traceEvents. */
void peel_entry(struct peel_level *l);
/* For good: the caller of peel_read() gets it when all text is out. */
void peel_fail(struct peel_level *l, int err);

static inline const unsigned char *peel_data(const struct peel_level *l)
{
	return l->window + l->pos;
}

/* The next byte, which stays; -1 at the end. */
static inline int peel_peek(struct peel_level *l)
{
	if (l->pos == l->end && !peel_need(l, 1))
		return -1;
	return l->window[l->pos];
}

static inline bool peel_is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline bool peel_is_space(int c)
{
	return c == ' ' || c == '\t';
}

/* peel_sight.c */

enum peel_match {
	PEEL_NO,
	PEEL_SO_FAR,			/* the data end first */
	PEEL_YES,
};

/* Whether @data begin with @word (in lower case), in any case. */
enum peel_match peel_match(const unsigned char *data, size_t len, const char *word);
/* False: more bytes must be in the window to tell. */
bool peel_look(const struct peel_level *l, struct peel_sight *sight);

/* peel_base64.c: *@in_len and *@out_len are set to what was used; how it stopped. */
enum peel_base64_end {
	PEEL_BASE64_GOES_ON,		/* for want of input or room */
	PEEL_BASE64_TAG,		/* before a '<' */
	PEEL_BASE64_BAD,		/* before a byte that is none of base64 */
};

enum peel_base64_end peel_base64(struct peel_base64 *b, const unsigned char *in, size_t *in_len,
				 unsigned char *out, size_t *out_len);

/* peel_block.c */

#define PEEL_SCRIPT_END	"</script"

/* Bytes of a block of a page: struct peel_kind's read. */
size_t peel_block_read(struct peel_level *l, unsigned char *buf, size_t len);
/* The length of "\n", "\r\n", "\r\r\n" and so on at @data; 0 if there is none. */
size_t peel_line_end(const unsigned char *data, size_t len);

extern const struct peel_kind peel_text, peel_nothing;		/* peel.c */
extern const struct peel_kind peel_gzip, peel_zlib;		/* peel_zlib.c */
extern const struct peel_kind peel_html;			/* peel_html.c */
extern const struct peel_kind peel_json;			/* peel_json.c */

#endif
