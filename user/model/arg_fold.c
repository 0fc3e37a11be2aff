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

static void put(struct text *t, const char *data, size_t len)
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
		put(t, (const char[]){ '\\', c }, 2);
	} else if ((unsigned char)c < 0x20) {
		char escape[8];

		put(t, escape, (size_t)snprintf(escape, sizeof(escape), "\\u%04x", (unsigned char)c));
	} else {
		put(t, &c, 1);
	}
}

static void put_string(struct text *t, struct fxt_str s)
{
	size_t i;

	put(t, "\"", 1);
	for (i = 0; i < s.len && !t->full; i++)
		put_char(t, s.data[i]);
	put(t, "\"", 1);
}

static void put_double(struct text *t, double v)
{
	char number[32];
	int len = snprintf(number, sizeof(number), isfinite(v) ? "%.17g" : "\"%g\"", v);

	put(t, number, (size_t)len);
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
	put(t, number, (size_t)len);
}

static void put_value(struct text *t, const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_NULL:
	case FXT_ARG_BLOB:
		put(t, "null", 4);
		break;
	case FXT_ARG_BOOL:
		put(t, arg->b ? "true" : "false", arg->b ? 4 : 5);
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
		put(t, ",", 1);
	put_string(t, arg->name);
	put(t, ":", 1);
	put_value(t, arg);
	if (!t->full)
		return true;
	t->at = at;
	t->full = false;
	return false;
}

static struct fxt_arg fold_rest(struct arg_fold *f, const struct fxt_arg *args, unsigned int n)
{
	struct text t = { f->more, f->more + sizeof(f->more) - 1, false };
	unsigned int i, kept = 0;

	put(&t, "{", 1);
	for (i = 0; i < n; i++) {
		if (put_member(&t, &args[i], !kept))
			kept++;
		else
			f->dropped++;
	}
	*t.at++ = '}';
	return fxt_arg_str("more", fxt_str_inline(f->more, (size_t)(t.at - f->more)));
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

/* Each has an equal share, half of it for its name. */
static void cut_strings(struct fxt_arg *args, unsigned int n, size_t share)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		args[i].name.len = text_cut(args[i].name.data, args[i].name.len, share / 2);
		if (args[i].type == FXT_ARG_STRING && args[i].str.len > share / 2) {
			args[i].str.len = text_cut(args[i].str.data, args[i].str.len, share / 2);
			args[i].str.inlined = true;
		} else if (args[i].type == FXT_ARG_BLOB && args[i].blob.len > share / 2) {
			args[i].blob.len = share / 2;
		}
	}
}

unsigned int arg_fold(struct arg_fold *f, const struct fxt_arg *args, unsigned int n)
{
	unsigned int kept = n <= FXT_ARGS_MAX ? n : FXT_ARGS_MAX - 1;
	size_t bytes;

	f->dropped = 0;
	f->args = args;
	bytes = string_bytes(args, kept);
	if (kept == n && bytes <= BYTES_MAX)
		return n;
	memcpy(f->own, args, kept * sizeof(*args));
	f->args = f->own;
	if (bytes > BYTES_MAX - (kept < n ? ARG_MORE_BYTES : 0))
		cut_strings(f->own, kept, (BYTES_MAX - (kept < n ? ARG_MORE_BYTES : 0)) / kept);
	if (kept < n)
		f->own[kept] = fold_rest(f, args + kept, n - kept);
	return kept + (kept < n);
}
