// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of commands that are run for files.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "archive/hooks.h"
#include "archive_made.h"
#include "base/clock.h"

#define MS	1000000ULL
#define WAIT_MS	30000

struct failures {
	unsigned int cnt;
	char path[256], why[256];	/* of the last one */
};

static void note(void *ctx, const char *path, const char *why)
{
	struct failures *f = ctx;

	f->cnt++;
	snprintf(f->path, sizeof(f->path), "%s", path);
	snprintf(f->why, sizeof(f->why), "%s", why);
}

static struct hooks *open_hooks(const char *command, uint64_t limit_ns, struct failures *f)
{
	const struct hooks_cfg cfg = { .command = command, .limit_ns = limit_ns, .failed = note, .ctx = f };
	struct hooks *h = NULL;

	*f = (struct failures){ 0 };
	assert_int_equal(hooks_open(&h, &cfg), 0);
	return h;
}

/* Until all have ended, at most 20 s. */
static void run_all(struct hooks *h, struct hooks_counts *counts)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + 20000 * MS;
	struct pollfd fds[HOOKS_MAX];

	do {
		poll(fds, hooks_poll(h, fds), hooks_timeout_ms(h));
		hooks_round(h);
		hooks_get_counts(h, counts);
		assert_true(counts->running <= HOOKS_MAX);
	} while ((counts->running || counts->waiting) && clock_ns(CLOCK_MONOTONIC) < end_ns);
	assert_int_equal(counts->running + counts->waiting, 0);
}

static void test_command(void **state)
{
	static const struct { const char *command, *path, *line; } cases[] = {
		{ "upload {}", "/var/lib/a-b_c.fxt", "upload /var/lib/a-b_c.fxt" },
		{ "{}{} {", "a", "aa {" },
		{ "true", "a", "true" },
		{ "", "a", "" },
		{ "x '{}' {}", "a+b@c:d,e=f%g", "x 'a+b@c:d,e=f%g' a+b@c:d,e=f%g" },
		{ "cp {} b", "a b", "cp 'a b' b" },
		{ "cp {} b", "a'$(reboot)", "cp 'a'\\''$(reboot)' b" },
		{ "cp {} b", "a\nb", "cp 'a\nb' b" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *line = hooks_command(cases[i].command, cases[i].path);

		assert_string_equal(line, cases[i].line);
		free(line);
	}
}

static void test_run(void **state)
{
	const char *odd = "a '$(touch bad)' b";
	struct hooks_counts counts;
	struct failures f;
	struct hooks *h = open_hooks("mv {} \"$KFXT_TRIGGER\" && test $KFXT_FILE = file && ! read x && "
				     "test $(cut -d' ' -f5 /proc/$$/stat) -eq $$ && touch end", 60000 * MS, &f);

	(void)state;
	archive_put("file", 3, 1, 0600);
	hooks_add(h, "file", "runq-5ms", -1);
	run_all(h, &counts);
	assert_int_equal(counts.run, 1);
	assert_int_equal(f.cnt, 0);
	assert_true(archive_has("runq-5ms"));
	assert_true(archive_has("end"));
	hooks_close(h);
	h = open_hooks("mv {} x", 60000 * MS, &f);
	archive_put(odd, 3, 1, 0600);
	hooks_add(h, odd, "", -1);
	run_all(h, &counts);
	assert_int_equal(f.cnt, 0);
	assert_true(archive_has("x"));
	assert_false(archive_has("bad"));
	hooks_close(h);
}

static void test_failures(void **state)
{
	static const struct { const char *command, *why; } cases[] = {
		{ "exit 3", "exit status 3" }, { "kill -9 $$", "ended by signal 9 (Killed)" },
		{ "/nonexistent/program 2>/dev/null", "exit status 127" },
	};
	struct hooks_counts counts;
	struct failures f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hooks *h = open_hooks(cases[i].command, 60000 * MS, &f);

		hooks_add(h, "the/file", "", -1);
		run_all(h, &counts);
		assert_int_equal(f.cnt, 1);
		assert_string_equal(f.path, "the/file");
		assert_string_equal(f.why, cases[i].why);
		assert_int_equal(counts.failed, 1);
		assert_int_equal(counts.killed, 0);
		hooks_close(h);
	}
}

/* Runs @command, which never ends, with longer limits until it has come so far as to make the file @made. */
static void run_hung(const char *command, const char *made)
{
	static const unsigned int limits_s[] = { 1, 4, 12 };
	struct hooks_counts counts;
	struct failures f;
	char why[64];
	size_t i;

	for (i = 0; i < sizeof(limits_s) / sizeof(*limits_s) && !archive_has(made); i++) {
		struct hooks *h = open_hooks(command, limits_s[i] * 1000 * MS, &f);

		hooks_add(h, "a", "", -1);
		run_all(h, &counts);
		assert_int_equal(counts.failed, 1);
		assert_int_equal(counts.killed, 1);
		snprintf(why, sizeof(why), "ended by us: it ran for more than %u s", limits_s[i]);
		assert_string_equal(f.why, why);
		hooks_close(h);
	}
	assert_true(archive_has(made));
}

/* With all that it has started, by SIGTERM at first, also if it ignores that. */
static void test_hung(void **state)
{
	FILE *file;
	int pid, ms;

	(void)state;
	run_hung("trap 'touch asked; exit 1' TERM; sleep 1000 & echo $! >begun; mv begun child; wait", "child");
	assert_true(archive_has("asked"));
	file = fopen("child", "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &pid), 1);
	fclose(file);
	for (ms = 0; ms < WAIT_MS && !kill(pid, 0); ms++)
		usleep(1000);
	assert_int_not_equal(kill(pid, 0), 0);
	run_hung("trap '' TERM; touch ignored; while :; do sleep 0.1; done", "ignored");
}

/* A few at once; those that wait run in turn; more than may wait are not run. */
static void test_many(void **state)
{
	struct hooks_counts counts;
	struct failures f;
	struct hooks *h = open_hooks("until test -e go; do sleep 0.01; done; echo {} >>order", 60000 * MS, &f);
	char name[32], line[32];
	unsigned int i, n = 0;
	FILE *file;

	(void)state;
	for (i = 0; i < HOOKS_MAX + HOOKS_WAITING + 3; i++) {
		snprintf(name, sizeof(name), "%u", i);
		hooks_add(h, name, "", -1);
	}
	hooks_round(h);
	hooks_get_counts(h, &counts);
	assert_int_equal(counts.running, HOOKS_MAX);
	assert_int_equal(counts.waiting, HOOKS_WAITING);
	assert_int_equal(counts.skipped, 3);
	assert_int_equal(f.cnt, 3);
	assert_string_equal(f.path, "38");
	assert_string_equal(f.why, "not run: too many are waiting");
	archive_put("go", 0, 1, 0600);
	run_all(h, &counts);
	assert_int_equal(counts.run, HOOKS_MAX + HOOKS_WAITING);
	assert_int_equal(counts.failed, 0);
	file = fopen("order", "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		n++;
	fclose(file);
	assert_int_equal(n, HOOKS_MAX + HOOKS_WAITING);
	hooks_close(h);
}

/* What was changed for the recorder is as it was. */
static void test_surroundings(void **state)
{
	const struct rlimit files = { 77, 99 };
	struct failures f = { 0 };
	const struct hooks_cfg cfg = {
		.command = "test $(ulimit -n) -eq 77 && kill -TERM $$", .limit_ns = 60000 * MS, .files = &files,
		.failed = note, .ctx = &f,
	};
	struct hooks_counts counts;
	struct hooks *h;
	sigset_t set;

	(void)state;
	signal(SIGTERM, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	assert_int_equal(hooks_open(&h, &cfg), 0);
	hooks_add(h, "a", "", -1);
	run_all(h, &counts);
	assert_string_equal(f.why, "ended by signal 15 (Terminated)");
	hooks_close(h);
	signal(SIGTERM, SIG_DFL);
}

int main(void)
{
#define TEST(name)	cmocka_unit_test_setup_teardown(name, archive_make_dir, archive_remove_dir)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command), TEST(test_run), TEST(test_failures), TEST(test_hung), TEST(test_many),
		TEST(test_surroundings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
