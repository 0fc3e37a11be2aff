// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the control socket, between processes: what clients ask and recorders answer, and who may.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "control_made.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../child.h"
#include "base/clock.h"
#include "control/place.h"

#define NS_PER_S	1000000000ULL
#define NOBODY		65534

static void test_snapshot(void **state)
{
	const struct made_recorder cfg = { .path = "/v/a b.fxt", .note = "less than that" }, none = { 0 };
	struct control_query q = { CONTROL_SNAPSHOT, .last_ns = 5, .name = "slow", .fd = -1, .begin_ns = NS_PER_S };
	struct control_reply reply;
	pid_t pid = control_recorder_start(&cfg);

	(void)state;
	assert_int_equal(control_ask_of(pid, &q, &reply), 0);
	assert_int_equal(reply.err, 0);
	assert_string_equal(reply.text, cfg.path);
	assert_string_equal(reply.note, cfg.note);
	free(reply.text);
	free(reply.note);
	control_recorder_stop(pid);
	pid = control_recorder_start(&none);
	assert_int_equal(control_ask_of(pid, &q, &reply), 0);
	assert_int_equal(reply.err, -ENOTSUP);
	assert_string_equal(reply.text, "has no window (--keep)");
	assert_null(reply.note);
	free(reply.text);
	q.name = "a\nb";
	assert_int_equal(control_ask_of(pid, &q, &reply), -EINVAL);
	control_recorder_stop(pid);
	assert_int_equal(control_dir_entries(control_dir), 0);
}

/* What the recorder answers to a descriptor, of a file with @bytes in it. */
static void pass(pid_t pid, int fd, int err, const char *text)
{
	const struct control_query q = { .kind = CONTROL_SNAPSHOT, .fd = fd, .name = "x", .begin_ns = 5 * NS_PER_S };
	struct control_reply reply;

	assert_true(fd >= 0);
	assert_int_equal(control_ask_of(pid, &q, &reply), 0);
	assert_string_equal(reply.text, text);
	assert_int_equal(reply.err, err);
	free(reply.text);
	close(fd);
}

static void test_descriptor(void **state)
{
	const struct made_recorder cfg = { .confined = true, .stays = true };
	char path[80], text[32] = "";
	pid_t pid = control_recorder_start(&cfg);
	int fds[2], fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/file", control_dir);
	pass(pid, open(path, O_RDWR | O_CREAT | O_EXCL, 0600), 0, "");
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text)), 8);
	assert_string_equal(text, "a tracex");
	pass(pid, fd, -EINVAL, "the file is not open for writing");
	pass(pid, open(path, O_PATH), -EINVAL, "the file is not open for writing");
	pass(pid, open(path, O_RDWR), -ENOTEMPTY, "the file is not empty");
	pass(pid, open("/dev/null", O_WRONLY), -EINVAL, "the file is not a regular one");
	assert_int_equal(pipe(fds), 0);
	pass(pid, fds[1], -EINVAL, "the file is not a regular one");
	close(fds[0]);
	control_assert_answers(pid);
	control_recorder_stop(pid);
	/* Its socket is still there: it was not allowed to remove it. */
	assert_int_equal(control_dir_entries(control_dir), 2);
	assert_int_equal(unlink(path), 0);
}

/* A large status takes many packets, more than the socket holds at once. */
static void test_long_answer(void **state)
{
	const struct made_recorder whole = { .status_bytes = CONTROL_TEXT_MAX };
	const struct made_recorder more = { .status_bytes = CONTROL_TEXT_MAX + 1 };
	const struct control_query q = control_status_query();
	struct control_reply reply;
	pid_t pid = control_recorder_start(&whole);

	(void)state;
	assert_int_equal(control_ask_of(pid, &q, &reply), 0);
	assert_int_equal(reply.err, 0);
	assert_int_equal(reply.len, CONTROL_TEXT_MAX);
	assert_int_equal(strspn(reply.text, "x"), CONTROL_TEXT_MAX);
	free(reply.text);
	control_recorder_stop(pid);
	pid = control_recorder_start(&more);
	assert_int_equal(control_ask_of(pid, &q, &reply), 0);
	assert_int_equal(reply.err, -EMSGSIZE);
	free(reply.text);
	control_recorder_stop(pid);
}

/* ---- recorders that end, or do not answer --------------------------------------------------------- */

static void test_recorder_ends(void **state)
{
	const struct made_recorder cfg = { .ends = true };
	const struct control_query q = control_status_query();
	struct control_reply reply;
	pid_t pid = control_recorder_start(&cfg);

	(void)state;
	assert_int_equal(control_ask_of(pid, &q, &reply), -EPIPE);
	control_recorder_stop(pid);
	assert_int_equal(control_ask_of(pid, &q, &reply), -ECONNREFUSED);
}

static void test_recorder_is_stopped(void **state)
{
	const struct made_recorder cfg = { 0 }, silent = { .silent = true };
	struct control_query q = control_status_query();
	struct control_reply reply;
	pid_t pid = control_recorder_start(&cfg);
	int status, reply_err = 0;
	unsigned int cnt;

	(void)state;
	q.begin_ns = q.limit_ns = NS_PER_S / 20;
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_int_equal(control_ask_of(pid, &q, &reply), -ETIMEDOUT);
	for (cnt = 0; cnt < CONTROL_FOUND_MAX && reply_err != -EAGAIN; cnt++)
		reply_err = control_ask_of(pid, &q, &reply);
	assert_int_equal(reply_err, -EAGAIN);
	assert_int_equal(kill(pid, SIGCONT), 0);
	control_assert_answers(pid);
	control_recorder_stop(pid);
	pid = control_recorder_start(&silent);
	assert_int_equal(control_ask_of(pid, &q, &reply), -ETIMEDOUT);
	control_recorder_stop(pid);
}

/* Sockets of recorders that ended are removed, by clients and by the next recorder; nothing else is. */
static void test_stale_sockets(void **state)
{
	const struct made_recorder stays = { .stays = true };
	struct control_found found[CONTROL_FOUND_MAX];
	pid_t first = control_recorder_start(&stays), second = control_recorder_start(&stays), third;
	char path[80];

	(void)state;
	snprintf(path, sizeof(path), "%s/12.socket", control_dir);
	assert_int_equal(mknod(path, S_IFREG | 0600, 0), 0);
	control_recorder_stop(first);
	assert_int_equal(control_dir_entries(control_dir), 3);
	assert_int_equal(control_list(control_dir, found, 0), 1);
	assert_int_equal(found[0].pid, second);
	assert_int_equal(control_dir_entries(control_dir), 2);
	assert_int_equal(kill(second, SIGKILL), 0);
	assert_int_equal(waitpid(second, NULL, 0), second);
	assert_int_equal(control_dir_entries(control_dir), 2);
	third = control_recorder_start(&stays);
	assert_int_equal(control_dir_entries(control_dir), 2);
	control_assert_answers(third);
	control_recorder_stop(third);
	assert_int_equal(control_list(control_dir, found, 0), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(control_dir_entries(control_dir), 0);
}

/* ---- rights ------------------------------------------------------------------------------------------ */

/* What a process of @uid and @gid gets, which is also in the group @other. */
static int ask_as(uid_t uid, gid_t gid, gid_t other, pid_t recorder)
{
	const struct control_query q = control_status_query();
	struct control_reply reply;
	int status;
	pid_t pid = fork();

	if (!pid) {
		CHECK(!setgroups(1, &other) && !setgid(gid) && !setuid(uid));
		_exit(-(control_ask_of(recorder, &q, &reply) ?: reply.err));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

static void test_rights(void **state)
{
	const struct made_recorder cfg = { 0 }, confined = { .confined = true };
	struct sockaddr_un address;
	struct stat st;
	pid_t pid;

	(void)state;
	if (geteuid())
		skip();
	umask(0);
	pid = control_recorder_start(&confined);
	umask(022);
	address = control_address_of(pid);
	assert_int_equal(stat(address.sun_path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0660);
	assert_int_equal(ask_as(0, 0, NOBODY, pid), 0);
	assert_int_equal(ask_as(NOBODY, NOBODY, NOBODY, pid), -EACCES);
	/* Nor if somebody opens the socket for all. */
	assert_int_equal(chmod(address.sun_path, 0666), 0);
	assert_int_equal(ask_as(0, NOBODY, NOBODY, pid), 0);
	assert_int_equal(ask_as(NOBODY, NOBODY, NOBODY, pid), -EACCES);
	assert_int_equal(ask_as(NOBODY, NOBODY, 0, pid), 0);
	control_recorder_stop(pid);
	/* A directory of a group: its members may. */
	assert_int_equal(chown(control_dir, 0, 4321), 0);
	assert_int_equal(chmod(control_dir, 02755), 0);
	pid = control_recorder_start(&cfg);
	assert_int_equal(ask_as(NOBODY, 4321, NOBODY, pid), 0);
	assert_int_equal(ask_as(NOBODY, NOBODY, 4321, pid), 0);
	assert_int_equal(ask_as(NOBODY, NOBODY, NOBODY, pid), -EACCES);
	control_recorder_stop(pid);
	assert_int_equal(chown(control_dir, 0, 0), 0);
	assert_int_equal(chmod(control_dir, 0755), 0);
}

/* Where others could put sockets of their own, or where nothing can be made. */
static void test_unsafe_directory(void **state)
{
	char long_path[110] = "/tmp/";
	const struct control_cfg long_name = { .dir = long_path };
	const struct control_cfg cfg = { 0 };
	char why[CONTROL_WHY_BYTES] = "", expected[CONTROL_WHY_BYTES];
	struct control *c = NULL;

	(void)state;
	memset(long_path + 5, 'x', sizeof(long_path) - 6);
	assert_int_equal(chmod(control_dir, 01777), 0);
	assert_int_equal(control_open(&c, &cfg, why, sizeof(why)), -EPERM);
	snprintf(expected, sizeof(expected), "%s: others may write to it", control_dir);
	assert_string_equal(why, expected);
	assert_int_equal(chmod(control_dir, 0755), 0);
	assert_int_equal(control_open(&c, &long_name, why, sizeof(why)), -ENAMETOOLONG);
	assert_int_equal(setenv("RUNTIME_DIRECTORY", "/proc/kfxt-is-not-there", 1), 0);
	assert_int_equal(control_open(&c, &cfg, why, sizeof(why)), -ENOENT);
	assert_int_equal(setenv("RUNTIME_DIRECTORY", control_dir, 1), 0);
	assert_null(c);
	assert_int_equal(control_dir_entries(control_dir), 0);
}

/* A client that hangs up before it is answered needs no answer, and is named. */
static void test_hang_up(void **state)
{
	const struct control_cfg cfg = { 0 };
	struct control_request first, second, req;
	char why[CONTROL_WHY_BYTES] = "";
	struct sockaddr_un address = control_address_of(getpid());
	struct control *c = NULL;
	int fds[2], i;

	(void)state;
	assert_int_equal(control_open(&c, &cfg, why, sizeof(why)), 0);
	for (i = 0; i < 2; i++) {
		fds[i] = control_connect(&address);
		assert_int_equal(write(fds[i], &control_status_ask, sizeof(control_status_ask)), sizeof(control_status_ask));
		assert_true(control_next(c, i ? &second : &first));
	}
	assert_false(first.is_gone || second.is_gone);
	close(fds[1]);
	assert_true(control_next(c, &req));
	assert_true(req.is_gone);
	assert_int_equal(req.id, second.id);
	assert_int_equal(req.fd, -1);
	/* One that has its answer is not missed. */
	control_answer(c, first.id, 0, "text");
	close(fds[0]);
	assert_false(control_next(c, &req));
	control_close(c);
}

/* Where clients look: also where kfxt.service listens, whose directory is not root's. */
static void test_directories(void **state)
{
	char dirs[CONTROL_DIRS_MAX][PATH_MAX];

	(void)state;
	assert_int_equal(control_dirs(dirs), 1);
	assert_string_equal(dirs[0], control_dir);
	assert_int_equal(unsetenv("RUNTIME_DIRECTORY") || unsetenv("XDG_RUNTIME_DIR"), 0);
	assert_int_equal(control_dirs(dirs), 2);
	assert_string_equal(dirs[0], "/run/kfxt");
	assert_string_equal(dirs[1], "/run/kfxt/service");
	assert_int_equal(setenv("XDG_RUNTIME_DIR", "/run/user/1000", 1), 0);
	assert_int_equal(control_dirs(dirs), 3);
	assert_string_equal(dirs[2], "/run/user/1000/kfxt");
	assert_int_equal(setenv("RUNTIME_DIRECTORY", control_dir, 1), 0);
}

/* Who may ask is said by the sockets: each may reach the directory, whatever the umask was as it was made. */
static void test_new_directory(void **state)
{
	const mode_t before = umask(0077);
	char dir[PATH_MAX], made[PATH_MAX], why[CONTROL_WHY_BYTES];
	struct stat st;

	(void)state;
	snprintf(dir, sizeof(dir), "%s/new", control_dir);
	assert_int_equal(setenv("RUNTIME_DIRECTORY", dir, 1), 0);
	assert_int_equal(control_dir_make(made, why, sizeof(why)), 0);
	assert_string_equal(made, dir);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(setenv("RUNTIME_DIRECTORY", control_dir, 1), 0);
	umask(before);
}

/* A second one of the same number, as of another PID namespace: the first keeps its socket. */
static void test_number_is_taken(void **state)
{
	const struct control_cfg cfg = { 0 };
	char why[CONTROL_WHY_BYTES] = "";
	struct control *first = NULL, *second = NULL;

	(void)state;
	assert_int_equal(control_open(&first, &cfg, why, sizeof(why)), 0);
	assert_int_equal(control_open(&second, &cfg, why, sizeof(why)), -EADDRINUSE);
	assert_null(second);
	assert_int_equal(access(control_path(first), F_OK), 0);
	control_close(first);
	assert_int_equal(control_dir_entries(control_dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_descriptor),
		cmocka_unit_test(test_long_answer),
		cmocka_unit_test(test_recorder_ends),
		cmocka_unit_test(test_recorder_is_stopped),
		cmocka_unit_test(test_stale_sockets),
		cmocka_unit_test(test_rights),
		cmocka_unit_test(test_unsafe_directory),
		cmocka_unit_test(test_hang_up),
		cmocka_unit_test(test_directories),
		cmocka_unit_test(test_new_directory),
		cmocka_unit_test(test_number_is_taken),
	};

	return cmocka_run_group_tests(tests, control_dir_open, control_dir_close);
}
