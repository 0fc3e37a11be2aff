// SPDX-License-Identifier: GPL-2.0
/*
 * Maps of code that JIT compilers write: lines, damaged ones, and which code is the newest.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/jit_map.h"

#define ENTRIES(table)	(sizeof(table) / sizeof((table)[0]))
#define MANY		(1 << 20)

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

static void add(struct jit_map *m, const char *text)
{
	assert_int_equal(jit_map_add(m, text, strlen(text)), 0);
}

static void test_lines(void **state)
{
	struct jit_map *m;

	(void)state;
	assert_int_equal(jit_map_open(&m), 0);
	check_code(m, 0x1000, NULL);
	add(m, "2000 10 second\n1000 20 JS:*first file.js:1\n7f0000003000 1 far\n0x4000 0x8 prefixed\n5000 8 no newline");
	check_code(m, 0xfff, NULL);
	check_code(m, 0x1000, "JS:*first file.js:1");
	check_code(m, 0x101f, "JS:*first file.js:1");
	check_code(m, 0x1020, NULL);
	check_code(m, 0x200f, "second");
	check_code(m, 0x7f0000003000, "far");
	check_code(m, 0x4007, "prefixed");
	check_code(m, 0x5000, "no newline");
	check_code(m, UINT64_MAX, NULL);
	jit_map_clear(m);
	check_code(m, 0x1000, NULL);
	jit_map_close(m);
	jit_map_close(NULL);
}

static void test_newest(void **state)
{
	struct jit_map *m;

	(void)state;
	assert_int_equal(jit_map_open(&m), 0);
	add(m, "1000 100 old\n1000 10 again\n");
	check_code(m, 0x1000, "again");
	check_code(m, 0x1010, NULL);
	add(m, "1008 10 over it\n");
	check_code(m, 0x1007, "again");
	check_code(m, 0x1008, "over it");
	check_code(m, 0x1017, "over it");
	/* One that begins before it, but is newer. */
	add(m, "ff0 40 around\n");
	check_code(m, 0x1008, "around");
	check_code(m, 0x102f, "around");
	add(m, "1000 8 last\n");
	check_code(m, 0x1000, "last");
	check_code(m, 0x1008, "around");
	jit_map_close(m);
}

static void test_damaged_lines(void **state)
{
	static const char *const lines[] = {
		"", " ", "\n", "1000", "1000 ", "1000 10", "1000 10 ", "x 10 name", "1000 x name", "1000  10 name",
		"11112222333344445 1 name", "1000 0 name", "ffffffffffffffff 10 name", "1000 ffffffffffff name",
		"-1000 10 name", "1000\t10\tname", "0x 10 name", "name",
	};
	struct jit_map *m;
	size_t i, len;

	(void)state;
	assert_int_equal(jit_map_open(&m), 0);
	for (i = 0; i < ENTRIES(lines); i++) {
		add(m, lines[i]);
		add(m, "\n");
	}
	assert_int_equal(jit_map_bytes(m), 0);
	add(m, "1000 10 a\0b");
	assert_int_equal(jit_map_add(m, "2000 10 a\0b\n", 12), 0);
	check_code(m, 0x1000, "a");
	assert_true(jit_map_bytes(m) > 0);
	for (len = 0; len < 20; len++)
		assert_int_equal(jit_map_add(m, "deadbeef00 20 a name", len), 0);
	check_code(m, 0xdeadbeef00, "a nam");
	jit_map_close(m);
}

/* As many as it can hold, which takes no more than it says. */
static void test_many_lines(void **state)
{
	const size_t cap = 32 * MANY;
	char *text = malloc(cap), *p = text;
	struct jit_map *m;
	int i, err = 0;

	(void)state;
	assert_non_null(text);
	for (i = 0; i < MANY; i++)
		p += sprintf(p, "%x 8 f%d\n", 0x1000 + 8 * i, i);
	assert_int_equal(jit_map_open(&m), 0);
	assert_int_equal(jit_map_add(m, text, p - text), 0);
	check_code(m, 0x1000, "f0");
	check_code(m, 0x1000 + 8 * 777777 + 7, "f777777");
	assert_int_equal(jit_map_add(m, "0 8 more\n", 9), -EFBIG);
	check_code(m, 0x1000, "f0");
	jit_map_clear(m);
	assert_int_equal(jit_map_bytes(m), 0);
	/* The same with long names. */
	memset(text, 'x', 5000);
	memcpy(text, "1000 8 ", 7);
	text[5000] = '\n';
	for (i = 0; !err && i < 40000; i++)
		err = jit_map_add(m, text, 5001);
	assert_int_equal(err, -EFBIG);
	assert_true(i > 30000 && jit_map_bytes(m) < 100 << 20);
	jit_map_close(m);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_newest),
		cmocka_unit_test(test_damaged_lines),
		cmocka_unit_test(test_many_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
