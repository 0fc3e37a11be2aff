// SPDX-License-Identifier: GPL-2.0
/*
 * What is known of a file without symbols: those in .gnu_debugdata, and where functions begin, by
 * .eh_frame. This test program is the file, stripped by objcopy; the judge is readelf.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lzma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf/elf_p.h"

#define NO_DEBUG_DIR	"/nonexistent"
#define BOMB_BYTES	(65U << 20)
#define ENTRIES(table)	(sizeof(table) / sizeof((table)[0]))

struct fixture {
	char dir[32];
	struct elf_file *full;		/* this program */
};

static void write_file(const struct fixture *x, const char *name, const void *data, size_t bytes)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", x->dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, bytes, f), bytes);
	assert_int_equal(fclose(f), 0);
}

static void *read_file(const struct fixture *x, const char *name, size_t *bytes)
{
	char path[PATH_MAX];
	struct stat st;
	void *data;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", x->dir, name);
	f = fopen(path, "re");
	assert_true(f && !fstat(fileno(f), &st));
	data = malloc(st.st_size + 1);
	assert_non_null(data);
	*bytes = fread(data, 1, st.st_size, f);
	assert_int_equal(*bytes, st.st_size);
	fclose(f);
	return data;
}

/* Runs @command in the directory, where "exe" is this program. */
static void shell(const struct fixture *x, const char *command)
{
	char line[2 * PATH_MAX];

	snprintf(line, sizeof(line), "cd %s && { %s; } >log 2>&1", x->dir, command);
	if (system(line))
		fail_msg("%s", command);
}

static struct elf_file *open_file(const struct fixture *x, const char *name)
{
	char path[PATH_MAX];
	struct elf_file *f = NULL;
	const char *why;

	snprintf(path, sizeof(path), "%s/%s", x->dir, name);
	assert_int_equal(elf_file_open_with(&f, path, NO_DEBUG_DIR, &why), 0);
	return f;
}

static int set_up(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	char command[PATH_MAX + 64], exe[PATH_MAX] = "";

	strcpy(x->dir, "/tmp/kfxt-stripped-XXXXXX");
	if (!mkdtemp(x->dir) || readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
		return -1;
	snprintf(command, sizeof(command), "cp '%s' exe && objcopy -S exe stripped", exe);
	shell(x, command);
	x->full = open_file(x, "exe");
	*state = x;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *x = *state;
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", x->dir);
	elf_file_close(x->full);
	if (system(command))
		return -1;
	free(x);
	return 0;
}

/* ---- .eh_frame --------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b)
{
	const struct elf_range *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Ranges of addresses as readelf prints them, as offsets. */
static size_t expect_ranges(const struct elf_file *f, const char *path, struct elf_range *out, size_t max)
{
	char command[PATH_MAX + 64], line[4096];
	const char *pc;
	uint64_t from, to;
	size_t cnt = 0;
	FILE *p;

	snprintf(command, sizeof(command), "LC_ALL=C readelf -wF '%s' 2>/dev/null", path);
	p = popen(command, "r");
	assert_non_null(p);
	while (fgets(line, sizeof(line), p)) {
		pc = strstr(line, " FDE ") ? strstr(line, "pc=") : NULL;
		if (!pc || sscanf(pc, "pc=%lx..%lx", &from, &to) != 2 || from == to)
			continue;
		assert_true(cnt < max);
		if (elf_file_translate(f, from, true, &out[cnt].offset))
			out[cnt++].bytes = to - from;
	}
	pclose(p);
	qsort(out, cnt, sizeof(*out), by_offset);
	return cnt;
}

static void compare_ranges(const struct elf_file *f, const char *path)
{
	const size_t max = 1 << 20;
	struct elf_range *expected = calloc(max, sizeof(*expected));
	size_t cnt = expect_ranges(f, path, expected, max), i;

	assert_true(cnt > 20);
	assert_int_equal(f->range_cnt, cnt);
	for (i = 0; i < cnt; i++) {
		assert_int_equal(f->ranges[i].offset, expected[i].offset);
		assert_int_equal(f->ranges[i].bytes, expected[i].bytes);
	}
	free(expected);
}

static void test_ranges_are_those_of_readelf(void **state)
{
	const struct fixture *x = *state;
	char path[ELF_PATH_BYTES];
	struct elf_file *f = open_file(x, "stripped");
	const char *why;

	assert_true(elf_file_is_stripped(f));
	snprintf(path, sizeof(path), "%s/stripped", x->dir);
	compare_ranges(f, path);
	elf_file_close(f);
	/* The largest that is everywhere; with symbols where those were not removed. */
	assert_int_equal(elf_path_find("libc.so.6", path), 0);
	assert_int_equal(elf_file_open_with(&f, path, NO_DEBUG_DIR, &why), 0);
	if (elf_file_is_stripped(f))
		compare_ranges(f, path);
	elf_file_close(f);
}

/* Each of our own functions, which the compiler made, is one, from its first byte to its last. */
static void test_functions_begin_where_their_symbols_do(void **state)
{
	static const char *const names[] = { "main", "elf_file_open_with", "elf_file_close", "set_up" };
	const struct fixture *x = *state;
	struct elf_file *f = open_file(x, "stripped");
	const struct elf_func *funcs;
	unsigned int cnt, i, found = 0;
	uint64_t start, address;
	size_t k;

	funcs = elf_file_functions(x->full, &cnt);
	for (i = 0; i < cnt; i++)
		for (k = 0; k < ENTRIES(names); k++) {
			if (strcmp(funcs[i].name, names[k]))
				continue;
			assert_null(elf_file_find(f, funcs[i].offset));
			assert_true(elf_file_function_start(f, funcs[i].offset, &start));
			assert_int_equal(start, funcs[i].offset);
			assert_true(elf_file_function_start(f, funcs[i].offset + funcs[i].size - 1, &start));
			assert_int_equal(start, funcs[i].offset);
			assert_true(elf_file_address(f, start, &address));
			assert_true(elf_file_translate(f, address, true, &start));
			assert_int_equal(start, funcs[i].offset);
			found++;
		}
	assert_true(found >= ENTRIES(names));
	assert_false(elf_file_function_start(f, 0, &start));
	assert_false(elf_file_function_start(f, UINT64_MAX, &start));
	assert_false(elf_file_address(f, UINT64_MAX, &address));
	/* Where there are symbols they are not needed. */
	assert_false(elf_file_function_start(x->full, funcs[cnt / 2].offset, &start));
	elf_file_close(f);
}

/* ---- made entries ------------------------------------------------------------------ */

/* Entries of .eh_frame, and the address that the section has. */
struct made {
	uint8_t data[1024];
	size_t bytes;
	uint64_t address;
};

static void put(struct made *m, uint64_t value, size_t bytes)
{
	assert_true(m->bytes + bytes <= sizeof(m->data));
	memcpy(m->data + m->bytes, &value, bytes);
	m->bytes += bytes;
}

/* @after: what follows the letters of the augmentation, up to its encoding. */
static size_t put_cie(struct made *m, uint8_t version, const char *letters, const char *after, size_t bytes)
{
	const size_t at = m->bytes;

	put(m, 5 + strlen(letters) + 1 + bytes, 4);
	put(m, 0, 4);
	put(m, version, 1);
	memcpy(m->data + m->bytes, letters, strlen(letters) + 1);
	m->bytes += strlen(letters) + 1;
	memcpy(m->data + m->bytes, after, bytes);
	m->bytes += bytes;
	return at;
}

/* With values of @bytes; @is_relative: @from counts from its own place. */
static void put_fde(struct made *m, size_t cie, uint64_t from, uint64_t range, size_t bytes, bool is_relative)
{
	put(m, 4 + 2 * bytes, 4);
	put(m, m->bytes - cie, 4);
	put(m, is_relative ? from - (m->address + m->bytes) : from, bytes);
	put(m, range, bytes);
}

#define PUT_CIE(m, version, letters, after) put_cie(m, version, letters, after, sizeof(after) - 1)

static void put_entries(struct made *m, uint64_t code)
{
	size_t cie, skipped;

	cie = PUT_CIE(m, 1, "", "\x01\x78\x10");			/* addresses as they are */
	put_fde(m, cie, code, 0x10, 8, false);
	cie = PUT_CIE(m, 1, "zR", "\x01\x78\x10\x01\x1b");		/* relative, 4 bytes */
	put_fde(m, cie, code + 0x10, 0x10, 4, true);
	skipped = PUT_CIE(m, 1, "zR", "\x01\x78\x10\x01\x9b");		/* the address of an address */
	put_fde(m, skipped, code + 0x20, 0x10, 4, true);
	put_fde(m, cie, code + 0x30, 0x10, 4, true);
	cie = PUT_CIE(m, 3, "zPLRS", "\x81\x01\x78\x90\x01\x07\x9b" "pers\x1b\x1c"); /* relative, 8 bytes */
	put_fde(m, cie, code + 0x40, 0x10, 8, true);
	cie = PUT_CIE(m, 4, "zR", "\x08\x00\x01\x78\x10\x01\x03");	/* 4 bytes */
	put_fde(m, cie, code + 0x50, 0x10, 4, false);
	skipped = PUT_CIE(m, 1, "eh", "\x01\x78\x10");
	put_fde(m, skipped, code + 0x60, 0x10, 8, false);
	put_fde(m, 7, code + 0x60, 0x10, 8, false);			/* not of a CIE */
	put_fde(m, cie, 0x7fff0000, 0x10, 4, false);			/* not of code */
	put_fde(m, cie, code + 0x60, 0, 4, false);			/* nothing */
}

/* This program with other contents of .eh_frame. */
static struct elf_file *open_made(const struct fixture *x, const struct made *m)
{
	struct elf_file *f = NULL;

	write_file(x, "section", m->data, m->bytes);
	shell(x, "objcopy --update-section .eh_frame=section stripped made");
	f = open_file(x, "made");
	assert_non_null(f);
	return f;
}

static uint64_t section_address(const struct fixture *x)
{
	char command[PATH_MAX + 96];
	uint64_t address = 0;
	FILE *p;

	snprintf(command, sizeof(command), "LC_ALL=C readelf -SW %s/stripped | sed 's/^ *\\[ *[0-9]*\\]//' | "
		 "awk '$1 == \".eh_frame\" { print $3 }'", x->dir);
	p = popen(command, "r");
	assert_true(p && fscanf(p, "%lx", &address) == 1);
	pclose(p);
	return address;
}

static void test_encodings(void **state)
{
	static const uint64_t expected[] = { 0, 0x10, 0x30, 0x40, 0x50 };
	const struct fixture *x = *state;
	struct made m = { .address = section_address(x) };
	unsigned int cnt;
	const struct elf_func *func = elf_file_functions(x->full, &cnt) + cnt / 2;
	uint64_t code, start;
	struct elf_file *f;
	size_t i;

	assert_true(elf_file_address(x->full, func->offset, &code));
	put_entries(&m, code);
	f = open_made(x, &m);
	assert_int_equal(f->range_cnt, ENTRIES(expected));
	for (i = 0; i < ENTRIES(expected); i++) {
		assert_int_equal(f->ranges[i].offset, func->offset + expected[i]);
		assert_int_equal(f->ranges[i].bytes, 0x10);
	}
	assert_true(elf_file_function_start(f, func->offset + 0x1f, &start));
	assert_int_equal(start, func->offset + 0x10);
	assert_false(elf_file_function_start(f, func->offset + 0x20, &start));
	assert_false(elf_file_function_start(f, func->offset + 0x60, &start));
	elf_file_close(f);
}

/* Cut anywhere: what was whole before is there, nothing else. */
static void test_cut_entries(void **state)
{
	const struct fixture *x = *state;
	struct made m = { .address = section_address(x) };
	unsigned int cnt;
	const struct elf_func *func = elf_file_functions(x->full, &cnt) + cnt / 2;
	size_t bytes, last = SIZE_MAX;
	struct elf_file *f;
	uint64_t code;

	assert_true(elf_file_address(x->full, func->offset, &code));
	put_entries(&m, code);
	for (bytes = m.bytes; bytes; bytes -= bytes > 7 ? 7 : bytes) {
		m.bytes = bytes;
		f = open_made(x, &m);
		assert_true(f->range_cnt <= last);
		last = f->range_cnt;
		elf_file_close(f);
	}
	assert_int_equal(last, 0);
}

/* ---- .gnu_debugdata ------------------------------------------------------------------ */

static void compress(const struct fixture *x, const char *name, const void *data, size_t bytes)
{
	size_t cap = lzma_stream_buffer_bound(bytes), len = 0;
	uint8_t *out = malloc(cap);

	assert_non_null(out);
	assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, data, bytes, out, &len, cap), LZMA_OK);
	write_file(x, name, out, len);
	free(out);
}

static struct elf_file *open_with_debugdata(const struct fixture *x)
{
	shell(x, "objcopy --add-section .gnu_debugdata=data.xz stripped with");
	return open_file(x, "with");
}

static void make_debugdata(const struct fixture *x)
{
	size_t bytes;
	void *data;

	shell(x, "objcopy --only-keep-debug --strip-debug exe mini");
	data = read_file(x, "mini", &bytes);
	compress(x, "data.xz", data, bytes);
	free(data);
}

static void test_debugdata_has_the_symbols(void **state)
{
	const struct fixture *x = *state;
	const struct elf_func *expected, *got;
	unsigned int expected_cnt, cnt, i;
	struct elf_file *f;

	make_debugdata(x);
	f = open_with_debugdata(x);
	assert_false(elf_file_is_stripped(f));
	expected = elf_file_functions(x->full, &expected_cnt);
	got = elf_file_functions(f, &cnt);
	assert_int_equal(cnt, expected_cnt);
	for (i = 0; i < cnt; i++) {
		assert_string_equal(got[i].name, expected[i].name);
		assert_int_equal(got[i].offset, expected[i].offset);
	}
	elf_file_close(f);
}

/* As if there were none: functions begin where .eh_frame says. */
static void expect_stripped(const struct fixture *x)
{
	struct elf_file *f = open_with_debugdata(x);

	assert_true(elf_file_is_stripped(f));
	assert_true(f->range_cnt > 20);
	elf_file_close(f);
}

static void test_damaged_debugdata(void **state)
{
	const struct fixture *x = *state;
	size_t bytes, at;
	uint8_t *data;

	make_debugdata(x);
	data = read_file(x, "data.xz", &bytes);
	for (at = 0; at < bytes; at += bytes / 5 + 1) {
		write_file(x, "data.xz", data, at ?: 1);
		expect_stripped(x);
		data[at] ^= 0x55;
		write_file(x, "data.xz", data, bytes);
		expect_stripped(x);
		data[at] ^= 0x55;
	}
	free(data);
	compress(x, "data.xz", "no ELF file", 11);
	expect_stripped(x);
	compress(x, "data.xz", "", 0);
	expect_stripped(x);
}

/* More than anyone's symbols take is not decompressed, however small it is. */
static void test_bomb(void **state)
{
	const struct fixture *x = *state;
	char *data = mmap(NULL, BOMB_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct elf_file *f;
	size_t bytes;
	void *mini;

	assert_true(data != MAP_FAILED);
	shell(x, "objcopy --only-keep-debug --strip-debug exe mini");
	mini = read_file(x, "mini", &bytes);
	assert_true(bytes < BOMB_BYTES / 4);
	memcpy(data, mini, bytes);
	compress(x, "data.xz", data, BOMB_BYTES / 4);
	f = open_with_debugdata(x);
	assert_false(elf_file_is_stripped(f));
	elf_file_close(f);
	compress(x, "data.xz", data, BOMB_BYTES);
	expect_stripped(x);
	munmap(data, BOMB_BYTES);
	free(mini);
}

/* ---- in memory ----------------------------------------------------------------------- */

static void test_memory(void **state)
{
	const struct fixture *x = *state;
	size_t bytes;
	void *data = read_file(x, "exe", &bytes);
	struct elf_file *f = NULL;
	unsigned int cnt, expected;
	const char *why;

	assert_int_equal(elf_file_open_memory(&f, data, bytes, &why), 0);
	memset(data, 0xff, bytes);
	assert_string_equal(elf_file_build_id(f), elf_file_build_id(x->full));
	elf_file_functions(f, &cnt);
	elf_file_functions(x->full, &expected);
	assert_int_equal(cnt, expected);
	elf_file_close(f);
	f = NULL;
	assert_int_equal(elf_file_open_memory(&f, data, bytes, &why), -ENOEXEC);
	assert_true(!f && why);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges_are_those_of_readelf),
		cmocka_unit_test(test_functions_begin_where_their_symbols_do),
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_cut_entries),
		cmocka_unit_test(test_debugdata_has_the_symbols),
		cmocka_unit_test(test_damaged_debugdata),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
