// SPDX-License-Identifier: GPL-2.0
/*
 * Files of a window that fail, take nothing for a while, or hang.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "piece/piece_walk.h"
#include "way.h"
#include "window_walk.h"

static int refuse_file(int fd)
{
	return fd < 0 ? -EBADF : -ENOTEMPTY;
}

static void test_errors(void **state)
{
	const struct window_cfg cfg = { .age_ns = S, .compress = { COMPRESS_GZIP, 3 } };
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC), ends[2];
	struct window_dump d = { .fd = fd };
	struct piece_cut cut;
	struct way way;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	way_open(&way, &cfg, 100);
	way_rounds(&way, 20);
	cut = way_cut(&way);
	assert_int_equal(window_dump(way.window, &d, &cut), 0);
	assert_int_equal(walk_wait(way.window).err, -ENOSPC);
	d.fd = ends[1];
	assert_int_equal(window_dump(way.window, &d, &cut), 0);
	assert_int_equal(walk_wait(way.window).err, -EPIPE);
	d.fd = -1;
	assert_int_equal(window_dump(way.window, &d, &cut), 0);
	assert_int_equal(walk_wait(way.window).err, -EBADF);
	way_rounds(&way, 5);
	way_check_counts(&way);
	d.fd = walk_file();
	d.check = refuse_file;
	assert_int_equal(window_dump(way.window, &d, &cut), 0);
	assert_int_equal(walk_wait(way.window).err, -ENOTEMPTY);
	assert_int_equal(fcntl(d.fd, F_GETFD), -1);
	/* One that nobody asks for. */
	d = (struct window_dump){ .fd = -1 };
	assert_int_equal(window_dump(way.window, &d, &cut), 0);
	assert_int_equal(window_close(way.window), -EBADF);
	way_free(&way);
}

static int refuse(void *ctx)
{
	(void)ctx;
	return -EACCES;
}

static void test_refused(void **state)
{
	const struct piece_cut cut = { 0 };
	struct window *w = NULL;

	(void)state;
	assert_int_equal(window_open(&w, &(struct window_cfg){ .thread.begin = refuse }), -EACCES);
	assert_int_equal(window_open(&w, &(struct window_cfg){ .compress = { COMPRESS_ZSTD, 99 } }), -EINVAL);
	assert_null(w);
	assert_int_equal(window_open(&w, &(struct window_cfg){ .age_ns = S }), 0);
	assert_int_equal(window_dump(w, &(struct window_dump){ .fd = -1 }, &cut), -ENODATA);
	assert_int_equal(window_add(w, "1234567", 7), -EINVAL);
	assert_int_equal(window_round(w, &cut, S), -EINVAL);
	assert_int_equal(window_close(w), 0);
	assert_int_equal(window_close(NULL), 0);
}

/* Reads all that is written to a pipe. */
static void *read_pipe(void *arg)
{
	const int *fds = arg;
	char buf[65536];
	ssize_t n;

	while ((n = read(fds[0], buf, sizeof(buf))) > 0)
		if (write(fds[1], buf, (size_t)n) != n)
			return (void *)1;
	return NULL;
}

/* An output that takes nothing for a while: the window goes on, and the file is of what it was then. */
static void test_while_adding(void **state)
{
	const struct window_cfg cfg = { .age_ns = 2 * S };
	struct window_totals t;
	uint64_t before, events;
	struct window_dump d;
	struct piece_cut cut;
	int ends[2], fds[2];
	struct fxt_mem m;
	pthread_t reader;
	struct way way;
	size_t cnt;
	void *ret;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	way_open(&way, &cfg, 100);
	way_rounds(&way, 50);
	before = way_overwritten(&way);
	events = way.made.events;
	cut = way_cut(&way);
	d = (struct window_dump){ .fd = ends[1] };
	assert_int_equal(window_dump(way.window, &d, &cut), 0);
	way_rounds(&way, 50);
	window_totals(way.window, &t);
	assert_true(t.given_up_bytes > 0);
	assert_true(t.held_ns <= cfg.age_ns + 3 * ROUND_NS);
	fds[0] = ends[0];
	fds[1] = walk_file();
	assert_int_equal(pthread_create(&reader, NULL, read_pipe, fds), 0);
	assert_int_equal(walk_wait(way.window).err, 0);
	assert_int_equal(pthread_join(reader, &ret), 0);
	assert_null(ret);
	window_totals(way.window, &t);
	assert_int_equal(t.given_up_bytes, 0);
	walk_read(fds[1], &m);
	walk_verify(&m, "dump while adding", 0, m.len);
	free(walk_real(&m, &cnt));
	assert_int_equal(cnt, events - before);
	fxt_mem_free(&m);
	way_check_counts(&way);
	way_close(&way);
	close(ends[0]);
	close(fds[1]);
}

/* A dump into a pipe that nobody reads; returns the reading end. */
static int dump_to_pipe(struct way *way, unsigned int place)
{
	const struct piece_cut cut = way_cut(way);
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(window_dump(way->window, &(struct window_dump){ .place = place, .fd = ends[1] }, &cut), 0);
	return ends[0];
}

/* Until a dump can be begun there again. */
static void wait_for_place(struct way *way, unsigned int place)
{
	const struct piece_cut cut = way_cut(way);
	const struct window_dump d = { .place = place, .fd = walk_file() };
	unsigned int ms;
	int err = -EBUSY;

	for (ms = 0; err == -EBUSY && ms < 30000; ms++) {
		err = window_dump(way->window, &d, &cut);
		usleep(err ? 1000 : 0);
	}
	assert_int_equal(err, 0);
	assert_int_equal(walk_wait(way->window).err, 0);
}

/* One file that takes nothing keeps no other one waiting, and what it needs is freed when it is given up. */
static void test_several(void **state)
{
	const struct window_cfg cfg = { .age_ns = 2 * S };
	struct window_dumped done;
	struct window_totals t;
	struct piece_cut cut;
	struct way way;
	uint64_t most;
	int ends[WINDOW_DUMPS];
	unsigned int i;

	(void)state;
	way_open(&way, &cfg, 100);
	way_rounds(&way, 50);
	for (i = 0; i < WINDOW_DUMPS; i++) {
		ends[i] = dump_to_pipe(&way, i);
		if (i < WALK_PLACE)
			way_check_counts(&way);
	}
	cut = way_cut(&way);
	assert_int_equal(window_dump(way.window, &(struct window_dump){ .fd = -1 }, &cut), -EBUSY);
	way_rounds(&way, 50);
	window_totals(way.window, &t);
	most = t.given_up_bytes;
	assert_false(window_dumped(way.window, &done));
	for (i = 0; i < WINDOW_DUMPS; i++) {
		window_cancel(way.window, i);
		window_cancel(way.window, i);
		done = walk_wait(way.window);
		assert_int_equal(done.place, i);
		assert_int_equal(done.err, -ECANCELED);
	}
	window_totals(way.window, &t);
	assert_true(t.given_up_bytes < most / 4);
	/* Their threads hang until then. */
	assert_int_equal(window_dump(way.window, &(struct window_dump){ .fd = -1 }, &cut), -EBUSY);
	for (i = 0; i < WINDOW_DUMPS; i++) {
		close(ends[i]);
		wait_for_place(&way, i);
	}
	way_check_counts(&way);
	window_totals(way.window, &t);
	assert_int_equal(t.given_up_bytes, 0);
	way_close(&way);
}

static struct window *stalled;		/* its thread has it */

/* A file that hangs is given up, and does not keep the window from its end. */
static void test_stall(void **state)
{
	const struct window_cfg cfg = { .age_ns = 2 * S, .stall_ns = S / 5 };
	struct window_dumped done;
	struct way way;
	int end, i;

	(void)state;
	way_open(&way, &cfg, 100);
	way_rounds(&way, 50);
	end = dump_to_pipe(&way, 0);
	for (i = 0; i < 30000 && !window_dumped(way.window, &done); i++)
		usleep(1000);
	assert_int_equal(done.place, 0);
	assert_int_equal(done.err, -ETIMEDOUT);
	assert_false(window_dumped(way.window, &done));
	way_check_counts(&way);
	close(end);
	wait_for_place(&way, 0);
	end = dump_to_pipe(&way, 0);
	stalled = way.window;
	assert_int_equal(window_close(way.window), -ETIMEDOUT);
	close(end);
	way_free(&way);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors), cmocka_unit_test(test_refused), cmocka_unit_test(test_while_adding),
		cmocka_unit_test(test_several), cmocka_unit_test(test_stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
