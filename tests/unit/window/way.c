// SPDX-License-Identifier: GPL-2.0
/* See way.h. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "fxt/format.h"
#include "piece/piece_walk.h"
#include "ring/ring_made.h"
#include "way.h"
#include "window_walk.h"

#define RECORD_WORDS	6

static void take(struct way *way, const void *records, size_t len)
{
	assert_int_equal(window_add(way->window, records, len), 0);
	if (way->triggers)
		assert_int_equal(triggers_take(way->triggers, records, len), 0);
}

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

void way_through_rings(struct way *way)
{
	static const char *const words[] = { "runq>1ms", "blocked>2s", "offcpu>2s", "slice>1s", "exit:comm=nobody" };
	char why[TRIGGER_WHY_BYTES];
	unsigned int i;

	way->memory = malloc(MADE_UP_CPUS * RING_MADE_BYTES);
	assert_non_null(way->memory);
	for (i = 0; i < MADE_UP_CPUS; i++)
		way->rings[i] = ring_made(&way->ctls[i], way->memory + i * RING_MADE_BYTES);
	assert_int_equal(triggers_open(&way->triggers), 0);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_int_equal(triggers_add(way->triggers, words[i], why, sizeof(why)), 0);
	made_up_turn_over(&way->made);
}

void way_free(struct way *way)
{
	made_up_close(&way->made);
	triggers_close(way->triggers);
	free(way->memory);
	free(way->round);
}

void way_close(struct way *way)
{
	assert_int_equal(window_close(way->window), 0);
	way_free(way);
}

struct piece_cut way_cut(const struct way *way)
{
	return (struct piece_cut){ .bound_ns = way->made.now_ns, .number = 2, .online = "0-3" };
}

/* As the recorder's drain. */
static void drain(struct way *way)
{
	uint64_t heads[MADE_UP_CPUS];
	struct iovec pieces[RING_MADE_CHUNKS + 1];
	int cpu, i, cnt;

	for (cpu = 0; cpu < (int)MADE_UP_CPUS; cpu++)
		heads[cpu] = ring_head(&way->rings[cpu]);
	for (cpu = 0; cpu < (int)MADE_UP_CPUS; cpu++) {
		cnt = ring_pieces(&way->rings[cpu], heads[cpu], pieces);
		for (i = 0; i < cnt; i++)
			take(way, pieces[i].iov_base, pieces[i].iov_len);
		ring_release(&way->rings[cpu], heads[cpu]);
	}
}

static void round_through_rings(struct way *way)
{
	const uint64_t *rec = way->round;
	uint32_t i;

	made_up_names(&way->made);
	take(way, way->made.names.data, way->made.names.len);
	made_up_round(&way->made, way->round, way->pairs, way->step_ns);
	for (i = 0; i < 2 * way->pairs; i++, rec += RECORD_WORDS)
		assert_true(ring_made_put(&way->rings[FXT_GET(rec[0], FXT_F_SCHED_CPU)], rec, RECORD_WORDS));
	drain(way);
	assert_int_equal(triggers_round(way->triggers, way->made.now_ns), 0);
	assert_null(triggers_next(way->triggers));
}

void way_rounds(struct way *way, unsigned int cnt)
{
	struct piece_cut cut;

	for (; cnt; cnt--) {
		if (way->memory) {
			round_through_rings(way);
		} else {
			made_up_round(&way->made, way->round, way->pairs, way->step_ns);
			take(way, way->round, way->pairs * MADE_UP_BYTES);
		}
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
