// SPDX-License-Identifier: GPL-2.0
/*
 * What can be probed in ELF files: real ones against readelf, made ones against what was
 * put into them, and with debug files that objcopy split off.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf/elf_p.h"
#include "elf_made.h"

#define NO_DEBUG_DIR	"/nonexistent"
#define ENTRIES(table)	(sizeof(table) / sizeof((table)[0]))

static struct elf_file *open_file(const char *path, const char *debug_dir)
{
	struct elf_file *f = NULL;
	const char *why = NULL;
	int err = elf_file_open_with(&f, path, debug_dir, &why);

	if (err)
		fail_msg("%s: %s (%s)", path, strerror(-err), why ?: "");
	assert_null(why);
	return f;
}

static const char *fd_path(int fd)
{
	static char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static int open_error(const char *path, const char **why)
{
	struct elf_file *f = NULL;
	int err = elf_file_open(&f, path, why);

	assert_null(f);
	return err;
}

/* ---- against readelf ------------------------------------------------------------- */

struct segment {
	uint64_t offset, address, bytes;
	bool is_code;
};

struct expected {
	struct segment segments[16];
	size_t segment_cnt;
	struct elf_func *funcs;
	size_t func_cnt;
};

static FILE *run(const char *tool, const char *path)
{
	char command[PATH_MAX + 64];
	FILE *f;

	snprintf(command, sizeof(command), "LC_ALL=C %s '%s'", tool, path);
	f = popen(command, "r");
	assert_non_null(f);
	return f;
}

static void expect_segments(struct expected *e, const char *path)
{
	FILE *f = run("readelf -lW", path);
	char line[4096];
	uint64_t n[4];

	while (fgets(line, sizeof(line), f)) {
		struct segment *s = &e->segments[e->segment_cnt];
		char flags[32];

		if (sscanf(line, " LOAD %lx %lx %*x %lx %lx %31[^0]", &n[0], &n[1], &n[2], &n[3],
			   flags) != 5)
			continue;
		assert_true(e->segment_cnt++ < ENTRIES(e->segments));
		*s = (struct segment){ n[0], n[1], n[2], strchr(flags, 'E') };
	}
	assert_int_equal(pclose(f), 0);
}

static uint64_t file_offset(const struct expected *e, uint64_t address)
{
	const struct segment *s;

	for (s = e->segments; s < e->segments + e->segment_cnt; s++)
		if (address >= s->address && address < s->address + s->bytes)
			return address - s->address + s->offset;
	fail_msg("%lx is in no segment", address);
	return 0;
}

static int by_offset(const void *a, const void *b)
{
	const struct elf_func *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void expect_funcs(struct expected *e, const char *path)
{
	FILE *f = run("readelf -sW", path);
	char line[1 << 16], size[32], type[32], section[32], name[1 << 16];
	uint64_t value;
	size_t i, n = 0;

	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %*u: %lx %31s %31s %*s %*s %31s %65535s", &value, size, type,
			   section, name) != 5 ||
		    strcmp(type, "FUNC") || !strcmp(section, "UND"))
			continue;
		name[strcspn(name, "@")] = 0;
		e->funcs = realloc(e->funcs, (e->func_cnt + 1) * sizeof(*e->funcs));
		e->funcs[e->func_cnt++] = (struct elf_func){
			strdup(name), file_offset(e, value), strtoul(size, NULL, 0) };
	}
	assert_int_equal(pclose(f), 0);
	qsort(e->funcs, e->func_cnt, sizeof(*e->funcs), by_offset);
	for (i = 0; i < e->func_cnt; i++)
		if (n && !by_offset(&e->funcs[n - 1], &e->funcs[i]))
			free((char *)e->funcs[i].name);
		else
			e->funcs[n++] = e->funcs[i];
	e->func_cnt = n;
}

static void compare_funcs(const struct elf_file *f, const struct elf_func *expected, size_t cnt)
{
	unsigned int got_cnt, i;
	const struct elf_func *got = elf_file_functions(f, &got_cnt);

	for (i = 0; i < got_cnt && i < cnt; i++) {
		assert_string_equal(got[i].name, expected[i].name);
		assert_int_equal(got[i].offset, expected[i].offset);
		assert_int_equal(got[i].size, expected[i].size);
	}
	assert_int_equal(got_cnt, cnt);
}

/* What is found in the middle of each function begins there, or later. */
static void check_find(const struct elf_file *f)
{
	unsigned int cnt, i;
	const struct elf_func *funcs = elf_file_functions(f, &cnt), *found;

	for (i = 0; i < cnt; i++) {
		found = elf_file_find(f, funcs[i].offset);
		assert_non_null(found);
		assert_int_equal(found->offset, funcs[i].offset);
		found = elf_file_find(f, funcs[i].offset + funcs[i].size / 2);
		assert_non_null(found);
		assert_true(found->offset >= funcs[i].offset);
	}
}

static void compare_usdts(const struct elf_file *f, const struct expected *e, const char *path)
{
	FILE *p = run("readelf -n", path);
	unsigned int cnt, i = 0, args;
	const struct elf_usdt *u = elf_file_usdts(f, &cnt);
	char line[4096], word[256];
	uint64_t at, semaphore;
	const char *s;

	while (fgets(line, sizeof(line), p)) {
		if (sscanf(line, " Provider: %255s", word) == 1) {
			assert_true(i < cnt);
			assert_string_equal(u[i].provider, word);
		} else if (sscanf(line, " Name: %255s", word) == 1) {
			assert_string_equal(u[i].name, word);
		} else if (sscanf(line, " Location: %lx, Base: %*x, Semaphore: %lx", &at,
				  &semaphore) == 2) {
			assert_int_equal(u[i].offset, file_offset(e, at));
			assert_int_equal(u[i].semaphore, semaphore ? file_offset(e, semaphore) : 0);
		} else if (!strncmp(line, "    Arguments:", 14)) {
			for (args = 0, s = line; (s = strchr(s, '@')); s++)
				args++;
			assert_int_equal(u[i++].args_cnt, args);
		}
	}
	assert_int_equal(pclose(p), 0);
	assert_int_equal(i, cnt);
}

static void compare_build_id(const struct elf_file *f, const char *path)
{
	FILE *p = run("readelf -n", path);
	char line[4096], id[256] = "";

	while (fgets(line, sizeof(line), p))
		sscanf(line, " Build ID: %255s", id);
	assert_int_equal(pclose(p), 0);
	assert_string_equal(elf_file_build_id(f), id);
}

/* @state: the word for it. */
static void test_readelf(void **state)
{
	char path[ELF_PATH_BYTES], own[32];
	struct expected e = { 0 };
	struct elf_file *f;

	snprintf(own, sizeof(own), "%d", getpid());
	if (elf_path_find(*state ?: own, path))
		skip();
	f = open_file(path, NO_DEBUG_DIR);
	expect_segments(&e, path);
	expect_funcs(&e, path);
	assert_true(e.func_cnt > 20);
	compare_funcs(f, e.funcs, e.func_cnt);
	compare_usdts(f, &e, path);
	compare_build_id(f, path);
	check_find(f);
	elf_file_close(f);
	while (e.func_cnt)
		free((char *)e.funcs[--e.func_cnt].name);
	free(e.funcs);
}

/* Fires them, so that they are there; readelf has shown whether all was read. */
static void test_own_usdts(void **state)
{
	struct elf_file *f = open_file("/proc/self/exe", NO_DEBUG_DIR);
	unsigned int cnt, i;
	const struct elf_usdt *u = elf_file_usdts(f, &cnt);
	const struct elf_func *func;
	int8_t tiny = -1;
	uint64_t big = 1;

	(void)state;
	DTRACE_PROBE(elf_test, none);
	DTRACE_PROBE4(elf_test, four, tiny, (uint16_t)2, (int32_t)-3, big);
	for (i = 0; i < cnt && strcmp(u[i].name, "four"); i++)
		;
	assert_true(cnt >= 2 && i < cnt);
	assert_string_equal(u[i].provider, "elf_test");
	assert_int_equal(u[i].args_cnt, 4);
	assert_true(u[i].args[0].bytes == 1 && u[i].args[0].is_signed);
	assert_true(u[i].args[1].bytes == 2 && !u[i].args[1].is_signed);
	assert_true(u[i].args[2].bytes == 4 && u[i].args[2].is_signed);
	assert_true(u[i].args[3].bytes == 8 && !u[i].args[3].is_signed);
	func = elf_file_find(f, u[i].offset);
	assert_true(func && !strncmp(func->name, "test_own_usdts", 14));
	elf_file_close(f);
}

/* ---- made files ------------------------------------------------------------------- */

static const struct made_symbol symtab[] = {
	{ "outer@@V_1", 0x401200, 0x20, STT_FUNC, STB_GLOBAL, 1 },
	{ "outer_alias", 0x401200, 0x20, STT_FUNC, STB_WEAK, 1 },
	{ "oute", 0x401200, 0x20, STT_FUNC, STB_LOCAL, 1 },
	{ "helper", 0x401260, 8, STT_FUNC, STB_LOCAL, 1 },
	{ "helper", 0x401240, 8, STT_FUNC, STB_LOCAL, 1 },
	{ "chosen", 0x401270, 8, STT_GNU_IFUNC, STB_GLOBAL, 1 },
	{ "missing", 0, 0, STT_FUNC, STB_GLOBAL, SHN_UNDEF },
	{ "object", 0x401280, 8, STT_OBJECT, STB_GLOBAL, 1 },
	{ "unsized", 0x401300, 0, STT_FUNC, STB_GLOBAL, 1 },
	{ "big", 0x401400, 0x100, STT_FUNC, STB_GLOBAL, 1 },
	{ "nested", 0x401410, 8, STT_FUNC, STB_GLOBAL, 1 },
	{ "nowhere", 0x500000, 8, STT_FUNC, STB_GLOBAL, 1 },
	{ "in_data", 0x602600, 8, STT_FUNC, STB_GLOBAL, 2 },
	{ "before", 0x4011ff, 8, STT_FUNC, STB_GLOBAL, 1 },
	{ "last", 0x4015ff, 1, STT_FUNC, STB_GLOBAL, 1 },
	{ "behind", 0x401600, 8, STT_FUNC, STB_GLOBAL, 1 },
	{ "@@V_1", 0x401500, 8, STT_FUNC, STB_GLOBAL, 1 },
	{ 0 },
};

static const struct made_symbol dynsym[] = {
	{ "outer", 0x401200, 0x20, STT_FUNC, STB_GLOBAL, 1 },
	{ "exported", 0x401208, 4, STT_FUNC, STB_GLOBAL, 1 },
	{ 0 },
};

static const struct elf_func made_funcs[] = {
	{ "oute", 0x200, 0x20 }, { "outer", 0x200, 0x20 }, { "outer_alias", 0x200, 0x20 },
	{ "exported", 0x208, 4 }, { "helper", 0x240, 8 }, { "helper", 0x260, 8 },
	{ "unsized", 0x300, 0 }, { "big", 0x400, 0x100 }, { "nested", 0x410, 8 },
	{ "last", 0x5ff, 1 },
};

static const struct made_note notes[] = {
	{ 0x401210, 0x6025f4, "p", "args", "-4@%edi 8@-16(%rbp) 4f@%xmm0 1@$5 -8@[sp, 8]  -2@%ax" },
	{ 0x401240, 0, "p", "none", "" },
	{ 0x401240, 0, "p", "none", "" },
	{ 0x300000, 0, "p", "nowhere", "" },
	{ 0x401240, 0x300000, "p", "no_semaphore", "" },
	{ 0x602600, 0, "p", "in_data", "" },
	{ 0x401250, 0, "", "no_provider", "" },
	{ 0x401260, 0, "q", "strange", "-4@%edi 16@%xmm0 4@%eax" },
	{ 0x401270, 0, "q", "many", "1@a 1@b 1@c 1@d 1@e 1@f 1@g 1@h 1@i 1@j 1@k 1@l 1@m" },
	{ 0x401280, 0, "q", "broken", "-@ 4 8@" },
	{ 0 },
};

static struct made_elf made(void)
{
	return (struct made_elf){ .elf_class = ELFCLASS64,
				  .machine = made_machine(),
				  .type = ET_EXEC,
				  .symtab = symtab,
				  .dynsym = dynsym,
				  .notes = notes };
}

static struct elf_file *open_made(const struct made_elf *m)
{
	int fd = made_elf(m);
	struct elf_file *f = open_file(fd_path(fd), NO_DEBUG_DIR);

	close(fd);
	return f;
}

static void check_finds(const struct elf_file *f)
{
	static const struct {
		uint64_t offset;
		const char *name;
	} finds[] = {
		{ 0x1ff, NULL },      { 0x200, "outer" },   { 0x20a, "exported" },
		{ 0x210, "outer" },   { 0x21f, "outer" },   { 0x220, NULL },
		{ 0x240, "helper" },  { 0x247, "helper" },  { 0x248, NULL },
		{ 0x300, "unsized" }, { 0x3ff, "unsized" }, { 0x400, "big" },
		{ 0x410, "nested" },  { 0x418, "big" },	    { 0x500, NULL },
		{ 0x5ff, "last" },    { 0x600, NULL },	    { 0, NULL },
		{ UINT64_MAX, NULL },
	};
	const struct elf_func *found;
	size_t i;

	for (i = 0; i < ENTRIES(finds); i++) {
		found = elf_file_find(f, finds[i].offset);
		assert_string_equal(found ? found->name : "-", finds[i].name ?: "-");
	}
}

static void check_made_usdts(const struct elf_file *f)
{
	static const struct elf_usdt_arg args[] = {
		{ 4, true, false }, { 8, false, false }, { 4, false, true }, { 1, false, false },
		{ 8, true, false }, { 2, true, false },
	};
	unsigned int cnt, i;
	const struct elf_usdt *u = elf_file_usdts(f, &cnt);

	assert_int_equal(cnt, 6);
	assert_string_equal(u[0].name, "args");
	assert_int_equal(u[0].offset, 0x220);
	assert_int_equal(u[0].semaphore, 0x604);
	assert_int_equal(u[0].args_cnt, ENTRIES(args));
	for (i = 0; i < ENTRIES(args); i++) {
		assert_int_equal(u[0].args[i].bytes, args[i].bytes);
		assert_int_equal(u[0].args[i].is_signed, args[i].is_signed);
		assert_int_equal(u[0].args[i].is_float, args[i].is_float);
	}
	assert_true(u[1].offset == 0x250 && u[2].offset == 0x250);
	assert_true(!u[1].semaphore && !u[1].args_cnt);
	assert_string_equal(u[3].name, "strange");
	assert_int_equal(u[3].args_cnt, 1);
	assert_string_equal(u[4].name, "many");
	assert_int_equal(u[4].args_cnt, ELF_USDT_ARGS_MAX);
	assert_string_equal(u[5].name, "broken");
	assert_int_equal(u[5].args_cnt, 0);
}

static void test_made(void **state)
{
	struct made_elf m = made();
	struct elf_file *f;

	(void)state;
	f = open_made(&m);
	compare_funcs(f, made_funcs, ENTRIES(made_funcs));
	check_finds(f);
	check_made_usdts(f);
	assert_string_equal(elf_file_build_id(f), MADE_BUILD_ID);
	assert_false(elf_file_is_stripped(f));
	elf_file_close(f);

	m.symtab = NULL;
	f = open_made(&m);
	compare_funcs(
		f, (const struct elf_func[]){ { "outer", 0x200, 0x20 }, { "exported", 0x208, 4 } },
		2);
	assert_true(elf_file_is_stripped(f));
	elf_file_close(f);

	m.dynsym = NULL;
	m.notes = NULL;
	f = open_made(&m);
	compare_funcs(f, NULL, 0);
	assert_null(elf_file_find(f, 0x200));
	elf_file_close(f);
	elf_file_close(NULL);
}

/* A 32 bit file, as far as this machine runs any. */
static void test_narrow(void **state)
{
	struct made_elf m = made();
	struct elf_file *f;

	(void)state;
	m.elf_class = ELFCLASS32;
	if (m.machine == EM_X86_64)
		m.machine = EM_386;
	f = open_made(&m);
	compare_funcs(f, made_funcs, ENTRIES(made_funcs));
	check_made_usdts(f);
	elf_file_close(f);
}

static void refuse_made(const struct made_elf *m, const char *expected)
{
	int fd = made_elf(m);
	const char *why = NULL;

	assert_int_equal(open_error(fd_path(fd), &why), -ENOEXEC);
	assert_string_equal(why, expected);
	close(fd);
}

static void test_refused(void **state)
{
	struct made_elf m = made();
	const char *why;

	(void)state;
	m.machine = EM_SPARCV9;
	refuse_made(&m, "made for another machine");
	m = made();
	m.type = ET_REL;
	refuse_made(&m, "neither a program nor a shared library");
	assert_int_equal(open_error("/nonexistent", &why), -ENOENT);
	assert_null(why);
	assert_int_equal(open_error("/proc/self/status", &why), -ENOEXEC);
	assert_string_equal(why, "not an ELF file");
	assert_int_equal(open_error("/dev/null", &why), -ENOEXEC);
	assert_string_equal(why, "not a regular file");
	assert_int_equal(open_error("/", &why), -ENOEXEC);
}

/* ---- debug files --------------------------------------------------------------------- */

static void shell(const char *format, ...)
{
	char command[8192];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command))
		fail_msg("%s", command);
}

static void make_dir(char dir[PATH_MAX])
{
	snprintf(dir, PATH_MAX, "%s/elf_test.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	assert_non_null(mkdtemp(dir));
	/* objcopy fills in the file's name in the link, from its current place. */
	shell("cd %s && cp /proc/%d/exe whole && objcopy --only-keep-debug whole whole.debug && "
	      "objcopy --strip-all whole stripped && "
	      "objcopy -R .note.gnu.build-id --add-gnu-debuglink=whole.debug stripped linked",
	      dir, getpid());
}

static void expect_stripped(const char *path, const char *debug_dir, bool is_stripped)
{
	struct elf_file *f = open_file(path, debug_dir);
	struct elf_file *whole = open_file("/proc/self/exe", NO_DEBUG_DIR);
	unsigned int cnt;
	const struct elf_func *funcs = elf_file_functions(whole, &cnt);

	assert_int_equal(elf_file_is_stripped(f), is_stripped);
	if (!is_stripped)
		compare_funcs(f, funcs, cnt);
	elf_file_close(whole);
	elf_file_close(f);
}

static void test_debug_by_build_id(void **state)
{
	char dir[PATH_MAX], path[PATH_MAX + 16];
	struct elf_file *f = open_file("/proc/self/exe", NO_DEBUG_DIR);
	char id[2 * ELF_BUILD_ID_BYTES_MAX + 1];

	(void)state;
	snprintf(id, sizeof(id), "%s", elf_file_build_id(f));
	elf_file_close(f);
	if (!*id)
		skip();
	make_dir(dir);
	snprintf(path, sizeof(path), "%s/stripped", dir);
	expect_stripped(path, dir, true);
	shell("cd %s && mkdir -p .build-id/%.2s && cp whole.debug .build-id/%.2s/%s.debug", dir, id,
	      id, id + 2);
	expect_stripped(path, dir, false);
	/* Another build's. */
	shell("cd %s && objcopy --dump-section .note.gnu.build-id=note whole && printf elsewise | "
	      "dd of=note bs=1 seek=20 conv=notrunc status=none && "
	      "objcopy --update-section .note.gnu.build-id=note whole .build-id/%.2s/%s.debug",
	      dir, id, id + 2);
	expect_stripped(path, dir, true);
	shell("cd %s && head -c 5000 whole.debug >.build-id/%.2s/%s.debug", dir, id, id + 2);
	expect_stripped(path, dir, true);
	shell("rm -r %s", dir);
}

static void test_debug_by_link(void **state)
{
	char dir[PATH_MAX], path[PATH_MAX + 16];

	(void)state;
	make_dir(dir);
	snprintf(path, sizeof(path), "%s/linked", dir);
	expect_stripped(path, NO_DEBUG_DIR, false);
	/* One whose checksum takes too long is not read, right as it is. */
	shell("cd %s && cp whole.debug large && truncate -s 63M large && "
	      "objcopy -R .note.gnu.build-id --add-gnu-debuglink=large stripped linked", dir);
	expect_stripped(path, NO_DEBUG_DIR, false);
	shell("cd %s && truncate -s 65M large && "
	      "objcopy -R .note.gnu.build-id --add-gnu-debuglink=large stripped linked", dir);
	expect_stripped(path, NO_DEBUG_DIR, true);
	shell("cd %s && objcopy -R .note.gnu.build-id --add-gnu-debuglink=whole.debug stripped linked", dir);
	shell("cd %s && mkdir .debug && mv whole.debug .debug", dir);
	expect_stripped(path, NO_DEBUG_DIR, false);
	shell("cd %s && mkdir -p debug%s && mv .debug/whole.debug debug%s", dir, dir, dir);
	expect_stripped(path, NO_DEBUG_DIR, true);
	shell("ln -s %s/debug %s.debug", dir, dir);
	strcat(dir, ".debug");
	expect_stripped(path, dir, false);
	shell("cd %s%.*s && echo >>whole.debug", dir, (int)strlen(dir) - 6, dir);
	expect_stripped(path, dir, true);
	shell("rm -r %.*s %s", (int)strlen(dir) - 6, dir, dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "own program against readelf", test_readelf, NULL, NULL, NULL },
		{ "libc against readelf", test_readelf, NULL, NULL, "libc" },
		{ "libstdc++ against readelf", test_readelf, NULL, NULL, "libstdc++" },
		{ "libm against readelf", test_readelf, NULL, NULL, "libm" },
		cmocka_unit_test(test_own_usdts),
		cmocka_unit_test(test_made),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_debug_by_build_id),
		cmocka_unit_test(test_debug_by_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
