// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the control socket: clients that are hostile, hang, end in the middle, or are too many.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "control_made.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../child.h"
#include "base/clock.h"
#include "base/fd_pass.h"

#define NS_PER_S	1000000000ULL

/* How many descriptors the process has open. */
static unsigned int files_of(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	return control_dir_entries(path);
}

/* It closes what it has open for a client soon after the client has gone. */
static void assert_files(pid_t pid, unsigned int cnt)
{
	unsigned int i;

	for (i = 0; i < 3000 && files_of(pid) != cnt; i++)
		usleep(10000);
	assert_int_equal(files_of(pid), cnt);
}

/* Two at once, and one with what is no request for a snapshot: nothing stays open. */
static void test_surplus_descriptors(void **state)
{
	const struct made_recorder cfg = { .path = "/v/x.fxt" };
	struct control_ask packet = control_status_ask;
	static const int fds[4] = { 1, 1, 1, 1 };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(fds))];
	} control = { .header = { CMSG_LEN(sizeof(fds)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec iov = { &packet, sizeof(packet) };
	const struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	pid_t pid = control_recorder_start(&cfg);
	const unsigned int before = files_of(pid);
	struct control_part part;
	unsigned int i;
	int fd;

	(void)state;
	memcpy(CMSG_DATA(&control.header), fds, sizeof(fds));
	for (i = 0; i < 40; i++) {
		fd = control_connect_raw(pid);
		packet.kind = i % 2 ? CONTROL_STATUS : CONTROL_SNAPSHOT;
		assert_int_equal(sendmsg(fd, &msg, 0), sizeof(packet));
		do
			assert_true(recv(fd, &part, sizeof(part), 0) >= (ssize_t)CONTROL_PART_HEAD);
		while (part.kind == CONTROL_BEGUN);
		assert_int_equal(part.kind, CONTROL_END);
		assert_true(part.err < 0);
		close(fd);
	}
	control_assert_answers(pid);
	assert_files(pid, before);
	control_recorder_stop(pid);
}

/* A descriptor whose last close(2) takes 20 s: there are bytes that nobody reads. *@peer is the other end. */
static int make_slow(int *peer)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 20 };
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(at);
	static char bytes[1 << 20];
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, len), 0);
	*peer = accept(listener, NULL, NULL);
	assert_true(*peer >= 0);
	close(listener);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	return fd;
}

/* A packet with as many descriptors as @cnt, at most 4, which are closed here: the last one is slow to close. */
static void send_slow(int client, const struct control_ask *packet, unsigned int cnt, int *peer)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int[4]))];
	} control = { .header = { CMSG_LEN(sizeof(int) * cnt), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec iov = { (void *)packet, sizeof(*packet) };
	const struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_SPACE(sizeof(int) * cnt),
	};
	unsigned int i;
	int fd;

	for (i = 0; i < cnt; i++) {
		fd = i + 1 < cnt ? STDOUT_FILENO : make_slow(peer);
		memcpy(CMSG_DATA(&control.header) + i * sizeof(fd), &fd, sizeof(fd));
	}
	assert_int_equal(sendmsg(client, &msg, 0), sizeof(*packet));
	close(fd);
}

/* Others are answered at once when the recorder @pid goes on, which was stopped. */
static void assert_prompt(pid_t pid)
{
	const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);

	assert_int_equal(kill(pid, SIGCONT), 0);
	control_assert_answers(pid);
	control_assert_answers(pid);
	assert_true(clock_ns(CLOCK_MONOTONIC) - begin_ns < 10 * NS_PER_S);
}

/* Descriptors more than it takes: others are answered while these are being closed. */
static void test_slow_surplus(void **state)
{
	const struct made_recorder cfg = { .path = "/v/x.fxt" };
	struct control_ask packet = control_status_ask;
	unsigned int cnt;
	int client, peer;
	pid_t pid;

	(void)state;
	packet.kind = CONTROL_SNAPSHOT;
	for (cnt = 2; cnt <= 4; cnt++) {
		pid = control_recorder_start(&cfg);
		client = control_connect_raw(pid);
		/* It takes them once they are nobody else's: the last one to close waits. */
		assert_int_equal(kill(pid, SIGSTOP), 0);
		send_slow(client, &packet, cnt, &peer);
		assert_prompt(pid);
		close(peer);
		close(client);
		control_recorder_stop(pid);
	}
}

/* Nor does it wait for one in a packet that it never reads, of a client that hangs up. */
static void test_slow_unread(void **state)
{
	const struct made_recorder cfg = { 0 };
	pid_t pid = control_recorder_start(&cfg);
	int client = control_connect_raw(pid), peer;

	(void)state;
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(send(client, &control_status_ask, sizeof(control_status_ask), 0), sizeof(control_status_ask));
	send_slow(client, &control_status_ask, 1, &peer);
	close(client);
	assert_prompt(pid);
	close(peer);
	control_recorder_stop(pid);
}

/* Nor of one that is refused. */
static void test_slow_refused(void **state)
{
	const struct made_recorder cfg = { .silent = true };
	pid_t pid = control_recorder_start(&cfg);
	const struct control_query q = control_status_query();
	int fds[CONTROL_CLIENTS_MAX], client, peer;
	struct control_reply reply;
	struct control_part part;
	uint64_t begin_ns;
	unsigned int i;

	(void)state;
	for (i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		fds[i] = control_connect_raw(pid);
		assert_int_equal(send(fds[i], &control_status_ask, sizeof(control_status_ask), 0), sizeof(control_status_ask));
		assert_int_equal(recv(fds[i], &part, sizeof(part), 0), CONTROL_PART_HEAD);
	}
	assert_int_equal(kill(pid, SIGSTOP), 0);
	client = control_connect_raw(pid);
	send_slow(client, &control_status_ask, 1, &peer);
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(kill(pid, SIGCONT), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(control_ask_of(pid, &q, &reply), 0);
		assert_int_equal(reply.err, -EBUSY);
		free(reply.text);
	}
	assert_true(clock_ns(CLOCK_MONOTONIC) - begin_ns < 5 * NS_PER_S);
	for (i = 0; i < CONTROL_CLIENTS_MAX; i++)
		close(fds[i]);
	close(peer);
	close(client);
	control_recorder_stop(pid);
}

/* What comes back to a packet of @len bytes: its last part. */
static struct control_part send_raw(pid_t pid, const void *packet, size_t len)
{
	struct control_part part = { 0 };
	int fd = control_connect_raw(pid);
	ssize_t n;

	assert_int_equal(send(fd, packet, len, MSG_NOSIGNAL), len);
	n = recv(fd, &part, sizeof(part), 0);
	assert_true(n >= 0);
	close(fd);
	return part;
}

static void test_hostile_packets(void **state)
{
	const struct made_recorder cfg = { .path = "/v/x.fxt" };
	const struct control_ask good = control_status_ask;
	char large[8192] = "";
	struct control_ask bad;
	pid_t pid = control_recorder_start(&cfg);
	size_t len;

	(void)state;
	memcpy(large, &good, sizeof(good));
	for (len = 1; len < sizeof(large); len = len < sizeof(good) + 2 ? len + 1 : len * 2)
		if (len != sizeof(good))
			assert_int_equal(send_raw(pid, large, len).err, -EBADMSG);
	bad = good;
	bad.version++;
	assert_int_equal(send_raw(pid, &bad, sizeof(bad)).err, -EPROTO);
	bad = good;
	bad.kind = 77;
	assert_int_equal(send_raw(pid, &bad, sizeof(bad)).err, -EBADMSG);
	bad = good;
	memset(bad.name, 'x', sizeof(bad.name));
	bad.kind = CONTROL_SNAPSHOT;
	assert_int_equal(send_raw(pid, &bad, sizeof(bad)).err, -EBADMSG);
	assert_int_equal(send_raw(pid, &good, sizeof(good)).kind, CONTROL_BEGUN);
	send_raw(pid, &good, 0);
	control_assert_answers(pid);
	control_recorder_stop(pid);
}

/* They connect and say nothing, as many as like to: others are still served, and they are disconnected. */
static void test_many_silent(void **state)
{
	const struct made_recorder cfg = { 0 };
	pid_t pid = control_recorder_start(&cfg);
	const unsigned int before = files_of(pid);
	int fds[3 * CONTROL_CLIENTS_MAX];
	unsigned int i;
	char c;

	(void)state;
	for (i = 0; i < CONTROL_CLIENTS_MAX; i++)
		fds[i] = control_connect_raw(pid);
	assert_files(pid, before + CONTROL_CLIENTS_MAX);	/* their silence begins when they are accepted */
	usleep(400000);
	control_assert_answers(pid);
	for (; i < 3 * CONTROL_CLIENTS_MAX; i++) {
		fds[i] = control_connect_raw(pid);
		usleep(20000);
	}
	/* One more is there for a moment, before it takes the place of another. */
	assert_true(files_of(pid) <= before + CONTROL_CLIENTS_MAX + 1);
	sleep(CONTROL_PATIENCE_NS / NS_PER_S + 1);
	assert_files(pid, before);
	control_assert_answers(pid);
	for (i = 0; i < 3 * CONTROL_CLIENTS_MAX; i++) {
		while (recv(fds[i], &c, 1, MSG_DONTWAIT) > 0)
			;
		close(fds[i]);
	}
	control_recorder_stop(pid);
}

/* Too many that wait for their answers: one more is refused, with the reason. */
static void test_too_many_waiting(void **state)
{
	const struct made_recorder cfg = { .silent = true };
	const struct control_query q = control_status_query();
	struct control_reply reply;
	struct control_part part;
	int fds[CONTROL_CLIENTS_MAX];
	unsigned int i;
	pid_t pid = control_recorder_start(&cfg);

	(void)state;
	for (i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		fds[i] = control_connect_raw(pid);
		assert_int_equal(send(fds[i], &control_status_ask, sizeof(control_status_ask), 0), sizeof(control_status_ask));
		assert_int_equal(recv(fds[i], &part, sizeof(part), 0), CONTROL_PART_HEAD);
		assert_int_equal(part.kind, CONTROL_BEGUN);
	}
	assert_int_equal(control_ask_of(pid, &q, &reply), 0);
	assert_int_equal(reply.err, -EBUSY);
	assert_string_equal(reply.text, "too many ask at once");
	free(reply.text);
	for (i = 0; i < CONTROL_CLIENTS_MAX; i++)
		close(fds[i]);
	control_recorder_stop(pid);
}

/* It asks for a long answer and does not read it. */
static void test_never_reads(void **state)
{
	const struct made_recorder cfg = { .status_bytes = CONTROL_TEXT_MAX };
	const struct control_query q = control_status_query();
	pid_t pid = control_recorder_start(&cfg);
	const unsigned int before = files_of(pid);
	struct control_reply reply;
	int fd = control_connect_raw(pid);

	(void)state;
	assert_int_equal(send(fd, &control_status_ask, sizeof(control_status_ask), 0), sizeof(control_status_ask));
	assert_int_equal(control_ask_of(pid, &q, &reply), 0);
	assert_int_equal(reply.len, CONTROL_TEXT_MAX);
	free(reply.text);
	sleep(CONTROL_PATIENCE_NS / NS_PER_S + 1);
	assert_files(pid, before);
	close(fd);
	control_recorder_stop(pid);
}

/* It asks and ends before the answer: the answer goes nowhere, and the next one gets its own. */
static void test_client_dies(void **state)
{
	const struct made_recorder cfg = { .path = "/v/x.fxt" };
	pid_t pid = control_recorder_start(&cfg);
	const unsigned int before = files_of(pid);
	unsigned int i;
	size_t len;
	int fd;

	(void)state;
	for (i = 0; i < 200; i++) {
		fd = control_connect_raw(pid);
		len = i % 3 == 1 ? sizeof(control_status_ask) : 5;
		if (i % 3)
			assert_int_equal(send(fd, &control_status_ask, len, 0), len);
		close(fd);
	}
	control_assert_answers(pid);
	assert_files(pid, before);
	control_recorder_stop(pid);
}

/* Many at once, each of which gets its answer or is refused because of the others. */
static void test_many_clients(void **state)
{
	const struct made_recorder cfg = { .confined = true, .stays = true };
	const struct control_query q = control_status_query();
	struct control_reply reply;
	unsigned int i, k, ok;
	int status, err;
	pid_t pid = control_recorder_start(&cfg), clients[8];

	(void)state;
	for (i = 0; i < 8; i++) {
		clients[i] = fork();
		if (clients[i])
			continue;
		for (k = 0, ok = 0; k < 100; k++) {
			err = control_ask_of(pid, &q, &reply);
			CHECK(!err && (!reply.err || reply.err == -EBUSY));
			ok += !reply.err;
			free(reply.text);
		}
		CHECK(ok > 0);
		_exit(0);
	}
	for (i = 0; i < 8; i++) {
		assert_int_equal(waitpid(clients[i], &status, 0), clients[i]);
		assert_int_equal(status, 0);
	}
	control_recorder_stop(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_surplus_descriptors),
		cmocka_unit_test(test_slow_surplus),
		cmocka_unit_test(test_slow_unread),
		cmocka_unit_test(test_slow_refused),
		cmocka_unit_test(test_hostile_packets),
		cmocka_unit_test(test_many_silent),
		cmocka_unit_test(test_too_many_waiting),
		cmocka_unit_test(test_never_reads),
		cmocka_unit_test(test_client_dies),
		cmocka_unit_test(test_many_clients),
	};

	return cmocka_run_group_tests(tests, control_dir_open, control_dir_close);
}
