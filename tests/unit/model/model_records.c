// SPDX-License-Identifier: GPL-2.0
/* Writes a file with an event of every kind that readers of formats can make: model_records FILE */
#include <errno.h>
#include <stdio.h>

#include "fxt/fxt.h"
#include "model/arg_list.h"
#include "model/builder.h"

static int to_file(void *ctx, const void *data, size_t len)
{
	return fwrite(data, 1, len, ctx) == len ? 0 : -EIO;
}

static uint32_t track(struct builder *b, enum model_track_kind kind, int64_t pid, int64_t tid)
{
	const struct model_track spec = { .kind = kind, .process = { .number = pid }, .thread = { .number = tid } };
	uint32_t nr = 0;

	return builder_track(b, &spec, &nr) ? 0 : nr;
}

static int add_all(struct builder *b, const struct model_event *events, size_t cnt, const struct fxt_arg *args,
		   unsigned int n)
{
	size_t i;
	int err = 0;

	for (i = 0; i < cnt && !err; i++) {
		struct model_event ev = events[i];

		ev.category = fxt_str("c");
		ev.args = args;
		ev.args_cnt = n;
		err = builder_add(b, &ev);
	}
	return err;
}

static int add_slices(struct builder *b, const struct fxt_arg *args, unsigned int n)
{
	const uint32_t main = track(b, MODEL_TRACK_THREAD, 10, 10), other = track(b, MODEL_TRACK_THREAD, 10, 1LL << 40);
	const struct model_event events[] = {
		{ .kind = MODEL_NAME, .track = main, .name = fxt_str("main") },
		{ .kind = MODEL_NAME, .track = other, .name = fxt_str("other") },
		{ .kind = MODEL_ORDER, .track = other, .order = -1 },
		{ .kind = MODEL_SLICE, .track = main, .ts_ns = 100, .duration_ns = 50, .name = fxt_str("slice") },
		{ .kind = MODEL_SLICE, .track = main, .ts_ns = 140, .duration_ns = 50, .name = fxt_str("overlaps") },
		{ .kind = MODEL_SLICE_BEGIN, .track = other, .ts_ns = 110, .name = fxt_str("begins") },
		{ .kind = MODEL_SLICE_END, .track = other, .ts_ns = 120 },
		{ .kind = MODEL_ASYNC, .track = main, .ts_ns = 100, .duration_ns = 9, .id = 1, .name = fxt_str("a") },
		{ .kind = MODEL_ASYNC_BEGIN, .track = main, .ts_ns = 110, .id = 2, .name = fxt_str("b") },
		{ .kind = MODEL_ASYNC_INSTANT, .track = main, .ts_ns = 111, .id = 2, .name = fxt_str("i") },
		{ .kind = MODEL_ASYNC_END, .track = main, .ts_ns = 112, .id = 2 },
		{ .kind = MODEL_FLOW_BEGIN, .track = main, .ts_ns = 140, .id = 3, .name = fxt_str("f") },
		{ .kind = MODEL_FLOW_STEP, .track = other, .ts_ns = 141, .id = 3, .name = fxt_str("f") },
		{ .kind = MODEL_FLOW_END, .track = main, .ts_ns = 142, .id = 3, .name = fxt_str("f") },
		{ .kind = MODEL_FLOW, .track = main, .ts_ns = 143, .id = 4, .name = fxt_str("g") },
	};

	return add_all(b, events, sizeof(events) / sizeof(*events), args, n);
}

static int add_values(struct builder *b, const struct fxt_arg *args, unsigned int n)
{
	const uint32_t main = track(b, MODEL_TRACK_THREAD, 10, 10), idle = track(b, MODEL_TRACK_IDLE, 0, 0);
	const struct model_event events[] = {
		{ .kind = MODEL_INSTANT, .track = track(b, MODEL_TRACK_GLOBAL, 0, 0), .ts_ns = 200, .name = fxt_str("i") },
		{ .kind = MODEL_COUNTER, .track = main, .ts_ns = 201, .id = 5, .name = fxt_str("n") },
		{ .kind = MODEL_LOG, .track = main, .ts_ns = 202, .text = fxt_str("line") },
		{ .kind = MODEL_SWITCH, .track = main, .ts_ns = 203,
		  .sched = { .cpu = 1, .other = idle, .priority = 110, .state = MODEL_RUNNABLE } },
		{ .kind = MODEL_STATE, .track = main, .ts_ns = 204, .sched = { .state = MODEL_BLOCKED } },
		{ .kind = MODEL_WAKEUP, .track = main, .ts_ns = 205, .sched = { .cpu = 2, .priority = 111 } },
	};

	return add_all(b, events, sizeof(events) / sizeof(*events), args, n);
}

/* Each with two arguments, which are nested. */
static int add_events(struct builder *b)
{
	struct arg_list *l;
	const struct fxt_arg *args;
	unsigned int n;
	int err = arg_list_open(&l);

	if (err)
		return err;
	arg_list_member(l, "o", 1);
	arg_list_element(l, 1);
	arg_list_put(l, fxt_arg_i64("", INT64_MIN));
	arg_list_leave(l);
	arg_list_member(l, "d", 1);
	arg_list_put(l, fxt_arg_f64("", 0.5));
	args = arg_list_get(l, &n);
	err = add_slices(b, args, n);
	err = err ? err : add_values(b, args, n);
	arg_list_close(l);
	return err;
}

int main(int argc, char **argv)
{
	const struct builder_cfg cfg = { .source = "test" };
	struct builder *b;
	struct fxt_writer *w;
	FILE *file;
	int err;

	if (argc != 2) {
		fprintf(stderr, "usage: model_records FILE\n");
		return 2;
	}
	file = fopen(argv[1], "wb");
	if (!file || fxt_writer_open(&w, to_file, file) || builder_open(&b, w, &cfg)) {
		perror(argv[1]);
		return 1;
	}
	err = add_events(b);
	err = err ? err : builder_end(b);
	builder_close(b);
	err = fxt_writer_close(w) ?: err;
	if (fclose(file) || err)
		fprintf(stderr, "%s: error %d\n", argv[1], err);
	return err != 0;
}
