// SPDX-License-Identifier: GPL-2.0
/*
 * Metadata events that name processes and threads, or say where to show them. They may come
 * anywhere and again; the last one counts.
 */
#include "reader_p.h"
#include "value.h"

/* Of args all but what was used. */
static void count_others(struct chrome_reader *r, const struct chrome_event *e)
{
	struct chrome_value args = chrome_value_of(e, chrome_field(e, CHROME_ARGS)), v;
	struct chrome_each each;

	r->counts.dropped_members--;
	chrome_each_begin(&each, args.data, args.len);
	while (chrome_each_next(&each, &v))
		r->counts.dropped_members++;
}

/* A string, or a number as it is written. 1, 0: there is none, or -errno. */
static int add_name(struct chrome_reader *r, const struct chrome_event *e, uint32_t track)
{
	struct chrome_value args = chrome_value_of(e, chrome_field(e, CHROME_ARGS)), name;
	struct model_event ev = { .kind = MODEL_NAME, .track = track };
	int err;

	if (!chrome_member_find(&args, "name", &name) || (name.type != CHROME_STRING && name.type != CHROME_NUMBER))
		return 0;
	chrome_args_clear(r->args);
	ev.name = chrome_args_decode(r->args, name.data, name.len, name.escaped, NAME_MAX_BYTES);
	ev.name.inlined = false;
	err = reader_add(r, &ev);
	count_others(r, e);
	return err ? err : 1;
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

/* As add_name(). */
static int add_order(struct chrome_reader *r, const struct chrome_event *e, uint32_t track)
{
	int64_t order;
	int err;

	chrome_args_clear(r->args);
	chrome_args_object(r->args, e, chrome_field(e, CHROME_ARGS), false);
	if (!integer_of(chrome_args_find(r->args, "sort_index"), &order))
		return 0;
	err = reader_add(r, &(struct model_event){ .kind = MODEL_ORDER, .track = track, .order = order });
	count_others(r, e);
	return err ? err : 1;
}

int reader_metadata(struct chrome_reader *r, const struct chrome_event *e, bool *is_name)
{
	uint32_t thread, process;
	int got = reader_track(r, e, &thread, &process);

	*is_name = true;
	if (got)
		return got;
	if (reader_is_text(e, CHROME_NAME, "process_name"))
		got = add_name(r, e, process);
	else if (reader_is_text(e, CHROME_NAME, "thread_name"))
		got = add_name(r, e, thread);
	else if (reader_is_text(e, CHROME_NAME, "process_sort_index"))
		got = add_order(r, e, process);
	else if (reader_is_text(e, CHROME_NAME, "thread_sort_index"))
		got = add_order(r, e, thread);
	else
		*is_name = false;
	r->counts.empty_names += *is_name && !got;
	return got < 0 ? got : 0;
}
