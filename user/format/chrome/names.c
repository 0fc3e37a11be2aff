// SPDX-License-Identifier: GPL-2.0
/*
 * Metadata events that name processes and threads, or say where to show them. They may come
 * anywhere and again; the last one counts.
 */
#include "reader_p.h"
#include "value.h"

/* A string, or a number as it is written. */
static int add_name(struct chrome_reader *r, const struct chrome_event *e, uint32_t track)
{
	struct chrome_value args = chrome_value_of(e, chrome_field(e, CHROME_ARGS)), name;
	struct model_event ev = { .kind = MODEL_NAME, .track = track };

	if (!chrome_member_find(&args, "name", &name) || (name.type != CHROME_STRING && name.type != CHROME_NUMBER))
		return 0;
	chrome_args_clear(r->args);
	ev.name = chrome_args_decode(r->args, name.data, name.len, name.escaped, NAME_MAX_BYTES);
	ev.name.inlined = false;
	return reader_add(r, &ev);
}

/* An integer, or a string of one, as Bazel has it. */
static bool integer_of(const struct fxt_arg *arg, int64_t *value)
{
	if (arg && arg->type == FXT_ARG_INT64)
		*value = arg->i64;
	else if (!arg || arg->type != FXT_ARG_STRING || chrome_int64(arg->str.data, arg->str.len, value))
		return false;
	return true;
}

static int add_order(struct chrome_reader *r, const struct chrome_event *e, uint32_t track)
{
	int64_t order;

	chrome_args_clear(r->args);
	chrome_args_object(r->args, e, chrome_field(e, CHROME_ARGS), false);
	if (!integer_of(chrome_args_find(r->args, "sort_index"), &order))
		return 0;
	return reader_add(r, &(struct model_event){ .kind = MODEL_ORDER, .track = track, .order = order });
}

int reader_metadata(struct chrome_reader *r, const struct chrome_event *e, bool *is_name)
{
	uint32_t thread, process;
	int err = reader_track(r, e, &thread, &process);

	*is_name = true;
	if (err)
		return err;
	if (reader_is_text(e, CHROME_NAME, "process_name"))
		return add_name(r, e, process);
	if (reader_is_text(e, CHROME_NAME, "thread_name"))
		return add_name(r, e, thread);
	if (reader_is_text(e, CHROME_NAME, "process_sort_index"))
		return add_order(r, e, process);
	if (reader_is_text(e, CHROME_NAME, "thread_sort_index"))
		return add_order(r, e, thread);
	*is_name = false;
	return 0;
}
