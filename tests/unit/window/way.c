// SPDX-License-Identifier: GPL-2.0
/* See way.h. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdlib.h>

#include "piece/piece_walk.h"
#include "way.h"
#include "window_walk.h"

void way_open(struct way *way, const struct window_cfg *cfg, uint32_t threads)
{
	struct fxt_mem begin;

	*way = (struct way){ .pairs = ROUND_PAIRS, .step_ns = STEP_NS };
	way->round = malloc(ROUND_PAIRS * MADE_UP_BYTES);
	assert_non_null(way->round);
	assert_int_equal(window_open(&way->window, cfg), 0);
	made_up_open(&way->made, threads, &begin);
	assert_int_equal(window_add(way->window, begin.data, begin.len), 0);
	fxt_mem_free(&begin);
}

void way_close(struct way *way)
{
	assert_int_equal(window_close(way->window), 0);
	free(way->round);
}

struct piece_cut way_cut(const struct way *way)
{
	return (struct piece_cut){ .bound_ns = way->made.now_ns, .number = 2, .online = "0-3" };
}

void way_rounds(struct way *way, unsigned int cnt)
{
	struct piece_cut cut;

	for (; cnt; cnt--) {
		made_up_round(&way->made, way->round, way->pairs, way->step_ns);
		assert_int_equal(window_add(way->window, way->round, way->pairs * MADE_UP_BYTES), 0);
		cut = way_cut(way);
		assert_int_equal(window_round(way->window, &cut, way->made.now_ns), 0);
	}
}

uint64_t way_overwritten(struct way *way)
{
	struct window_totals t;

	window_totals(way->window, &t);
	return t.overwritten.switches + t.overwritten.wakeups;
}

void way_check_counts(struct way *way)
{
	const struct piece_cut cut = way_cut(way);
	struct fxt_mem m;
	size_t cnt;

	walk_dumped(way->window, 0, &cut, &m);
	free(walk_real(&m, &cnt));
	assert_int_equal(cnt + way_overwritten(way), way->made.events);
	fxt_mem_free(&m);
}
