// SPDX-License-Identifier: GPL-2.0
/*
 * Damaged ELF files and library caches: cut at every byte and changed at random, always from
 * the same seed. Built with SAN=address,undefined it says more.
 */
#include <errno.h>
#include <fcntl.h>
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
#include "elf_made.h"

#define MADE_CHANGES	20000
#define OWN_CHANGES	150
#define OWN_BYTES_MAX	(64 << 20)

static const struct made_symbol symbols[] = {
	{ "outer@@V_1", 0x401200, 0x20, STT_FUNC, STB_GLOBAL, 1 },
	{ "helper", 0x401260, 8, STT_FUNC, STB_LOCAL, 1 },
	{ "big", 0x401400, 0x100, STT_FUNC, STB_GLOBAL, 1 },
	{ "nested", 0x401410, 8, STT_FUNC, STB_GLOBAL, 1 },
	{ 0 },
};

static const struct made_note notes[] = {
	{ 0x401210, 0x6025f4, "p", "args", "-4@%edi 8@-16(%rbp) 4f@%xmm0" },
	{ 0x401240, 0, "p", "none", "" },
	{ 0 },
};

/* A file in memory and what was in it. */
struct victim {
	int fd;
	uint8_t *data;
	size_t bytes;
	char path[64];
	unsigned int opened;	/* how often it could be read all the same */
};

static uint32_t random_below(uint32_t limit)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 32) * limit >> 32);
}

static void open_victim(struct victim *v, int fd)
{
	struct stat st;

	*v = (struct victim){ .fd = fd };
	assert_int_equal(fstat(fd, &st), 0);
	v->bytes = st.st_size;
	v->data = malloc(v->bytes);
	assert_non_null(v->data);
	assert_int_equal(pread(fd, v->data, v->bytes, 0), v->bytes);
	snprintf(v->path, sizeof(v->path), "/proc/self/fd/%d", fd);
}

static void close_victim(struct victim *v)
{
	free(v->data);
	close(v->fd);
}

static void check_functions(const struct elf_file *f, size_t bytes)
{
	unsigned int cnt, i;
	const struct elf_func *funcs = elf_file_functions(f, &cnt), *found;

	for (i = 0; i < cnt; i++) {
		assert_true(*funcs[i].name && strlen(funcs[i].name) <= ELF_NAME_BYTES_MAX);
		assert_true(funcs[i].offset < bytes);
		assert_true(!i || funcs[i - 1].offset < funcs[i].offset ||
			    (funcs[i - 1].offset == funcs[i].offset &&
			     strcmp(funcs[i - 1].name, funcs[i].name) < 0));
		found = elf_file_find(f, funcs[i].offset);
		assert_true(found && found->offset <= funcs[i].offset);
	}
	elf_file_find(f, random_below(bytes ?: 1));
}

static void check_usdts(const struct elf_file *f, size_t bytes)
{
	unsigned int cnt, i, k;
	const struct elf_usdt *u = elf_file_usdts(f, &cnt);

	for (i = 0; i < cnt; i++, u++) {
		assert_true(*u->provider && *u->name && strlen(u->name) < bytes);
		assert_true(u->offset < bytes && u->semaphore < bytes);
		assert_true(u->args_cnt <= ELF_USDT_ARGS_MAX);
		for (k = 0; k < u->args_cnt; k++)
			assert_true(u->args[k].bytes && u->args[k].bytes <= 8);
	}
}

/* It is read or refused with a reason, and what is read makes sense. */
static void try_open(struct victim *v, size_t bytes)
{
	struct elf_file *f = NULL;
	const char *why = NULL;
	int err = elf_file_open_with(&f, v->path, "/nonexistent", &why);

	if (err) {
		assert_int_equal(err, -ENOEXEC);
		assert_true(why && *why && !f);
		return;
	}
	v->opened++;
	check_functions(f, bytes);
	check_usdts(f, bytes);
	assert_true(strlen(elf_file_build_id(f)) <= 2 * ELF_BUILD_ID_BYTES_MAX);
	elf_file_close(f);
}

static void restore(const struct victim *v, size_t at, size_t bytes)
{
	assert_int_equal(pwrite(v->fd, v->data + at, bytes, at), bytes);
}

/* Numbers that lengths and offsets do not expect, or any byte. */
static size_t change(const struct victim *v, size_t at)
{
	static const uint64_t odd[] = {
		0, 1, 0x7f, 0xff, 0xffff, 0x80000000, 0xffffffff, UINT64_C(1) << 40, INT64_MAX,
		UINT64_C(1) << 63, UINT64_MAX - 7, UINT64_MAX,
	};
	const size_t sizes[] = { 1, 1, 2, 4, 8 };
	size_t bytes = sizes[random_below(5)];
	uint64_t value = odd[random_below(12)];

	if (random_below(2))
		value = random_below(UINT32_MAX);
	if (random_below(2))
		at &= ~(bytes - 1);
	if (bytes > v->bytes - at)
		bytes = v->bytes - at;
	assert_int_equal(pwrite(v->fd, &value, bytes, at), bytes);
	return bytes;
}

/* One to four changes at once, below @limit of the file or in its last bytes. */
static void change_often(struct victim *v, unsigned int times, size_t limit)
{
	unsigned int n;
	size_t at;

	while (times--) {
		for (n = random_below(4) + 1; n; n--) {
			at = random_below((uint32_t)limit);
			change(v, random_below(2) ? at : v->bytes - 1 - at);
		}
		try_open(v, v->bytes);
		restore(v, 0, limit + 8 < v->bytes ? limit + 8 : v->bytes);
		restore(v, v->bytes - limit, limit);
	}
}

/* Each byte of @v's first @bytes, one at a time. */
static void change_each(struct victim *v, size_t bytes)
{
	static const uint8_t masks[] = { 0x01, 0x80, 0xff };
	size_t at, i;
	uint8_t byte;

	for (at = 0; at < bytes; at++)
		for (i = 0; i < sizeof(masks); i++) {
			byte = v->data[at] ^ masks[i];
			assert_int_equal(pwrite(v->fd, &byte, 1, at), 1);
			try_open(v, v->bytes);
			restore(v, at, 1);
		}
}

/* Its section headers are at the end: whatever is cut off, it is refused. */
static void cut_at_each(struct victim *v)
{
	const unsigned int opened = v->opened;
	size_t bytes;

	for (bytes = v->bytes; bytes-- > 0;) {
		assert_int_equal(ftruncate(v->fd, bytes), 0);
		try_open(v, bytes);
	}
	assert_int_equal(v->opened, opened);
	restore(v, 0, v->bytes);
}

/* @state: the class. */
static void test_made(void **state)
{
	struct made_elf m = { .elf_class = *(const int *)*state,
			      .machine = made_machine(),
			      .type = ET_DYN,
			      .symtab = symbols,
			      .dynsym = symbols,
			      .notes = notes };
	struct victim v;

	if (m.elf_class == ELFCLASS32 && m.machine == EM_X86_64)
		m.machine = EM_386;
	open_victim(&v, made_elf(&m));
	try_open(&v, v.bytes);
	assert_int_equal(v.opened, 1);
	change_each(&v, 0xb0);		/* the headers; the code after them does not matter */
	cut_at_each(&v);
	assert_true(v.opened > 100);
	/* After the code and data: sections, notes, symbols, names. */
	change_often(&v, MADE_CHANGES, v.bytes - MADE_DATA_OFFSET);
	assert_true(v.opened > MADE_CHANGES / 10);
	close_victim(&v);
}

/* Anybody can have a file that is large only by its size: what it promises is not read into memory. */
static void test_hole(void **state)
{
	const struct made_elf m = { ELFCLASS64, made_machine(), ET_DYN, .symtab = symbols };
	const struct {
		uint64_t symbols;
		int ret;
	} cases[] = { { 2796202, 0 }, { 2796203, -ENOEXEC }, { 1 << 28, -ENOEXEC } };	/* up to 64 MiB */
	struct elf_file *f = NULL;
	const char *why = NULL;
	char path[64];
	size_t i;
	int fd;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fd = made_elf(&m);
		made_elf_hole(fd, SHT_SYMTAB, cases[i].symbols * sizeof(Elf64_Sym));
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		assert_int_equal(elf_file_open_with(&f, path, "/nonexistent", &why), cases[i].ret);
		if (cases[i].ret)
			assert_string_equal(why, "damaged: a symbol table lies outside the file, or is too large");
		else
			elf_file_close(f);
		close(fd);
	}
}

/* The headers of a real one, in front and at the end. */
static void test_own(void **state)
{
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
	    fd = memfd_create("own", MFD_CLOEXEC);
	struct victim v;

	(void)state;
	assert_true(in >= 0 && fd >= 0);
	open_victim(&v, in);
	assert_true(v.bytes < OWN_BYTES_MAX);
	assert_int_equal(pwrite(fd, v.data, v.bytes, 0), v.bytes);
	close_victim(&v);
	open_victim(&v, fd);
	try_open(&v, v.bytes);
	assert_int_equal(v.opened, 1);
	change_often(&v, OWN_CHANGES, 3000);
	assert_int_equal(ftruncate(fd, v.bytes / 2), 0);
	try_open(&v, v.bytes / 2);
	close_victim(&v);
}

/* ---- the loader's cache ----------------------------------------------------------- */

struct cache_entry {
	int32_t flags;
	uint32_t key, value, os_version;
	uint64_t hwcap;
};

struct cache_file {
	char old_magic[12];
	uint32_t old_cnt;
	char old_entry[16];		/* 12 bytes, and padding */
	char magic[20];
	uint32_t cnt, string_bytes, rest[5];
	struct cache_entry entries[3];
	char strings[64];
};

#define NEW_AT		offsetof(struct cache_file, magic)
#define STRINGS_AT	(offsetof(struct cache_file, strings) - NEW_AT)

static struct cache_file made_cache(void)
{
	struct cache_file c = {
		.old_magic = "ld.so-1.7.0", .old_cnt = 1, .cnt = 3,
		.entries = {
			{ .key = STRINGS_AT, .value = STRINGS_AT + 10 },
			{ .key = STRINGS_AT, .value = STRINGS_AT + 9, .hwcap = UINT64_C(1) << 62 },
			{ .key = STRINGS_AT + sizeof(c.strings), .value = STRINGS_AT + 9 },
		},
		.strings = "libx.so.1\0/lib/libx.so.1",
	};

	memcpy(c.magic, "glibc-ld.so.cache1.1", sizeof(c.magic));
	return c;
}

/* All entries, from memory that ends where the cache does. */
static unsigned int walk_cache(const void *data, size_t bytes)
{
	char *copy = malloc(bytes ?: 1);
	const char *name, *path;
	unsigned int cnt = 0;
	struct elf_cache c;
	uint32_t i;

	memcpy(copy, data, bytes);
	if (!elf_cache_init(&c, copy, bytes))
		for (i = 0; i < c.entry_cnt; i++)
			cnt += elf_cache_entry(&c, i, &name, &path) &&
			       strlen(name) + strlen(path) < bytes;
	free(copy);
	return cnt;
}

static void test_cache(void **state)
{
	struct cache_file c = made_cache();
	const char *name, *path;
	struct elf_cache cache;
	size_t i;

	(void)state;
	assert_int_equal(elf_cache_init(&cache, &c, sizeof(c)), 0);
	assert_int_equal(cache.entry_cnt, 3);
	assert_true(elf_cache_entry(&cache, 0, &name, &path));
	assert_string_equal(name, "libx.so.1");
	assert_string_equal(path, "/lib/libx.so.1");
	assert_false(elf_cache_entry(&cache, 1, &name, &path));
	assert_false(elf_cache_entry(&cache, 2, &name, &path));
	/* Since glibc 2.32 there is nothing before the new header. */
	assert_int_equal(walk_cache(c.magic, sizeof(c) - NEW_AT), 1);

	for (i = 0; i <= sizeof(c); i++)
		assert_true(walk_cache(&c, i) <= 1);
	for (i = 0; i < 20000; i++) {
		c = made_cache();
		((uint8_t *)&c)[random_below(sizeof(c))] = (uint8_t)random_below(256);
		((uint8_t *)&c)[random_below(sizeof(c))] = (uint8_t)random_below(256);
		walk_cache(&c, sizeof(c));
	}
	c = made_cache();
	c.cnt = UINT32_MAX;
	assert_int_equal(elf_cache_init(&cache, &c, sizeof(c)), -EINVAL);
}

int main(void)
{
	static const int classes[] = { ELFCLASS64, ELFCLASS32 };
	const struct CMUnitTest tests[] = {
		{ "made, 64 bit", test_made, NULL, NULL, (void *)&classes[0] },
		{ "made, 32 bit", test_made, NULL, NULL, (void *)&classes[1] },
		cmocka_unit_test(test_hole),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
