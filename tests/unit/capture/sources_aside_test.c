// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of what sources attach in another process: what comes back, what is late and why.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/sources.h"
#include "capture/sources_aside.h"

enum { NOTHING_ASIDE = 0, FIRST = 1, SECOND = 2 };	/* kinds */

/* A source that attaches to @all of something, and is refused every third. */
struct made {
	unsigned int all, refused;
	int err;			/* of attaching */
};

struct made_results {
	_Atomic unsigned int refused, counted, detached;
};

static size_t share(const void *s)
{
	const struct made *made = s;

	return made->all ? sizeof(struct made_results) : 0;
}

static int attach(void *s, struct source_ctx *c, const char **which)
{
	struct made_results *r = c->aside;
	struct made *made = s;
	unsigned int i;

	*which = "attaching to what is made up";
	for (i = 0; i < made->all; i++) {
		if (!c->progress(c->progress_ctx, "attaching", i, made->all, "made up"))
			return -ECANCELED;
		made->refused += i % 3 == 0;
	}
	r->refused = made->refused;
	return made->err;
}

static void count(void *s, struct source_ctx *c)
{
	struct made_results *r = c->aside;

	(void)s;
	assert_int_equal(r->detached, 0);
	r->counted++;
}

static void detach(void *s, struct source_ctx *c)
{
	struct made_results *r = c->aside;

	(void)s;
	r->detached++;
}

static void take(void *s, const struct source_ctx *c)
{
	const struct made_results *r = c->aside;
	struct made *made = s;

	made->refused = r->refused;
}

static const struct source_ops plain = { .name = "plain" };
static const struct source_ops first = {
	.name = "first", .aside = share, .attach_aside = attach, .count_aside = count, .detach_aside = detach, .take_aside = take,
	.class = LEDGER_CALLS, .shed_class = SHED_CALLS, .shed_runs = 1,
};
static const struct source_ops second = { .many = "seconds", .aside = share, .attach_aside = attach, .take_aside = take };

static const struct source_ops *table[RAW_KIND_CNT];

/* Of these two and one that attaches nothing aside. */
static struct sources *open_made(struct made *a, struct made *b)
{
	struct sources *s;

	assert_int_equal(sources_open(&s, table), 0);
	sources_add(s, NOTHING_ASIDE, s);
	sources_add(s, FIRST, a);
	sources_add(s, SECOND, b);
	assert_int_equal(sources_aside_open(s), 0);
	return s;
}

/* The reading end of a pipe whose other one is *@other. */
static int make_pipe(int *other)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	*other = ends[1];
	return ends[0];
}

static unsigned int late(const struct sources *s, struct source_late found[RAW_KIND_CNT])
{
	unsigned int kind = 0, cnt = 0;

	while (sources_late(s, &kind, &found[cnt]))
		cnt++;
	return cnt;
}

static void test_results_come_back(void **state)
{
	struct made a = { .all = 7 }, b = { .all = 3 };
	struct source_late found[RAW_KIND_CNT];
	struct sources *s = open_made(&a, &b);
	struct sources_aside_look look;
	int other, fd = make_pipe(&other), status;
	pid_t pid;

	(void)state;
	assert_true(sources_aside_any(s));
	sources_aside_look(s, &look);
	assert_false(look.is_done);
	assert_null(look.what);
	assert_int_equal(look.steps, 0);
	pid = fork();
	if (!pid) {
		sources_aside_attach(s, fd);
		_exit(a.refused == 3 && b.refused == 1 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	sources_aside_look(s, &look);
	assert_true(look.is_done);
	assert_int_equal(look.err, 0);
	assert_int_equal(look.steps, 7 + 3 + 2);
	assert_int_equal(look.done, 2);
	assert_int_equal(look.all, 3);
	assert_string_equal(look.what, "made up");
	assert_int_equal(a.refused, 3);
	assert_int_equal(b.refused, 1);
	sources_aside_begin(s, "nobody waits");
	assert_int_equal(late(s, found), 0);
	close(fd);
	close(other);
	sources_close(s);
}

static void test_errors(void **state)
{
	struct made a = { .all = 1, .err = -EPERM }, b = { .all = 1 };
	struct source_late found[RAW_KIND_CNT];
	struct sources *s = open_made(&a, &b);
	struct sources_aside_look look;
	int other, fd = make_pipe(&other);

	(void)state;
	/* In time it is the recorder's. */
	sources_aside_attach(s, fd);
	sources_aside_look(s, &look);
	assert_int_equal(look.err, -EPERM);
	assert_string_equal(look.which, "attaching to what is made up");
	sources_close(s);

	/* Later the trace says so; the others are attached all the same. */
	s = open_made(&a, &b);
	sources_aside_begin(s, "it waits");
	sources_ctx(s)->start_ns = 1;
	sources_aside_attach(s, fd);
	assert_int_equal(late(s, found), 2);
	assert_string_equal(found[0].name, "first");
	assert_int_equal(found[0].since_ns, 0);
	assert_string_equal(found[0].why, "attaching to what is made up: Operation not permitted");
	assert_string_equal(found[1].name, "seconds");
	assert_int_not_equal(found[1].since_ns, 0);
	close(fd);
	close(other);
	sources_close(s);
}

static void test_late(void **state)
{
	struct made a = { .all = 1 }, b = { .all = 1 }, none = { 0 };
	struct source_late found[RAW_KIND_CNT];
	struct sources *s = open_made(&a, &none);
	int other, fd = make_pipe(&other);

	(void)state;
	sources_aside_begin(s, "it waits");
	assert_int_equal(late(s, found), 1);
	assert_string_equal(found[0].name, "first");
	assert_string_equal(found[0].why, "it waits");
	assert_int_equal(found[0].since_ns, 0);
	/* Never before the recording, of whatever clocks say. */
	sources_ctx(s)->start_ns = UINT64_MAX - 10;
	sources_aside_attach(s, fd);
	assert_int_equal(late(s, found), 1);
	assert_true(found[0].since_ns > UINT64_MAX - 10);
	sources_close(s);

	/* All are given up as the recorder ends. */
	s = open_made(&a, &b);
	close(other);
	sources_aside_begin(s, "it waits");
	sources_aside_attach(s, fd);
	assert_int_equal(late(s, found), 2);
	assert_int_equal(found[0].since_ns, 0);
	assert_int_equal(found[1].since_ns, 0);
	close(fd);
	sources_close(s);
}

static void test_ended(void **state)
{
	struct made a = { .all = 1 }, b = { .all = 1 };
	struct source_late found[RAW_KIND_CNT];
	struct sources *s = open_made(&a, &b);
	int other, fd = make_pipe(&other);

	(void)state;
	sources_aside_attach(s, fd);
	sources_aside_begin(s, "nobody waits");
	assert_int_equal(late(s, found), 0);
	sources_aside_end(s, "it was killed");
	assert_int_equal(late(s, found), 2);
	assert_string_equal(found[0].why, "it was killed");
	assert_int_equal(found[0].since_ns, 0);
	close(fd);
	close(other);
	sources_close(s);
}

static void test_detaching(void **state)
{
	struct made a = { .all = 1 }, b = { .all = 1 };
	struct source_late found[RAW_KIND_CNT];
	struct sources *s = open_made(&a, &b);
	int other, fd = make_pipe(&other);

	(void)state;
	assert_true(sources_detach_at_stop(s));
	assert_true(sources_can_detach(s, SHED_CALLS));
	assert_false(sources_can_detach(s, SHED_SYSCALLS));
	sources_aside_attach(s, fd);
	sources_aside_begin(s, "nobody waits");
	sources_aside_count(s);
	sources_aside_detach(s);
	sources_aside_stop(s);
	assert_int_equal(late(s, found), 0);
	sources_detach_class(s, SHED_CALLS);
	assert_false(sources_can_detach(s, SHED_CALLS));
	sources_close(s);

	/* It has not come to counting: what was skipped is not known. */
	s = open_made(&a, &b);
	sources_aside_attach(s, fd);
	sources_aside_begin(s, "nobody waits");
	sources_aside_stop(s);
	assert_int_equal(late(s, found), 1);
	assert_string_equal(found[0].name, "first");
	assert_non_null(strstr(found[0].why, "is not known"));
	close(fd);
	close(other);
	sources_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results_come_back),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_detaching),
	};
	unsigned int i;

	for (i = 0; i < RAW_KIND_CNT; i++)
		table[i] = &plain;
	table[FIRST] = &first;
	table[SECOND] = &second;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
