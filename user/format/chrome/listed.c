// SPDX-License-Identifier: GPL-2.0
/*
 * Elements of the member samples: a stack of the member stackFrames each.
 */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "reader_p.h"
#include "value.h"

bool reader_number(const struct fxt_arg *arg, struct fxt_arg *number)
{
	char text[64 + CHROME_PAD_BYTES] = { 0 }, *end;
	const char *number_end;
	double value;

	*number = *arg;
	if (arg->type == FXT_ARG_INT64 || arg->type == FXT_ARG_DOUBLE)
		return true;
	if (arg->type != FXT_ARG_STRING || !arg->str.len || arg->str.len >= 64)
		return false;
	memcpy(text, arg->str.data, arg->str.len);
	text[arg->str.len] = '"';
	if (chrome_scalar(text, &number_end) != CHROME_NUMBER || number_end != text + arg->str.len)
		return false;
	text[arg->str.len] = '\0';
	number->type = FXT_ARG_INT64;
	if (!chrome_int64(arg->str.data, arg->str.len, &number->i64))
		return true;
	value = strtod(text, &end);
	number->type = FXT_ARG_DOUBLE;
	number->f64 = value;
	return value - value == 0;
}

/* Of an argument that is a whole number: whether it is there and one. */
static bool count_of(struct chrome_reader *r, const char *name, uint64_t *count)
{
	const struct fxt_arg *arg = chrome_args_find(r->args, name);
	struct fxt_arg number;

	if (!arg || !reader_number(arg, &number))
		return false;
	if (number.type == FXT_ARG_DOUBLE && number.f64 >= 0 && number.f64 < (double)INT64_MAX && number.f64 == (int64_t)number.f64) {
		number.type = FXT_ARG_INT64;
		number.i64 = (int64_t)number.f64;
	}
	if (number.type != FXT_ARG_INT64 || number.i64 < 0)
		return false;
	*count = (uint64_t)number.i64;
	return true;
}

/* "other" is the name of what has none. */
static enum profile_source source_of(struct fxt_str name)
{
	enum profile_source i;

	for (i = PROFILE_CPU; i < PROFILE_OTHER; i++)
		if (name.len == strlen(profile_source_name(i)) && !memcmp(name.data, profile_source_name(i), name.len))
			break;
	return i;
}

int reader_play_listed(struct chrome_reader *r, const struct chrome_event *e, struct model_event *ev)
{
	const struct chrome_field *f = chrome_field(e, CHROME_SF);
	uint64_t cpu = UINT64_MAX, weight = 0;
	unsigned int cnt = 0, used;
	bool cut = false;

	if (f)
		cnt = chrome_frames_list(&r->frames, reader_frame_key(0, chrome_text(e, f->value), f->value.len), r->stack, &cut);
	r->counts.cut_stacks += cut;
	if (!cnt)
		return 1;
	used = count_of(r, "cpu", &cpu) + count_of(r, "weight", &weight);
	/* The stack is made of sf. */
	r->counts.dropped_members += ev->args_cnt - used - (chrome_args_find(r->args, "stack") != NULL);
	ev->kind = MODEL_STACK;
	ev->stack = (struct model_stack){
		.source = source_of(ev->name), .source_name = ev->name, .cpu = cpu <= INT32_MAX ? (int)cpu : -1, .user_mode = true,
		.weight = weight, .frames = r->stack, .frames_cnt = cnt,
	};
	return reader_add(r, ev);
}
