// SPDX-License-Identifier: GPL-2.0
/*
 * Which files stay open, of more than there may be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "elf/elf.h"
#include "elf/mapped_file.h"
#include "elf_made.h"

#define FILES	1200U

/* One file by many paths, each of which counts as another one. */
static uint32_t add(struct mapped_files *files, int fd, unsigned int number)
{
	struct mapped_file file = { .build_id = MADE_BUILD_ID };
	char path[4096];
	int len = snprintf(path, sizeof(path), "/proc/self/fd/");

	for (; number; number--)
		len += snprintf(path + len, sizeof(path) - len, "./");
	snprintf(path + len, sizeof(path) - len, "%d", fd);
	file.path = path;
	return mapped_files_add(files, &file);
}

/* A recorder that runs for weeks meets more files than it can keep: the ones that were asked for last are open. */
static void test_many(void **state)
{
	const struct made_symbol symbols[] = { { "outer", MADE_CODE, 0x20, STT_FUNC, STB_GLOBAL, 1 }, { .name = NULL } };
	const struct made_elf made = { ELFCLASS64, made_machine(), ET_EXEC, .symtab = symbols };
	const int fd = made_elf(&made);
	const struct elf_file *first;
	struct mapped_files *files;
	unsigned int i;

	(void)state;
	assert_int_equal(mapped_files_open(&files), 0);
	assert_int_equal(add(files, fd, 0), 0);
	first = mapped_files_elf(files, 0, (uint32_t)getpid());
	assert_non_null(first);
	for (i = 1; i < FILES; i++) {
		assert_int_equal(add(files, fd, i), i);
		if (!mapped_files_elf(files, i, (uint32_t)getpid()))
			fail_msg("file %u", i);
		/* One that is needed all the time is not closed. */
		assert_ptr_equal(mapped_files_elf(files, 0, (uint32_t)getpid()), first);
	}
	/* Closed for another one, and opened again at once. */
	assert_string_equal(elf_file_build_id(mapped_files_elf(files, 1, (uint32_t)getpid())), MADE_BUILD_ID);
	assert_string_equal(elf_file_build_id(mapped_files_elf(files, FILES - 1, (uint32_t)getpid())), MADE_BUILD_ID);
	mapped_files_close(files);
	close(fd);
}

/* What is known of files that are open takes memory: beyond 512 MiB they are closed, and not read again at once. */
static void test_large(void **state)
{
	const struct made_symbol symbols[] = { { "outer", MADE_CODE, 0x20, STT_FUNC, STB_GLOBAL, 1 }, { .name = NULL } };
	const struct made_elf made = { ELFCLASS64, made_machine(), ET_EXEC, .symtab = symbols };
	const int fd = made_elf(&made);
	struct mapped_files *files;
	uint64_t before_ns = 0;
	unsigned int i;

	(void)state;
	made_elf_hole(fd, SHT_STRTAB, 64 << 20);
	assert_int_equal(mapped_files_open(&files), 0);
	for (i = 0; i < 9; i++) {
		before_ns = clock_ns(CLOCK_MONOTONIC);
		assert_int_equal(add(files, fd, i), i);
		if (!mapped_files_elf(files, i, (uint32_t)getpid()))
			fail_msg("file %u", i);
	}
	/* Closed for the last one, unless that took a second by itself. */
	if (mapped_files_elf(files, 0, (uint32_t)getpid()))
		assert_true(clock_ns(CLOCK_MONOTONIC) - before_ns >= 1000000000);
	for (i = 3; i < 9; i++)
		assert_non_null(mapped_files_elf(files, i, (uint32_t)getpid()));
	mapped_files_close(files);
	close(fd);
}

/* Beyond what there may be none is known, and that is counted. */
static void test_too_many(void **state)
{
	struct mapped_file file = { .path = "/program", .dev = 1 };
	struct mapped_files *files;

	(void)state;
	assert_int_equal(mapped_files_open(&files), 0);
	for (file.inode = 0; file.inode < 65536; file.inode++)
		assert_int_equal(mapped_files_add(files, &file), file.inode);
	assert_int_equal(mapped_files_refused(files), 0);
	assert_int_equal(mapped_files_add(files, &file), MAPPED_FILE_NONE);
	file.path = "//anon";
	assert_int_equal(mapped_files_add(files, &file), MAPPED_FILE_NONE);
	assert_int_equal(mapped_files_refused(files), 1);
	file.path = "/program";
	file.inode = 65535;
	assert_int_equal(mapped_files_add(files, &file), 65535);
	assert_int_equal(mapped_files_refused(files), 1);
	mapped_files_close(files);
}

/* Those that are forgotten leave their indexes to others. */
static void test_forgotten(void **state)
{
	static bool used[MAPPED_FILES_MAX];
	struct mapped_file file = { .path = "/program", .dev = 1 };
	struct mapped_files *files;
	uint32_t i;

	(void)state;
	assert_int_equal(mapped_files_open(&files), 0);
	for (i = 0; i < MAPPED_FILES_MAX; i++) {
		file.inode = i + 1;
		assert_int_equal(mapped_files_add(files, &file), i);
		used[i] = i % 3 == 1;
		assert_int_equal(mapped_files_are_many(files), i + 1 >= MAPPED_FILES_MAX / 8 * 7);
	}
	assert_int_equal(mapped_files_forget(files, used), MAPPED_FILES_MAX - MAPPED_FILES_MAX / 3);
	assert_int_equal(mapped_files_generation(files), 1);
	assert_false(mapped_files_are_many(files));
	for (i = 1; i < MAPPED_FILES_MAX; i += 3) {
		file.inode = i + 1;
		assert_int_equal(mapped_files_add(files, &file), i);
		assert_int_equal(mapped_files_get(files, i)->inode, file.inode);
	}
	file.dev = 2;
	for (i = 0; i < MAPPED_FILES_MAX - MAPPED_FILES_MAX / 3; i++) {
		file.inode = i;
		assert_int_not_equal(mapped_files_add(files, &file) % 3, 1);
	}
	assert_int_equal(mapped_files_refused(files), 0);
	file.inode = i;
	assert_int_equal(mapped_files_add(files, &file), MAPPED_FILE_NONE);
	assert_int_equal(mapped_files_refused(files), 1);
	mapped_files_close(files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
