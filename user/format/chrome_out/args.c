// SPDX-License-Identifier: GPL-2.0
/*
 * Arguments as JSON.
 */
#include "args.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_hex_bytes(struct write_buf *b, const unsigned char *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	write_buf_char(b, '"');
	for (i = 0; i < len; i++) {
		write_buf_char(b, digits[data[i] >> 4]);
		write_buf_char(b, digits[data[i] & 15]);
	}
	write_buf_char(b, '"');
}

static void put_value(struct write_buf *b, const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_NULL:
		write_buf_text(b, "null");
		break;
	case FXT_ARG_INT32:
		write_buf_i64(b, arg->i32);
		break;
	case FXT_ARG_UINT32:
		write_buf_u64(b, arg->u32);
		break;
	case FXT_ARG_INT64:
		write_buf_i64(b, arg->i64);
		break;
	case FXT_ARG_UINT64:
	case FXT_ARG_KOID:
		write_buf_u64(b, arg->u64);
		break;
	case FXT_ARG_DOUBLE:
		write_buf_double(b, arg->f64);
		break;
	case FXT_ARG_STRING:
		write_buf_string(b, arg->str.data, arg->str.len);
		break;
	case FXT_ARG_POINTER:
		write_buf_hex(b, arg->u64);
		break;
	case FXT_ARG_BOOL:
		write_buf_text(b, arg->b ? "true" : "false");
		break;
	default:
		put_hex_bytes(b, arg->blob.data, arg->blob.len);
	}
}

/* Which of the arguments of its name @args[@i] is, from 1. */
static unsigned int number_of(const struct fxt_arg *args, unsigned int i)
{
	const struct fxt_str name = args[i].name;
	unsigned int number = 1, j;

	for (j = 0; j < i; j++)
		number += args[j].name.len == name.len && !memcmp(args[j].name.data, name.data, name.len);
	return number;
}

/* JSON has each name once: the second one is "NAME (2)". */
static void put_key(struct write_buf *b, const struct fxt_arg *args, unsigned int i)
{
	const struct fxt_str name = args[i].name;
	unsigned int number = number_of(args, i);

	write_buf_text(b, b->len ? ",\"" : "\"");
	write_buf_escaped(b, name.data, name.len);
	if (number > 1)
		write_buf_printf(b, " (%u)", number);
	write_buf_text(b, "\":");
}

void write_args_put(struct write_buf *b, const struct fxt_arg *args, unsigned int cnt)
{
	unsigned int i;

	for (i = 0; i < cnt; i++) {
		put_key(b, args, i);
		put_value(b, &args[i]);
	}
}

static bool is_number(const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
		return true;
	case FXT_ARG_DOUBLE:
		return isfinite(arg->f64);
	default:
		return false;
	}
}

/* Viewers draw a number, however large, and no text. */
static void put_number(struct write_buf *b, const struct fxt_arg *arg)
{
	if (arg->type == FXT_ARG_INT64)
		write_buf_printf(b, "%" PRId64, arg->i64);
	else if (arg->type == FXT_ARG_UINT64)
		write_buf_printf(b, "%" PRIu64, arg->u64);
	else
		put_value(b, arg);
}

unsigned int write_args_put_numbers(struct write_buf *b, const struct fxt_arg *args, unsigned int cnt)
{
	unsigned int i, numbers = 0;

	for (i = 0; i < cnt; i++) {
		if (!is_number(&args[i]))
			continue;
		put_key(b, args, i);
		put_number(b, &args[i]);
		numbers++;
	}
	return numbers;
}
