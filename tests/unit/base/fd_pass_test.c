// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of descriptors in packets.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd_pass.h"

struct ends {
	int socket[2], pipe[2];
};

static int open_ends(void **state)
{
	static struct ends e;

	*state = &e;
	return socketpair(AF_UNIX, SOCK_SEQPACKET, 0, e.socket) || pipe(e.pipe);
}

static int close_ends(void **state)
{
	const struct ends *e = *state;

	return close(e->socket[0]) || close(e->socket[1]) || close(e->pipe[0]) || close(e->pipe[1]);
}

static int lowest_free(void)
{
	const int fd = dup(STDIN_FILENO);

	close(fd);
	return fd;
}

static void test_two(void **state)
{
	const struct ends *e = *state;
	struct fd_pass passed;
	char text[8];

	assert_int_equal(fd_pass_send(e->socket[0], "abc", 3, e->pipe, 2, 0), 0);
	assert_int_equal(fd_pass_receive(e->socket[1], text, sizeof(text), &passed, 2, 0), 3);
	assert_memory_equal(text, "abc", 3);
	assert_int_equal(passed.cnt, 2);
	assert_true(fcntl(passed.fds[0], F_GETFD) & FD_CLOEXEC);
	assert_int_equal(write(passed.fds[1], "x", 1), 1);
	assert_int_equal(read(e->pipe[0], text, sizeof(text)), 1);
	close(passed.fds[0]);
	close(passed.fds[1]);
}

/* Nobody can leave descriptors with us that we do not want. */
static void test_too_many(void **state)
{
	const struct ends *e = *state;
	const int free_fd = lowest_free();
	struct fd_pass passed;
	char text[8];

	assert_int_equal(fd_pass_send(e->socket[0], "a", 1, e->pipe, 3, 0), -EINVAL);
	assert_int_equal(fd_pass_send(e->socket[0], "a", 1, e->pipe, 2, 0), 0);
	assert_int_equal(fd_pass_receive(e->socket[1], text, sizeof(text), &passed, 1, 0), 1);
	assert_int_equal(passed.cnt, 1);
	assert_int_equal(passed.fds[1], -1);
	close(passed.fds[0]);
	assert_int_equal(fd_pass_send(e->socket[0], "a", 1, e->pipe, 2, 0), 0);
	assert_int_equal(fd_pass_receive(e->socket[1], text, sizeof(text), &passed, 0, 0), 1);
	assert_int_equal(passed.fds[0], -1);
	assert_int_equal(lowest_free(), free_fd);
}

/* As many as the kernel passes in one packet. */
static void test_all(void **state)
{
	const struct ends *e = *state;
	const int free_fd = lowest_free();
	struct fd_pass passed;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int) * FD_PASS_ALL)];
	} control = { .header = { CMSG_LEN(sizeof(int) * FD_PASS_ALL), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec iov = { "a", 1 };
	const struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	char text[8];
	int i;

	for (i = 0; i < FD_PASS_ALL; i++)
		memcpy(CMSG_DATA(&control.header) + i * sizeof(int), &e->pipe[0], sizeof(int));
	assert_int_equal(sendmsg(e->socket[0], &msg, 0), 1);
	assert_int_equal(fd_pass_receive(e->socket[1], text, sizeof(text), &passed, FD_PASS_ALL, 0), 1);
	assert_int_equal(passed.cnt, FD_PASS_ALL);
	for (i = 0; i < FD_PASS_ALL; i++)
		assert_int_equal(close(passed.fds[i]), 0);
	assert_int_equal(sendmsg(e->socket[0], &msg, 0), 1);
	assert_int_equal(fd_pass_receive(e->socket[1], text, sizeof(text), &passed, 1, 0), 1);
	assert_int_equal(passed.cnt, 1);
	close(passed.fds[0]);
	assert_int_equal(lowest_free(), free_fd);
}

static void test_none(void **state)
{
	struct ends *e = *state;
	struct fd_pass passed;
	char text[4];

	assert_int_equal(fd_pass_receive(e->socket[1], text, sizeof(text), &passed, 2, MSG_DONTWAIT), -EAGAIN);
	assert_int_equal(passed.fds[0], -1);
	assert_int_equal(fd_pass_send(e->socket[0], "longer", 6, NULL, 0, 0), 0);
	assert_int_equal(fd_pass_receive(e->socket[1], text, sizeof(text), &passed, 2, 0), sizeof(text) + 1);
	assert_int_equal(passed.cnt, 0);
	shutdown(e->socket[0], SHUT_WR);
	assert_int_equal(fd_pass_receive(e->socket[1], text, sizeof(text), &passed, 2, 0), 0);
	close(e->socket[1]);
	assert_int_equal(fd_pass_send(e->socket[0], "a", 1, NULL, 0, 0), -EPIPE);
	e->socket[1] = dup(e->socket[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_two, open_ends, close_ends),
		cmocka_unit_test_setup_teardown(test_too_many, open_ends, close_ends),
		cmocka_unit_test_setup_teardown(test_all, open_ends, close_ends),
		cmocka_unit_test_setup_teardown(test_none, open_ends, close_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
