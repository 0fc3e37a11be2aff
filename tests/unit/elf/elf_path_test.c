// SPDX-License-Identifier: GPL-2.0
/*
 * Which file a word means: libraries against what the loader did and what ldconfig lists.
 */
#include <errno.h>
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

#include "elf/elf_p.h"

static void expect_same_file(const char *word, const char *expected)
{
	char path[ELF_PATH_BYTES];
	struct stat a, b;

	assert_int_equal(elf_path_find(word, path), 0);
	assert_int_equal(stat(path, &a) | stat(expected, &b), 0);
	assert_true(a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

/* The libraries that the loader found for this very process. */
static void test_find_libraries(void **state)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096], path[4096], *name, stem[256];
	int found = 0;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s r-x%*s %*s %*s %*s %4095s", path) != 1 ||
		    !strstr(path, "/libc.so."))
			continue;
		name = strrchr(path, '/') + 1;
		expect_same_file(name, path);
		snprintf(stem, sizeof(stem), "%.*s", (int)(strstr(name, ".so") - name), name);
		expect_same_file(stem, path);
		found++;
	}
	fclose(f);
	assert_int_equal(found, 1);
}

static bool is_native(const char *path)
{
	struct elf_image img;
	const char *why;
	bool native;

	if (elf_image_open(&img, path, &why))
		return false;
	native = elf_image_is_native(&img);
	elf_image_close(&img);
	return native;
}

/* The loader's own list: "NAME (libc6,x86-64) => PATH", the first of each name. */
static void test_find_as_ldconfig(void **state)
{
	FILE *f = popen("LC_ALL=C PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null", "r");
	char line[8192], name[4096], path[4096], last[4096] = "";
	unsigned int cnt = 0;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %4095s (%*[^)]) => %4095s", name, path) != 2 ||
		    strstr(line, "hwcap") || !strcmp(name, last) || !is_native(path))
			continue;
		strcpy(last, name);
		expect_same_file(name, path);
		cnt++;
	}
	if (pclose(f) || !cnt)
		skip();
}

static void test_find_others(void **state)
{
	char path[ELF_PATH_BYTES], word[ELF_PATH_BYTES + 8], *old = strdup(getenv("PATH") ?: "");

	(void)state;
	snprintf(word, sizeof(word), "%d", getpid());
	expect_same_file(word, "/proc/self/exe");
	assert_int_equal(elf_path_find(word, path), 0);
	assert_true(!strncmp(path, "/proc/", 6) && strstr(path, "/exe"));
	expect_same_file("/bin/../bin/sh", "/bin/sh");
	setenv("PATH", "/nonexistent::/bin", 1);
	expect_same_file("sh", "/bin/sh");
	expect_same_file("./Makefile", "Makefile");
	setenv("PATH", old, 1);
	free(old);

	assert_int_equal(elf_path_find("", path), -ENOENT);
	assert_int_equal(elf_path_find("libnothing", path), -ENOENT);
	assert_int_equal(elf_path_find("libnothing.so.1", path), -ENOENT);
	assert_int_equal(elf_path_find("no such program", path), -ENOENT);
	assert_int_equal(elf_path_find("./nonexistent", path), -ENOENT);
	assert_int_equal(elf_path_find("4194305", path), -ENOENT);
	assert_int_equal(
		elf_path_find("99999999999999999999999999999999999999999999999999999999", path),
		-ENOENT);
	memset(word, 'a', sizeof(word) - 1);
	word[sizeof(word) - 1] = 0;
	assert_int_equal(elf_path_find(word, path), -ENOENT);
	word[0] = '/';
	assert_int_equal(elf_path_find(word, path), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find_libraries),
		cmocka_unit_test(test_find_as_ldconfig),
		cmocka_unit_test(test_find_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
