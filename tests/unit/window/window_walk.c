// SPDX-License-Identifier: GPL-2.0
/* See window_walk.h. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/input.h"
#include "piece/piece_walk.h"
#include "window_walk.h"

#define CHUNK		(1U << 20)
#define WAIT_MS		60000

int walk_file(void)
{
	int fd = memfd_create("dump", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

void walk_read(int fd, struct fxt_mem *out)
{
	char path[64], *chunk = malloc(CHUNK);
	struct input *in;
	long n;

	assert_non_null(chunk);
	*out = (struct fxt_mem){ 0 };
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(input_open(&in, path), 0);
	while ((n = input_read(in, chunk, CHUNK)) > 0)
		assert_int_equal(fxt_mem_write(out, chunk, (size_t)n), 0);
	assert_int_equal(n, 0);
	input_close(in);
	free(chunk);
}

struct window_dumped walk_wait(struct window *w)
{
	struct pollfd pfd = { .fd = window_fd(w), .events = POLLIN };
	struct window_dumped done, again;

	assert_int_equal(poll(&pfd, 1, WAIT_MS), 1);
	assert_true(window_dumped(w, &done));
	assert_false(window_dumped(w, &again));
	assert_int_equal(poll(&pfd, 1, 0), 0);
	return done;
}

struct window_dumped walk_dump(struct window *w, int fd, uint64_t last_ns, const struct piece_cut *cut)
{
	struct window_dumped done;

	assert_int_equal(window_dump(w, &(struct window_dump){ .fd = dup(fd), .last_ns = last_ns, .place = WALK_PLACE }, cut), 0);
	done = walk_wait(w);
	assert_int_equal(done.place, WALK_PLACE);
	assert_int_equal(done.err, 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), done.bytes);
	return done;
}

struct window_dumped walk_dumped(struct window *w, uint64_t last_ns, const struct piece_cut *cut, struct fxt_mem *out)
{
	int fd = walk_file();
	struct window_dumped done = walk_dump(w, fd, last_ns, cut);

	walk_read(fd, out);
	walk_verify(out, "dump", cut->number, out->len);
	close(fd);
	return done;
}
