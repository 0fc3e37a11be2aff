// SPDX-License-Identifier: GPL-2.0
/*
 * From format files to fields, and from records to arguments. Layouts are those of
 * Documentation/trace/events.rst; libtraceevent reads the files, the bytes are read here.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

#include "kernel/symbols.h"
#include "kernel/kmsg.h"
#include "tracepoint_p.h"

#define FIELDS_MAX	512
#define OFFSET_MAX	4096U	/* what the ring holds of a record is less */
#define FORMAT_BYTES_MAX (1U << 20)

/* ---- from the file ------------------------------------------------------------------- */

static enum tracepoint_shape shape_of(const struct tep_format_field *field)
{
	/* The library takes bytes for strings too. */
	if ((field->flags & TEP_FIELD_IS_STRING) && strstr(field->type, "char") && !strstr(field->type, "unsigned"))
		return TRACEPOINT_STRING;
	if (field->flags & TEP_FIELD_IS_ARRAY)
		return field->elementsize <= 1 ? TRACEPOINT_BYTES : TRACEPOINT_ARRAY;
	if (field->flags & TEP_FIELD_IS_POINTER)
		return TRACEPOINT_POINTER;
	if (!strcmp(field->type, "bool") || !strcmp(field->type, "_Bool"))
		return TRACEPOINT_BOOL;
	return field->size > 8 ? TRACEPOINT_BYTES : TRACEPOINT_NUMBER;
}

static bool take_field(struct tracepoint_format *f, const struct tep_format_field *field)
{
	const bool dynamic = field->flags & TEP_FIELD_IS_DYNAMIC;
	struct tracepoint_field *out = &f->fields[f->fields_cnt++];

	if (field->offset < 0 || field->size < 0 || (unsigned int)field->offset > OFFSET_MAX ||
	    (unsigned int)field->size > OFFSET_MAX || (dynamic && field->size != 4))
		return false;
	*out = (struct tracepoint_field){
		.name = field->name, .type = field->type, .offset = field->offset, .size = field->size,
		.element_size = field->elementsize,
		.is_signed = field->flags & TEP_FIELD_IS_SIGNED, .is_array = field->flags & TEP_FIELD_IS_ARRAY,
		.is_dynamic = dynamic, .is_relative = field->flags & TEP_FIELD_IS_RELATIVE,
		.shape = shape_of(field),
	};
	if (out->offset + out->size > f->bytes)
		f->bytes = out->offset + out->size;
	return true;
}

static int take_fields(struct tracepoint_format *f)
{
	const struct tep_format_field *field;
	unsigned int cnt = 0;

	for (field = f->event->format.fields; field && cnt <= FIELDS_MAX; field = field->next)
		cnt++;
	if (cnt > FIELDS_MAX)
		return -EINVAL;
	f->fields = calloc(cnt + 1, sizeof(*f->fields));
	if (!f->fields)
		return -ENOMEM;
	for (field = f->event->format.fields; field; field = field->next)
		if (!field->name || !field->type || !take_field(f, field))
			return -EINVAL;
	return 0;
}

/* Of its own, since the library's tables are not needed and only grow. */
static struct tep_handle *make_handle(void)
{
	struct tep_handle *tep = tep_alloc();
	const enum tep_endian endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? TEP_LITTLE_ENDIAN : TEP_BIG_ENDIAN;

	tep_set_loglevel(TEP_LOG_NONE);
	if (!tep)
		return NULL;
	tep_set_long_size(tep, sizeof(long));
	tep_set_local_bigendian(tep, endian);
	tep_set_file_bigendian(tep, endian);
	return tep;
}

/* The library gets the fields, once they have been checked; the print format is read here. */
static int parse(struct tracepoint_format *f, const char *system, const char *text, size_t len,
		 tracepoint_enum_fn value_of, void *ctx)
{
	static const char none[] = "\"\"\n";
	char *copy = malloc(len + sizeof(none));
	const char *print;
	size_t head;
	int err = -EINVAL;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, len);
	copy[len] = 0;
	print = tracepoint_check_fields(copy);
	if (print) {
		head = (size_t)(print - copy);
		strcpy(copy + head, none);
		tep_parse_format(f->tep, &f->event, copy, head + strlen(none), system);
		err = f->event && f->event->name ? take_fields(f) : -EINVAL;
	}
	if (!err) {
		/* One that is not understood is no reason not to have the fields. */
		memcpy(copy, text, len);
		copy[len] = 0;
		if (!print_tree_parse(&f->print, f, copy + head, value_of, ctx))
			tracepoint_print_plan(f);
	}
	free(copy);
	return err;
}

int tracepoint_format_open(struct tracepoint_format **out, const char *system, const char *text, size_t len,
			   tracepoint_enum_fn value_of, void *ctx)
{
	struct tracepoint_format *f = calloc(1, sizeof(*f));
	int err = -ENOMEM;

	if (!f)
		return err;
	f->tep = make_handle();
	if (!f->tep)
		goto err_close;
	err = -EINVAL;
	if (len > FORMAT_BYTES_MAX || memchr(text, 0, len))
		goto err_close;
	err = parse(f, system, text, len, value_of, ctx);
	if (err)
		goto err_close;
	*out = f;
	return 0;
err_close:
	tracepoint_format_close(f);
	return err;
}

void tracepoint_format_close(struct tracepoint_format *f)
{
	if (!f)
		return;
	if (f->tep)
		tep_free(f->tep);
	print_tree_free(&f->print);
	free(f->fields);
	free(f);
}

const char *tracepoint_format_name(const struct tracepoint_format *f)
{
	return f->event->name;
}

unsigned int tracepoint_format_id(const struct tracepoint_format *f)
{
	return f->event->id;
}

const struct tracepoint_field *tracepoint_format_fields(const struct tracepoint_format *f, unsigned int *cnt)
{
	*cnt = f->fields_cnt;
	return f->fields;
}

const struct tracepoint_field *tracepoint_format_field(const struct tracepoint_format *f, const char *name)
{
	unsigned int i;

	for (i = 0; i < f->fields_cnt; i++)
		if (!strcmp(f->fields[i].name, name))
			return &f->fields[i];
	return NULL;
}

unsigned int tracepoint_format_bytes(const struct tracepoint_format *f)
{
	return f->bytes;
}

/* ---- bytes ------------------------------------------------------------------------------- */

void tracepoint_put(struct tracepoint_record *r, const char *fmt, ...)
{
	const size_t space = r->space - r->used;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(r->text + r->used, space, fmt, ap);
	va_end(ap);
	if (len > 0)
		r->used += (size_t)len < space ? (size_t)len : space - 1;
}

uint64_t tracepoint_number(const unsigned char *data, unsigned int size, bool is_signed)
{
	union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
	} v = { .u64 = 0 };

	if (size > sizeof(v))
		return 0;
	memcpy(&v, data, size);
	switch (size) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)v.u8 : v.u8;
	case 2:
		return is_signed ? (uint64_t)(int16_t)v.u16 : v.u16;
	case 4:
		return is_signed ? (uint64_t)(int32_t)v.u32 : v.u32;
	case 8:
		return v.u64;
	default:
		return 0;
	}
}

bool tracepoint_bytes(const struct tracepoint_record *r, const struct tracepoint_field *field,
		      const unsigned char **data, size_t *len)
{
	size_t offset = field->offset;
	uint32_t where;

	*len = field->size;
	if (offset > r->len || *len > r->len - offset)
		return false;
	if (field->is_dynamic) {
		/* Offset in the lower half, length in the upper; a relative one counts from its own end. */
		memcpy(&where, r->data + offset, sizeof(where));
		offset = (where & 0xffff) + (field->is_relative ? offset + field->size : 0);
		*len = where >> 16;
		if (offset > r->len || *len > r->len - offset)
			return false;
	}
	*data = r->data + offset;
	return true;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* As it is, where it may go into a file as it is; else escaped, as lines of the log are. */
static struct fxt_str string_of(struct tracepoint_record *r, const unsigned char *data, size_t len)
{
	const unsigned char *end = memchr(data, 0, len);
	size_t i, used = r->used;

	if (end)
		len = (size_t)(end - data);
	for (i = 0; i < len && data[i] >= ' ' && data[i] < 0x7f && data[i] != '\\'; i++)
		;
	if (i == len)
		return fxt_str_inline((const char *)data, len);
	if (len > (r->space - used) / 4)
		len = (r->space - used) / 4;
	r->used += kmsg_escape(r->text + used, (const char *)data, len);
	return fxt_str_inline(r->text + used, r->used - used);
}

static void put_hex(struct tracepoint_record *r, const unsigned char *data, size_t len, char between)
{
	size_t i;

	for (i = 0; i < len && r->space - r->used > 4; i++) {
		if (i)
			tracepoint_put(r, "%c", between);
		tracepoint_put(r, "%02x", data[i]);
	}
}

static void put_array(struct tracepoint_record *r, const struct tracepoint_field *field, const unsigned char *data,
		      size_t len)
{
	const unsigned int size = field->element_size;
	size_t i;

	tracepoint_put(r, "{");
	for (i = 0; size && i + size <= len; i += size)
		tracepoint_put(r, "%s0x%llx", i ? "," : "", (unsigned long long)tracepoint_number(data + i, size, false));
	tracepoint_put(r, "}");
}

/* Words of 32 bits, the highest first, as the kernel's %*pb. */
static void put_bitmask(struct tracepoint_record *r, const unsigned char *data, size_t len)
{
	size_t i;

	for (i = len / 4; i-- > 0; )
		tracepoint_put(r, "%s%08llx", i + 1 < len / 4 ? "," : "",
			       (unsigned long long)tracepoint_number(data + 4 * i, 4, false));
}

static void put_ipv6(struct tracepoint_record *r, const unsigned char *data)
{
	char buf[INET6_ADDRSTRLEN];

	tracepoint_put(r, "%s", inet_ntop(AF_INET6, data, buf, sizeof(buf)) ?: "");
}

static void put_shape(struct tracepoint_record *r, const struct tracepoint_field *field, const unsigned char *data,
		      size_t len)
{
	switch (field->shape) {
	case TRACEPOINT_BYTES:
		put_hex(r, data, len, ' ');
		break;
	case TRACEPOINT_BITMASK:
		put_bitmask(r, data, len);
		break;
	case TRACEPOINT_IPV4:
		tracepoint_put(r, "%u.%u.%u.%u", data[0], data[1], data[2], data[3]);
		break;
	case TRACEPOINT_IPV6:
		put_ipv6(r, data);
		break;
	case TRACEPOINT_MAC:
		put_hex(r, data, len, ':');
		break;
	default:
		put_array(r, field, data, len);
		break;
	}
}

/* ---- arguments ----------------------------------------------------------------------------------- */

static struct fxt_arg number_arg(const struct tracepoint_field *field, uint64_t v)
{
	const char *name = field->name;

	if (field->shape == TRACEPOINT_BOOL)
		return fxt_arg_bool(name, v);
	if (field->shape != TRACEPOINT_NUMBER)
		return fxt_arg_ptr(name, v);
	if (field->size == 8)
		return field->is_signed ? fxt_arg_i64(name, (int64_t)v) : fxt_arg_u64(name, v);
	return field->is_signed ? fxt_arg_i32(name, (int32_t)v) : fxt_arg_u32(name, (uint32_t)v);
}

/* The name of an address; NULL: not known. */
static const char *name_of(const struct tracepoint_record *r, const struct tracepoint_field *field, uint64_t addr)
{
	const struct kernel_symbol *symbol = NULL;

	if (field->shape == TRACEPOINT_LITERAL)
		return r->names->literal ? r->names->literal(r->names->ctx, addr) : NULL;
	if (field->shape == TRACEPOINT_FUNCTION && r->names->symbols)
		symbol = kernel_symbols_find_late(r->names->symbols, addr);
	return symbol ? symbol->name : NULL;
}

static struct fxt_arg text_arg(struct tracepoint_record *r, const struct tracepoint_field *field,
			       const unsigned char *data, size_t len)
{
	const size_t used = r->used;
	bool ok = true;
	unsigned int i;

	if (field->shape != TRACEPOINT_TEXT)
		put_shape(r, field, data, len);
	for (i = 0; i < 2 && field->texts[i] && field->shape == TRACEPOINT_TEXT; i++)
		ok = ok && tracepoint_print(r, field->texts[i]);
	if (ok)
		return fxt_arg_str(field->name, fxt_str_inline(r->text + used, r->used - used));
	r->used = used;
	return fxt_arg_i64(field->name, (int64_t)tracepoint_number(data, field->size, field->is_signed));
}

static struct fxt_arg field_arg(struct tracepoint_record *r, const struct tracepoint_field *field)
{
	const unsigned char *data;
	const char *name;
	uint64_t v;
	size_t len;

	if (!tracepoint_bytes(r, field, &data, &len))
		return fxt_arg_null(field->name);
	switch (field->shape) {
	case TRACEPOINT_STRING:
		return fxt_arg_str(field->name, string_of(r, data, len));
	case TRACEPOINT_NUMBER:
	case TRACEPOINT_BOOL:
	case TRACEPOINT_POINTER:
	case TRACEPOINT_FUNCTION:
	case TRACEPOINT_LITERAL:
		v = tracepoint_number(data, field->size, field->is_signed);
		name = name_of(r, field, v);
		return name ? fxt_arg_str(field->name, fxt_str(name)) : number_arg(field, v);
	default:
		return text_arg(r, field, data, len);
	}
}

static void put_arg(struct tracepoint_record *r, const struct fxt_arg *arg)
{
	tracepoint_put(r, "%s%.*s=", r->used ? " " : "", (int)arg->name.len, arg->name.data);
	if (arg->type == FXT_ARG_STRING)
		tracepoint_put(r, "%.*s", arg->str.len < INT_MAX ? (int)arg->str.len : INT_MAX, arg->str.data);
	else if (arg->type == FXT_ARG_POINTER)
		tracepoint_put(r, "0x%llx", (unsigned long long)arg->u64);
	else if (arg->type == FXT_ARG_INT32)
		tracepoint_put(r, "%d", arg->i32);
	else if (arg->type == FXT_ARG_UINT32)
		tracepoint_put(r, "%u", arg->u32);
	else if (arg->type == FXT_ARG_INT64)
		tracepoint_put(r, "%lld", (long long)arg->i64);
	else if (arg->type == FXT_ARG_UINT64)
		tracepoint_put(r, "%llu", (unsigned long long)arg->u64);
	else if (arg->type == FXT_ARG_BOOL)
		tracepoint_put(r, "%d", arg->b);
}

/* The fields from the @from'th on as one text. */
static struct fxt_arg more_arg(struct tracepoint_record *r, unsigned int from)
{
	struct tracepoint_record each = *r, all = *r;
	char buf[TRACEPOINT_TEXT_BYTES];
	struct fxt_arg arg;
	unsigned int i;

	all.text = r->text + r->used;
	all.space = r->space - r->used;
	all.used = 0;
	each.text = buf;
	for (i = from; i < r->format->fields_cnt; i++) {
		each.used = 0;
		each.space = sizeof(buf);
		arg = field_arg(&each, &r->format->fields[i]);
		put_arg(&all, &arg);
	}
	return fxt_arg_str("more", fxt_str_inline(all.text, all.used));
}

unsigned int tracepoint_format_decode(const struct tracepoint_format *f, const struct tracepoint_names *names,
				      const void *record, size_t len, struct fxt_arg *args, char *text)
{
	struct tracepoint_record r = {
		.format = f, .names = names, .data = record, .len = len,
		.text = text, .space = TRACEPOINT_TEXT_BYTES,
	};
	const unsigned int each = f->fields_cnt <= FXT_ARGS_MAX ? f->fields_cnt : FXT_ARGS_MAX - 1;
	unsigned int i;

	for (i = 0; i < each; i++)
		args[i] = field_arg(&r, &f->fields[i]);
	if (each < f->fields_cnt)
		args[i++] = more_arg(&r, each);
	return i;
}
