// SPDX-License-Identifier: GPL-2.0
/*
 * Which files are opened, how many, and that they are the right ones.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cfi_made.h"
#include "elf/elf.h"
#include "elf/mapped_file.h"
#include "elf/process_maps.h"
#include "unwind/code_files.h"

#define FILES		300
#define NO_PROCESS	4194305U	/* above the highest number of one */

struct test {
	struct mapped_files *files;
	struct cfi_reader reader;
	struct code_files code;
	char self[ELF_PATH_BYTES];	/* the program that runs */
	struct stat st;
};

static void test_open(struct test *t)
{
	ssize_t n;

	memset(t, 0, sizeof(*t));
	assert_int_equal(mapped_files_open(&t->files), 0);
	t->reader.machine = unwind_machine_here;
	t->code = (struct code_files){ .files = t->files, .reader = &t->reader };
	n = readlink("/proc/self/exe", t->self, sizeof(t->self) - 1);
	assert_true(n > 0);
	t->self[n] = 0;
	assert_int_equal(stat(t->self, &t->st), 0);
}

static void test_close(struct test *t)
{
	code_files_fini(&t->code);
	mapped_files_close(t->files);
}

static struct cfi_file *get(struct test *t, const struct mapped_file *file, uint32_t pid)
{
	const struct mapping m = { .start = 1, .end = 2, .file = mapped_files_add(t->files, file) };

	assert_int_not_equal(m.file, MAPPED_FILE_NONE);
	return code_files_get(&t->code, &m, pid);
}

static void test_by_inode(void **state)
{
	struct mapped_file file;
	struct test t;

	(void)state;
	test_open(&t);
	file = (struct mapped_file){ .path = t.self, .dev = t.st.st_dev, .inode = t.st.st_ino };
	assert_non_null(get(&t, &file, (uint32_t)getpid()));
	assert_int_equal(t.code.open_cnt, 1);
	/* Another one in our root, but not in that of the process. */
	file.dev++;
	assert_non_null(get(&t, &file, (uint32_t)getpid()));
	assert_null(get(&t, &(struct mapped_file){ .path = t.self, .dev = t.st.st_dev + 2, .inode = t.st.st_ino },
			NO_PROCESS));
	file.dev--;
	file.inode++;
	assert_null(get(&t, &file, (uint32_t)getpid()));
	test_close(&t);
}

static void test_by_build_id(void **state)
{
	struct mapped_file file = { .path = NULL };
	struct elf_file *elf;
	const char *why;
	struct test t;

	(void)state;
	test_open(&t);
	assert_int_equal(elf_file_open(&elf, t.self, &why), 0);
	assert_int_equal(strlen(elf_file_build_id(elf)), 2 * MAPPED_BUILD_ID_BYTES);
	strcpy(file.build_id, elf_file_build_id(elf));
	elf_file_close(elf);
	file.path = t.self;
	assert_non_null(get(&t, &file, NO_PROCESS));
	/* As the program of a process that has it at another path. */
	file.path = "/nowhere/program";
	assert_non_null(get(&t, &file, (uint32_t)getpid()));
	file.build_id[0] ^= 1;
	assert_null(get(&t, &file, (uint32_t)getpid()));
	test_close(&t);
}

static void test_others(void **state)
{
	struct test t;

	(void)state;
	test_open(&t);
	assert_null(get(&t, &(struct mapped_file){ .path = "/dev/zero" }, NO_PROCESS));
	assert_null(get(&t, &(struct mapped_file){ .path = "/proc/self/maps" }, NO_PROCESS));
	assert_null(get(&t, &(struct mapped_file){ .path = "/" }, NO_PROCESS));
	assert_null(get(&t, &(struct mapped_file){ .path = "/nowhere" }, NO_PROCESS));
	assert_non_null(get(&t, &(struct mapped_file){ .path = "[vdso]" }, NO_PROCESS));
	test_close(&t);
}

static unsigned int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int cnt = 0;

	assert_non_null(dir);
	while (readdir(dir))
		cnt++;
	closedir(dir);
	return cnt;
}

/* Those used least recently are closed, and opened again when they are used again. */
static void test_many(void **state)
{
	static const struct cfi_made made = { .ra = 16 };
	uint8_t bytes[CFI_MADE_BYTES];
	struct mapped_file file[FILES];
	static char paths[FILES][32];
	unsigned int i, before;
	struct stat st;
	struct test t;
	int fds[FILES];

	(void)state;
	test_open(&t);
	cfi_made_build(&made, bytes);
	memcpy(bytes + 18, &t.reader.machine->elf, 2);	/* e_machine */
	for (i = 0; i < FILES; i++) {
		fds[i] = cfi_made_open(bytes, sizeof(bytes));
		assert_int_equal(fstat(fds[i], &st), 0);
		snprintf(paths[i], sizeof(paths[i]), "/proc/self/fd/%d", fds[i]);
		file[i] = (struct mapped_file){ .path = paths[i], .dev = st.st_dev, .inode = st.st_ino };
	}
	before = count_descriptors();
	for (i = 0; i < FILES; i++)
		assert_non_null(get(&t, &file[i], NO_PROCESS));
	assert_int_equal(t.code.open_cnt, CODE_FILES_OPEN_MAX);
	assert_int_equal(count_descriptors(), before + CODE_FILES_OPEN_MAX);
	assert_non_null(get(&t, &file[FILES - 1], NO_PROCESS));
	assert_non_null(get(&t, &file[0], NO_PROCESS));
	assert_int_equal(t.code.open_cnt, CODE_FILES_OPEN_MAX);
	test_close(&t);
	assert_int_equal(count_descriptors(), before);
	for (i = 0; i < FILES; i++)
		close(fds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_inode), cmocka_unit_test(test_by_build_id), cmocka_unit_test(test_others),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
