// SPDX-License-Identifier: GPL-2.0
/*
 * Events of ftrace that a bundle describes: numbers from 65536 on, whose names and fields are a
 * DescriptorProto in the trace.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "ftrace.h"

#define DESCRIPTIONS_MAX	4096U
#define DESCRIPTION_BYTES_MAX	65536U

enum { DESCRIBE_NUMBER = 1, DESCRIBE_MESSAGE = 2, DESCRIBE_GROUP = 3 };
enum { MESSAGE_NAME = 1, MESSAGE_FIELD = 2 };
enum { FIELD_NAME = 1, FIELD_NUMBER = 3, FIELD_TYPE = 5 };
enum { TYPE_DOUBLE = 1, TYPE_INT64 = 3, TYPE_INT32 = 5 };

static const struct pf_description *find(const struct pf_reader *r, uint32_t number)
{
	uint32_t i = map_get(&r->descriptions.by_number, number);

	return i == MAP_NONE ? NULL : &r->descriptions.all[i];
}

static int keep(struct pf_reader *r, uint32_t number, const struct pf_field *message, uint32_t group)
{
	struct pf_descriptions *d = &r->descriptions;
	struct pf_description new = { .group = group, .len = (uint32_t)message->len };

	if (d->cnt == DESCRIPTIONS_MAX || message->len > DESCRIPTION_BYTES_MAX)
		return 0;
	if (array_reserve(d->all, d->cnt, d->cap, 1))
		return -ENOMEM;
	new.raw = malloc(message->len + 1);
	if (!new.raw || map_add(&d->by_number, number, d->cnt)) {
		free(new.raw);
		return -ENOMEM;
	}
	memcpy(new.raw, message->data, message->len);
	d->all[d->cnt++] = new;
	return 0;
}

int pf_describe(struct pf_reader *r, struct pf_cursor m)
{
	struct pf_field number, message, group;
	uint32_t system = PF_NO_STRING;

	if (!pf_find(m, DESCRIBE_NUMBER, PF_VARINT, &number) || !pf_find(m, DESCRIBE_MESSAGE, PF_BYTES, &message) ||
	    find(r, (uint32_t)number.value))
		return 0;
	if (pf_find(m, DESCRIBE_GROUP, PF_BYTES, &group))
		system = pf_string_of(r, &group);
	return keep(r, (uint32_t)number.value, &message, system);
}

static void put_value(struct pf_reader *r, const struct pf_field *f, uint64_t type)
{
	if (f->wire == PF_BYTES)
		pf_text_add(r, f->data, f->len);
	else if (type == TYPE_DOUBLE)
		pf_text_print(r, "%.17g", pf_double(f->value));
	else if (type == TYPE_INT64 || type == TYPE_INT32)
		pf_text_print(r, "%lld", (long long)f->value);
	else
		pf_text_print(r, "%llu", (unsigned long long)f->value);
}

/* "name=value" by the description of that field; without one "f7=value". */
static void put_field(struct pf_reader *r, struct pf_cursor description, const struct pf_field *f)
{
	struct pf_field one, number, name, type = { 0 };

	if (r->text_len)
		pf_text_add(r, " ", 1);
	while (pf_next(&description, &one) > 0) {
		if (!pf_is(&one, MESSAGE_FIELD, PF_BYTES) || !pf_find(pf_inner(&one), FIELD_NUMBER, PF_VARINT, &number) ||
		    number.value != f->number || !pf_find(pf_inner(&one), FIELD_NAME, PF_BYTES, &name))
			continue;
		pf_find(pf_inner(&one), FIELD_TYPE, PF_VARINT, &type);
		pf_text_add(r, name.data, name.len);
		pf_text_add(r, "=", 1);
		put_value(r, f, type.value);
		return;
	}
	pf_text_print(r, "f%u=", f->number);
	put_value(r, f, 0);
}

bool pf_described_text(struct pf_reader *r, uint32_t number, struct pf_cursor message, struct fxt_str *name,
		       struct fxt_str *system)
{
	const struct pf_description *d = find(r, number);
	struct pf_cursor description;
	struct pf_field f;

	if (!d)
		return false;
	description = pf_message(d->raw, d->len);
	if (!pf_find(description, MESSAGE_NAME, PF_BYTES, &f))
		return false;
	*name = fxt_str_n((const char *)f.data, f.len);
	*system = pf_pool_str(&r->pool, d->group);
	while (pf_next(&message, &f) > 0)
		put_field(r, description, &f);
	return true;
}

void pf_descriptions_fini(struct pf_reader *r)
{
	uint32_t i;

	for (i = 0; i < r->descriptions.cnt; i++)
		free(r->descriptions.all[i].raw);
	free(r->descriptions.all);
	map_fini(&r->descriptions.by_number);
}
