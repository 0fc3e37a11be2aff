// SPDX-License-Identifier: GPL-2.0
/*
 * A record as one JSON object on one line, for programs. Nothing is lost:
 * arguments keep order and type, numbers are exact, blobs are complete.
 */
#include "dump.h"

#include <inttypes.h>
#include <stdio.h>

#include "json.h"

static const char *const arg_types[] = {
	[FXT_ARG_NULL]		= "null",
	[FXT_ARG_INT32]		= "int32",
	[FXT_ARG_UINT32]	= "uint32",
	[FXT_ARG_INT64]		= "int64",
	[FXT_ARG_UINT64]	= "uint64",
	[FXT_ARG_DOUBLE]	= "double",
	[FXT_ARG_STRING]	= "string",
	[FXT_ARG_POINTER]	= "pointer",
	[FXT_ARG_KOID]		= "koid",
	[FXT_ARG_BOOL]		= "bool",
	[FXT_ARG_BLOB]		= "blob",
};

static void print_value(const struct fxt_arg *a)
{
	switch (a->type) {
	case FXT_ARG_INT32:
		printf("%" PRId32, a->i32);
		break;
	case FXT_ARG_UINT32:
		printf("%" PRIu32, a->u32);
		break;
	case FXT_ARG_INT64:
		printf("%" PRId64, a->i64);
		break;
	case FXT_ARG_UINT64:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		printf("%" PRIu64, a->u64);
		break;
	case FXT_ARG_DOUBLE:
		json_print_double(a->f64);
		break;
	case FXT_ARG_STRING:
		json_print_string(a->str.data, a->str.len);
		break;
	case FXT_ARG_BOOL:
		fputs(a->b ? "true" : "false", stdout);
		break;
	case FXT_ARG_BLOB:
		json_print_hex(a->blob.data, a->blob.len);
		break;
	default:
		fputs("null", stdout);
	}
}

static const char *type_name(enum fxt_arg_type type)
{
	return type <= FXT_ARG_BLOB ? arg_types[type] : "unknown";
}

static void print_args(const struct fxt_record *rec)
{
	unsigned int i;

	if (!rec->nargs)
		return;
	fputs(",\"args\":[", stdout);
	for (i = 0; i < rec->nargs; i++) {
		fputs(i ? ",{\"name\":" : "{\"name\":", stdout);
		json_print_string(rec->args[i].name.data, rec->args[i].name.len);
		printf(",\"type\":\"%s\",\"value\":", type_name(rec->args[i].type));
		print_value(&rec->args[i]);
		putchar('}');
	}
	putchar(']');
}

static void print_frames(const struct fxt_backtrace *b)
{
	unsigned int i;

	fputs(",\"frames\":[", stdout);
	for (i = 0; i < b->frames_cnt; i++)
		printf("%s%" PRIu64, i ? "," : "", b->frames[i]);
	putchar(']');
}

void dump_print_json(const struct fxt_record *rec, bool has_ts, uint64_t ts_ns)
{
	struct fxt_arg fields[DUMP_FIELDS_MAX];
	unsigned int i, cnt;

	printf("{\"offset\":%" PRIu64 ",\"len\":%" PRIu64 ",\"provider\":%" PRIu32, rec->offset,
	       rec->len, rec->provider_id);
	if (has_ts)
		printf(",\"ts_ns\":%" PRIu64, ts_ns);
	printf(",\"kind\":\"%s\"", fxt_kind_name(rec->kind));
	cnt = dump_fields(rec, fields);
	for (i = 0; i < cnt; i++) {
		/* Our own names: nothing to escape. */
		printf(",\"%.*s\":", (int)fields[i].name.len, fields[i].name.data);
		print_value(&fields[i]);
	}
	if (rec->kind == FXT_KIND_BACKTRACE)
		print_frames(&rec->backtrace);
	print_args(rec);
	if (rec->unresolved)
		printf(",\"unresolved\":%u", rec->unresolved);
	fputs("}\n", stdout);
}
