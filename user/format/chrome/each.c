// SPDX-License-Identifier: GPL-2.0
/*
 * One pass over a list; what is nested is passed over by its brackets.
 */
#include "each.h"

#include <string.h>

#include "bytes.h"
#include "value.h"

#define FIND_MAX	32U	/* bytes of a name that is looked for */

void chrome_each_begin(struct chrome_each *each, const char *data, size_t len)
{
	*each = (struct chrome_each){ .p = data, .end = data };
	if (!len || (*data | 0x20) != '{')
		return;
	each->p = data + 1;
	each->end = data + len;
	each->is_object = *data == '{';
}

static bool next_string(struct chrome_each *each, struct chrome_value *v)
{
	const char *end;

	v->escaped = false;
	v->type = CHROME_STRING;
	v->data = each->p + 1;
	end = chrome_string_end(v->data, each->end, &v->escaped);
	if (!end)
		return false;
	v->len = (size_t)(end - v->data);
	each->p = end + 1;
	return true;
}

static bool next_value(struct chrome_each *each, struct chrome_value *v)
{
	const char *end = each->p;

	if (each->p >= each->end)
		return false;
	if (*each->p == '"')
		return next_string(each, v);
	v->escaped = false;
	v->data = each->p;
	if ((*each->p | 0x20) == '{') {
		end = chrome_nested_end(each->p, each->end);
		v->type = *each->p == '{' ? CHROME_OBJECT : CHROME_ARRAY;
	} else {
		v->type = chrome_scalar(v->data, &end);
	}
	if (!end || v->type == CHROME_NONE)
		return false;
	v->len = (size_t)(end - v->data);
	each->p = end;
	return true;
}

static bool next_member(struct chrome_each *each, struct chrome_value *v)
{
	struct chrome_value name;

	if (*each->p != '"' || !next_string(each, &name))
		return false;
	v->name = name.data;
	v->name_len = name.len;
	each->p = chrome_skip_blanks(each->p);
	if (each->p >= each->end || *each->p != ':')
		return false;
	each->p = chrome_skip_blanks(each->p + 1);
	return next_value(each, v);
}

bool chrome_each_next(struct chrome_each *each, struct chrome_value *v)
{
	bool ok;

	while (each->p < each->end && (*each->p == ',' || chrome_is_blank(*each->p)))
		each->p++;
	*v = (struct chrome_value){ 0 };
	if (each->p >= each->end)
		return false;
	ok = each->is_object ? next_member(each, v) : next_value(each, v);
	if (!ok)
		each->p = each->end;
	return ok;
}

size_t chrome_list_join(const struct chrome_value *list, char between, char *out, size_t size, bool *cut)
{
	struct chrome_each each;
	struct chrome_value v;
	size_t len = 0;
	uint64_t bad = 0;

	chrome_each_begin(&each, list->data, list->len);
	while (chrome_each_next(&each, &v)) {
		if (len + v.len + 1 > size) {
			*cut = true;
			break;
		}
		if (len)
			out[len++] = between;
		len += chrome_string_decode(v.data, v.len, out + len, size - len, &bad);
	}
	return len;
}

/* A name may be written with escapes, each at most 6 bytes for one. */
bool chrome_is_named(const struct chrome_value *v, const char *name)
{
	const size_t len = strlen(name);
	char decoded[6 * FIND_MAX];
	uint64_t bad = 0;

	if (len > FIND_MAX || v->name_len < len || v->name_len > 6 * len)
		return false;
	if (v->name_len == len)
		return !memcmp(v->name, name, len);
	return chrome_string_decode(v->name, v->name_len, decoded, sizeof(decoded), &bad) == len && !memcmp(decoded, name, len);
}

bool chrome_member_find(const struct chrome_value *object, const char *name, struct chrome_value *v)
{
	struct chrome_value member;
	struct chrome_each each;

	*v = (struct chrome_value){ 0 };
	chrome_each_begin(&each, object->data, object->type == CHROME_OBJECT ? object->len : 0);
	while (chrome_each_next(&each, &member))
		if (chrome_is_named(&member, name))
			*v = member;
	return v->type != CHROME_NONE;
}

struct chrome_value chrome_value_of(const struct chrome_event *e, const struct chrome_field *f)
{
	if (!f)
		return (struct chrome_value){ 0 };
	return (struct chrome_value){
		.type = (enum chrome_type)f->type, .escaped = f->escaped, .data = chrome_text(e, f->value), .len = f->value.len,
	};
}
