// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt snapshot and kfxt status, with recorders in other processes: what they print, and their exit codes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "cli/cli_made.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/exit.h"
#include "control/control_made.h"

static const char *path_of(const char *name, char path[128])
{
	snprintf(path, 128, "%s/%s", control_dir, name);
	return path;
}

/* @r ended with @code and printed this; NULL: whatever it was. Frees it. */
static void assert_run(struct run r, int code, const char *out, const char *err)
{
	assert_int_equal(r.code, code);
	if (out)
		assert_string_equal(r.out, out);
	if (err)
		assert_string_equal(r.err, err);
	run_free(&r);
}

static void assert_content(const char *path, const char *expected)
{
	char text[64] = "";
	struct stat st;
	FILE *f = fopen(path, "re");

	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	assert_int_equal(fstat(fileno(f), &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	fclose(f);
	assert_string_equal(text, expected);
}

static void test_no_recorder(void **state)
{
	(void)state;
	assert_run(run_command(cmd_status, "status", NULL), EXIT_FAILED, "",
		   "kfxt: status: no recorder runs that answers (one with --keep or --rotate, as kfxt record --keep 30s,256M)\n");
	assert_run(run_command(cmd_snapshot, "snapshot", NULL), EXIT_FAILED, "",
		   "kfxt: snapshot: no recorder runs that answers (one with --keep or --rotate, as kfxt record --keep 30s,256M)\n");
	assert_run(run_command(cmd_status, "status", "--pid", "1", NULL), EXIT_FAILED, "",
		   "kfxt: status: --pid 1: no recorder\n");
}

static void test_status(void **state)
{
	const struct made_recorder cfg = { 0 };
	pid_t pid = control_recorder_start(&cfg);
	char number[16];
	struct run r;

	(void)state;
	snprintf(number, sizeof(number), "%d", (int)pid);
	r = run_command(cmd_status, "status", NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_has(r.out, number);
	assert_has(r.out, "\nwindow:       29.5 s of 30.0 s, 42.0 MiB of 256.0 MiB");
	assert_string_equal(r.err, "");
	run_free(&r);
	r = run_command(cmd_status, "status", "--json", "--pid", number, NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_memory_equal(r.out, "{\"schema\":2,\"pid\":", 18);
	assert_has(r.out, "}}\n");
	run_free(&r);
	control_recorder_stop(pid);
}

static void test_several(void **state)
{
	const struct made_recorder cfg = { 0 };
	pid_t a = control_recorder_start(&cfg), b = control_recorder_start(&cfg);
	char number[16], pids[32], text[128];
	struct run r;

	(void)state;
	snprintf(pids, sizeof(pids), "%d, %d", a < b ? a : b, a < b ? b : a);
	snprintf(text, sizeof(text), "kfxt: status: several recorders run: %s (--pid PID)\n", pids);
	assert_run(run_command(cmd_status, "status", NULL), EXIT_USAGE, "", text);
	snprintf(number, sizeof(number), "%d", (int)b);
	r = run_command(cmd_status, "status", "--pid", number, NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_has(r.out, number);
	run_free(&r);
	snprintf(text, sizeof(text), "kfxt: status: --pid 1: no recorder (recorders: %s)\n", pids);
	assert_run(run_command(cmd_status, "status", "--pid", "1", NULL), EXIT_FAILED, "", text);
	control_recorder_stop(a);
	control_recorder_stop(b);
}

static void test_snapshot_of_recorder(void **state)
{
	const struct made_recorder cfg = { .path = "/v/a.fxt" }, none = { 0 };
	pid_t pid = control_recorder_start(&cfg);
	char text[128];

	(void)state;
	assert_run(run_command(cmd_snapshot, "snapshot", "--last", "10s", "-n", "deploy 7", NULL), EXIT_OK, "/v/a.fxt\n",
		   "kfxt: /v/a.fxt: to look at it: kfxt report, or open it in https://ui.perfetto.dev\n");
	assert_run(run_command(cmd_snapshot, "snapshot", "-q", NULL), EXIT_OK, "/v/a.fxt\n", "");
	control_recorder_stop(pid);
	pid = control_recorder_start(&none);
	snprintf(text, sizeof(text), "kfxt: snapshot: recorder %d: has no window (--keep)\n", (int)pid);
	assert_run(run_command(cmd_snapshot, "snapshot", NULL), EXIT_FAILED, "", text);
	control_recorder_stop(pid);
}

static void test_snapshot_into_file(void **state)
{
	const struct made_recorder cfg = { .confined = true, .stays = true };
	pid_t pid = control_recorder_start(&cfg);
	char path[128], old[128];

	(void)state;
	path_of("s.fxt", path);
	path_of("s.fxt.old", old);
	assert_run(run_command(cmd_snapshot, "snapshot", "-o", path, "--name", "one", NULL), EXIT_OK, NULL, NULL);
	assert_content(path, "a traceone");
	assert_run(run_command(cmd_snapshot, "snapshot", "-o", path, "-n", "two", NULL), EXIT_OK, NULL, NULL);
	assert_content(path, "a tracetwo");
	assert_content(old, "a traceone");
	control_recorder_stop(pid);
	assert_int_equal(unlink(path) | unlink(old), 0);
}

/* Nothing is left of a file that was not completed. */
static void test_snapshot_fails(void **state)
{
	const struct made_recorder cfg = { .ends = true };
	char path[128], text[192];
	pid_t pid;

	(void)state;
	path_of("s.fxt", path);
	assert_run(run_command(cmd_snapshot, "snapshot", "-o", path, NULL), EXIT_FAILED, "", NULL);
	assert_int_equal(control_dir_entries(control_dir), 0);
	pid = control_recorder_start(&cfg);
	snprintf(text, sizeof(text), "kfxt: snapshot: recorder %d: has ended\n", (int)pid);
	assert_run(run_command(cmd_snapshot, "snapshot", "-o", path, NULL), EXIT_FAILED, "", text);
	control_recorder_stop(pid);
	assert_run(run_command(cmd_status, "status", NULL), EXIT_FAILED, "", NULL);
	assert_int_equal(control_dir_entries(control_dir), 0);
	assert_run(run_command(cmd_snapshot, "snapshot", "-o", "/proc/kfxt-is-not-there/s.fxt", NULL), EXIT_FAILED, "",
		   "kfxt: snapshot: /proc/kfxt-is-not-there/s.fxt: No such file or directory (does its directory exist?)\n");
	assert_run(run_command(cmd_snapshot, "snapshot", "-o", "/dev/null", NULL), EXIT_FAILED, "",
		   "kfxt: snapshot: /dev/null: is not a regular file\n");
}

/* Ctrl-C while the recorder writes: the file is removed, the recorder is not disturbed. */
static void test_interrupted(void **state)
{
	const struct made_recorder cfg = { .silent = true };
	pid_t pid = control_recorder_start(&cfg), child;
	char path[128];
	int status, i;

	(void)state;
	path_of("s.fxt", path);
	child = fork();
	if (!child) {
		signal(SIGINT, SIG_DFL);	/* a shell has its background jobs ignore it */
		run_command(cmd_snapshot, "snapshot", "-o", path, NULL);
		_exit(1);
	}
	for (i = 0; i < 500 && control_dir_entries(control_dir) < 2; i++)
		usleep(10000);
	assert_int_equal(control_dir_entries(control_dir), 2);
	kill(child, SIGINT);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	assert_int_equal(control_dir_entries(control_dir), 1);
	control_recorder_stop(pid);
}

static void test_wrong_usage(void **state)
{
	(void)state;
	assert_run(run_command(cmd_snapshot, "snapshot", "-o", "-", NULL), EXIT_USAGE, "",
		   "kfxt: snapshot: -o -: a snapshot is written into a file\n");
	assert_run(run_command(cmd_snapshot, "snapshot", "--name", "a\nb", NULL), EXIT_USAGE, "",
		   "kfxt: snapshot: --name: has a control character\n");
	assert_run(run_command(cmd_snapshot, "snapshot", "--name", "", NULL), EXIT_USAGE, "",
		   "kfxt: snapshot: --name: empty\n");
	assert_run(run_command(cmd_snapshot, "snapshot", "--last", "0", NULL), EXIT_USAGE, "", NULL);
	assert_run(run_command(cmd_snapshot, "snapshot", "file", NULL), EXIT_USAGE, "", NULL);
	assert_run(run_command(cmd_status, "status", "file", NULL), EXIT_USAGE, "", NULL);
}

/* Prints nothing that is not JSON, or that a terminal acts on. */
static void test_odd_status(void **state)
{
	const struct made_recorder cfg = { .status = "a\x1b[31m\nb\n" };
	pid_t pid = control_recorder_start(&cfg);

	(void)state;
	assert_run(run_command(cmd_status, "status", NULL), EXIT_OK, "a\\x1b[31m\nb\n", "");
	assert_run(run_command(cmd_status, "status", "--json", NULL), EXIT_FAILED, "",
		   "kfxt: status: the answer of the recorder is not JSON\n");
	control_recorder_stop(pid);
}

/* A process that listens as a recorder does and answers one request with @part, whatever it is. */
static pid_t start_other(const struct control_part *part)
{
	const struct sockaddr_un address = control_address_of(getpid());
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), client;
	char request[256];
	pid_t pid;

	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 4), 0);
	pid = fork();
	while (!pid) {
		client = accept(fd, NULL, NULL);
		if (recv(client, request, sizeof(request), 0) > 0) {
			send(client, part, CONTROL_PART_HEAD, 0);
			_exit(0);
		}
		close(client);	/* it has only tried whether there is a recorder */
	}
	close(fd);
	return pid;
}

static void answer_otherwise(struct control_part part, int code, const char *message)
{
	pid_t pid = start_other(&part);
	char text[192];

	snprintf(text, sizeof(text), "kfxt: status: recorder %d: %s\n", (int)getpid(), message);
	assert_run(run_command(cmd_status, "status", NULL), code, "", text);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(unlink(control_address_of(getpid()).sun_path), 0);
}

static void test_other_recorder(void **state)
{
	(void)state;
	answer_otherwise((struct control_part){ .magic = CONTROL_MAGIC, .version = 9, .kind = CONTROL_END },
			 EXIT_UNSUPPORTED, "of another version of kfxt, protocol 9 and not 2 (use its kfxt, or restart it)");
	answer_otherwise((struct control_part){ .magic = 1, .version = CONTROL_VERSION, .kind = CONTROL_END },
			 EXIT_FAILED, "its answer is not understood");
	answer_otherwise((struct control_part){ .magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .kind = CONTROL_END,
						.err = -EBUSY }, EXIT_FAILED, "Device or resource busy");
	answer_otherwise((struct control_part){ .magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .kind = CONTROL_END,
						.err = -EACCES }, EXIT_UNSUPPORTED, "Permission denied");
}

static void test_no_rights(void **state)
{
	const struct made_recorder cfg = { 0 };
	char text[256];
	int status;
	pid_t pid, child;

	(void)state;
	if (geteuid())
		skip();
	pid = control_recorder_start(&cfg);
	snprintf(text, sizeof(text), "kfxt: status: recorder %d: not permitted "
		 "(run as root, as its user, or as a member of the group of %s/%d.sock)\n", (int)pid, control_dir, (int)pid);
	child = fork();
	if (!child) {
		if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
			_exit(1);
		assert_run(run_command(cmd_status, "status", NULL), EXIT_UNSUPPORTED, "", text);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	control_recorder_stop(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_recorder), cmocka_unit_test(test_status), cmocka_unit_test(test_several),
		cmocka_unit_test(test_snapshot_of_recorder), cmocka_unit_test(test_snapshot_into_file),
		cmocka_unit_test(test_snapshot_fails), cmocka_unit_test(test_wrong_usage),
		cmocka_unit_test(test_odd_status),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_other_recorder), cmocka_unit_test(test_no_rights),
	};

	return cmocka_run_group_tests(tests, control_dir_open, control_dir_close);
}
