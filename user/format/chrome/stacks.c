// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks of events: by the number of a frame of the file's stackFrames, or as a list. As one
 * argument, root first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "reader_p.h"
#include "value.h"

#define STACK_BYTES	8000U	/* as of other strings */
#define PLACE_BYTES	48U

/* Where a frame is, by what Hermes writes: ":LINE:COLUMN", as frames.c has it. */
static size_t place_of(const struct chrome_value *frame, char out[PLACE_BYTES])
{
	struct chrome_value number;
	int64_t line, column = 0;

	if (!chrome_member_find(frame, "line", &number) || chrome_int64(number.data, number.len, &line))
		return 0;
	if (chrome_member_find(frame, "column", &number) && chrome_int64(number.data, number.len, &column))
		column = 0;
	return (size_t)snprintf(out, PLACE_BYTES, ":%" PRId64 ":%" PRId64, line, column);
}

/* What nothing is made of. */
static uint64_t count_others(const struct chrome_value *frame, bool has_place)
{
	static const char *const known[] = { "name", "category", "parent", "line", "column" };
	const size_t cnt = has_place ? 5 : 3;
	struct chrome_each each;
	struct chrome_value v;
	uint64_t others = 0;
	size_t i;

	chrome_each_begin(&each, frame->data, frame->len);
	while (chrome_each_next(&each, &v)) {
		for (i = 0; i < cnt; i++)
			if (chrome_is_named(&v, known[i]))
				break;
		others += i == cnt;
	}
	return others;
}

void reader_take_frame(void *reader, const struct chrome_member *m)
{
	const struct chrome_value frame = {
		.type = m->first == '{' ? CHROME_OBJECT : CHROME_NONE, .data = m->value, .len = m->value_len,
	};
	struct chrome_reader *r = reader;
	uint64_t key = reader_frame_key(0, m->name, m->name_len);
	struct chrome_value name, category, parent;
	char place[PLACE_BYTES];
	const size_t place_len = place_of(&frame, place);
	bool ok = chrome_member_find(&frame, "name", &name);

	if (!chrome_member_find(&frame, "category", &category) || category.type != CHROME_STRING)
		category.len = 0;
	ok = ok && !chrome_frames_name(&r->frames, key, &name, &category, place, place_len);
	if (ok && chrome_member_find(&frame, "parent", &parent) && parent.type != CHROME_NULL)
		ok = !chrome_frames_parent(&r->frames, key, reader_frame_key(0, parent.data, parent.len));
	r->counts.dropped_frames += !ok;
	if (ok)
		r->counts.dropped_members += count_others(&frame, place_len);
}

static void add_stack(struct chrome_reader *r, const struct chrome_event *e, enum chrome_key key, const char *name,
		      const char *other_name)
{
	const struct chrome_field *f = chrome_field(e, key);
	char stack[STACK_BYTES];
	bool cut = false;
	size_t len;

	if (!f)
		return;
	if (f->type == CHROME_ARRAY)
		len = chrome_list_join(&(struct chrome_value){ .data = chrome_text(e, f->value), .len = f->value.len }, ';', stack,
				       sizeof(stack), &cut);
	else
		len = chrome_frames_stack(&r->frames, reader_frame_key(0, chrome_text(e, f->value), f->value.len),
					  stack, sizeof(stack), &cut);
	/* Of a sample it is not used. */
	r->counts.cut_lists += cut && reader_phase(e);
	if (len)
		chrome_args_string(r->args, name, stack, len);
	else
		chrome_args_value(r->args, other_name, strlen(other_name), e, f);
}

void reader_add_stacks(struct chrome_reader *r, const struct chrome_event *e, bool is_end)
{
	add_stack(r, e, CHROME_SF, is_end ? "end_stack" : "stack", is_end ? "esf" : "sf");
	add_stack(r, e, CHROME_STACK, is_end ? "end_stack" : "stack", is_end ? "estack" : "stack");
	add_stack(r, e, CHROME_ESF, "end_stack", "esf");
	add_stack(r, e, CHROME_ESTACK, "end_stack", "estack");
}
