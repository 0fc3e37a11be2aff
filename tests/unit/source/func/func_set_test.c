// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the choice of kernel functions, on lists made here.
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

#include "base/glob.h"
#include "source/func/set.h"

#ifdef __SANITIZE_ADDRESS__
#define SLOWER	5
#else
#define SLOWER	1
#endif

#define ADDRS_FILE	"available_filter_functions_addrs"
#define NAMES_FILE	"available_filter_functions"

/* One with endbr64, one without; two static ones of a name, twice as many with another. */
#define SYMBOLS								\
	"ffffffff81000000 T _stext\n"					\
	"ffffffff81000000 t __pfx_vfs_read\n"				\
	"ffffffff81000010 T vfs_read\n"					\
	"ffffffff81000100 t vfs_read.cold\n"				\
	"ffffffff81000110 T vfs_readv\n"				\
	"ffffffff81000200 T vfs_write\n"				\
	"ffffffff81000300 t type_show\n"				\
	"ffffffff81000400 t type_show\n"				\
	"ffffffff81000500 t t_next\n"					\
	"ffffffff81000600 t t_next\n"					\
	"ffffffff81000700 t t_next\n"					\
	"ffffffff81000800 T bpf_ktime_get_ns\n"				\
	"ffffffff81000900 T bpf_prog_get\n"				\
	"ffffffff81000a00 T _raw_spin_lock\n"				\
	"ffffffff81000b00 T __do_sys_fork\n"				\
	"ffffffff81000b00 T __ia32_sys_fork\n"				\
	"ffffffff81000c00 T perf_trace_buf_update\n"		\
	"ffffffff81100000 T __noinstr_text_start\n"			\
	"ffffffff81100010 t hidden_noinstr\n"				\
	"ffffffff81100100 T __noinstr_text_end\n"			\
	"ffffffff82000000 D some_data\n"				\
	"ffffffff83000000 D __init_begin\n"				\
	"ffffffff83000010 t vfs_caches_init\n"				\
	"ffffffff83000020 t type_show\n"				\
	"ffffffff83000100 R __init_end\n"				\
	"ffffffffc0200000 t type_show\t[fuse]\n"			\
	"ffffffffc0200100 t fuse_read\t[fuse]\n"			\
	"ffffffffc0300000 t kfxt_on_entry\t[kfxt]\n"			\
	"ffffffffc1000000 t bpf_prog_6deef7357e7b4530_x\t[bpf]\n"
#define NAMES								\
	"vfs_read\nvfs_readv\nvfs_write\ntype_show\ntype_show\nt_next\n" \
	"bpf_ktime_get_ns\nbpf_prog_get\n_raw_spin_lock\n__do_sys_fork\n" \
	"perf_trace_buf_update\n__ftrace_invalid_address___32\n"	\
	"type_show [fuse]\nfuse_read [fuse]\nkfxt_on_entry [kfxt]\n"
#define NAMES_CNT	14
#define ADDRS								\
	"ffffffff81000014 vfs_read\n"					\
	"ffffffff81000110 vfs_readv\n"					\
	"ffffffff81000204 vfs_write\n"					\
	"ffffffff81000304 type_show\n"					\
	"ffffffff81000404 type_show\n"					\
	"ffffffff81000604 t_next\n"					\
	"ffffffff81000804 bpf_ktime_get_ns\n"				\
	"ffffffff81000904 bpf_prog_get\n"				\
	"ffffffff81000a04 _raw_spin_lock\n"				\
	"ffffffff81000b04 __do_sys_fork\n"				\
	"ffffffffc0200004 type_show [fuse]\n"				\
	"ffffffffc0200104 fuse_read [fuse]\n"

struct fixture {
	char dir[64];
	struct kernel_symbols *symbols;
	struct func_set *set;
	bool no_excludes;
};

static void path_of(const struct fixture *f, const char *file, char path[128])
{
	snprintf(path, 128, "%s/%s", f->dir, file);
}

static void write_text(const struct fixture *f, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	path_of(f, name, path);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void open_symbols(struct fixture *f, const char *text)
{
	char path[128];
	int err;

	kernel_symbols_close(f->symbols);
	f->symbols = NULL;
	if (text)
		write_text(f, "kallsyms", text);
	path_of(f, "kallsyms", path);
	err = kernel_symbols_open(&f->symbols, path);
	assert_true(!err || err == -EPERM);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	strcpy(f->dir, "/tmp/kfxt-funcs-XXXXXX");
	*state = f;
	return mkdtemp(f->dir) ? 0 : -1;
}

/* The same with the tracer's list of names. */
static int set_up_names(void **state)
{
	int err = set_up(state);

	if (!err)
		write_text(*state, NAMES_FILE, NAMES);
	return err;
}

static int tear_down(void **state)
{
	static const char *const files[] = { ADDRS_FILE, NAMES_FILE, "kallsyms" };
	struct fixture *f = *state;
	char path[128];
	size_t i;

	func_set_close(f->set);
	kernel_symbols_close(f->symbols);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		path_of(f, files[i], path);
		unlink(path);
	}
	rmdir(f->dir);
	free(f);
	return 0;
}

/* The configuration for @globs, which are separated by spaces, in @text. */
static struct func_set_cfg split(const struct fixture *f, const char *globs, char text[256],
				 const char *words[16])
{
	struct func_set_cfg cfg = {
		.globs = words, .no_excludes = f->no_excludes, .tracefs = f->dir,
	};
	char *word;

	snprintf(text, 256, "%s", globs);
	for (word = strtok(text, " "); word; word = strtok(NULL, " "))
		words[cfg.globs_cnt++] = word;
	return cfg;
}

static int choose(struct fixture *f, const char *globs)
{
	const char *words[16];
	char text[256];
	struct func_set_cfg cfg = split(f, globs, text, words);
	int err;

	func_set_close(f->set);
	f->set = NULL;
	err = func_set_open(&f->set, &cfg, f->symbols);
	if (f->set && f->set->unmatched)
		f->set->unmatched = "gone";	/* with @text */
	return err;
}

/* That @globs choose these functions, "name" or "name@module" each, in this order. */
static void assert_chosen(struct fixture *f, const char *globs, const char *wanted)
{
	char found[2048] = "", *p = found;
	unsigned int i;

	assert_int_equal(choose(f, globs), 0);
	for (i = 0; i < f->set->cnt; i++)
		p += snprintf(p, sizeof(found) - (size_t)(p - found), "%s%s%s%s", i ? " " : "",
			      f->set->funcs[i].name, f->set->funcs[i].module ? "@" : "",
			      f->set->funcs[i].module ?: "");
	assert_string_equal(found, wanted);
}

static void assert_func(const struct fixture *f, unsigned int i, uint64_t entry, uint64_t addr,
			bool ambiguous)
{
	assert_true(i < f->set->cnt);
	assert_int_equal(f->set->funcs[i].entry, entry);
	assert_int_equal(f->set->funcs[i].addr, addr);
	assert_int_equal(f->set->funcs[i].ambiguous, ambiguous);
}

/* ---- globs -------------------------------------------------------------------- */

static void test_glob_match(void **state)
{
	(void)state;
	assert_true(glob_match("vfs_read", "vfs_read"));
	assert_false(glob_match("vfs_read", "vfs_readv"));
	assert_false(glob_match("vfs_readv", "vfs_read"));
	assert_true(glob_match("*", "a"));
	assert_true(glob_match("*", ""));
	assert_true(glob_match("vfs_*", "vfs_"));
	assert_true(glob_match("*_read", "vfs_read_read"));
	assert_false(glob_match("*_read", "vfs_read_"));
	assert_false(glob_match("*_read", "read"));
	assert_true(glob_match("v*r*d", "vfs_read"));
	assert_true(glob_match("*fs*rea*", "vfs_fs_read"));
	assert_true(glob_match("v??_r*", "vfs_read"));
	assert_false(glob_match("v?s?", "vfs"));
	assert_true(glob_match("*?", "a"));
	assert_false(glob_match("*?", ""));
	assert_true(glob_match("a*b*", "ab"));
	assert_false(glob_match("a*b*c", "acb"));
	assert_true(glob_match("**a**", "bab"));
	assert_true(glob_match("vfs_[rw]*", "vfs_write"));
	assert_true(glob_match("vfs_[!rw]*", "vfs_open"));
	assert_true(glob_match("\\v\\f\\s", "vfs"));
	assert_false(glob_match("\\*", "vfs"));
	assert_false(glob_match("", "vfs"));
}

static void test_glob_is_wide(void **state)
{
	(void)state;
	assert_true(glob_has_wildcard("*"));
	assert_true(glob_has_wildcard("vfs_rea?"));
	assert_true(glob_has_wildcard("vfs_[r]ead"));
	assert_false(glob_has_wildcard("vfs_read"));
	assert_false(glob_has_wildcard("vfs\\*"));
	assert_true(glob_has_wildcard("\\\\*"));
	assert_false(glob_has_wildcard(""));
	assert_false(glob_has_wildcard("\\"));
}

/* ---- sources ------------------------------------------------------------------ */

static void test_addrs(void **state)
{
	struct fixture *f = *state;

	open_symbols(f, SYMBOLS);
	write_text(f, ADDRS_FILE, ADDRS);
	write_text(f, NAMES_FILE, "of_the_other_file\n");
	assert_chosen(f, "vfs_* t*",
		      "vfs_read vfs_readv vfs_write type_show type_show t_next type_show@fuse");
	assert_int_equal(f->set->source, FUNC_SOURCE_ADDRS);
	assert_true(f->set->wide);
	assert_func(f, 0, 0xffffffff81000014, 0xffffffff81000010, false);
	assert_func(f, 1, 0xffffffff81000110, 0xffffffff81000110, false);
	assert_func(f, 3, 0xffffffff81000304, 0xffffffff81000300, true);
	assert_func(f, 5, 0xffffffff81000604, 0xffffffff81000600, true);
	assert_func(f, 6, 0xffffffffc0200004, 0xffffffffc0200000, true);
	/* the set owns its names */
	open_symbols(f, SYMBOLS);
	assert_string_equal(f->set->funcs[6].module, "fuse");
}

static void test_addrs_alone(void **state)
{
	struct fixture *f = *state;

	write_text(f, ADDRS_FILE,
		   ADDRS "not a line\nffffffff81000010\n\nffffffff81000014 vfs_read\n");
	assert_chosen(f, "vfs_read type_show", "vfs_read type_show type_show type_show@fuse");
	assert_false(f->set->wide);
	assert_func(f, 0, 0xffffffff81000014, 0, true);	/* it is listed twice */
	assert_func(f, 1, 0xffffffff81000304, 0, true);
	assert_chosen(f, "fuse_read", "fuse_read@fuse");
	assert_func(f, 0, 0xffffffffc0200104, 0, false);
}

static void test_names(void **state)
{
	struct fixture *f = *state;

	open_symbols(f, SYMBOLS);
	assert_chosen(f, "type_show vfs_read perf_*",
		      "vfs_read type_show type_show perf_trace_buf_update type_show@fuse");
	assert_int_equal(f->set->source, FUNC_SOURCE_NAMES);
	assert_func(f, 0, 0xffffffff81000010, 0xffffffff81000010, false);
	/* as many as the symbols without the one that is gone since boot */
	assert_func(f, 1, 0xffffffff81000300, 0xffffffff81000300, true);
	assert_func(f, 2, 0xffffffff81000400, 0xffffffff81000400, true);
	assert_func(f, 3, 0xffffffff81000c00, 0xffffffff81000c00, false);
	assert_func(f, 4, 0xffffffffc0200000, 0xffffffffc0200000, true);
	/* one is traceable, nobody knows which */
	assert_chosen(f, "t_next", "t_next t_next t_next");
	assert_func(f, 2, 0xffffffff81000700, 0xffffffff81000700, true);
}

static void test_names_hidden(void **state)
{
	struct fixture *f = *state;

	assert_chosen(f, "type_show vfs_read", "type_show type_show@fuse vfs_read");
	assert_func(f, 0, 0, 0, true);
	assert_func(f, 2, 0, 0, false);
	open_symbols(f, "0000000000000000 t type_show\n0000000000000000 t type_show\n"
			"0000000000000000 T vfs_read\n");
	assert_chosen(f, "type_show vfs_read", "type_show type_show@fuse vfs_read");
	assert_func(f, 0, 0, 0, true);
	assert_func(f, 2, 0, 0, false);
}

static void test_symbols(void **state)
{
	struct fixture *f = *state;

	open_symbols(f, SYMBOLS);
	assert_chosen(f, "vfs_* *fork type_show",
		      "vfs_read vfs_readv vfs_write type_show type_show __do_sys_fork "
		      "type_show@fuse");
	assert_int_equal(f->set->source, FUNC_SOURCE_SYMBOLS);
	assert_func(f, 0, 0xffffffff81000010, 0xffffffff81000010, false);
	assert_func(f, 3, 0xffffffff81000300, 0xffffffff81000300, true);
}

static void test_symbols_none(void **state)
{
	static const char *const names[] = {
		"__pfx_vfs_read", "vfs_read.cold", "vfs_caches_init", "hidden_noinstr",
		"bpf_prog_6deef7357e7b4530_x", "some_data",
	};
	struct fixture *f = *state;
	size_t i;

	open_symbols(f, SYMBOLS);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(choose(f, names[i]), -ENOENT);
	/* an alias by its own name */
	assert_chosen(f, "__ia32_sys_fork", "__ia32_sys_fork");
}

static void test_no_source(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(choose(f, "*"), -EACCES);
	assert_null(f->set);
	/* lists without a function are as good as none */
	write_text(f, ADDRS_FILE, "");
	write_text(f, NAMES_FILE, "__ftrace_invalid_address___16\n\n");
	assert_int_equal(choose(f, "*"), -EACCES);
	open_symbols(f, SYMBOLS);
	assert_int_equal(choose(f, "vfs_read"), 0);
	assert_int_equal(f->set->source, FUNC_SOURCE_SYMBOLS);
	func_set_close(NULL);
}

/* ---- choosing ----------------------------------------------------------------- */

static void test_excludes(void **state)
{
	struct fixture *f = *state;

	assert_chosen(f, "*", "__do_sys_fork fuse_read@fuse perf_trace_buf_update t_next "
			      "type_show type_show@fuse vfs_read vfs_readv vfs_write");
	assert_int_equal(f->set->excluded, 4);
	/* by its name */
	assert_chosen(f, "*read _raw_spin_lock", "_raw_spin_lock fuse_read@fuse vfs_read");
	assert_int_equal(f->set->excluded, 0);
	assert_chosen(f, "_raw_spin_lock _*", "__do_sys_fork _raw_spin_lock");
	assert_int_equal(f->set->excluded, 0);
	assert_chosen(f, "_*", "__do_sys_fork");
	assert_int_equal(f->set->excluded, 1);
	/* nothing else is meant */
	assert_chosen(f, "bpf_*", "bpf_ktime_get_ns bpf_prog_get");
	assert_chosen(f, "_* _raw_*", "__do_sys_fork _raw_spin_lock");
	assert_int_equal(f->set->excluded, 0);
	assert_chosen(f, "kfxt*", "kfxt_on_entry@kfxt");
	/* taken out by the user */
	assert_chosen(f, "_* !_raw*", "__do_sys_fork");
	assert_int_equal(f->set->excluded, 0);
	f->no_excludes = true;
	assert_int_equal(choose(f, "*"), 0);
	assert_int_equal(f->set->cnt, NAMES_CNT - 1);	/* one type_show stands for two */
	assert_int_equal(f->set->excluded, 0);
}

static void test_order(void **state)
{
	struct fixture *f = *state;

	assert_chosen(f, "vfs_* !vfs_read*", "vfs_write");
	assert_chosen(f, "vfs_* !vfs_read* vfs_readv", "vfs_readv vfs_write");
	assert_chosen(f, "!vfs_read vfs_*", "vfs_read vfs_readv vfs_write");
	assert_chosen(f, "vfs_read vfs_* vfs_read", "vfs_read vfs_readv vfs_write");
	assert_chosen(f, "vfs_[rw]* !*[v]", "vfs_read vfs_write");
	assert_chosen(f, "vfs_write !nothing*", "vfs_write");
}

/* The text for @globs must be @wanted, items separated by spaces; NULL: do not compare. */
static void assert_text(struct fixture *f, const char *globs, const char *wanted)
{
	const char *words[16];
	char text[256], *made;
	struct func_set_cfg cfg = split(f, globs, text, words);
	size_t bytes, i;

	made = func_set_filter_text(&cfg, f->symbols, &bytes);
	assert_non_null(made);
	assert_true(!bytes || (!made[bytes - 1] && made[0] != '!'));
	for (i = 0; i + 1 < bytes; i++)
		if (!made[i])
			made[i] = ' ';
	if (bytes)
		assert_string_equal(made, wanted);
	else
		assert_string_equal("", wanted);
	free(made);
}

/* Two names at one address, of which the kernel lists one. */
static void test_alias(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(choose(f, "__ia32_sys_fork"), -ENOENT);	/* nobody knows where it is */
	open_symbols(f, SYMBOLS);
	assert_chosen(f, "__ia32_sys_fork", "__do_sys_fork");
	assert_func(f, 0, 0xffffffff81000b00, 0xffffffff81000b00, false);
	assert_chosen(f, "__do* vfs_read !__ia32_sys_fork", "vfs_read");
	assert_int_equal(choose(f, "__ia32_sys_for*"), -ENOENT);
	assert_int_equal(choose(f, "some_data"), -ENOENT);
	assert_int_equal(choose(f, "hidden_noinstr"), -ENOENT);
	assert_text(f, "__ia32_sys_fork vfs_w*", "vfs_w* __do_sys_fork");
}

static void test_nothing(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(choose(f, "vfs_* vfs_raed"), -ENOENT);
	assert_non_null(f->set->unmatched);
	assert_int_equal(f->set->cnt, 0);
	assert_string_equal(f->set->near[0], "vfs_read");
	assert_int_equal(choose(f, "vfs_raed*"), -ENOENT);
	assert_string_equal(f->set->near[0], "vfs_read");
	/* nothing left: no glob is to blame */
	assert_int_equal(choose(f, "vfs_* !*"), -ENOENT);
	assert_null(f->set->unmatched);
	assert_int_equal(choose(f, "!vfs_*"), -ENOENT);
	assert_null(f->set->unmatched);
	assert_int_equal(choose(f, ""), -ENOENT);
	assert_int_equal(choose(f, "!"), -ENOENT);
}

/* ---- the module's text -------------------------------------------------------- */

static void test_filter_text(void **state)
{
	struct fixture *f = *state;

	assert_text(f, "vfs_read", "vfs_read");
	assert_text(f, "vfs_* t_next", "vfs_* t_next");
	assert_text(f, "vfs_* !*v", "vfs_* !*v");
	assert_text(f, "vfs_* !nothing", "vfs_*");
	assert_text(f, "*", "* !bpf_* !_raw_spin_* !kfxt_on_entry");
	assert_text(f, "bpf_*", "bpf_*");
	/* what would be lost comes back by name */
	assert_text(f, "* bpf_prog_get",
		    "* bpf_prog_get !_raw_spin_* !bpf_ktime_get_ns !kfxt_on_entry");
	assert_text(f, "vfs_* !*v vfs_readv", "vfs_* vfs_readv");
	assert_text(f, "vfs_* !vfs_re* vfs_readv", "vfs_* vfs_readv !vfs_read");
	/* brackets the kernel knows, and has in another form, and does not know */
	assert_text(f, "vfs_[rw]* !*[a-d]", "vfs_[rw]* !*[a-d]");
	assert_text(f, "vfs_[^w]*", "vfs_[!w]*");
	assert_text(f, "vfs_[[:alpha:]]*", "vfs_read vfs_readv vfs_write");
	assert_text(f, "vfs_[\\w]*", "vfs_write");
	assert_text(f, "vfs_* !*[[:digit:]]v", "vfs_*");
	assert_text(f, "vfs_* !*[[:alpha:]]d", "vfs_* !vfs_read");
	assert_text(f, "vf\\s_read \\\\[ *", "");
	assert_text(f, "vf\\s_read*", "vf\\s_read*");
	f->no_excludes = true;
	assert_text(f, "*", "*");
	/* names that several have */
	assert_text(f, "type_[[:alpha:]]*", "type_show");
	/* nothing */
	assert_text(f, "nosuch", "");
	assert_text(f, "!vfs_*", "");
	assert_text(f, "vfs_* !*", "");
}

/* ---- size --------------------------------------------------------------------- */

#define MANY	44000

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* As many as a kernel has: every 50th name twice, a few excluded, some in modules. */
static void write_many(struct fixture *f, bool addrs)
{
	char path[128];
	FILE *list, *symbols;
	unsigned int i, name;

	path_of(f, addrs ? ADDRS_FILE : NAMES_FILE, path);
	list = fopen(path, "w");
	path_of(f, "kallsyms", path);
	symbols = fopen(path, "w");
	assert_true(list && symbols);
	for (i = 0; i < MANY; i++) {
		name = i % 50 ? i : i / 100;
		if (addrs)
			fprintf(list, "%016llx ", 0xffffffff81000004ULL + 64 * i);
		fprintf(list, "%sfunction_of_kernel_%u%s\n", i % 40 == 1 ? "bpf_" : "", name,
			i > 40000 ? " [module]" : "");
		fprintf(symbols, "%016llx t %sfunction_of_kernel_%u%s\n",
			0xffffffff81000000ULL + 64 * i, i % 40 == 1 ? "bpf_" : "", name,
			i > 40000 ? "\t[module]" : "");
		fprintf(symbols, "%016llx t __pfx_%u\n", 0xffffffff81000000ULL + 64 * i + 48, i);
	}
	assert_int_equal(fclose(list) | fclose(symbols), 0);
	open_symbols(f, NULL);
}

static void choose_many(struct fixture *f, bool addrs)
{
	uint64_t begin_ns;
	unsigned int i;

	write_many(f, addrs);
	begin_ns = cpu_ns();
	assert_int_equal(choose(f, "*"), 0);
	assert_in_range((cpu_ns() - begin_ns) / 1000000, 0, 2000 * SLOWER);
	assert_int_equal(f->set->excluded, MANY / 40);
	assert_int_equal(f->set->cnt, MANY - MANY / 40);
	for (i = 0; i < f->set->cnt; i++)
		assert_int_equal(f->set->funcs[i].entry - f->set->funcs[i].addr, addrs ? 4 : 0);
	begin_ns = cpu_ns();
	assert_int_equal(choose(f, "function_of_kernel_x7777"), -ENOENT);
	assert_string_equal(f->set->near[0], "function_of_kernel_7777");
	assert_in_range((cpu_ns() - begin_ns) / 1000000, 0, 2000 * SLOWER);
}

static void test_many_addrs(void **state)
{
	choose_many(*state, true);
}

static void test_many_names(void **state)
{
	choose_many(*state, false);
}

#define FUNC_TEST(test)	cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define NAMES_TEST(test) cmocka_unit_test_setup_teardown(test, set_up_names, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_glob_match),
		cmocka_unit_test(test_glob_is_wide),
		FUNC_TEST(test_addrs),
		FUNC_TEST(test_addrs_alone),
		NAMES_TEST(test_names),
		NAMES_TEST(test_names_hidden),
		FUNC_TEST(test_symbols),
		FUNC_TEST(test_symbols_none),
		FUNC_TEST(test_no_source),
		NAMES_TEST(test_excludes),
		NAMES_TEST(test_order),
		NAMES_TEST(test_alias),
		NAMES_TEST(test_nothing),
		NAMES_TEST(test_filter_text),
		FUNC_TEST(test_many_addrs),
		FUNC_TEST(test_many_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
