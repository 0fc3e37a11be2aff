// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of where a trace may go: what others put in its place is never written to.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/sink.h"

#define ROUNDS	300

static const uint64_t record[2] = { 0x21, 0 };	/* of two words */

static int make_dir(void **state)
{
	char dir[] = "/tmp/kfxt-sink.XXXXXX";

	*state = mkdtemp(dir) ? strdup(dir) : NULL;
	return *state && !chdir(*state) ? 0 : -1;
}

static int remove_dir(void **state)
{
	static const char *const names[] = { "t", "t.old", "victim", "link" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(names[i]);
	if (chdir("/") || rmdir(*state))
		return -1;
	free(*state);
	return 0;
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void assert_holds(const char *path, const char *text)
{
	char buf[64];
	FILE *f = fopen(path, "r");
	size_t len;

	assert_non_null(f);
	len = fread(buf, 1, sizeof(buf) - 1, f);
	fclose(f);
	buf[len] = 0;
	assert_string_equal(buf, text);
}

/* 0 or what sink_open() returned. */
static int write_trace(const char *path, const char **hint)
{
	struct sink *s = NULL;
	int err = sink_open(&s, &(struct sink_cfg){ .path = path }, hint);

	if (err)
		return err;
	assert_int_equal(sink_write(s, record, sizeof(record)), 0);
	err = sink_publish(s, hint);
	if (!err)
		assert_int_equal(sink_finish(s), 0);
	assert_int_equal(sink_close(s), 0);
	return err;
}

static void assert_new(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_size, sizeof(record));
	assert_int_equal(st.st_nlink, 1);
}

static void test_old_is_kept(void **state)
{
	const char *hint;

	(void)state;
	put("t", "first");
	assert_int_equal(chmod("t", 0666), 0);
	assert_int_equal(write_trace("t", &hint), 0);
	assert_holds("t.old", "first");
	assert_new("t");
}

static unsigned int count_files(void)
{
	DIR *dir = opendir(".");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

/* A file that is not published is removed, and what was there is untouched. */
static void test_unpublished(void **state)
{
	const char *hint;
	struct sink *s;

	(void)state;
	put("t", "first");
	put("t.old", "older");
	assert_int_equal(sink_open(&s, &(struct sink_cfg){ .path = "t" }, &hint), 0);
	assert_int_equal(sink_write(s, record, sizeof(record)), 0);
	assert_holds("t", "first");
	assert_int_equal(sink_close(s), 0);
	assert_holds("t", "first");
	assert_holds("t.old", "older");
	assert_int_equal(count_files(), 2);
}

/* Of two that write to one name at a time none is lost. */
static void test_two_at_once(void **state)
{
	struct sink *s[2];
	const char *hint;
	struct stat st;
	int i;

	(void)state;
	for (i = 0; i < 2; i++)
		assert_int_equal(sink_open(&s[i], &(struct sink_cfg){ .path = "t" }, &hint), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(sink_publish(s[i], &hint), 0);
	assert_int_equal(sink_write(s[0], record, sizeof(record)), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(sink_close(s[i]), 0);
	assert_int_equal(stat("t.old", &st), 0);
	assert_int_equal(st.st_size, sizeof(record));
	assert_int_equal(stat("t", &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(count_files(), 2);
}

/* Ended by @number after sink_open() and, if @publish, after sink_publish(). */
static void end_by_signal(int number, bool publish)
{
	struct sink *s;
	const char *hint;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		signal(number, SIG_DFL);	/* SIGINT is ignored in the background of a shell */
		if (sink_open(&s, &(struct sink_cfg){ .path = "t", .remove_on_signal = true }, &hint) ||
		    (publish && sink_publish(s, &hint)) || count_files() != 1)
			_exit(1);
		raise(number);
		_exit(2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), number);
}

static void test_ended_by_signal(void **state)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		end_by_signal(numbers[i], false);
		assert_int_equal(count_files(), 0);
		end_by_signal(numbers[i], true);
		assert_int_equal(unlink("t"), 0);
	}
}

/* What has come to be there meanwhile. */
static void test_replaces_no_fifo(void **state)
{
	const char *hint = NULL;
	struct sink *s;

	(void)state;
	assert_int_equal(sink_open(&s, &(struct sink_cfg){ .path = "t" }, &hint), 0);
	assert_int_equal(mkfifo("t", 0600), 0);
	assert_int_equal(sink_publish(s, &hint), -EINVAL);
	assert_non_null(hint);
	assert_int_equal(sink_close(s), 0);
	assert_int_equal(count_files(), 1);
}

/* A link is refused; one called .old is replaced, never followed. */
static void test_links(void **state)
{
	const char *hint;

	(void)state;
	put("victim", "mine");
	assert_int_equal(symlink("victim", "t"), 0);
	assert_int_equal(write_trace("t", &hint), -ELOOP);
	assert_non_null(hint);
	assert_int_equal(unlink("t"), 0);
	assert_int_equal(symlink("nothing", "t"), 0);
	assert_int_equal(write_trace("t", &hint), -ELOOP);
	assert_int_equal(access("nothing", F_OK), -1);
	assert_int_equal(unlink("t"), 0);
	put("t", "first");
	assert_int_equal(symlink("victim", "t.old"), 0);
	assert_int_equal(write_trace("t", &hint), 0);
	assert_holds("t.old", "first");
	assert_holds("victim", "mine");
	assert_new("t");
}

/* Puts links to the victim where the trace is to be, as fast as it can. */
static void plant(void)
{
	for (;;) {
		if (link("victim", "t"))
			unlink("t");
		if (symlink("victim", "t"))
			unlink("t");
	}
}

static void test_planted_meanwhile(void **state)
{
	int written = 0, refused = 0, i, err;
	const char *hint;
	pid_t planter;

	(void)state;
	put("victim", "mine");
	planter = fork();
	assert_true(planter >= 0);
	if (!planter)
		plant();
	for (i = 0; i < ROUNDS; i++) {
		err = write_trace("t", &hint);
		written += !err;
		refused += !!err;
		/* The planter takes away what is there, and so may come between any two of our steps. */
		assert_true(!err || err == -ELOOP || err == -EEXIST || err == -ENOENT);
		assert_holds("victim", "mine");
	}
	kill(planter, SIGKILL);
	assert_int_equal(waitpid(planter, NULL, 0), planter);
	print_message("%d written, %d refused\n", written, refused);
}

static void test_fifo(void **state)
{
	const char *hint;
	char buf[64];
	int fd;

	(void)state;
	assert_int_equal(mkfifo("t", 0600), 0);
	assert_int_equal(write_trace("t", &hint), -ENXIO);
	assert_non_null(hint);
	fd = open("t", O_RDONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	assert_int_equal(write_trace("t", &hint), 0);
	assert_int_equal(read(fd, buf, sizeof(buf)), sizeof(record));
	close(fd);
	assert_int_equal(write_trace("/dev/null", &hint), 0);
	assert_int_equal(write_trace(".", &hint), -EISDIR);
}

/* As in /tmp: somebody else's FIFO is not ours to write to. */
static void test_fifo_of_others(void **state)
{
	const char *hint;
	int fd;

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(mkfifo("t", 0666), 0);
	assert_int_equal(chown("t", 65534, 65534), 0);
	fd = open("t", O_RDONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	assert_int_equal(write_trace("t", &hint), 0);	/* in a directory of ours */
	assert_int_equal(chmod(".", 01777), 0);
	assert_int_equal(write_trace("t", &hint), -EACCES);
	assert_non_null(hint);
	assert_int_equal(chown("t", 0, 0), 0);
	assert_int_equal(write_trace("t", &hint), 0);
	close(fd);
}

/* A disk would be overwritten. */
static void test_block_device(void **state)
{
	const char *hint;

	(void)state;
	if (geteuid() || mknod("t", S_IFBLK | 0600, makedev(7, 0)))
		skip();
	assert_true(write_trace("t", &hint) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_old_is_kept, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_unpublished, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_two_at_once, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_ended_by_signal, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_replaces_no_fifo, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_links, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_planted_meanwhile, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_fifo, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_fifo_of_others, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_block_device, make_dir, remove_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
