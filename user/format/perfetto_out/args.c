// SPDX-License-Identifier: GPL-2.0
/*
 * InternedData and DebugAnnotation.
 */
#include "args.h"

#include <string.h>

#include "format/perfetto/fields.h"

void out_strings_fini(struct out_strings *s)
{
	unsigned int i;

	for (i = 0; i < OUT_TABLE_CNT; i++)
		pf_pool_fini(&s->pools[i]);
	pb_buf_fini(&s->news);
	out_more_fini(&s->more);
}

static void put_new(struct pb_buf *b, enum out_table table, uint32_t number, struct fxt_str str)
{
	static const uint8_t fields[OUT_TABLE_CNT] = {
		[OUT_CATEGORIES] = PF_INTERNED_CATEGORIES, [OUT_NAMES] = PF_INTERNED_EVENT_NAMES,
		[OUT_ARG_NAMES] = PF_INTERNED_ANNOTATION_NAMES, [OUT_STRINGS] = PF_INTERNED_ANNOTATION_STRINGS,
	};
	size_t entry = pb_begin(b, fields[table]);

	pb_put_u64(b, PF_ENTRY_IID, number);
	pb_put_string(b, PF_ENTRY_STRING, str.data, str.len);
	pb_end(b, entry);
}

void out_strings_put(struct out_strings *s, struct pb_buf *b, enum out_table table, struct fxt_str str,
		     unsigned int number_field, unsigned int text_field)
{
	const size_t before = s->pools[table].cnt;
	const uint32_t number = pf_pool_add(&s->pools[table], str.data, str.len);

	if (number == PF_POOL_FULL || number == PF_NO_STRING) {
		pb_put_string(b, text_field, str.data, str.len);
		return;
	}
	if (s->pools[table].cnt > before)
		put_new(&s->news, table, number, str);
	pb_put_u64(b, number_field, number);
}

static void put_hex(struct pb_buf *b, const unsigned char *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	size_t text = pb_begin(b, PF_ANNOTATION_STRING), i;

	for (i = 0; i < len; i++)
		pb_put_raw(b, (const char[]){ digits[data[i] >> 4], digits[data[i] & 15] }, 2);
	pb_end(b, text);
}

/* Those in the table of strings of the trace are likely to be used again. */
static void put_string(struct out_strings *s, struct pb_buf *b, struct fxt_str str)
{
	if (str.inlined)
		pb_put_string(b, PF_ANNOTATION_STRING, str.data, str.len);
	else
		out_strings_put(s, b, OUT_STRINGS, str, PF_ANNOTATION_STRING_IID, PF_ANNOTATION_STRING);
}

void out_args_put_value(struct out_strings *s, struct pb_buf *b, const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_NULL:
		break;
	case FXT_ARG_INT32:
		pb_put_i64(b, PF_ANNOTATION_INT, arg->i32);
		break;
	case FXT_ARG_UINT32:
		pb_put_u64(b, PF_ANNOTATION_UINT, arg->u32);
		break;
	case FXT_ARG_INT64:
		pb_put_i64(b, PF_ANNOTATION_INT, arg->i64);
		break;
	case FXT_ARG_UINT64:
	case FXT_ARG_KOID:
		pb_put_u64(b, PF_ANNOTATION_UINT, arg->u64);
		break;
	case FXT_ARG_DOUBLE:
		pb_put_double(b, PF_ANNOTATION_DOUBLE, arg->f64);
		break;
	case FXT_ARG_STRING:
		put_string(s, b, arg->str);
		break;
	case FXT_ARG_POINTER:
		pb_put_u64(b, PF_ANNOTATION_POINTER, arg->u64);
		break;
	case FXT_ARG_BOOL:
		pb_put_u64(b, PF_ANNOTATION_BOOL, arg->b);
		break;
	default:
		put_hex(b, arg->blob.data, arg->blob.len);
	}
}
