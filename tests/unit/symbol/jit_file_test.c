// SPDX-License-Identifier: GPL-2.0
/*
 * The maps of code in /tmp, as they grow, and files that are not what they seem.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "symbol/jit.h"
#include "symbol/jit_file.h"

#define PID		42

/* @expected NULL: no code is there. */
static void check_code(struct jit_map *m, uint64_t pc, const char *expected)
{
	struct jit_code code;

	if (!jit_map_find(m, pc, &code)) {
		if (expected)
			fail_msg("nothing at %lx, where %s is", pc, expected);
		return;
	}
	assert_true(code.start <= pc && pc - code.start < code.bytes);
	assert_true(expected && code.name_len == strlen(expected));
	assert_memory_equal(code.name, expected, code.name_len);
}

struct fixture {
	char root[32];
	char path[96];		/* of the map, in the process's root */
};

static void shell(const struct fixture *x, const char *command)
{
	char line[4096];

	snprintf(line, sizeof(line), "cd %s && { %s; } >log 2>&1", x->root, command);
	if (system(line))
		fail_msg("%s", command);
}

static int set_up(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	char command[256];

	strcpy(x->root, "/tmp/kfxt-jit-XXXXXX");
	if (!mkdtemp(x->root))
		return -1;
	snprintf(command, sizeof(command), "mkdir -p proc/42/root/tmp && printf 'Name:\\tUid: 1\\nUid:\\t7\\t%d\\t7\\t7\\n"
		 "NSpid:\\t42\\t17\\t3\\nend\\n' >proc/42/status", geteuid());
	shell(x, command);
	snprintf(x->path, sizeof(x->path), "%s/proc/42/root/tmp/perf-3.map", x->root);
	*state = x;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *x = *state;
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", x->root);
	if (system(command))
		return -1;
	free(x);
	return 0;
}

static void write_map(const struct fixture *x, const char *mode, const char *text)
{
	FILE *f = fopen(x->path, mode);

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static struct jit_file *open_file(const struct fixture *x)
{
	struct jit_file *f;

	assert_int_equal(jit_file_open(&f, x->root, PID), 0);
	return f;
}

static void check_after_read(struct jit_file *f, uint64_t pc, const char *expected)
{
	jit_file_read(f, 1 << 20);
	check_code(jit_file_map(f), pc, expected);
}

static void test_file_grows(void **state)
{
	const struct fixture *x = *state;
	struct jit_file *f = open_file(x);

	check_after_read(f, 0x1000, NULL);
	write_map(x, "w", "1000 10 one\n2000 10 tw");
	check_after_read(f, 0x1000, "one");
	check_code(jit_file_map(f), 0x2000, NULL);
	write_map(x, "a", "o\n3000 10 three\n");
	check_after_read(f, 0x2000, "two");
	check_code(jit_file_map(f), 0x3000, "three");
	check_after_read(f, 0x1000, "one");
	/* Another file of the same name, and the same file with other contents. */
	shell(x, "rm proc/42/root/tmp/perf-3.map");
	check_after_read(f, 0x1000, "one");
	write_map(x, "w", "5000 10 five\n6000 10 six\n7000 10 seven\n8000 10 eight\n");
	check_after_read(f, 0x5000, "five");
	check_code(jit_file_map(f), 0x1000, NULL);
	write_map(x, "w", "5000 10 changed\n6000 10 more than before\n7000 10 and even more\n8000 10 eight\n");
	check_after_read(f, 0x5000, "changed");
	write_map(x, "w", "9000 10 nine\n");
	check_after_read(f, 0x5000, NULL);
	check_code(jit_file_map(f), 0x9000, "nine");
	jit_file_close(f);
	jit_file_close(NULL);
}

/* Of a long one the end. */
static void test_long_file(void **state)
{
	const struct fixture *x = *state;
	FILE *out = fopen(x->path, "w");
	struct jit_file *f = open_file(x);
	int i;

	for (i = 0; i < 200000; i++)
		fprintf(out, "%x 8 function %d\n", 0x1000 + 8 * i, i);
	fclose(out);
	check_after_read(f, 0x1000 + 8 * 199999, "function 199999");
	check_code(jit_file_map(f), 0x1000, NULL);
	check_code(jit_file_map(f), 0x1000 + 8 * 180000, "function 180000");
	write_map(x, "a", "1 8 last\n");
	check_after_read(f, 1, "last");
	check_code(jit_file_map(f), 0x1000 + 8 * 180000, "function 180000");
	jit_file_close(f);
}

static void refuse(const struct fixture *x, const char *command)
{
	struct jit_file *f = open_file(x);

	shell(x, command);
	check_after_read(f, 0x1000, NULL);
	jit_file_close(f);
}

static void test_not_to_be_trusted(void **state)
{
	const struct fixture *x = *state;
	struct jit_file *f = open_file(x);

	write_map(x, "w", "1000 10 one\n");
	check_after_read(f, 0x1000, "one");
	jit_file_close(f);
	refuse(x, "cp proc/42/root/tmp/perf-3.map secret; ln -sf ../../../../secret proc/42/root/tmp/perf-3.map");
	refuse(x, "rm proc/42/root/tmp/perf-3.map; mkfifo proc/42/root/tmp/perf-3.map");
	refuse(x, "rm proc/42/root/tmp/perf-3.map; mkdir proc/42/root/tmp/perf-3.map");
	refuse(x, "rm -r proc/42/root/tmp; mkdir other; cp secret other/perf-3.map; ln -s ../../../other proc/42/root/tmp");
	refuse(x, "rm proc/42/root/tmp; mkdir proc/42/root/tmp; cp secret proc/42/root/tmp/perf-3.map; "
		  "sed -i '/^NSpid/d' proc/42/status");
	refuse(x, "echo NSpid: x >>proc/42/status");
	refuse(x, "rm proc/42/status");
	refuse(x, "rm -r proc/42");
}

static void test_of_another_user(void **state)
{
	const struct fixture *x = *state;
	struct jit_file *f;

	if (geteuid())
		skip();
	write_map(x, "w", "1000 10 one\n");
	refuse(x, "chown 12345 proc/42/root/tmp/perf-3.map");
	shell(x, "sed -i 's/^Uid:.*/Uid:\\t1\\t12345\\t1\\t1/' proc/42/status");
	f = open_file(x);
	check_after_read(f, 0x1000, "one");
	jit_file_close(f);
}

/* ---- processes ------------------------------------------------------------------------ */

static bool find(struct jit *j, uint32_t koid, uint64_t pc, uint64_t *took_ns)
{
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	struct jit_code code;
	const bool found = jit_find(j, koid, PID, pc, &code);

	*took_ns = clock_ns(CLOCK_MONOTONIC) - begin;
	return found;
}

/* Until a map may be read again, after reading took @took_ns: that is to be one in twenty parts of the time. */
static void wait_to_read(uint64_t took_ns)
{
	usleep((useconds_t)(200000 + 20 * took_ns / 1000));
}

static void test_read_again(void **state)
{
	const struct fixture *x = *state;
	uint64_t begin, took, other;
	struct jit_code code;
	struct jit *j;
	bool found;
	int i;

	write_map(x, "w", "1000 10 one\n");
	assert_int_equal(jit_open(&j, x->root), 0);
	begin = clock_ns(CLOCK_MONOTONIC);
	assert_true(find(j, PID, 0x1000, &took));
	write_map(x, "a", "2000 10 two\n");
	found = find(j, PID, 0x2000, &other);
	assert_true(!found || clock_ns(CLOCK_MONOTONIC) - begin >= 100000000);
	wait_to_read(took + other);
	assert_true(find(j, PID, 0x2000, &took));
	/* One that has no map may be about to make it. */
	write_map(x, "a", "3000 10 three\n");
	shell(x, "mv proc/42/root/tmp/perf-3.map map");
	wait_to_read(took);
	assert_false(find(j, PID + 2, 0x3000, &took));
	shell(x, "mv map proc/42/root/tmp/perf-3.map");
	wait_to_read(took);
	assert_true(find(j, PID + 2, 0x3000, &took));
	/* One that has had none for long is not asked as often. */
	shell(x, "mv proc/42/root/tmp/perf-3.map map");
	for (i = 0; i < 5; i++) {
		wait_to_read(took);
		usleep(100000U << i);
		begin = clock_ns(CLOCK_MONOTONIC);
		assert_false(find(j, PID + 4, 0x3000, &took));
	}
	shell(x, "mv map proc/42/root/tmp/perf-3.map");
	wait_to_read(took);
	found = find(j, PID + 4, 0x3000, &took);
	assert_true(!found || clock_ns(CLOCK_MONOTONIC) - begin >= 1000000000);
	/* Many that have none; the one that was asked for last of all is not forgotten. */
	for (i = 0; i < 1000; i++) {
		assert_false(jit_find(j, 1000 + i, 1000 + i, 0x1000, &code));
		assert_true(jit_find(j, PID, PID, 0x1000, &code));
	}
	jit_close(j);
	jit_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_file_grows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_long_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_not_to_be_trusted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_of_another_user, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_read_again, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
