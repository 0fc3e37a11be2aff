/* SPDX-License-Identifier: GPL-2.0 */
/*
 * JSON values as typed arguments: integers that fit as Int64, other numbers as Double if that
 * keeps all their digits, else as text; nested ones with their path as name.
 */
#ifndef FORMAT_CHROME_ARGS_H
#define FORMAT_CHROME_ARGS_H

#include "event.h"
#include "model/arg_list.h"

struct chrome_args;

/* Of all events. */
struct chrome_args_counts {
	uint64_t not_json;	/* values that are not JSON, kept as text */
	uint64_t damaged;	/* args that could not be read to their end */
	uint64_t bad_escapes;
	uint64_t duplicates;	/* values of members that came again: the last one counts */
	uint64_t cut;		/* strings that were cut, and values nested too deep */
};

/* 0 or -ENOMEM */
int chrome_args_open(struct chrome_args **out);
/* Forgets the values of the event before. */
void chrome_args_clear(struct chrome_args *a);
/*
 * The members of the event's args; what is no object has none. @flat: values in brackets are kept
 * as text.
 */
void chrome_args_object(struct chrome_args *a, const struct chrome_event *e, const struct chrome_field *f,
			bool flat);
/* The same of the args of its end: each takes the place of all that a member of its name has. */
void chrome_args_replace(struct chrome_args *a, const struct chrome_event *e, const struct chrome_field *f);
/* One more, of any type; @name is borrowed until chrome_args_clear(). */
void chrome_args_value(struct chrome_args *a, const char *name, size_t len, const struct chrome_event *e,
		       const struct chrome_field *f);
void chrome_args_int64(struct chrome_args *a, const char *name, int64_t value);
/* @text is copied; what is beyond the space for strings is cut. */
void chrome_args_string(struct chrome_args *a, const char *name, const char *text, size_t len);
/* All of them, until the next call of any. */
const struct fxt_arg *chrome_args_get(struct chrome_args *a, unsigned int *cnt);
/* The argument of that name, or NULL. */
const struct fxt_arg *chrome_args_find(struct chrome_args *a, const char *name);
void chrome_args_counts(const struct chrome_args *a, struct chrome_args_counts *counts);
/*
 * A string, or what is no string as its text: decoded, valid until chrome_args_clear(), at most
 * @max bytes.
 */
struct fxt_str chrome_args_decode(struct chrome_args *a, const char *data, size_t len, bool escaped, size_t max);
/* The same of a member; none is empty. */
struct fxt_str chrome_args_text(struct chrome_args *a, const struct chrome_event *e, const struct chrome_field *f,
				size_t max);
/* NULL is fine. */
void chrome_args_close(struct chrome_args *a);

#endif
