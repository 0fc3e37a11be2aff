// SPDX-License-Identifier: GPL-2.0
/*
 * The builder of a live recording. Here a thread's id is its koid, which is never another
 * thread's, and a thread is kept only while it has open slices.
 */
#include "import_p.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bpf/abi/ids.h"

#define THREADS_MAX	65536U	/* kept at a time */

struct live {
	struct builder *b;
	struct ftrace_import *im;
};

int live_open(struct live **out, struct fxt_writer *w, const struct live_cfg *cfg)
{
	const struct builder_cfg builder_cfg = { .source = NULL };
	struct live *l = calloc(1, sizeof(*l));
	int err = l ? builder_open(&l->b, w, &builder_cfg) : -ENOMEM;

	err = err ? err : ftrace_import_open(&l->im, l->b);
	if (err) {
		live_close(l);
		return err;
	}
	l->im->live = cfg;
	l->b->clock = MODEL_CLOCK_NS;
	l->b->ticks_per_second = 1000000000;
	*out = l;
	return 0;
}

static bool is_open(const struct track *tr)
{
	return tr && (tr->depth || tr->deep);
}

/* Of those with nothing open nothing need be known; if too many are open, they end here. */
static int forget_threads(struct builder *b)
{
	size_t i, kept = 0, open = 0;
	int err = 0;

	for (i = 0; i < b->threads_cnt; i++)
		open += is_open(b->threads[i]->track) || is_open(b->threads[i]->markers);
	map_fini(&b->thread_map);
	for (i = 0; i < b->threads_cnt; i++) {
		struct thread *t = b->threads[i];

		if (!err && open > THREADS_MAX / 2)
			err = slices_close(b, t->track);
		if (!err && open > THREADS_MAX / 2)
			err = slices_close(b, t->markers);
		if (t == b->idle || is_open(t->track) || is_open(t->markers)) {
			err = err ? err : map_add(&b->thread_map, (uint32_t)t->tid, (uint32_t)kept);
			b->threads[kept++] = t;
			continue;
		}
		track_free(t->track);
		track_free(t->markers);
		free(t);
	}
	b->threads_cnt = kept;
	return err;
}

int live_add(struct live *l, uint64_t ts_ns, struct fxt_thread at, const char *text, size_t len)
{
	struct builder *b = l->b;
	const struct ftrace_event ev = {
		.kind = FTRACE_MARKER, .complete = true, .name = { "print", 5 },
		.args = { text, len },
	};
	struct record r = { .im = l->im, .ev = &ev, .ts = ts_ns, .ns = ts_ns };
	int err = b->threads_cnt < THREADS_MAX ? 0 : forget_threads(b), out;
	bool had_markers;

	r.t = err ? NULL : thread_get(b, (int32_t)at.thread);
	if (!r.t)
		return err ? err : -ENOMEM;
	b->now = ts_ns;
	r.t->koid = at.thread;
	r.t->process = at.process;
	r.t->user = true;
	had_markers = r.t->markers;
	out = on_marker(b, &r);
	if (out < 0 || had_markers || !r.t->markers)
		return out < 0 ? out : 0;
	r.t->name_len = (uint8_t)snprintf(r.t->name, NAME_BYTES, "%u", (uint32_t)(at.thread % ID_GENERATION_STEP));
	return thread_write_markers(b, r.t);
}

/* What is open lasts until @ts_ns, at least. */
static void reach(struct builder *b, uint64_t ts_ns)
{
	size_t i;

	for (i = 0; i < b->threads_cnt; i++) {
		struct track *const tracks[] = { b->threads[i]->track, b->threads[i]->markers };

		for (unsigned int j = 0; j < 2; j++)
			if (tracks[j] && tracks[j]->last < ts_ns)
				tracks[j]->last = ts_ns;
	}
	if (b->now < ts_ns)
		b->now = ts_ns;
}

int live_gap(struct live *l, uint64_t ts_ns)
{
	struct builder *b = l->b;
	size_t i;
	int err = 0;

	reach(b, ts_ns);
	for (i = 0; !err && i < b->threads_cnt; i++)
		err = slices_close(b, b->threads[i]->track) ?: slices_close(b, b->threads[i]->markers);
	return err ?: asyncs_close(b);
}

int live_end(struct live *l, uint64_t ts_ns)
{
	reach(l->b, ts_ns);
	return builder_end(l->b);
}

void live_stats(const struct live *l, struct builder_stats *stats)
{
	builder_stats(l->b, stats);
}

void live_close(struct live *l)
{
	if (!l)
		return;
	ftrace_import_close(l->im);
	builder_close(l->b);
	free(l);
}
