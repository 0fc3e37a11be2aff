// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of triggers where CPUs come and go: what is not recorded proves nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "trigger_made.h"

static const char *const dirs[] = { "/sys", "/sys/devices", "/sys/devices/system", "/sys/devices/system/cpu" };
#define DIRS	(sizeof(dirs) / sizeof(dirs[0]))

struct machine {
	struct stream m;
	char root[32], online[96];
};

static void set_online(const struct machine *c, const char *cpus)
{
	FILE *f = fopen(c->online, "w");

	assert_non_null(f);
	fprintf(f, "%s\n", cpus);
	assert_int_equal(fclose(f), 0);
}

/* CPUs 0 and 1 are recorded, and no thread runs. */
static void open_machine(struct machine *c, const char *const *words)
{
	char path[96], why[TRIGGER_WHY_BYTES];
	size_t i;

	strcpy(c->root, "/tmp/kfxt-online.XXXXXX");
	assert_non_null(mkdtemp(c->root));
	for (i = 0; i < DIRS; i++) {
		snprintf(path, sizeof(path), "%s%s", c->root, dirs[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	snprintf(c->online, sizeof(c->online), "%s%s/online", c->root, dirs[DIRS - 1]);
	set_online(c, "0-1");
	stream_open(&c->m, words);
	assert_int_equal(triggers_watch(c->m.t, c->root, why, sizeof(why)), 0);
	stream_start(&c->m, "0-1", "0-1", NULL);
	stream_mark(&c->m, 0, 1, 0, 0, "start");
	stream_mark(&c->m, 1, 1, 0, 0, "start");
	stream_round(&c->m, 90);
}

static void close_machine(struct machine *c)
{
	char path[96];
	size_t i;

	stream_close(&c->m);
	unlink(c->online);
	for (i = DIRS; i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", c->root, dirs[i]);
		rmdir(path);
	}
	rmdir(c->root);
}

static bool is_blind(const struct machine *c)
{
	struct trigger_counts counts;

	assert_true(triggers_counts(c->m.t, 0, &counts));
	return counts.blind != NULL;
}

/* A thread may run on a CPU that came online since: it does not wait. */
static void test_comes(void **state)
{
	static const char *const words[] = { "runq>5ms", NULL };
	struct machine c;

	(void)state;
	open_machine(&c, words);
	stream_wakeup(&c.m, 115, 7, NULL);
	set_online(&c, "0-2");
	stream_round(&c.m, 130);
	stream_none(&c.m);
	assert_true(is_blind(&c));
	stream_switch(&c.m, 0, 140, 0, 'R', 7);
	stream_switch(&c.m, 0, 145, 7, 'R', 8);
	set_online(&c, "0-1");
	stream_round(&c.m, 160);		/* it went at some time before */
	stream_none(&c.m);
	assert_false(is_blind(&c));
	stream_round(&c.m, 200);
	stream_switch(&c.m, 0, 210, 8, 'S', 7);
	stream_switch(&c.m, 0, 220, 7, 'R', 8);
	stream_switch(&c.m, 0, 226, 8, 'S', 7);
	stream_round(&c.m, 300);
	assert_true(stream_fired(&c.m, "runq>5ms", 30)->is_partial);	/* since that was known */
	assert_false(stream_fired(&c.m, "runq>5ms", 6)->is_partial);
	stream_none(&c.m);
	close_machine(&c);
}

/* Who waits, blocks or runs while the machine is suspended, as all that are frozen do, does so for no time. */
static void test_suspended(void **state)
{
	static const char *const words[] = { "runq>50ms", "blocked>50ms", "slice>50ms", "idle>50%/100ms", NULL };
	struct machine c;

	(void)state;
	open_machine(&c, words);
	stream_switch(&c.m, 0, 95, 0, 'R', 6);
	stream_switch(&c.m, 1, 95, 0, 'R', 9);
	stream_round(&c.m, 180);
	while (triggers_next(c.m.t))		/* both were idle until then */
		;
	stream_switch(&c.m, 1, 190, 9, 'S', 10);
	stream_switch(&c.m, 0, 200, 6, 'R', 7);
	stream_switch(&c.m, 0, 201, 7, 'D', 8);
	stream_round(&c.m, 210);
	stream_none(&c.m);
	triggers_suspended(c.m.t, 220 * STREAM_MS, 9000 * STREAM_MS);
	stream_switch(&c.m, 1, 230, 10, 'S', 0);
	stream_switch(&c.m, 0, 9010, 8, 'S', 6);
	stream_wakeup(&c.m, 9010, 7, NULL);
	stream_switch(&c.m, 1, 9012, 0, 'R', 7);
	stream_switch(&c.m, 1, 9030, 7, 'S', 11);
	stream_round(&c.m, 9040);
	stream_none(&c.m);
	/* After it all counts again. */
	stream_switch(&c.m, 1, 9055, 11, 'S', 0);
	stream_switch(&c.m, 0, 9061, 6, 'S', 0);
	stream_round(&c.m, 9100);
	stream_fired(&c.m, "slice>50ms", 51);
	close_machine(&c);
}

/* Records from before a suspend may be drained after it was noticed; a slice that it is in counts up to it, or from its end on. */
static void test_suspended_late(void **state)
{
	static const char *const words[] = { "slice>50ms", NULL };
	const struct trigger_fired *f;
	struct machine c;

	(void)state;
	open_machine(&c, words);
	stream_switch(&c.m, 0, 95, 0, 'R', 6);
	stream_switch(&c.m, 1, 95, 0, 'R', 0);
	stream_round(&c.m, 100);
	triggers_suspended(c.m.t, 200 * STREAM_MS, 9000 * STREAM_MS);
	stream_switch(&c.m, 0, 110, 6, 'S', 7);
	stream_switch(&c.m, 0, 160, 7, 'S', 8);
	stream_switch(&c.m, 0, 9010, 8, 'S', 0);	/* 40 ms at most before it, and 10 after it */
	stream_switch(&c.m, 1, 120, 0, 'R', 9);
	stream_round(&c.m, 9040);
	f = stream_fired(&c.m, words[0], 80);		/* the longer one of 80 and 40 */
	assert_int_equal(f->thread, 9);
	assert_int_equal(f->from_ns, 120 * STREAM_MS);
	assert_true(f->is_partial);
	stream_switch(&c.m, 0, 9050, 0, 'R', 5);
	stream_switch(&c.m, 0, 9110, 5, 'S', 0);
	stream_round(&c.m, 9200);
	assert_false(stream_fired(&c.m, words[0], 60)->is_partial);
	stream_none(&c.m);
	close_machine(&c);
}

/* What is offline is not idle. */
static void test_goes(void **state)
{
	static const char *const words[] = { "idle>50%/100ms", NULL };
	const struct trigger_fired *f;
	struct machine c;

	(void)state;
	open_machine(&c, words);
	stream_switch(&c.m, 0, 95, 0, 'R', 7);
	stream_switch(&c.m, 1, 95, 0, 'R', 8);
	stream_round(&c.m, 200);
	while (triggers_next(c.m.t))		/* both were idle until then */
		;
	stream_switch(&c.m, 1, 290, 8, 'S', 0);
	set_online(&c, "0");
	stream_round(&c.m, 300);
	stream_round(&c.m, 500);
	stream_none(&c.m);
	set_online(&c, "0-1");
	stream_round(&c.m, 600);
	stream_round(&c.m, 630);
	stream_none(&c.m);
	stream_round(&c.m, 800);
	f = triggers_next(c.m.t);
	assert_non_null(f);
	assert_int_equal(f->cpu, 1);
	assert_true(f->is_partial);
	assert_int_equal(f->to_ns, 690 * STREAM_MS);	/* 60 of 100 ms since 630 */
	stream_none(&c.m);
	close_machine(&c);
}

/* The thread that takes a CPU offline is switched out without a record. */
static void test_slice_of_one_that_goes(void **state)
{
	static const char *const words[] = { "slice>200ms", NULL };
	struct machine c;

	(void)state;
	open_machine(&c, words);
	stream_switch(&c.m, 0, 95, 0, 'R', 0);
	stream_switch(&c.m, 1, 95, 0, 'R', 0);
	stream_round(&c.m, 100);
	stream_switch(&c.m, 1, 290, 0, 'R', 8);
	set_online(&c, "0");
	stream_round(&c.m, 300);
	stream_round(&c.m, 5000);
	stream_none(&c.m);
	set_online(&c, "0-1");
	stream_round(&c.m, 5010);
	stream_switch(&c.m, 1, 5040, 8, 'S', 9);
	stream_round(&c.m, 5100);
	stream_none(&c.m);
	stream_round(&c.m, 5250);
	stream_fired(&c.m, words[0], 210);
	stream_none(&c.m);
	close_machine(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comes),
		cmocka_unit_test(test_suspended),
		cmocka_unit_test(test_suspended_late),
		cmocka_unit_test(test_goes),
		cmocka_unit_test(test_slice_of_one_that_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
