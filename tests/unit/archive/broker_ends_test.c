// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the process that opens files for a recorder: hooks, sudden ends, rights, hostile requests.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "archive/broker_p.h"
#include "archive_made.h"
#include "base/clock.h"
#include "broker_made.h"
#include "session/privileges.h"

/* ---- hooks ------------------------------------------------------------------------------- */

/* Until none runs. */
static void wait_for_hooks(struct broker *b)
{
	struct broker_counts counts;
	int ms;

	for (ms = 0; ms < 30000; ms++) {
		broker_settle(b);
		broker_get_counts(b, &counts);
		if (!counts.hooks.running)
			return;
		usleep(1000);
	}
	fail_msg("a hook still runs");
}

static void test_hook(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){ .hook = "cp {} copy-$KFXT_TRIGGER" });
	struct broker_counts counts;
	struct broker_notice notice;

	(void)state;
	broker_put(b, &broker_request, 4321, true, NULL);
	archive_wait_for("copy-runq-5ms");
	broker_put(b, &broker_request, 4321, false, NULL);
	wait_for_hooks(b);
	assert_int_equal(broker_close(b), 0);
	assert_int_equal(broker_size_of("copy-runq-5ms"), 4321);
	assert_int_equal(archive_count(), 3);
	b = broker_make((struct broker_cfg){ .hook = "exit 7" });
	broker_put(b, &broker_request, 1, true, NULL);
	broker_wait_for(b, BROKER_HOOK_FAILED, &notice);
	assert_string_equal(notice.why, "exit status 7");
	assert_string_equal(strrchr(notice.path, '/'), "/" BROKER_NAME "-2.fxt");
	broker_settle(b);
	broker_get_counts(b, &counts);
	assert_int_equal(counts.hooks.run, 1);
	assert_int_equal(counts.hooks.failed, 1);
	assert_int_equal(broker_close(b), 0);
}

/* A hook gets the trigger as it was given, if it was at the start; a recorder cannot say anything else. */
static void test_hook_purpose(void **state)
{
	static const char *const purposes[] = { "psi:io:full>1ms/1s", "runq>5ms:comm=a-name-with-which-the-whole-is-longer-than-64-bytes" };
	const char *const given[] = { purposes[0], purposes[1], "$(touch bad) > x" };
	const char *const got[] = { purposes[0], purposes[1], "touch-bad-x" };
	struct broker *b = broker_make((struct broker_cfg){
		.hook = "printf %s \"$KFXT_TRIGGER\" >got.part && mv got.part got", .purposes = purposes, .purposes_cnt = 2,
	});
	char text[128];
	size_t i;
	FILE *f;

	(void)state;
	for (i = 0; i < 3; i++) {
		const struct broker_request req = { .purpose = given[i], .when = BROKER_WHEN };

		broker_put(b, &req, 1, true, NULL);
		archive_wait_for("got");
		f = fopen("got", "re");
		assert_non_null(f);
		assert_non_null(fgets(text, sizeof(text), f));
		fclose(f);
		assert_string_equal(text, got[i]);
		assert_int_equal(unlink("got"), 0);
		wait_for_hooks(b);
	}
	assert_int_equal(broker_close(b), 0);
}

/* What a hook works on is not deleted before it has ended. */
static void test_hook_limits(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){
		.hook = "until test -e go; do sleep 0.02; done; test -e {} && touch had-it", .limits = { .files = 1 },
	});
	struct broker_notice notice;
	char first[PATH_MAX], second[PATH_MAX];

	(void)state;
	broker_put(b, &broker_request, 1, true, first);
	broker_put(b, &broker_request, 1, false, second);
	broker_settle(b);
	assert_true(archive_has(first) && archive_has(second));
	archive_put("go", 0, 1, 0600);
	archive_wait_for("had-it");
	broker_wait_for(b, BROKER_DELETED, &notice);
	assert_string_equal(notice.path, first);
	assert_true(archive_has(second));
	assert_int_equal(broker_close(b), 0);
}

/* Nor by the next recorder. One more than may run at a time waits. */
static void test_hook_next(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){
		.hook = "until test -e go; do sleep 0.02; done; test -e {} && touch {}.had",
	});
	const pid_t broker = broker_find(getpid());
	char had[PATH_MAX + 4], paths[HOOKS_MAX + 1][PATH_MAX], second[PATH_MAX];
	struct broker *next;
	unsigned int i;

	(void)state;
	for (i = 0; i <= HOOKS_MAX; i++)
		broker_put(b, &broker_request, 1, true, paths[i]);
	assert_int_equal(broker_close(b), HOOKS_MAX + 1);
	next = broker_make((struct broker_cfg){ .limits = { .files = 1 } });
	broker_put(next, &broker_request, 1, false, second);
	broker_put(next, &broker_request, 1, false, NULL);
	broker_settle(next);
	assert_false(archive_has(second));
	for (i = 0; i <= HOOKS_MAX; i++)
		assert_true(archive_has(paths[i]));
	archive_put("go", 0, 1, 0600);
	assert_int_equal(waitpid(broker, NULL, 0), broker);
	for (i = 0; i <= HOOKS_MAX; i++) {
		assert_true(archive_has(strcat(strcpy(had, paths[i]), ".had")));
	}
	broker_put(next, &broker_request, 1, false, NULL);
	broker_settle(next);
	for (i = 0; i <= HOOKS_MAX; i++)
		assert_false(archive_has(paths[i]));
	assert_int_equal(broker_close(next), 0);
}

/* Limits are those of a recorder that records: what its successor writes is not deleted by them. */
static void test_hook_after_end(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){
		.hook = "until test -e go; do sleep 0.02; done", .limits = { .files = 1 },
	});
	const pid_t broker = broker_find(getpid());
	struct broker *next;
	char first[PATH_MAX], second[PATH_MAX], third[PATH_MAX];

	(void)state;
	broker_put(b, &broker_request, 1, true, first);
	broker_settle(b);
	assert_int_equal(broker_close(b), 1);
	next = broker_make((struct broker_cfg){ .limits = { .files = 3 } });
	broker_put(next, &broker_request, 1, false, second);
	broker_put(next, &broker_request, 1, false, third);
	archive_put("go", 0, 1, 0600);
	assert_int_equal(waitpid(broker, NULL, 0), broker);
	assert_true(archive_has(first) && archive_has(second) && archive_has(third));
	assert_int_equal(broker_close(next), 0);
}

/* Neither files nor the end wait for a hook. */
static void test_hook_hangs(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){ .hook = "until test -e go; do sleep 0.05; done; touch went",
							    .hook_limit_ns = 5000 * NS_PER_MS });
	const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	struct broker_notice notice;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++)
		broker_put(b, &broker_request, 1, true, NULL);
	assert_true(clock_ns(CLOCK_MONOTONIC) - begin_ns < 4900 * NS_PER_MS);
	for (i = 0; i < 3; i++) {
		broker_wait_for(b, BROKER_HOOK_FAILED, &notice);
		assert_string_equal(notice.why, "ended by us: it ran for more than 5 s");
	}
	assert_int_equal(broker_close(b), 0);
	b = broker_make((struct broker_cfg){ .hook = "until test -e go; do sleep 0.05; done; touch went" });
	broker_put(b, &broker_request, 1, true, NULL);
	broker_settle(b);
	/* Nor does the end that has seen that nothing more is to come. */
	assert_int_equal(broker_end(b), 1);
	while (!broker_file_open(b, &broker_request, &(struct broker_file){ 0 }))
		;
	assert_int_equal(broker_close(b), 1);
	archive_put("go", 0, 1, 0600);
	archive_wait_for("went");
	waitpid(-1, NULL, 0);
}

/* ---- sudden ends --------------------------------------------------------------------------- */

/* A recorder with one published file, and two that are being written. */
static void record(const struct broker_cfg *cfg, int ready)
{
	struct broker_file files[3];
	char why[BROKER_WHY_BYTES];
	struct broker *b;
	int i;

	CHECK(!broker_open(&b, cfg, why, sizeof(why)));
	for (i = 0; i < 3; i++)
		CHECK(!broker_file_open(b, &broker_request, &files[i]));
	CHECK(write(files[0].fd, broker_trace, sizeof(broker_trace)) == sizeof(broker_trace));
	CHECK(!broker_file_publish(b, &files[0], false));
	CHECK(write(files[1].fd, broker_trace, sizeof(broker_trace) - 3) == sizeof(broker_trace) - 3);
	CHECK(!fallocate(files[1].fd, FALLOC_FL_KEEP_SIZE, 0, 1 << 20));
	CHECK(write(files[1].fd, broker_trace, 0) == 0);
	CHECK(lseek(files[1].fd, 8, SEEK_SET) == 8);
	CHECK(write(files[1].fd, broker_trace + 1, 16) == 16);
	CHECK(write(files[1].fd, broker_trace + 1, 11) == 11);
	CHECK(write(ready, "", 1) == 1);
	for (;;)
		pause();
}

static pid_t start_recorder(const struct broker_cfg *cfg)
{
	int pipes[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		record(cfg, pipes[1]);
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &c, 1), 1);
	close(pipes[0]);
	return pid;
}

static void kill_process(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/*
 * Of a process that is not our child; one that nobody has waited for has ended, too. Until all of its threads have: the one
 * that syncs keeps files open, and locked, for longer than the first one, which is a zombie by then.
 */
static void wait_for_end_of(pid_t pid)
{
	struct pollfd end = { .fd = pidfd_open(pid, 0), .events = POLLIN };

	if (end.fd < 0) {
		assert_int_equal(errno, ESRCH);
		return;
	}
	assert_int_equal(poll(&end, 1, 30000), 1);
	close(end.fd);
}

static void test_recorder_killed(void **state)
{
	static const struct broker_cfg cfg = { .pattern = "p-%Y%m%dT%H%M%SZ-%t.fxt" };
	pid_t pid = start_recorder(&cfg);
	struct stat st;
	int ms;

	(void)state;
	assert_int_equal(archive_count(), 3);
	assert_true(archive_has(BROKER_NAME "-1.fxt.tmp"));
	assert_true(archive_has(BROKER_NAME "-2.fxt.tmp"));
	kill_process(pid);
	archive_wait_for(BROKER_NAME "-1.fxt");
	for (ms = 0; ms < 30000 && archive_count() > 2; ms++)
		usleep(1000);
	assert_int_equal(broker_size_of(BROKER_NAME ".fxt"), sizeof(broker_trace));
	assert_int_equal(broker_size_of(BROKER_NAME "-1.fxt"), sizeof(broker_trace));
	/* Nor is there any space that it does not need. */
	assert_int_equal(stat(BROKER_NAME "-1.fxt", &st), 0);
	assert_true(st.st_blocks * 512 < 1 << 18);
}

/* What it had asked for is done, though it did not read the answer to something before. */
static void record_unread(const struct broker_cfg *cfg)
{
	struct broker_call space, publish;
	char why[BROKER_WHY_BYTES];
	struct broker_file file;
	struct pollfd pfd = { .events = POLLIN };
	struct broker *b;

	CHECK(!broker_open(&b, cfg, why, sizeof(why)));
	CHECK(!broker_file_open(b, &broker_request, &file));
	CHECK(!broker_begin_space(b, 1, &space));
	pfd.fd = broker_fd(b);
	CHECK(poll(&pfd, 1, 30000) == 1);
	CHECK(!kill(broker_find(getpid()), SIGSTOP));
	CHECK(!broker_begin_publish(b, &file, BROKER_HOOK, &publish));
	_exit(0);
}

static void test_ended_unread(void **state)
{
	static const struct broker_cfg cfg = { .pattern = "p-%Y%m%dT%H%M%SZ-%t.fxt", .hook = "touch ran" };
	pid_t pid, broker;
	siginfo_t info;

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		record_unread(&cfg);
	assert_int_equal(waitid(P_PID, pid, &info, WEXITED), 0);
	assert_int_equal(info.si_status, 0);
	broker = broker_find(getpid());
	kill(broker, SIGCONT);
	assert_int_equal(waitpid(broker, NULL, 0), broker);
	assert_true(archive_has("ran"));
	assert_true(archive_has(BROKER_NAME ".fxt"));
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

static void test_both_killed(void **state)
{
	static const struct broker_cfg cfg = { .pattern = "p-%Y%m%dT%H%M%SZ-%t.fxt" };
	pid_t pid = start_recorder(&cfg), broker = broker_find(pid);
	struct broker_notice notice;
	struct broker_counts counts;
	struct broker *b;

	(void)state;
	/* While they live, another recorder leaves their files alone. */
	b = broker_make((struct broker_cfg){ 0 });
	broker_get_counts(b, &counts);
	assert_int_equal(counts.recovered, 0);
	assert_int_equal(broker_close(b), 0);
	assert_int_equal(archive_count(), 3);
	kill(broker, SIGKILL);
	kill_process(pid);
	wait_for_end_of(broker);
	assert_int_equal(archive_count(), 3);
	b = broker_make((struct broker_cfg){ 0 });
	assert_int_equal(archive_count(), 2);
	assert_int_equal(broker_size_of(BROKER_NAME "-1.fxt"), sizeof(broker_trace));
	broker_wait_for(b, BROKER_RECOVERED, &notice);
	assert_string_equal(strrchr(notice.path, '/'), "/" BROKER_NAME "-1.fxt");
	assert_int_equal(notice.bytes, sizeof(broker_trace));
	assert_false(broker_next_notice(b, &notice));
	assert_int_equal(broker_close(b), 0);
}

/* Three files of a day to come: the clock has been set back since. */
static void put_future(void)
{
	static const char *const names[] = { "p-20261124T140507Z-a.fxt", "p-20261124T140507Z-b.fxt", "p-20261124T140507Z-c.fxt" };
	unsigned int i;

	for (i = 0; i < 3; i++)
		archive_put(names[i], 100, time(NULL) + 86400 + i, 0600);
}

/* What led up to the end of a recorder is the newest file, whatever the clock says. */
static void test_killed_set_back(void **state)
{
	static const struct broker_cfg cfg = { .pattern = "p-%Y%m%dT%H%M%SZ-%t.fxt", .limits = { .files = 3 } };
	pid_t pid = start_recorder(&cfg), broker = broker_find(pid);

	(void)state;
	put_future();
	kill_process(pid);
	wait_for_end_of(broker);
	assert_true(archive_has(BROKER_NAME "-1.fxt"));
	assert_int_equal(archive_count(), 3);
}

static void test_both_killed_set_back(void **state)
{
	static const struct broker_cfg cfg = { .pattern = "p-%Y%m%dT%H%M%SZ-%t.fxt" };
	pid_t pid = start_recorder(&cfg), broker = broker_find(pid);

	(void)state;
	put_future();
	kill(broker, SIGKILL);
	kill_process(pid);
	wait_for_end_of(broker);
	assert_true(archive_has(BROKER_NAME "-1.fxt.tmp"));
	assert_int_equal(broker_close(broker_make((struct broker_cfg){ .limits = { .files = 3 } })), 0);
	assert_true(archive_has(BROKER_NAME "-1.fxt"));
	assert_int_equal(archive_count(), 3);
	/* It remains so. */
	assert_int_equal(broker_close(broker_make((struct broker_cfg){ .limits = { .files = 1 } })), 0);
	assert_true(archive_has(BROKER_NAME "-1.fxt"));
}

static void test_broker_killed(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){ 0 });
	struct broker_file file, more;
	struct broker_notice notice;
	struct broker_call call;
	pid_t broker = broker_find(getpid());
	siginfo_t info;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	broker_make_file(b, &file);
	/* What ends a service or is typed at a terminal is not for it. */
	kill(broker, SIGTERM);
	kill(broker, SIGINT);
	kill(broker, SIGHUP);
	broker_settle(b);
	assert_int_equal(broker_begin_open(b, &broker_request, &call), 0);
	kill(broker, SIGKILL);
	assert_int_equal(waitid(P_PID, broker, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(write(file.fd, broker_trace, sizeof(broker_trace)), sizeof(broker_trace));
	assert_int_equal(broker_file_publish(b, &file, false), -EPIPE);
	assert_string_equal(broker_why(b), "the process that opens files was ended by signal 9");
	assert_int_equal(broker_file_open(b, &broker_request, &more), -EPIPE);
	assert_false(broker_next_notice(b, &notice));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(broker_begin_open(b, &broker_request, &call), -EPIPE);
	assert_int_equal(broker_close(b), -EPIPE);
	close(file.fd);
	assert_true(archive_has(BROKER_NAME ".fxt.tmp"));
}

/* ---- rights ------------------------------------------------------------------------------------ */

static void test_rights(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){ 0 });
	pid_t pid = broker_find(getpid());
	const bool root = !geteuid();
	unsigned long long of_hook;
	FILE *f;

	assert_int_equal(broker_status(pid, "CapPrm", 16), 0);
	assert_int_equal(broker_status(pid, "CapEff", 16), 0);
	assert_int_equal(broker_status(pid, "NoNewPrivs", 10), 1);
	assert_int_equal(broker_status(pid, "Seccomp", 10), 2);
	assert_int_equal(broker_close(b), 0);
	b = broker_make((struct broker_cfg){ .hook = "grep CapEff /proc/self/status | cut -f2 >caps" });
	pid = broker_find(getpid());
	assert_int_equal(broker_status(pid, "CapEff", 16) & ~(1ULL << 5), 0);	/* CAP_KILL */
	assert_int_equal(broker_status(pid, "Seccomp", 10), broker_status(getpid(), "Seccomp", 10));
	broker_put(b, &broker_request, 1, true, NULL);
	broker_close(b);
	waitpid(pid, NULL, 0);
	f = fopen("caps", "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%llx", &of_hook), 1);
	fclose(f);
	assert_int_equal(of_hook, root ? broker_status(getpid(), "CapBnd", 16) : 0);
	if (!root)
		return;
	/* A directory that root may write to by CAP_DAC_OVERRIDE only. */
	assert_int_equal(chown(*state, 4711, 4711), 0);
	assert_int_equal(chmod(*state, 0700), 0);
	b = broker_make((struct broker_cfg){ 0 });
	assert_int_equal(broker_status(broker_find(getpid()), "CapEff", 16), 1ULL << 1);
	broker_put(b, &broker_request, 1, false, NULL);
	assert_int_equal(broker_close(b), 0);
}

/* All that a recorder does after it has given up its rights. */
static void record_confined(void)
{
	const struct broker_cfg cfg = { .pattern = "p-%Y%m%dT%H%M%SZ-%t.fxt", .hook = "exit 7" };
	struct broker_file file;
	struct broker_notice notice;
	struct confined out;
	struct broker *b;
	char why[BROKER_WHY_BYTES];
	int pair[2], ms;

	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
	CHECK(!broker_open(&b, &cfg, why, sizeof(why)));
	CHECK(!privileges_confine(&(struct privileges_cfg){ .broker_fd = broker_fd(b) }, &out));
	CHECK(out.filter_err || (recvmsg(pair[0], &(struct msghdr){ 0 }, MSG_DONTWAIT) < 0 && errno == ENOSYS));
	CHECK(!broker_file_open(b, &broker_request, &file));
	CHECK(write(file.fd, broker_trace, sizeof(broker_trace)) == sizeof(broker_trace));
	CHECK(!close(file.fd));
	CHECK(!broker_file_publish(b, &file, true));
	for (ms = 0; ms < 30000 && !broker_next_notice(b, &notice); ms++)
		usleep(1000);
	CHECK(notice.event == BROKER_HOOK_FAILED);
	CHECK(!broker_file_open(b, &broker_request, &file));
	CHECK(!broker_file_discard(b, &file));
	CHECK(!broker_close(b));
}

static void test_confined(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (!pid) {
		record_confined();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(broker_size_of(BROKER_NAME ".fxt"), sizeof(broker_trace));
	assert_int_equal(archive_count(), 1);
}

/* The recorder has whatever it likes open, and the broker none of it, however many files there were. */
static void test_descriptors(void **state)
{
	int pipes[2], status, i;
	struct broker *b;
	char path[64], c;
	DIR *dir;
	unsigned int n = 0;

	(void)state;
	assert_int_equal(pipe2(pipes, 0), 0);
	b = broker_make((struct broker_cfg){ 0 });
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &c, 1), 0);
	close(pipes[0]);
	for (i = 0; i < 20; i++) {
		broker_put(b, &broker_request, 1, false, NULL);
		broker_settle(b);
	}
	snprintf(path, sizeof(path), "/proc/%d/fd", broker_find(getpid()));
	dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	assert_int_equal(n - 2, 6);	/* stdin, stdout, stderr, socket, directory, what is on the disk */
	assert_int_equal(broker_close(b), 0);
	assert_int_equal(waitpid(-1, &status, WNOHANG), -1);
}

/* As soon as there is space for it. Answers and notices are taken. */
static void send_raw(struct broker *b, const struct broker_ask *ask, size_t len)
{
	struct pollfd pfd = { .fd = broker_fd(b), .events = POLLOUT };
	struct broker_notice notice;

	while (write(broker_fd(b), ask, len) < 0) {
		assert_int_equal(errno, EAGAIN);
		assert_true(poll(&pfd, 1, 30000) > 0);
	}
	while (broker_next_notice(b, &notice))
		;
}

/* A recorder that was taken over can make files of the pattern, and nothing else. */
static void test_hostile(void **state)
{
	struct broker *b = broker_make((struct broker_cfg){ .hook = "touch hook-$KFXT_TRIGGER" });
	struct name_pattern *names;
	struct broker_file file;
	struct broker_ask ask;
	unsigned char *bytes = (unsigned char *)&ask;
	char why[BROKER_WHY_BYTES];
	size_t i, round;
	int err;
	DIR *dir;
	const struct dirent *entry;

	(void)state;
	srand(1);
	for (round = 0; round < 3000; round++) {
		for (i = 0; i < sizeof(ask); i++)
			bytes[i] = rand();
		ask.verb = rand() % 7;
		ask.verb = ask.verb == BROKER_END ? BROKER_OPEN : ask.verb;
		ask.id = 1000000 + rand() % 16;
		ask.file = 1000000 + rand() % 16;
		ask.how = rand() % 50 == 0;
		ask.when = rand() % 2 ? BROKER_WHEN : ask.when;
		ask.needs_bytes = rand() % 2 ? 0 : ask.needs_bytes;
		send_raw(b, &ask, rand() % 8 ? sizeof(ask) : (size_t)rand() % sizeof(ask) + 1);
	}
	/* It still works, once what is open has been closed. */
	for (i = 0; i < 16; i++) {
		ask = (struct broker_ask){ .verb = BROKER_DISCARD, .id = 1, .file = 1000000 + i };
		send_raw(b, &ask, sizeof(ask));
	}
	while ((err = broker_file_open(b, &broker_request, &file)) == -EMFILE)
		usleep(1000);	/* some are still published */
	assert_int_equal(err, 0);
	assert_int_equal(name_pattern_open(&names, "p-%Y%m%dT%H%M%SZ-%t.fxt", why, sizeof(why)), 0);
	dir = opendir(".");
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		const char *tmp = strstr(entry->d_name, ".tmp");
		char name[NAME_MAX + 1];

		snprintf(name, sizeof(name), "%.*s", tmp ? (int)(tmp - entry->d_name) : NAME_MAX, entry->d_name);
		if (entry->d_name[0] != '.' && strncmp(name, "hook-", 5) != 0 && !name_matches(names, name))
			fail_msg("%s", entry->d_name);
	}
	closedir(dir);
	name_pattern_close(names);
	close(file.fd);
	broker_close(b);
	waitpid(-1, NULL, 0);
}

int main(void)
{
#define TEST(name)	cmocka_unit_test_setup_teardown(name, archive_make_dir, archive_remove_dir)
	const struct CMUnitTest tests[] = {
		TEST(test_hook), TEST(test_hook_purpose), TEST(test_hook_limits), TEST(test_hook_next), TEST(test_hook_after_end),
		TEST(test_hook_hangs), TEST(test_recorder_killed), TEST(test_ended_unread), TEST(test_both_killed),
		TEST(test_killed_set_back), TEST(test_both_killed_set_back), TEST(test_broker_killed), TEST(test_rights), TEST(test_confined), TEST(test_descriptors),
		TEST(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
