// SPDX-License-Identifier: GPL-2.0
/*
 * Names for addresses: of this program, stripped and not, of programs that are compiled here, of the
 * vDSO, of made kernel symbols, and of code that node makes.
 */
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf/elf.h"
#include "elf/mapped_file.h"
#include "symbol/symbol.h"
#include "symbol/vdso.h"

#define ENTRIES(table)	(sizeof(table) / sizeof((table)[0]))
#define NO_PID		4000000000U	/* no process has it */

struct fixture {
	char dir[32];
	struct mapped_files *files;
	struct symbolizer *s;
};

/* Whether @command, in the directory, succeeded. */
static bool try_shell(const struct fixture *x, const char *command)
{
	char line[4096];

	snprintf(line, sizeof(line), "cd %s && { %s; } >log 2>&1", x->dir, command);
	return !system(line);
}

static void shell(const struct fixture *x, const char *command)
{
	if (!try_shell(x, command))
		fail_msg("%s", command);
}

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "ffffffff81000100 T do_work\n"
			       "ffffffff81000200 t bpf_trace_run2\n"
			       "ffffffff81000300 t __traceiter_sched_switch\n"
			       "ffffffff81000400 T __schedule\n"
			       "ffffffff81000500 T _RNvCs1234_7mycrate3foo\n"
			       "ffffffff81000600 T _etext\n"
			       "ffffffffc0000000 t ext4_read\t[ext4]\n"
			       "ffffffffc0000100 t bpf_prog_0123456789abcdef_on_switch\t[bpf]\n"
			       "ffffffffc0000200 t bpf_trampoline_6442\t[bpf]\n"
			       "ffffffffc0001000 t ftrace_trampoline\t[__builtin__ftrace]\n";

static int set_up(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	char path[64], command[128];
	FILE *f;

	strcpy(x->dir, "/tmp/kfxt-symbol-XXXXXX");
	if (!mkdtemp(x->dir))
		return -1;
	snprintf(command, sizeof(command), "mkdir -p proc && cp /proc/%d/exe exe && objcopy -S exe stripped", getpid());
	shell(x, command);
	snprintf(path, sizeof(path), "%s/proc/kallsyms", x->dir);
	f = fopen(path, "w");
	fputs(kallsyms, f);
	fclose(f);
	*state = x;
	return mapped_files_open(&x->files) || symbolizer_open(&x->s, x->files, x->dir);
}

static int tear_down(void **state)
{
	struct fixture *x = *state;
	char command[64];

	symbolizer_close(x->s);
	mapped_files_close(x->files);
	snprintf(command, sizeof(command), "rm -rf %s", x->dir);
	if (system(command))
		return -1;
	free(x);
	return 0;
}

static uint32_t map_file(const struct fixture *x, const char *name)
{
	struct mapped_file file = { 0 };
	char path[64];
	struct stat st;
	uint32_t index;

	snprintf(path, sizeof(path), "%s/%s", x->dir, name);
	assert_int_equal(stat(path, &st), 0);
	file.path = path;
	file.dev = st.st_dev;
	file.inode = st.st_ino;
	index = mapped_files_add(x->files, &file);
	assert_int_not_equal(index, MAPPED_FILE_NONE);
	return index;
}

static struct symbol find(const struct fixture *x, uint32_t file, uint64_t offset, bool is_call)
{
	struct symbol found;

	symbolizer_user(x->s, 1, getpid(), file, offset, 0x7f0000000000 + offset, is_call, &found);
	return found;
}

static const struct elf_func *func_of(const struct elf_file *f, const char *name)
{
	unsigned int cnt, i;
	const struct elf_func *funcs = elf_file_functions(f, &cnt);

	for (i = 0; i < cnt; i++)
		if (!strcmp(funcs[i].name, name))
			return &funcs[i];
	fail_msg("no function %s", name);
	return NULL;
}

/* ---- this program ------------------------------------------------------------------- */

/* The index of a file that was forgotten belongs to another one, whose symbols are its own. */
static void test_forgotten(void **state)
{
	static const bool used[MAPPED_FILES_MAX];
	const struct fixture *x = *state;
	const uint32_t full = map_file(x, "exe");
	const char *why;
	struct elf_file *f;
	uint64_t offset;

	assert_int_equal(elf_file_open(&f, "/proc/self/exe", &why), 0);
	offset = func_of(f, "symbolizer_user")->offset;
	elf_file_close(f);
	assert_string_equal(find(x, full, offset, false).name, "symbolizer_user");
	assert_int_equal(mapped_files_forget(x->files, used), 1);
	symbolizer_refresh(x->s);
	assert_int_equal(map_file(x, "stripped"), full);
	assert_string_equal(strrchr(find(x, full, offset, false).mapping, '/'), "/stripped");
	assert_memory_equal(find(x, full, offset, false).name, "stripped+0x", 11);
	symbolizer_refresh(x->s);
	assert_memory_equal(find(x, full, offset, false).name, "stripped+0x", 11);
}

static void test_functions(void **state)
{
	const struct fixture *x = *state;
	const uint32_t full = map_file(x, "exe"), stripped = map_file(x, "stripped");
	struct elf_file *f;
	const char *why;
	const struct elf_func *func;
	struct symbol first, last;
	uint64_t address;
	char name[64];

	assert_int_equal(elf_file_open(&f, "/proc/self/exe", &why), 0);
	func = func_of(f, "symbolizer_user");
	assert_true(elf_file_address(f, func->offset, &address));
	first = find(x, full, func->offset, false);
	last = find(x, full, func->offset + func->size, true);
	assert_string_equal(first.name, "symbolizer_user");
	assert_ptr_equal(first.name, last.name);
	assert_true(first.rel_pc == address && last.rel_pc == address + func->size - 1);
	assert_true(first.rel_start == address && last.rel_start == address);
	assert_int_equal(first.kind, SYMBOL_NATIVE);
	assert_string_equal(first.build_id, elf_file_build_id(f));
	assert_string_equal(strrchr(first.mapping, '/'), "/exe");
	/* Without symbols: one name, that of where the function begins. */
	snprintf(name, sizeof(name), "stripped+0x%lx", address);
	first = find(x, stripped, func->offset, false);
	last = find(x, stripped, func->offset + func->size, true);
	assert_string_equal(first.name, name);
	assert_ptr_equal(first.name, last.name);
	assert_true(first.rel_pc == address && last.rel_pc == address + func->size - 1);
	assert_true(first.rel_start == address && last.rel_start == address);
	elf_file_close(f);
}

/* A call that does not return may be the last instruction: what follows is another function. */
static void test_call_at_the_end(void **state)
{
	const struct fixture *x = *state;
	const uint32_t full = map_file(x, "exe");
	const struct elf_func *funcs;
	unsigned int cnt, i, tried = 0;
	struct elf_file *f;
	const char *why;

	assert_int_equal(elf_file_open(&f, "/proc/self/exe", &why), 0);
	funcs = elf_file_functions(f, &cnt);
	for (i = 0; i + 1 < cnt; i++) {
		if (funcs[i].offset + funcs[i].size != funcs[i + 1].offset || !funcs[i].size)
			continue;
		assert_int_not_equal(find(x, full, funcs[i + 1].offset, true).rel_start,
				     find(x, full, funcs[i + 1].offset, false).rel_start);
		tried++;
	}
	assert_true(tried);
	elf_file_close(f);
}

/* Whether @pid executes the file at @path by now. */
static bool is_program(pid_t pid, const char *path)
{
	char exe[64], target[128];
	ssize_t len;

	snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
	len = readlink(exe, target, sizeof(target) - 1);
	target[len < 0 ? 0 : len] = 0;
	return !strcmp(target, path);
}

static void test_no_file(void **state)
{
	const struct fixture *x = *state;
	const struct mapped_file gone = { .path = "/nowhere/libgone.so.1 (deleted)", .dev = 1, .inode = 2,
					  .build_id = "0011223344" };
	struct symbol s;

	s = find(x, mapped_files_add(x->files, &gone), 0x1235, true);
	assert_string_equal(s.name, "libgone.so.1+0x1234");
	assert_string_equal(s.mapping, gone.path);
	assert_string_equal(s.build_id, gone.build_id);
	assert_true(s.rel_pc == 0x1234 && !s.rel_start && s.kind == SYMBOL_NATIVE);
	shell(x, "echo no ELF file >text");
	assert_string_equal(find(x, map_file(x, "text"), UINT64_MAX, false).name, "text+0xffffffffffffffff");
	s = find(x, MAPPED_FILE_NONE, 0x10, false);
	assert_string_equal(s.name, "[unknown]");
	assert_true(!s.mapping && !*s.build_id && s.kind == SYMBOL_NONE && s.rel_pc == 0x7f0000000010);
}

/* The processes of these files have ended: the file of that path is taken if its build id is right. */
static void test_gone_processes(void **state)
{
	const struct fixture *x = *state;
	char path[64];
	struct mapped_file right = { .path = path, .dev = 99, .inode = 99 }, wrong;
	struct elf_file *f;
	const char *why;
	struct symbol s;
	uint64_t offset;

	snprintf(path, sizeof(path), "%s/exe", x->dir);
	assert_int_equal(elf_file_open(&f, path, &why), 0);
	offset = func_of(f, "main")->offset;
	assert_int_equal(strlen(elf_file_build_id(f)), 40);
	strcpy(right.build_id, elf_file_build_id(f));
	wrong = right;
	wrong.build_id[0] ^= 1;
	symbolizer_user(x->s, 2, NO_PID, mapped_files_add(x->files, &right), offset, 0, false, &s);
	assert_string_equal(s.name, "main");
	symbolizer_user(x->s, 2, NO_PID, mapped_files_add(x->files, &wrong), offset, 0, false, &s);
	assert_int_equal(strncmp(s.name, "exe+0x", 6), 0);
	elf_file_close(f);
}

/* A process whose program was deleted, and one whose program was replaced by another one. */
static void test_deleted(void **state)
{
	const struct fixture *x = *state;
	char path[64], deleted[80];
	struct mapped_file file = { .path = deleted };
	const struct elf_func *func;
	struct elf_file *f;
	const char *why;
	struct stat st;
	struct symbol s;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/exe", x->dir);
	snprintf(deleted, sizeof(deleted), "%s (deleted)", path);
	assert_int_equal(stat(path, &st), 0);
	file.dev = st.st_dev;
	file.inode = st.st_ino;
	assert_int_equal(elf_file_open(&f, path, &why), 0);
	func = func_of(f, "main");
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(path, path, "pause", NULL);
		_exit(1);
	}
	do
		shell(x, "sleep 0.05");
	while (!is_program(pid, path));
	shell(x, "rm exe; cp stripped exe");
	symbolizer_user(x->s, pid, pid, mapped_files_add(x->files, &file), func->offset, 0, false, &s);
	assert_string_equal(s.name, "main");
	assert_string_equal(s.mapping, deleted);
	/* Mapped, and known by that, before it was deleted. */
	file.path = path;
	symbolizer_user(x->s, pid, pid, mapped_files_add(x->files, &file), func->offset, 0, false, &s);
	assert_string_equal(s.name, "main");
	assert_string_equal(s.mapping, path);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	elf_file_close(f);
}

static void test_vdso(void **state)
{
	const struct fixture *x = *state;
	const struct mapped_file file = { .path = "[vdso]" };
	const uint32_t index = mapped_files_add(x->files, &file);
	struct elf_file *vdso = vdso_open();
	const struct elf_func *funcs;
	unsigned int cnt, i, found = 0;
	struct symbol s;

	if (!vdso)
		skip();
	funcs = elf_file_functions(vdso, &cnt);
	for (i = 0; i < cnt; i++) {
		s = find(x, index, funcs[i].offset + 1, true);
		assert_string_equal(s.mapping, "[vdso]");
		found += strstr(s.name, "clock_gettime") != NULL;
	}
	assert_true(found);
	elf_file_close(vdso);
}

/* ---- compiled here -------------------------------------------------------------------- */

static const char cplus_source[] =
	"#include <cstdio>\n"
	"namespace shop {\n"
	"template<class T> struct Cart { __attribute__((noinline)) T add(T t); };\n"
	"template<class T> T Cart<T>::add(T t) { return t + 1; }\n"
	"static __attribute__((noinline)) int hidden(int n) { return n * n; }\n"
	"__attribute__((noinline)) int pay(int n, const char *) { return Cart<int>().add(hidden(n)); }\n"
	"}\n"
	"int main(int n, char **) { return shop::pay(n, \"\"); }\n";

/* Symbol and name. */
static const char *const cplus_names[][2] = {
	{ "_ZN4shop3payEiPKc", "shop::pay" }, { "_ZN4shopL6hiddenEi", "shop::hidden" },
	{ "_ZN4shop4CartIiE3addEi", "shop::Cart<int>::add" }, { "main", "main" },
};

static void check_cplus(const struct fixture *x, const char *program)
{
	const uint32_t file = map_file(x, program);
	char path[64];
	struct elf_file *full;
	const char *why;
	size_t i;

	snprintf(path, sizeof(path), "%s/full", x->dir);
	assert_int_equal(elf_file_open(&full, path, &why), 0);
	for (i = 0; i < ENTRIES(cplus_names); i++) {
		const struct elf_func *func = func_of(full, cplus_names[i][0]);

		assert_string_equal(find(x, file, func->offset, false).name, cplus_names[i][1]);
		assert_string_equal(find(x, file, func->offset + func->size, true).name, cplus_names[i][1]);
	}
	elf_file_close(full);
}

static void check_flags(const struct fixture *x, const char *flags)
{
	char command[256], path[64];
	FILE *f;

	if (!try_shell(x, "command -v g++"))
		skip();
	snprintf(path, sizeof(path), "%s/a.cc", x->dir);
	f = fopen(path, "w");
	fputs(cplus_source, f);
	fclose(f);
	snprintf(command, sizeof(command), "g++ -O1 -g %s -o full a.cc", flags);
	shell(x, command);
	check_cplus(x, "full");
	shell(x, "objcopy --only-keep-debug full full.debug; strip -o linked full; "
		 "objcopy --add-gnu-debuglink=full.debug linked");
	check_cplus(x, "linked");
	if (!try_shell(x, "command -v xz"))
		return;
	shell(x, "objcopy --only-keep-debug --strip-debug full mini; xz -f mini; strip -o packed full; "
		 "objcopy --add-section .gnu_debugdata=mini.xz packed");
	check_cplus(x, "packed");
}

static void test_cplus_pie(void **state)
{
	check_flags(*state, "-fPIE -pie");
}

static void test_cplus_static(void **state)
{
	check_flags(*state, "-no-pie -static");
}

static void check_rust(const struct fixture *x, const char *flags)
{
	static const char source[] =
		"mod shop {\n"
		"    pub struct Cart<T>(pub T);\n"
		"    impl<T: std::fmt::Display> Cart<T> { #[inline(never)] pub fn show(&self) { println!(\"{}\", self.0) } }\n"
		"}\n"
		"fn main() { shop::Cart(1u8).show() }\n";
	char command[256], path[64], symbol[256];
	struct elf_file *f;
	const char *why, *name;
	FILE *p;

	snprintf(path, sizeof(path), "%s/a.rs", x->dir);
	p = fopen(path, "w");
	fputs(source, p);
	fclose(p);
	snprintf(command, sizeof(command), "rustc -O %s -o rust a.rs", flags);
	shell(x, command);
	snprintf(command, sizeof(command), "nm %s/rust | sed -n 's/.* [tT] \\(.*4shop.*show.*\\)/\\1/p'", x->dir);
	p = popen(command, "r");
	assert_true(p && fscanf(p, "%255s", symbol) == 1);
	pclose(p);
	snprintf(path, sizeof(path), "%s/rust", x->dir);
	assert_int_equal(elf_file_open(&f, path, &why), 0);
	name = find(x, map_file(x, "rust"), func_of(f, symbol)->offset, false).name;
	assert_true(strstr(name, "shop::Cart<") && strstr(name, "::show") && !strstr(name, "17h"));
	elf_file_close(f);
}

static void test_rust(void **state)
{
	const struct fixture *x = *state;

	if (!try_shell(x, "rustc --version"))
		skip();
	check_rust(x, "-C symbol-mangling-version=v0");
	if (try_shell(x, "rustc -Z unstable-options -C symbol-mangling-version=legacy --print cfg"))
		check_rust(x, "-Z unstable-options -C symbol-mangling-version=legacy");
}

/* ---- code made as it runs --------------------------------------------------------------- */

static void test_jit(void **state)
{
	const struct fixture *x = *state;
	const struct mapped_file memory = { .path = "/memfd:jit (deleted)", .dev = 1, .inode = 3 };
	const uint32_t index = mapped_files_add(x->files, &memory);
	char command[512];
	struct symbol s;

	snprintf(command, sizeof(command), "mkdir -p proc/77/root/tmp; printf 'Uid:\\t%d\\t%d\\nNSpid:\\t77\\t5\\n' >status; "
		 "printf 'x\\n' | cat - status >proc/77/status; printf '1000 100 JS:*hot a.js:1\\n2000 10 py::f:a.py\\n' "
		 ">proc/77/root/tmp/perf-5.map", geteuid(), geteuid());
	shell(x, command);
	symbolizer_user(x->s, 77, 77, MAPPED_FILE_NONE, 0, 0x1080, false, &s);
	assert_string_equal(s.name, "JS:*hot a.js:1");
	assert_string_equal(s.mapping, "//anon");
	assert_true(s.kind == SYMBOL_JIT && s.rel_pc == 0x1080 && s.rel_start == 0x1000 && !*s.build_id);
	symbolizer_user(x->s, 77, 77, MAPPED_FILE_NONE, 0, 0x1100, true, &s);
	assert_string_equal(s.name, "JS:*hot a.js:1");
	symbolizer_user(x->s, 77, 77, index, 0x10, 0x2001, false, &s);
	assert_string_equal(s.name, "py::f:a.py");
	assert_int_equal(s.kind, SYMBOL_INTERPRETED);
	symbolizer_user(x->s, 77, 77, index, 0x10, 0x3000, false, &s);
	assert_string_equal(s.name, "memfd:jit+0x10");
	symbolizer_user(x->s, 77, 77, MAPPED_FILE_NONE, 0, 0x3000, false, &s);
	assert_string_equal(s.name, "[unknown]");
}

/* Where node says that it has the function; 0: it does not yet. */
static uint64_t find_hot(pid_t pid)
{
	char path[64], line[1024];
	uint64_t start = 0, found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx", &start) == 1 && strstr(line, "*hotOne"))
			found = start;
	if (f)
		fclose(f);
	return found;
}

static void test_node(void **state)
{
	static const char script[] = "function hotOne(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s }"
				     "setInterval(() => { for (let i = 0; i < 1000; i++) hotOne(10000) }, 1)";
	const struct fixture *x = *state;
	struct symbolizer *own;
	struct symbol s = { 0 };
	char path[64];
	uint64_t pc = 0;
	pid_t pid;
	int i;

	if (!try_shell(x, "node --version"))
		skip();
	pid = fork();
	if (!pid) {
		if (!chdir(x->dir))	/* it writes a log */
			execlp("node", "node", "--perf-basic-prof", "-e", script, NULL);
		_exit(1);
	}
	for (i = 0; i < 300 && !pc; i++) {
		usleep(100000);
		pc = find_hot(pid);
	}
	assert_true(pc);
	assert_int_equal(symbolizer_open(&own, x->files, NULL), 0);
	symbolizer_user(own, pid, pid, MAPPED_FILE_NONE, 0, pc, false, &s);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(strstr(s.name, "hotOne"));
	assert_int_equal(s.kind, SYMBOL_JIT);
	symbolizer_close(own);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	unlink(path);
}

/* ---- the kernel ---------------------------------------------------------------------------- */

static void test_kernel(void **state)
{
	static const struct {
		uint64_t pc;
		const char *name, *mapping;
		uint64_t start;
		bool is_tracer;
	} table[] = {
		{ 0xffffffff81000123, "do_work", "[kernel]", 0xffffffff81000100, false },
		{ 0xffffffff81000100, "do_work", "[kernel]", 0xffffffff81000100, false },
		{ 0xffffffff81000204, "bpf_trace_run2", "[kernel]", 0xffffffff81000200, true },
		{ 0xffffffff81000304, "__traceiter_sched_switch", "[kernel]", 0xffffffff81000300, true },
		{ 0xffffffff81000404, "__schedule", "[kernel]", 0xffffffff81000400, false },
		{ 0xffffffff81000501, "mycrate::foo", "[kernel]", 0xffffffff81000500, false },
		{ 0xffffffff81000601, "[unknown]", "[kernel]", 0, false },
		{ 0xffffffffc0000050, "ext4_read", "[ext4]", 0xffffffffc0000000, false },
		{ 0xffffffffc0000101, "bpf_prog_0123456789abcdef_on_switch", "[bpf]", 0xffffffffc0000100, true },
		{ 0xffffffffc0000201, "bpf_trampoline_6442", "[bpf]", 0xffffffffc0000200, true },
		{ 0xffffffffc0001001, "ftrace_trampoline", "[__builtin__ftrace]", 0xffffffffc0001000, true },
		{ 0x1000, "[unknown]", "[kernel]", 0, false },
	};
	const struct fixture *x = *state;
	struct symbol s;
	size_t i, k;

	for (k = 0; k < 2; k++)
		for (i = 0; i < ENTRIES(table); i++) {
			symbolizer_kernel(x->s, table[i].pc, &s);
			assert_string_equal(s.name, table[i].name);
			assert_string_equal(s.mapping, table[i].mapping);
			assert_true(s.rel_pc == table[i].pc && s.rel_start == table[i].start);
			assert_true(s.kind == SYMBOL_KERNEL && !*s.build_id);
			assert_int_equal(symbolizer_is_tracer(x->s, table[i].pc), table[i].is_tracer);
		}
}

static void test_kernel_cannot_be_read(void **state)
{
	const struct fixture *x = *state;
	struct symbolizer *s;
	struct symbol found;
	char root[64];

	snprintf(root, sizeof(root), "%s/nowhere", x->dir);
	assert_int_equal(symbolizer_open(&s, x->files, root), 0);
	symbolizer_kernel(s, 0xffffffff81000123, &found);
	assert_string_equal(found.name, "[unknown]");
	assert_false(symbolizer_is_tracer(s, 0xffffffff81000204));
	symbolizer_close(s);
	symbolizer_close(NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_functions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_forgotten, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_call_at_the_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gone_processes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_deleted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_vdso, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cplus_pie, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cplus_static, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rust, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_jit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_node, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_kernel, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_kernel_cannot_be_read, set_up, tear_down),
	};

	/* As a process of test_deleted(). */
	if (argc == 2 && !strcmp(argv[1], "pause"))
		return pause();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
