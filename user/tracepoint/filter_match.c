// SPDX-License-Identifier: GPL-2.0
/*
 * What passes_filter() of bpf/tracepoint.bpf.c does, on a record that has been copied.
 */
#include <stdint.h>
#include <string.h>

#include "bpf/abi/tracepoint.h"
#include "filter.h"
#include "tracepoint_p.h"

struct copied {
	const unsigned char *data;
	size_t len;
};

static bool has(const struct copied *r, size_t offset, size_t size)
{
	return offset <= r->len && size <= r->len - offset;
}

static bool text_fits(const struct copied *r, const struct tracepoint_info *info, const struct field_test *t)
{
	size_t at = t->offset;
	uint32_t place;

	if (t->is_dynamic) {
		if (!has(r, at, sizeof(place)))
			return false;
		place = (uint32_t)tracepoint_number(r->data + at, sizeof(place), false);
		if (t->is_dynamic == 2)
			place += (uint32_t)(at + sizeof(place));
		if (place >> 16 < t->size)
			return false;
		at = place & 0xffff;
	}
	return has(r, at, t->size) && !memcmp(r->data + at, &info->texts[t->value], t->size);
}

static bool number_fits(const struct copied *r, const struct field_test *t)
{
	uint64_t v;

	if (!has(r, t->offset, t->size))
		return false;
	v = tracepoint_number(r->data + t->offset, t->size, t->is_signed);
	switch (t->op) {
	case FIELD_EQ:
		return v == t->value;
	case FIELD_LT:
		return t->is_signed ? (int64_t)v < (int64_t)t->value : v < t->value;
	case FIELD_GT:
		return t->is_signed ? (int64_t)v > (int64_t)t->value : v > t->value;
	default:
		return v & t->value;
	}
}

bool tracepoint_filter_matches(const struct tracepoint_info *info, const void *record, size_t len)
{
	const struct copied r = { record, len };
	unsigned int at = 0;

	while (at < info->tests) {
		const struct field_test *t = &info->test[at];

		at = (t->op == FIELD_TEXT ? text_fits(&r, info, t) : number_fits(&r, t)) ? t->yes : t->no;
	}
	return at == FIELD_YES || !info->tests;
}
