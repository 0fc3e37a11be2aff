// SPDX-License-Identifier: GPL-2.0
/*
 * A record has 15 arguments and 4095 words. Of more arguments the first 14 stay as they are and
 * the others become one string; strings that would fill a record are cut.
 */
#include "arg_fold.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

#define BYTES_MAX	20000U	/* of all strings: names, category and stacks need space, too */

struct text {
	char *at, *end;
	bool full;
};

static void put_text(struct text *t, const char *data, size_t len)
{
	if ((size_t)(t->end - t->at) < len) {
		t->full = true;
		return;
	}
	memcpy(t->at, data, len);
	t->at += len;
}

static void put_char(struct text *t, char c)
{
	if (c == '"' || c == '\\') {
		put_text(t, (const char[]){ '\\', c }, 2);
	} else if ((unsigned char)c < 0x20) {
		char escape[8];

		put_text(t, escape, (size_t)snprintf(escape, sizeof(escape), "\\u%04x", (unsigned char)c));
	} else {
		put_text(t, &c, 1);
	}
}

static void put_string(struct text *t, struct fxt_str s)
{
	size_t i;

	put_text(t, "\"", 1);
	for (i = 0; i < s.len && !t->full; i++)
		put_char(t, s.data[i]);
	put_text(t, "\"", 1);
}

static void put_double(struct text *t, double v)
{
	char number[32];
	int len = snprintf(number, sizeof(number), isfinite(v) ? "%.17g" : "\"%g\"", v);

	put_text(t, number, (size_t)len);
}

static void put_number(struct text *t, const struct fxt_arg *arg)
{
	char number[32];
	int len;

	switch (arg->type) {
	case FXT_ARG_INT32:
		len = snprintf(number, sizeof(number), "%" PRId32, arg->i32);
		break;
	case FXT_ARG_UINT32:
		len = snprintf(number, sizeof(number), "%" PRIu32, arg->u32);
		break;
	case FXT_ARG_INT64:
		len = snprintf(number, sizeof(number), "%" PRId64, arg->i64);
		break;
	case FXT_ARG_POINTER:
		len = snprintf(number, sizeof(number), "\"0x%" PRIx64 "\"", arg->u64);
		break;
	default:
		len = snprintf(number, sizeof(number), "%" PRIu64, arg->u64);
	}
	put_text(t, number, (size_t)len);
}

static void put_value(struct text *t, const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_NULL:
	case FXT_ARG_BLOB:
		put_text(t, "null", 4);
		break;
	case FXT_ARG_BOOL:
		put_text(t, arg->b ? "true" : "false", arg->b ? 4 : 5);
		break;
	case FXT_ARG_STRING:
		put_string(t, arg->str);
		break;
	case FXT_ARG_DOUBLE:
		put_double(t, arg->f64);
		break;
	default:
		put_number(t, arg);
	}
}

/* One that has no space is left out, as a whole. */
static bool put_member(struct text *t, const struct fxt_arg *arg, bool first)
{
	char *at = t->at;

	if (!first)
		put_text(t, ",", 1);
	put_string(t, arg->name);
	put_text(t, ":", 1);
	put_value(t, arg);
	if (!t->full)
		return true;
	t->at = at;
	t->full = false;
	return false;
}

/* The first 14 of other names stay, in @own, and those beyond are "more" after them. How many stay. */
static unsigned int fold_rest(struct arg_fold *f, const struct fxt_arg *args, unsigned int n)
{
	struct text t = { f->more, f->more + sizeof(f->more) - 1, false };
	unsigned int i, kept = 0, members = 0;

	put_text(&t, "{", 1);
	for (i = 0; i < n; i++) {
		if (kept < FXT_ARGS_MAX - 1 && (args[i].name.len != 4 || memcmp(args[i].name.data, "more", 4) != 0))
			f->own[kept++] = args[i];
		else if (put_member(&t, &args[i], !members))
			members++;
		else
			f->dropped++;
	}
	*t.at++ = '}';
	f->own[kept] = fxt_arg_str("more", fxt_str_inline(f->more, (size_t)(t.at - f->more)));
	return kept;
}

static size_t string_bytes(const struct fxt_arg *args, unsigned int n)
{
	size_t bytes = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		bytes += args[i].name.len;
		if (args[i].type == FXT_ARG_STRING)
			bytes += args[i].str.len;
		else if (args[i].type == FXT_ARG_BLOB)
			bytes += args[i].blob.len;
	}
	return bytes;
}

static size_t *value_len(struct fxt_arg *arg)
{
	return arg->type == FXT_ARG_STRING ? &arg->str.len : arg->type == FXT_ARG_BLOB ? &arg->blob.len : NULL;
}

/* The length that no text may exceed so that all have at most @max bytes: what short ones leave is for long ones. */
static size_t common_limit(const size_t *lens, unsigned int n, size_t max)
{
	size_t limit = n ? max / n : 0, before = 0, rest;
	unsigned int i, longer;

	while (limit > before) {
		before = limit;
		for (i = 0, longer = 0, rest = max; i < n; i++) {
			longer += lens[i] > limit;
			rest -= lens[i] > limit ? 0 : lens[i];
		}
		limit = longer ? rest / longer : limit;
	}
	return limit;
}

/* The longest names and values, to a common length. How many were cut. */
static unsigned int cut_strings(struct fxt_arg *args, unsigned int n, size_t max)
{
	size_t lens[2 * FXT_ARGS_MAX], limit, *len;
	unsigned int i, cnt = 0, cut = 0;

	for (i = 0; i < n; i++) {
		lens[cnt++] = args[i].name.len;
		len = value_len(&args[i]);
		if (len)
			lens[cnt++] = *len;
	}
	limit = common_limit(lens, cnt, max);
	for (i = 0; i < n; i++) {
		cut += args[i].name.len > limit;
		args[i].name.len = text_cut(args[i].name.data, args[i].name.len, limit);
		len = value_len(&args[i]);
		if (!len || *len <= limit)
			continue;
		cut++;
		*len = args[i].type == FXT_ARG_STRING ? text_cut(args[i].str.data, *len, limit) : limit;
		if (args[i].type == FXT_ARG_STRING)
			args[i].str.inlined = true;
	}
	return cut;
}

unsigned int arg_fold(struct arg_fold *f, const struct fxt_arg *args, unsigned int n)
{
	const bool folds = n > FXT_ARGS_MAX;
	const size_t max = BYTES_MAX - (folds ? ARG_MORE_BYTES : 0);
	unsigned int kept = n;

	f->dropped = f->cut = 0;
	f->args = args;
	if (!folds && string_bytes(args, n) <= max)
		return n;
	f->args = f->own;
	if (folds)
		kept = fold_rest(f, args, n);
	else
		memcpy(f->own, args, n * sizeof(*args));
	if (string_bytes(f->own, kept) > max)
		f->cut = cut_strings(f->own, kept, max);
	return kept + folds;
}
