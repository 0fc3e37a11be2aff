// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt verify --repair: recordings that end anywhere or were damaged anywhere become whole, keep
 * every record that was whole, and say what happened to them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/exit.h"
#include "cli/cli_made.h"
#include "cuts.h"
#include "repair_walk.h"

#define TAIL_BYTES	2048	/* cut at each of them, or each CUT_STEP'th */
#define CUTS		200	/* elsewhere */
#define FLIPS		1500
#define BLOCK_BYTES	4096U	/* of a file system */
#define PROGRAM_BYTES	(1U << 20)

struct recording {
	char *data, *copy;
	size_t len;
};

static int setup(void **state)
{
	struct recording *r = malloc(sizeof(*r));

	assert_non_null(r);
	r->data = read_recording(&r->len);
	r->copy = malloc(r->len);
	assert_non_null(r->copy);
	memcpy(r->copy, r->data, r->len);
	srand(1);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct recording *r = *state;

	free(r->data);
	free(r->copy);
	free(r);
	return 0;
}

static uint64_t word_at(const char *data, size_t at)
{
	uint64_t word;

	memcpy(&word, data + at, 8);
	return word;
}

/* Where the last whole record before @cut ends, by the sizes alone. */
static size_t whole_bytes(const struct recording *r, size_t cut)
{
	size_t at = 0, next;

	for (;;) {
		next = at < cut ? at + FXT_GET(word_at(r->data, at), FXT_F_SIZE) * 8 : SIZE_MAX;
		if (next > cut)
			return at;
		at = next;
	}
}

/* The promises hold and nothing at all is held against the copy. */
static struct repair_result repair_clean(const void *data, size_t len, const char *what, size_t at)
{
	struct repair_walk w;
	unsigned int i;

	repair_walk_run(&w, data, len);
	if (w.err || w.broken)
		fail_msg("%s at %zu: error %d, %s (%s)", what, at, w.err, w.broken, w.first);
	for (i = 0; i < VERIFY_PROBLEM_CNT; i++)
		if (w.found[i])
			fail_msg("%s at %zu: %s", what, at, w.first);
	repair_walk_free(&w);
	return w.result;
}

static void check_cut(const struct recording *r, size_t cut)
{
	const struct repair_result res = repair_clean(r->data, cut, "cut", cut);
	const size_t whole = whole_bytes(r, cut);

	assert_int_equal(res.kept_bytes, whole);
	assert_int_equal(res.dropped_bytes, cut - whole);
	/* Inside of a record that was cut there may be what looks like another one. */
	assert_int_equal(res.damages > 0, cut > whole);
	assert_int_equal(res.gaps, 0);
}

/* Wherever it ends: all that is whole is kept, and nothing else. */
static void test_cut(void **state)
{
	const struct recording *r = *state;
	struct cuts places;
	size_t cut, i;

	cuts_init(&places, r->len);
	cuts_records(&places, r->data);
	for (cut = r->len - TAIL_BYTES; cut <= r->len; cut = cuts_next(&places, cut + 1))
		check_cut(r, cut);
	for (cut = 8; cut < 800; cut = cuts_next(&places, cut + 5))
		check_cut(r, cut);
	cuts_free(&places);
	for (i = 0; i < cuts_tries(CUTS); i++)
		check_cut(r, 8 + (size_t)rand() % (r->len - 8));
	assert_true(repair_clean(r->data, r->len - 8, "cut", r->len - 8).cut == false);
	assert_true(repair_clean(r->data, r->len / 2, "cut", r->len / 2).ended == 2);
}

/* Blocks that were never written: the file system has them as zeros. */
static void test_zeros(void **state)
{
	struct recording *r = *state;
	size_t from;

	for (from = BLOCK_BYTES; from < r->len; from += BLOCK_BYTES) {
		memcpy(r->copy, r->data, from);
		memset(r->copy + from, 0, r->len - from);
		assert_true(repair_clean(r->copy, r->len, "zeros", from).cut);
	}
	/* and one in the middle */
	memcpy(r->copy, r->data, r->len);
	for (from = BLOCK_BYTES; from + BLOCK_BYTES < r->len; from += BLOCK_BYTES) {
		memset(r->copy + from, 0, BLOCK_BYTES);
		assert_true(repair_clean(r->copy, r->len, "a block of zeros", from).damages >= 1);
		memcpy(r->copy + from, r->data + from, BLOCK_BYTES);
	}
}

/* A block of something else: noise, text, or what this file held elsewhere. */
static void test_garbage(void **state)
{
	struct recording *r = *state;
	size_t from, i, kind;

	for (from = BLOCK_BYTES; from + BLOCK_BYTES < r->len; from += BLOCK_BYTES) {
		for (kind = 0; kind < 2; kind++) {
			for (i = 0; i < BLOCK_BYTES; i++)
				r->copy[from + i] = kind ? "some text\n"[i % 10] : (char)rand();
			assert_true(repair_clean(r->copy, r->len, "garbage", from).damages >= 1);
		}
		memcpy(r->copy + from, r->data + from, BLOCK_BYTES);
	}
}

/*
 * What is still a record cannot be distinguished from one, so verify may find fault with what it says;
 * but what is copied has no damage, and all the promises hold.
 */
static void test_flips(void **state)
{
	struct recording *r = *state;
	struct repair_walk w;
	const size_t flips = cuts_tries(FLIPS);
	size_t at, clean = 0, i;

	for (i = 0; i < flips; i++) {
		at = (size_t)rand() % r->len;
		r->copy[at] ^= (char)(1 + rand() % 255);
		repair_walk_run(&w, r->copy, r->len);
		if (w.err || w.broken)
			fail_msg("flip %zu at %zu: error %d, %s (%s)", i, at, w.err, w.broken, w.first);
		clean += !w.first[0];
		repair_walk_free(&w);
		r->copy[at] = r->data[at];
	}
	print_message("%zu of %zu are clean\n", clean, flips);
	assert_true(clean > flips / 2);
}

/* A switch that was lost: the tasks in between are not invented. */
static void test_gap(void **state)
{
	struct repair_walk w;
	size_t at, bytes;
	struct made m;

	(void)state;
	made_open(&m);
	put_clean(&m);
	put_clean_ledgers(&m);
	made_close(&m);
	/* the third switch of CPU 1, by its time */
	for (at = 0; at < m.len; at += bytes) {
		bytes = FXT_GET(word_at(m.data, at), FXT_F_SIZE) * 8;
		if (FXT_GET(word_at(m.data, at), FXT_F_TYPE) == FXT_SCHEDULING && word_at(m.data, at + 8) == 1300)
			memset(m.data + at, 0, 16);
	}
	repair_walk_run(&w, m.data, m.len);
	assert_null(w.broken);
	assert_string_equal(w.first, "");
	assert_int_equal(w.result.damages, 1);
	assert_int_equal(w.result.gaps, 2);
	assert_int_equal(w.result.ended, 0);
	assert_false(w.result.cut);
	repair_walk_free(&w);
	made_free(&m);
}

/* A file of nobody's: what runs is ended there as well. Without an end that could be missing it is whole. */
static void test_foreign(void **state)
{
	struct repair_walk w;
	struct made m;

	(void)state;
	made_begin(&m);
	put_switch(&m, 100, 0, IDLE, 1, 11, NULL);
	put_switch(&m, 200, 0, 11, 3, 12, NULL);
	made_close(&m);
	repair_walk_run(&w, m.data, m.len);
	assert_null(w.broken);
	assert_true(repair_was_whole(&w.result));
	repair_walk_free(&w);
	repair_walk_run(&w, m.data, m.len - 8);
	assert_null(w.broken);
	assert_string_equal(w.first, "");
	assert_int_equal(w.result.ended, 1);
	assert_true(w.result.cut);
	repair_walk_free(&w);
	made_free(&m);
}

static void assert_refused(const void *data, size_t len, const char *what)
{
	struct repair_walk w;

	repair_walk_run(&w, data, len);
	if (w.err != -EPROTO && w.err != -ENODATA)
		fail_msg("%s: error %d, %llu records kept", what, w.err, (unsigned long long)w.result.records);
	repair_walk_free(&w);
}

/* Records that are in a file by chance do not make it a trace. */
static void test_no_trace(void **state)
{
	const struct recording *rec = *state;
	char *data = malloc(PROGRAM_BYTES);
	FILE *program = fopen("/proc/self/exe", "rb");
	size_t i;

	assert_non_null(data);
	assert_non_null(program);
	assert_refused(data, fread(data, 1, PROGRAM_BYTES, program), "a program");
	fclose(program);
	for (i = 0; i < rec->len; i++)
		data[i] = (char)rand();
	assert_refused(data, rec->len, "noise");
	for (i = 0; i < rec->len; i++)
		data[i] = "some text\n"[i % 10];
	assert_refused(data, rec->len, "text");
	/* some thirty records of a trace in the middle of text */
	memcpy(data + 8000, rec->data + 20000, 1600);
	assert_refused(data, rec->len, "text with records");
	free(data);
}

/* A trace whose first block is lost is still one, and so is a small one without its first word. */
static void test_no_start(void **state)
{
	struct recording *r = *state;
	struct repair_walk w;
	struct made m;

	memset(r->copy, 0x5a, BLOCK_BYTES);
	repair_walk_run(&w, r->copy, r->len);
	assert_int_equal(w.err, 0);
	assert_null(w.broken);
	repair_walk_free(&w);
	memcpy(r->copy, r->data, BLOCK_BYTES);
	made_begin(&m);
	put_switch(&m, 100, 0, IDLE, 1, 11, NULL);
	made_close(&m);
	repair_walk_run(&w, m.data + 8, m.len - 8);
	assert_int_equal(w.err, 0);
	assert_null(w.broken);
	assert_int_equal(w.result.dropped_bytes, 0);
	repair_walk_free(&w);
	made_free(&m);
}

/* ---- the command --------------------------------------------------------------------- */

static void write_file(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

static void run_code(int code, const char *part, const char *in, const char *out)
{
	struct run r = run_command(cmd_verify, "verify", "--repair", in, "-o", out, NULL);

	if (r.code != code)
		fail_msg("exit %d: %s", r.code, r.err);
	assert_has(r.err, part);
	run_free(&r);
}

static void test_command(void **state)
{
	const struct recording *rec = *state;
	char dir[] = "/tmp/kfxt-test-XXXXXX", in[64], out[64], old[64], link_to[64];
	struct stat st;
	struct run r;

	assert_non_null(mkdtemp(dir));
	snprintf(in, sizeof(in), "%s/in", dir);
	snprintf(out, sizeof(out), "%s/out", dir);
	snprintf(old, sizeof(old), "%s/out.old", dir);
	snprintf(link_to, sizeof(link_to), "%s/link", dir);
	write_file(in, rec->data, rec->len - 4003);
	run_code(EXIT_OK, "out: repaired: ", in, out);
	assert_int_equal(stat(out, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	r = run_command(cmd_verify, "verify", out, NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_has(r.out, "lost:             unknown: the trace was repaired\n");
	assert_has(r.out, "note: the trace was repaired: ");
	run_free(&r);
	r = run_command(cmd_report, "report", out, NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_string_equal(r.err, "");
	run_free(&r);
	/* what is there is kept, and a copy is one */
	run_code(EXIT_OK, "nothing to repair", out, link_to);
	run_code(EXIT_OK, "nothing to repair", link_to, out);
	assert_int_equal(stat(old, &st), 0);
	/* what must not be */
	run_code(EXIT_USAGE, "is the trace to be repaired", in, in);
	unlink(link_to);
	assert_int_equal(link(in, link_to), 0);
	run_code(EXIT_USAGE, "is the trace to be repaired", in, link_to);
	run_code(EXIT_USAGE, "is not a regular file", in, dir);
	run_code(EXIT_USAGE, "is not a regular file", in, "/dev/null");
	run_code(EXIT_USAGE, "writes regular files only", in, "-");
	run_code(EXIT_FAILED, "No such file", "/nonexistent", out);
	run_code(EXIT_FAILED, "/nonexistent/out: cannot write: No such file", in, "/nonexistent/out");
	unlink(link_to);
	unlink(in);
	unlink(out);
	unlink(old);
	assert_int_equal(rmdir(dir), 0);
}

/* Of a trace nothing but its start or its end is missing, or all of it. */
static void test_command_without(void **state)
{
	const struct recording *rec = *state;
	char dir[] = "/tmp/kfxt-test-XXXXXX", in[64], out[64], none[64], old[64], text[4000];
	struct stat st;
	struct run r;

	assert_non_null(mkdtemp(dir));
	snprintf(in, sizeof(in), "%s/in", dir);
	snprintf(out, sizeof(out), "%s/out", dir);
	snprintf(old, sizeof(old), "%s/out.old", dir);
	snprintf(none, sizeof(none), "%s/none", dir);
	/* an end that is missing before any switch */
	write_file(in, rec->data, 32);
	run_code(EXIT_OK, "the end is missing: every CPU was ended already\n", in, out);
	/* a start without the magic number */
	write_file(in, rec->data + 8, rec->len - 8);
	r = run_command(cmd_verify, "verify", "--repair", in, "-o", out, NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_has(r.err, "no magic number at the beginning: added\n");
	assert_null(strstr(r.err, "dropped 0 bytes at"));
	run_free(&r);
	/* no trace at all: no file remains */
	memset(text, '#', sizeof(text));
	memcpy(text + 800, rec->data + 20000, 1600);
	write_file(in, text, sizeof(text));
	run_code(EXIT_FAILED, "not a Fuchsia trace: no magic number", in, none);
	assert_int_equal(stat(none, &st), -1);
	write_file(in, "{\"traceEvents\":[]}", 18);
	run_code(EXIT_FAILED, "not a Fuchsia trace", in, none);
	assert_int_equal(stat(none, &st), -1);
	unlink(in);
	unlink(out);
	unlink(old);
	assert_int_equal(rmdir(dir), 0);
}

static size_t files_like(const char *pattern)
{
	glob_t found;
	size_t cnt = glob(pattern, 0, NULL, &found) ? 0 : found.gl_pathc;

	globfree(&found);
	return cnt;
}

/* Ended by a signal while it waits for more of its input. */
static void test_signals(void **state)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	char dir[] = "/tmp/kfxt-test-XXXXXX", in[64], out[64], pattern[64];
	char *argv[] = { "verify", "--repair", "-o", out, in, NULL };
	int i, fd, tries, status;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(in, sizeof(in), "%s/in", dir);
	snprintf(out, sizeof(out), "%s/out", dir);
	snprintf(pattern, sizeof(pattern), "%s/out*", dir);
	assert_int_equal(mkfifo(in, 0600), 0);
	for (i = 0; i < 3; i++) {
		pid = fork();
		if (!pid) {
			/* As a job of a shell it would ignore some; one that it does not take ends it late. */
			signal(numbers[i], SIG_DFL);
			alarm(60);
			_exit(cmd_verify(5, argv));
		}
		fd = open(in, O_WRONLY);
		for (tries = 0; !files_like(pattern) && tries < 1000; tries++)
			usleep(10000);
		assert_int_equal(files_like(pattern), 1);
		kill(pid, numbers[i]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == numbers[i]);
		assert_int_equal(files_like(pattern), 0);
		close(fd);
	}
	unlink(in);
	assert_int_equal(rmdir(dir), 0);
}

static void test_options(void **state)
{
	struct run r;

	(void)state;
	r = run_command(cmd_verify, "verify", "--repair", "x", NULL);
	assert_int_equal(r.code, EXIT_USAGE);
	assert_has(r.err, "needs a file to write");
	run_free(&r);
	r = run_command(cmd_verify, "verify", "-o", "y", "x", NULL);
	assert_int_equal(r.code, EXIT_USAGE);
	run_free(&r);
	r = run_command(cmd_verify, "verify", "--repair", "--json", "-o", "y", "x", NULL);
	assert_int_equal(r.code, EXIT_USAGE);
	run_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(test_zeros, setup, teardown),
		cmocka_unit_test_setup_teardown(test_garbage, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flips, setup, teardown),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test_setup_teardown(test_no_trace, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_start, setup, teardown),
		cmocka_unit_test_setup_teardown(test_command, setup, teardown),
		cmocka_unit_test_setup_teardown(test_command_without, setup, teardown),
		cmocka_unit_test(test_signals), cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
