// SPDX-License-Identifier: GPL-2.0
/*
 * A record as a line for people. Names and values come from the file and are
 * not trusted: every string goes through log_text_print().
 */
#include "dump.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"

#define HEX_BYTES_MAX	16	/* of a blob; JSON has all of them */

/* Quotes and backslashes are escaped, so that the end of the string is certain. */
static void print_quoted(struct fxt_str s)
{
	size_t from = 0, i;

	putchar('"');
	for (i = 0; i < s.len; i++) {
		if (s.data[i] != '"' && s.data[i] != '\\')
			continue;
		log_text_print(stdout, s.data + from, i - from);
		putchar('\\');
		from = i;
	}
	log_text_print(stdout, s.data + from, s.len - from);
	putchar('"');
}

static void print_blob(const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t i;

	printf("<%zu bytes", len);
	for (i = 0; i < len && i < HEX_BYTES_MAX; i++)
		printf("%s%02x", i ? " " : ": ", p[i]);
	printf("%s>", i < len ? "..." : "");
}

static void print_value(const struct fxt_arg *a)
{
	switch (a->type) {
	case FXT_ARG_NULL:
		fputs("null", stdout);
		break;
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
	case FXT_ARG_KOID:
		printf("%" PRIu64, a->u64);
		break;
	case FXT_ARG_DOUBLE:
		printf("%.17g", a->f64);
		break;
	case FXT_ARG_STRING:
		print_quoted(a->str);
		break;
	case FXT_ARG_POINTER:
		printf("0x%" PRIx64, a->u64);
		break;
	case FXT_ARG_BOOL:
		fputs(a->b ? "true" : "false", stdout);
		break;
	case FXT_ARG_BLOB:
		print_blob(a->blob.data, a->blob.len);
		break;
	default:
		fputs("?", stdout);
	}
}

static void print_named(const struct fxt_arg *a)
{
	log_text_print(stdout, a->name.data, a->name.len);
	putchar('=');
	print_value(a);
}

static void print_time(bool has_ts, uint64_t ts_ns)
{
	if (has_ts)
		printf("%8" PRIu64 ".%09" PRIu64, ts_ns / 1000000000, ts_ns % 1000000000);
	else
		printf("%18s", "-");
}

static void print_args(const struct fxt_record *rec)
{
	unsigned int i;

	if (!rec->nargs)
		return;
	for (i = 0; i < rec->nargs; i++) {
		fputs(i ? ", " : " {", stdout);
		print_named(&rec->args[i]);
	}
	putchar('}');
}

static void print_frames(const struct fxt_backtrace *b)
{
	unsigned int i;

	fputs(" frames=[", stdout);
	for (i = 0; i < b->frames_cnt; i++)
		printf("%s0x%" PRIx64, i ? " " : "", b->frames[i]);
	putchar(']');
}

void dump_print_text(const struct fxt_record *rec, bool has_ts, uint64_t ts_ns)
{
	struct fxt_arg fields[DUMP_FIELDS_MAX];
	unsigned int i, cnt = dump_fields(rec, fields);

	printf("%10" PRIu64 " ", rec->offset);
	print_time(has_ts, ts_ns);
	/* Padded only if something follows, which of the magic number nothing does. */
	printf(rec->kind == FXT_KIND_MAGIC ? "  %s" : "  %-16s", fxt_kind_name(rec->kind));
	if (rec->kind == FXT_KIND_DAMAGED || rec->kind == FXT_KIND_UNKNOWN)
		printf(" bytes=%" PRIu64, rec->len);
	for (i = 0; i < cnt; i++) {
		putchar(' ');
		print_named(&fields[i]);
	}
	if (rec->kind == FXT_KIND_BACKTRACE)
		print_frames(&rec->backtrace);
	print_args(rec);
	if (rec->unresolved)
		printf(" (%u unresolved)", rec->unresolved);
	putchar('\n');
}
