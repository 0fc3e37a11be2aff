// SPDX-License-Identifier: GPL-2.0
/*
 * What kfxt convert says of files that it cannot read or write.
 */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/cmd.h"
#include "cli/exit.h"
#include "format/formats.h"
#include "cli_made.h"

#define LINE	"          <idle>-0       [000] d..1.     1.000001: sched_switch: " \
	"prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sh next_pid=7 next_prio=120\n"

/* A new directory with the file "in". */
struct place {
	char dir[32], in[64], out[64];
};

static void place_open(struct place *p, const char *text)
{
	FILE *f;

	strcpy(p->dir, "/tmp/kfxt-test-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->in, sizeof(p->in), "%s/in", p->dir);
	snprintf(p->out, sizeof(p->out), "%s/out", p->dir);
	f = fopen(p->in, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* Nothing but these may be in it. */
static void place_close(const struct place *p)
{
	unlink(p->in);
	unlink(p->out);
	assert_int_equal(rmdir(p->dir), 0);
}

/* Files in it beside "in". */
static unsigned int count_others(const struct place *p)
{
	DIR *dir = opendir(p->dir);
	unsigned int cnt = 0;

	assert_non_null(dir);
	while (readdir(dir))
		cnt++;
	closedir(dir);
	return cnt - 3;
}

static void converts(int code, const char *said, const char *in, const char *out)
{
	struct run r = run_command(cmd_convert, "convert", "-o", out, in, NULL);

	if (r.code != code)
		fail_msg("exit %d: %s", r.code, r.err);
	assert_has(r.err, said);
	run_free(&r);
}

static void test_output(void **state)
{
	struct place p;

	(void)state;
	place_open(&p, LINE);
	converts(EXIT_FAILED, "kfxt: convert: /nonexistent/out: cannot write: No such file or directory\n", p.in,
		 "/nonexistent/out");
	converts(EXIT_FAILED, "/dev/full: cannot write: No space left on device\n", p.in, "/dev/full");
	converts(EXIT_FAILED, "kfxt: convert: /nonexistent/in: No such file or directory\n", "/nonexistent/in", p.out);
	converts(EXIT_OK, "out: 1 record in 1 line, 1 switch, 0 wakeups, 1 thread, 0 lost, 0 lines unparsed", p.in, p.out);
	place_close(&p);
}

static void test_empty(void **state)
{
	struct place p;

	(void)state;
	place_open(&p, "");
	converts(EXIT_FAILED, "/in: is empty\n", p.in, p.out);
	converts(EXIT_FAILED, "kfxt: convert: /dev/null: is empty\n", "/dev/null", p.out);
	place_close(&p);
	/* a blank line is not nothing */
	place_open(&p, "\n");
	converts(EXIT_FAILED, "/in: no ftrace record in it (read as text; ", p.in, p.out);
	place_close(&p);
}

/* Ended before its first event, while it reads a pipe that stays open: no file remains. */
static void test_ended_by_signal(void **state)
{
	char comments[2 * FORMATS_SNIFF_BYTES];
	struct place p;
	int in[2], status;
	pid_t pid;

	(void)state;
	place_open(&p, "");
	assert_int_equal(pipe(in), 0);
	memset(comments, '#', sizeof(comments));
	assert_int_equal(write(in[1], comments, sizeof(comments)), sizeof(comments));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		char *words[] = { "convert", "-o", p.out, "-", NULL };

		dup2(in[0], STDIN_FILENO);
		_exit(cmd_convert(4, words) ? 1 : 2);
	}
	alarm(60);	/* rather than wait for ever */
	while (!count_others(&p))
		usleep(1000);
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	alarm(0);
	assert_true(WIFSIGNALED(status));
	close(in[0]);
	close(in[1]);
	place_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_ended_by_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
