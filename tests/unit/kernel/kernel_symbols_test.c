// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the table of the kernel's symbols.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/symbols.h"

#ifdef __SANITIZE_ADDRESS__
#define SLOWER	5
#else
#define SLOWER	1
#endif

/* The kernel, its gap after the text, two modules, BPF; modules are not in order. */
#define KERNEL_TEXT							\
	"0000000000000000 A fixed_percpu_data\n"			\
	"0000000000001000 A cpu_debug_store\n"				\
	"ffffffff81000000 T _stext\n"					\
	"ffffffff81000000 T _text\n"					\
	"ffffffff81000100 t __pfx_vfs_read\n"				\
	"ffffffff81000110 T vfs_read\n"					\
	"ffffffff81000300 t __do_sys_fork\n"				\
	"ffffffff81000300 T __ia32_sys_fork\n"				\
	"ffffffff81000300 T __x64_sys_fork\n"				\
	"ffffffff81000400 W arch_weak\n"				\
	"ffffffff81e01000 T _etext\n"					\
	"ffffffff82000000 D __start_rodata\n"				\
	"ffffffff82300000 B _end\n"
#define MODULES								\
	"ffffffffc0305000 d two_data\t[two]\n"				\
	"ffffffffc0301000 t two_begin\t[two]\n"				\
	"ffffffffc0301200 t two_end\t[two]\n"				\
	"ffffffffc0201000 t one_begin\t[one]\n"				\
	"ffffffffc0201800 t one_end\t[one]\n"
#define BPF								\
	"ffffffffc1000000 t bpf_prog_6deef7357e7b4530_one\t[bpf]\n"	\
	"ffffffffc1000040 t bpf_prog_6deef7357e7b4530_two\t[bpf]\n"	\
	"ffffffffc2000000 t ftrace_trampoline\t[__builtin__ftrace]\n"

struct fixture {
	char path[64];
	struct kernel_symbols *symbols;
};

static void write_text(const struct fixture *f, const char *text, size_t len)
{
	FILE *file = fopen(f->path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static int open_len(struct fixture *f, const char *text, size_t len)
{
	write_text(f, text, len);
	return kernel_symbols_open(&f->symbols, f->path);
}

static int open_text(struct fixture *f, const char *text)
{
	return open_len(f, text, strlen(text));
}

static void close_symbols(struct fixture *f)
{
	kernel_symbols_close(f->symbols);
	f->symbols = NULL;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fd;

	if (!f)
		return -1;
	strcpy(f->path, "/tmp/kfxt-symbols-XXXXXX");
	fd = mkstemp(f->path);
	*state = f;
	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	close_symbols(f);
	unlink(f->path);
	free(f);
	return 0;
}

/* @name lies at @addr; NULL: nothing does. */
static void assert_at(const struct fixture *f, uint64_t addr, const char *name)
{
	const struct kernel_symbol *symbol = kernel_symbols_find(f->symbols, addr);

	if (!name && symbol)
		fail_msg("%llx: %s", (unsigned long long)addr, symbol->name);
	if (name && !symbol)
		fail_msg("%llx: not %s", (unsigned long long)addr, name);
	if (name)
		assert_string_equal(symbol->name, name);
}

static void test_order(void **state)
{
	const struct kernel_symbol *all;
	struct fixture *f = *state;
	unsigned int cnt, i;

	assert_int_equal(open_text(f, KERNEL_TEXT MODULES BPF), 0);
	all = kernel_symbols_all(f->symbols, &cnt);
	assert_int_equal(cnt, 21);
	for (i = 1; i < cnt; i++)
		assert_true(all[i - 1].addr <= all[i].addr);
	assert_string_equal(all[2].name, "_stext");
	assert_string_equal(all[3].name, "_text");
	assert_null(all[5].module);
	assert_string_equal(all[13].name, "one_begin");
	assert_string_equal(all[13].module, "one");
	assert_int_equal(all[13].type, 't');
	assert_string_equal(all[20].module, "__builtin__ftrace");
}

static void test_find(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(open_text(f, KERNEL_TEXT MODULES BPF), 0);
	assert_at(f, 0xffffffff81000110, "vfs_read");
	assert_at(f, 0xffffffff81000114, "vfs_read");
	assert_at(f, 0xffffffff810002ff, "vfs_read");
	assert_at(f, 0xffffffff8100010f, "__pfx_vfs_read");
	assert_at(f, 0xffffffff81000410, "arch_weak");
	/* of aliases the kernel's own */
	assert_at(f, 0xffffffff81000304, "__do_sys_fork");
	assert_at(f, 0xffffffff81000000, "_stext");
	assert_at(f, 0xffffffffc0201804, "one_end");
	assert_at(f, 0xffffffffc0301205, "two_end");
	assert_at(f, 0xffffffffc1000044, "bpf_prog_6deef7357e7b4530_two");
	assert_at(f, 0xffffffffc2000010, "ftrace_trampoline");
}

static void test_find_none(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(open_text(f, KERNEL_TEXT MODULES BPF), 0);
	assert_at(f, 0, NULL);
	assert_at(f, 0x1000, NULL);			/* data, at user addresses */
	assert_at(f, 0xffffffff80ffffff, NULL);
	assert_at(f, 0xffffffff81200000, NULL);		/* too far from arch_weak */
	assert_at(f, 0xffffffff81e01000, NULL);		/* after the text */
	assert_at(f, 0xffffffff82000010, NULL);		/* in data */
	assert_at(f, 0xffffffff82300010, NULL);		/* after the kernel */
	assert_at(f, 0xffffffffc0200fff, NULL);		/* before the modules */
	assert_at(f, 0xffffffffc0220000, NULL);		/* between two of them */
	assert_at(f, 0xffffffffc0305004, NULL);		/* in a module's data */
	assert_at(f, 0xffffffffffffffff, NULL);
}

static void test_damaged(void **state)
{
	const struct kernel_symbol *all;
	struct fixture *f = *state;
	char text[2048];
	unsigned int cnt;

	snprintf(text, sizeof(text),
		 "\n \nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T \n"
		 "T name\nname\n10000000000000000 T long\nxyz T name\n"
		 "ffffffff81000000 T %0600d\n"
		 "ffffffff81000000 T a b\nffffffff81000000 T a\t[mod\nffffffff81000000 T a\t[]\n"
		 "ffffffff81000000  T a\nffffffff81000000 TT a\n"
		 "ffffffff81000010 T good\nffffffff81000020 t last\t[mod]", 1);
	assert_int_equal(open_text(f, text), 0);
	all = kernel_symbols_all(f->symbols, &cnt);
	assert_int_equal(cnt, 2);
	assert_string_equal(all[0].name, "good");
	assert_string_equal(all[1].name, "last");
	assert_string_equal(all[1].module, "mod");
}

/* Wherever the file ends or has another byte, what is left of it can be used. */
static void test_cut_and_changed(void **state)
{
	static const char text[] = KERNEL_TEXT MODULES BPF;
	struct fixture *f = *state;
	char changed[sizeof(text)];
	size_t len, i;
	int err;

	for (len = 0; len < sizeof(text); len += 7) {
		err = open_len(f, text, len);
		/* the first letter of the first name, and of the first at an address */
		assert_int_equal(err, len < 20 ? -ENODATA : len < 57 ? -EPERM : 0);
		if (!err)
			kernel_symbols_find(f->symbols, 0xffffffff81000114);
		close_symbols(f);
	}
	for (i = 0; i < sizeof(text) - 1; i += 5) {
		memcpy(changed, text, sizeof(text));
		changed[i] = (char)("\n \0[]\t\xff"[i % 7]);
		assert_int_equal(open_len(f, changed, sizeof(text) - 1), 0);
		kernel_symbols_find(f->symbols, 0xffffffff81000114);
		close_symbols(f);
	}
}

static void test_hidden(void **state)
{
	const struct kernel_symbol *all;
	struct fixture *f = *state;
	unsigned int cnt;

	assert_int_equal(open_text(f, "0000000000000000 T vfs_read\n"
				      "0000000000000000 t read\t[one]\n"), -EPERM);
	all = kernel_symbols_all(f->symbols, &cnt);
	assert_int_equal(cnt, 2);
	assert_string_equal(all[0].name, "vfs_read");
	assert_at(f, 0, NULL);
	assert_at(f, 0xffffffff81000000, NULL);
	assert_null(kernel_symbols_find_late(f->symbols, 0xffffffff81000000));
}

static void test_errors(void **state)
{
	struct kernel_symbols *symbols = NULL;
	struct fixture *f = *state;

	assert_int_equal(kernel_symbols_open(&symbols, "/tmp/kfxt-no-such-file"), -ENOENT);
	assert_int_equal(open_text(f, ""), -ENODATA);
	assert_int_equal(open_text(f, "nothing\nof use\n"), -ENODATA);
	assert_null(symbols);
	assert_null(f->symbols);
	kernel_symbols_close(NULL);
}

static void wait_for_next_reading(void)
{
	const struct timespec time = { .tv_sec = 1, .tv_nsec = 20000000 };

	nanosleep(&time, NULL);
}

/* A module is loaded after another one, a BPF program between others; one module is unloaded. */
static void test_late(void **state)
{
	static const char after[] = KERNEL_TEXT
		"ffffffffc0201000 t three_begin\t[three]\n"
		"ffffffffc0203000 t three_end\t[three]\n"
		"ffffffffc0401000 t four\t[four]\n"
		"ffffffffc1000020 t bpf_prog_6deef7357e7b4530_new\t[bpf]\n" BPF;
	const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	const struct kernel_symbol *read, *one, *late, *bpf;
	struct fixture *f = *state;

	assert_int_equal(open_text(f, KERNEL_TEXT MODULES BPF), 0);
	read = kernel_symbols_find_late(f->symbols, 0xffffffff81000114);
	one = kernel_symbols_find_late(f->symbols, 0xffffffffc0201804);
	assert_null(kernel_symbols_find_late(f->symbols, 0xffffffffc0401000));
	write_text(f, after, sizeof(after) - 1);
	/* too early, unless this took a second */
	late = kernel_symbols_find_late(f->symbols, 0xffffffffc0401000);
	assert_true(!late || clock_ns(CLOCK_MONOTONIC) - begin_ns >= 1000000000);
	wait_for_next_reading();
	late = kernel_symbols_find_late(f->symbols, 0xffffffffc0401004);
	assert_non_null(late);
	assert_string_equal(late->name, "four");
	assert_string_equal(late->module, "four");
	bpf = kernel_symbols_find_late(f->symbols, 0xffffffffc1000024);
	assert_string_equal(bpf->name, "bpf_prog_6deef7357e7b4530_new");
	assert_at(f, 0xffffffffc0201804, "three_begin");
	/* what was handed out stays, and what is still there is the same */
	assert_string_equal(one->name, "one_end");
	assert_string_equal(one->module, "one");
	assert_ptr_equal(kernel_symbols_find(f->symbols, 0xffffffff81000114), read);
	/* the file gone, or addresses hidden: nothing changes */
	wait_for_next_reading();
	write_text(f, "0000000000000000 T vfs_read\n", 28);
	assert_null(kernel_symbols_find_late(f->symbols, 0xffffffffc0501000));
	assert_ptr_equal(kernel_symbols_find(f->symbols, 0xffffffffc0401004), late);
}

#define MANY	200000

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void test_many(void **state)
{
	struct fixture *f = *state;
	FILE *file = fopen(f->path, "w");
	uint64_t begin_ns;
	unsigned int i, cnt;
	char name[32];

	assert_non_null(file);
	for (i = 0; i < MANY; i++)
		fprintf(file, "%016llx t some_function_%u%s\n", 0xffffffff81000000ULL + 64 * i, i,
			i > MANY / 2 ? "\t[module]" : "");
	assert_int_equal(fclose(file), 0);
	begin_ns = cpu_ns();
	assert_int_equal(kernel_symbols_open(&f->symbols, f->path), 0);
	kernel_symbols_all(f->symbols, &cnt);
	assert_int_equal(cnt, MANY);
	for (i = 0; i < MANY; i += 1001) {
		snprintf(name, sizeof(name), "some_function_%u", i);
		assert_at(f, 0xffffffff81000000 + 64 * i + 5, name);
	}
	assert_in_range((cpu_ns() - begin_ns) / 1000000, 0, 2000 * SLOWER);
}

/* This kernel's own. */
static void test_running(void **state)
{
	struct kernel_symbols *symbols = NULL;
	const struct kernel_symbol *all;
	unsigned int cnt = 0;
	int err = kernel_symbols_open(&symbols, NULL);

	(void)state;
	if (err == -ENOENT || err == -EACCES)
		skip();
	assert_true(!err || err == -EPERM);
	all = kernel_symbols_all(symbols, &cnt);
	assert_true(cnt > 1000);
	assert_true(err || all[cnt - 1].addr);
	kernel_symbols_close(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_find, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_find_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damaged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cut_and_changed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hidden, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_errors, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_late, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
		cmocka_unit_test(test_running),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
