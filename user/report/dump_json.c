// SPDX-License-Identifier: GPL-2.0
/*
 * A record as one JSON object on one line, for programs. Nothing is lost:
 * arguments keep order and type, numbers are exact (json.h), blobs are complete.
 */
#include "dump.h"

#include <stdio.h>

#include "base/json.h"

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

static void print_value(struct json *j, const struct fxt_arg *a)
{
	switch (a->type) {
	case FXT_ARG_INT32:
		json_i64(j, a->i32);
		break;
	case FXT_ARG_UINT32:
		json_u64(j, a->u32);
		break;
	case FXT_ARG_INT64:
		json_i64(j, a->i64);
		break;
	case FXT_ARG_UINT64:
	case FXT_ARG_KOID:
		json_u64(j, a->u64);
		break;
	case FXT_ARG_POINTER:
		json_pointer(j, a->u64);
		break;
	case FXT_ARG_DOUBLE:
		json_double(j, a->f64);
		break;
	case FXT_ARG_STRING:
		json_string(j, a->str.data, a->str.len);
		break;
	case FXT_ARG_BOOL:
		json_bool(j, a->b);
		break;
	case FXT_ARG_BLOB:
		json_hex(j, a->blob.data, a->blob.len);
		break;
	default:
		json_null(j);
	}
}

static const char *type_name(enum fxt_arg_type type)
{
	return type <= FXT_ARG_BLOB ? arg_types[type] : "unknown";
}

static void print_args(struct json *j, const struct fxt_record *rec)
{
	unsigned int i;

	if (!rec->nargs)
		return;
	json_key(j, "args");
	json_array(j);
	for (i = 0; i < rec->nargs; i++) {
		json_object(j);
		json_key(j, "name");
		json_string(j, rec->args[i].name.data, rec->args[i].name.len);
		json_key_text(j, "type", type_name(rec->args[i].type));
		json_key(j, "value");
		print_value(j, &rec->args[i]);
		json_end(j);
	}
	json_end(j);
}

static void print_frames(struct json *j, const struct fxt_backtrace *b)
{
	unsigned int i;

	json_key(j, "frames");
	json_array(j);
	for (i = 0; i < b->frames_cnt; i++)
		json_pointer(j, b->frames[i]);
	json_end(j);
}

void dump_print_json(const struct fxt_record *rec, bool has_ts, uint64_t ts_ns)
{
	struct fxt_arg fields[DUMP_FIELDS_MAX];
	unsigned int i, cnt;
	struct json j;

	json_init(&j, stdout, false);
	json_object(&j);
	json_key_u64(&j, "offset", rec->offset);
	json_key_u64(&j, "len", rec->len);
	json_key_u64(&j, "provider", rec->provider_id);
	if (has_ts)
		json_key_u64(&j, "ts_ns", ts_ns);
	json_key_text(&j, "kind", fxt_kind_name(rec->kind));
	cnt = dump_fields(rec, fields);
	for (i = 0; i < cnt; i++) {
		json_key(&j, fields[i].name.data);	/* our own names, which end with a NUL */
		print_value(&j, &fields[i]);
	}
	if (rec->kind == FXT_KIND_BACKTRACE)
		print_frames(&j, &rec->backtrace);
	print_args(&j, rec);
	if (rec->unresolved)
		json_key_u64(&j, "unresolved", rec->unresolved);
	json_end(&j);
}
