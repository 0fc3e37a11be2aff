// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the event ring's reading end, against a writer that does what
 * bpf/lib/event_ring.bpf.h does, in the order of the test's choice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/abi/ctl.h"
#include "bpf/abi/ring.h"
#include "fxt/format.h"
#include "ring/event_ring.h"

#define SHIFT		12
#define CHUNKS		4
#define RING_BYTES	((uint64_t)CHUNKS << SHIFT)

struct fixture {
	struct cpu_ctl ctl;
	struct event_ring ring;
	char *data;
};

static void open_ring(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->data = calloc(CHUNKS, (1 << SHIFT) + RING_SLACK_BYTES);
	assert_non_null(f->data);
	f->ring = (struct event_ring){
		.reserved = &f->ctl.event_head, .tail = &f->ctl.event_tail, .notified = &f->ctl.event_notified,
		.data = f->data, .chunk_shift = SHIFT, .chunks = CHUNKS, .slack_bytes = RING_SLACK_BYTES,
	};
}

/* A place for @words, as a program claims it; NULL: full. */
static uint64_t *claim(struct fixture *f, unsigned int words)
{
	uint64_t head = f->ctl.event_head;

	if (head + words * 8 - f->ctl.event_tail > RING_BYTES)
		return NULL;
	f->ctl.event_head += words * 8;
	return (uint64_t *)(f->data + (head >> SHIFT) % CHUNKS * ((1 << SHIFT) + RING_SLACK_BYTES) +
			    (head & ((1 << SHIFT) - 1)));
}

/* Fills and publishes it; its words say who it is. */
static void publish(uint64_t *rec, unsigned int words, uint64_t id)
{
	unsigned int i;

	for (i = 1; i < words; i++) {
		assert_int_equal(rec[i], 0);	/* what was here before is zero again */
		rec[i] = id + i;
	}
	assert_int_equal(rec[0], 0);
	rec[0] = FXT_HEADER(FXT_EVENT, words);
}

static void take(struct fixture *f, unsigned int words, uint64_t id)
{
	const uint64_t *rec = event_ring_next(&f->ring);
	unsigned int i;

	assert_non_null(rec);
	assert_int_equal(FXT_GET(*rec, FXT_F_SIZE), words);
	for (i = 1; i < words; i++)
		assert_int_equal(rec[i], id + i);
}

static void test_order(void **state)
{
	struct fixture f;

	(void)state;
	open_ring(&f);
	event_ring_look(&f.ring);
	assert_null(event_ring_next(&f.ring));
	publish(claim(&f, 4), 4, 100);
	publish(claim(&f, 9), 9, 200);
	event_ring_look(&f.ring);
	publish(claim(&f, 4), 4, 300);
	take(&f, 4, 100);
	take(&f, 9, 200);
	assert_null(event_ring_next(&f.ring));	/* came after the look */
	event_ring_release(&f.ring);
	assert_int_equal(f.ctl.event_tail, 13 * 8);
	event_ring_look(&f.ring);
	take(&f, 4, 300);
	free(f.data);
}

/* An interrupt writes while the record below it is not finished: both wait for that. */
static void test_nested(void **state)
{
	struct fixture f;
	uint64_t *outer, *inner;

	(void)state;
	open_ring(&f);
	outer = claim(&f, 5);
	inner = claim(&f, 4);
	publish(inner, 4, 1000);
	event_ring_look(&f.ring);
	assert_null(event_ring_next(&f.ring));
	event_ring_release(&f.ring);
	assert_int_equal(f.ctl.event_tail, 0);
	assert_int_equal(inner[0], FXT_HEADER(FXT_EVENT, 4));
	publish(outer, 5, 2000);
	event_ring_look(&f.ring);
	take(&f, 5, 2000);
	take(&f, 4, 1000);
	event_ring_release(&f.ring);
	assert_int_equal(f.ctl.event_tail, 9 * 8);
	free(f.data);
}

/* Many times round, records of all sizes over the ends of chunks, never more than fits. */
static void test_round(void **state)
{
	unsigned int sizes[4096], written = 0, taken = 0, refused = 0, round, words;
	struct fixture f;
	uint64_t *rec;

	(void)state;
	open_ring(&f);
	srand(1);
	for (round = 0; round < 200; round++) {
		while (written < 4096 && (words = 4 + rand() % 100)) {
			rec = claim(&f, words);
			refused += !rec;
			if (!rec)
				break;
			publish(rec, words, written * 1000ULL);
			sizes[written++] = words;
			if (rand() % 50 == 0)
				break;
		}
		event_ring_look(&f.ring);
		while (taken < written && rand() % 200)
			take(&f, sizes[taken], taken * 1000ULL), taken++;
		event_ring_release(&f.ring);
	}
	assert_true(refused > 5);
	assert_true(f.ctl.event_tail > 20 * RING_BYTES);
	free(f.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
