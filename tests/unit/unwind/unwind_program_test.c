// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks of a real program, built in several ways (tests/live/programs/unwound.c): against what is known of their shape,
 * and frame by frame against libdwfl.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "dwfl_judge.h"
#include "elf/elf.h"
#include "elf/mapped_file.h"
#include "elf/process_maps.h"
#include "traced.h"

#define FRAMES_MAX	400	/* of the judge */

struct made {
	struct traced *t;
	struct mapped_files *files;
	struct process_maps *maps;
	struct unwinder *u;
	struct dwfl_judge *judge;
	struct unwind_frame frames[UNWIND_FRAMES_MAX];
	unsigned int cnt;
	enum unwind_verdict verdict;
};

static void program_path(const char *variant, char path[4096])
{
	const ssize_t n = readlink("/proc/self/exe", path, 4000);
	char *slash;

	assert_true(n > 0);
	path[n] = 0;
	slash = strrchr(path, '/');
	sprintf(slash, "/unwound-%s", variant);
}

/* The program at @path, stopped at the place that @shape is about; "": before its first instruction. */
static void made_open_at(struct made *m, const char *root, const char *path, const char *shape)
{
	int events_err;

	memset(m, 0, sizeof(*m));
	m->t = traced_start(root, path, shape);
	if (*shape)
		traced_run(m->t);
	assert_int_equal(mapped_files_open(&m->files), 0);
	assert_int_equal(process_maps_open(&m->maps, m->files, &events_err), 0);
	assert_int_equal(process_maps_begin(m->maps), 0);
	assert_int_equal(unwinder_open(&m->u, m->files, m->maps), 0);
}

static void made_open(struct made *m, const char *variant, const char *shape)
{
	char path[4096];

	program_path(variant, path);
	made_open_at(m, NULL, path, shape);
	m->judge = dwfl_judge_open(m->t->pid);
}

static void made_close(struct made *m)
{
	if (m->judge)
		dwfl_judge_close(m->judge);
	unwinder_close(m->u);
	process_maps_close(m->maps);
	mapped_files_close(m->files);
	traced_end(m->t);
}

static void unwind(struct made *m, size_t stack_bytes)
{
	traced_look(m->t, stack_bytes);
	m->cnt = unwinder_unwind(m->u, &m->t->in, m->frames, &m->verdict);
}

/* ---- names ---------------------------------------------------------------------------------- */

static const char *name_of(const struct made *m, const struct unwind_frame *frame)
{
	const struct elf_file *elf;
	const struct elf_func *func;

	if (frame->file == MAPPED_FILE_NONE)
		return NULL;
	elf = mapped_files_elf(m->files, frame->file, m->t->pid);
	func = elf ? elf_file_find(elf, frame->offset - frame->is_call) : NULL;
	return func ? func->name : NULL;
}

/* "u_" functions and main, innermost first, repeated ones once: "u_stop u_recurse main". */
static void own_names(const struct made *m, char *text, size_t bytes)
{
	const char *last = "", *name;
	unsigned int i;

	*text = 0;
	for (i = 0; i < m->cnt; i++) {
		name = name_of(m, &m->frames[i]);
		if (!name || (strncmp(name, "u_", 2) && strcmp(name, "main")) || !strcmp(name, last))
			continue;
		last = name;
		assert_true(strlen(text) + strlen(name) + 2 < bytes);
		sprintf(text + strlen(text), "%s%s", *text ? " " : "", name);
	}
}

static unsigned int count_named(const struct made *m, const char *name)
{
	unsigned int i, cnt = 0;

	for (i = 0; i < m->cnt; i++)
		cnt += !strcmp(name_of(m, &m->frames[i]) ?: "", name);
	return cnt;
}

static void assert_names(const struct made *m, const char *expected)
{
	char text[4096];

	own_names(m, text, sizeof(text));
	assert_string_equal(text, expected);
}

/* ---- the judge ------------------------------------------------------------------------------ */

static void print_both(const struct made *m, const uint64_t *pcs, unsigned int cnt)
{
	unsigned int i;

	for (i = 0; i < m->cnt || i < cnt; i++)
		print_message("#%u %#lx %s, judge %#lx\n", i, i < m->cnt ? m->frames[i].pc : 0,
			      i < m->cnt ? name_of(m, &m->frames[i]) ?: "?" : "", i < cnt ? pcs[i] : 0);
}

/*
 * On arm64 libdwfl does not know the end of signal handlers; and of a function without rules, as all of that vdso are,
 * it goes on with the link register and finds no way from there.
 */
static bool is_beyond_judge(const struct made *m, unsigned int frame)
{
#if defined(__aarch64__)
	unsigned int i;

	if (m->cnt && mapped_files_is_vdso(m->files, m->frames[0].file))
		return true;
	for (i = 1; i <= frame && i < m->cnt; i++)
		if (!m->frames[i].is_call)
			return true;
#else
	(void)m;
	(void)frame;
#endif
	return false;
}

/* Equal, or the first of them if ours were cut. */
static bool agrees(const struct made *m)
{
	uint64_t pcs[FRAMES_MAX];
	const unsigned int cnt = dwfl_judge_unwind(m->judge, m->t->tid, pcs, FRAMES_MAX);
	unsigned int i;

	for (i = 0; i < m->cnt && i < cnt && m->frames[i].pc == pcs[i]; i++)
		;
	if (i == m->cnt && (m->verdict == UNWIND_WHOLE ? i == cnt : i <= cnt))
		return true;
	if (is_beyond_judge(m, i))
		return true;
	print_both(m, pcs, cnt);
	return false;
}

/* ---- shapes --------------------------------------------------------------------------------- */

struct shape {
	const char *name, *functions;
	enum unwind_verdict verdict;
};

static const struct shape shapes[] = {
	{ "plain", "u_stop u_middle u_outer u_plain main", UNWIND_WHOLE },
	{ "recursion", "u_trap u_recurse u_recursion main", UNWIND_WHOLE },
	{ "deep_recursion", "u_trap u_recurse", UNWIND_CUT },
	{ "alloca", "u_stop u_fill u_allocate u_alloca main", UNWIND_WHOLE },
	{ "aligned", "u_stop u_fill u_align u_aligned main", UNWIND_WHOLE },
	{ "signal", "u_stop u_handler u_handle u_signal main", UNWIND_WHOLE },
	{ "fault", "u_stop u_handler u_fault_at u_fault main", UNWIND_WHOLE },
	{ "longjmp", "u_stop u_longjmp main", UNWIND_WHOLE },
	/* It returns to what makecontext(3) has no rule for. */
	{ "coroutine", "u_stop u_coroutine_entry", UNWIND_NO_RULE },
	{ "thread", "u_stop u_thread_entry", UNWIND_WHOLE },
	{ "sort", "u_stop u_compare u_sort main", UNWIND_WHOLE },
};

static void check_shape(const char *variant, const struct shape *s)
{
	const bool has_names = strcmp(variant, "stripped");
	struct made m;

	made_open(&m, variant, s->name);
	unwind(&m, TRACED_STACK_BYTES);
	if (has_names)
		assert_names(&m, s->functions);
	assert_true(agrees(&m));
	if (m.verdict != s->verdict)
		fail_msg("%s of %s: verdict %d", s->name, variant, m.verdict);
	made_close(&m);
}

static void check_shapes(const char *variant)
{
	size_t i;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		check_shape(variant, &shapes[i]);
}

static void test_nofp(void **state)
{
	(void)state;
	check_shapes("nofp");
}

static void test_fp(void **state)
{
	(void)state;
	check_shapes("fp");
}

static void test_static(void **state)
{
	(void)state;
	check_shapes("static");
}

static void test_nopie(void **state)
{
	(void)state;
	check_shapes("nopie");
}

static void test_stripped(void **state)
{
	(void)state;
	check_shapes("stripped");
}

static void test_debug_frame(void **state)
{
	(void)state;
	check_shapes("debug_frame");
}

static void test_nohdr(void **state)
{
	(void)state;
	check_shapes("nohdr");
}

/* ---- steps ---------------------------------------------------------------------------------- */

#define STEPS_MAX	20000

/*
 * At each instruction of libraries, PLT, vdso, signal handlers, prologues and epilogues. Never another caller
 * than the judge's. Code that the compiler brings along for beginning and end has no rules: some instructions
 * are not whole, at most @others of them.
 */
static void check_steps(const char *variant, unsigned int others)
{
	unsigned int steps = 0, whole = 0;
	struct made m;

	made_open(&m, variant, "steps");
	for (; steps < STEPS_MAX && traced_step(m.t); steps++) {
		unwind(&m, 16384);
		if (!agrees(&m))
			fail_msg("step %u", steps);
		whole += m.verdict == UNWIND_WHOLE;
	}
	print_message("%s: %u steps, %u whole\n", variant, steps, whole);
	assert_true(steps > 2000);
	assert_in_range(steps - whole, 0, others);
	made_close(&m);
}

static void test_steps(void **state)
{
	(void)state;
#ifdef __aarch64__
	skip();			/* libdwfl loses its way there, and so is no judge */
#endif
	check_steps("static", 50);
	check_steps("now", 50);
	/* Binding of functions when they are first called needs a register that is not in a sample. */
	check_steps("nofp", 400);
}

/* The dynamic linker runs first. */
static void test_first_steps(void **state)
{
	unsigned int steps;
	struct made m;

	(void)state;
	made_open(&m, "nofp", "");
	for (steps = 0; steps < 1000; steps++) {
		unwind(&m, 16384);
		if (m.verdict != UNWIND_WHOLE)
			fail_msg("step %u, at %#lx: verdict %d", steps, m.t->in.regs.ip, m.verdict);
		assert_true(traced_step(m.t));
	}
	made_close(&m);
}

/* ---- stacks that are cut ---------------------------------------------------------------------- */

static void test_cut(void **state)
{
	struct made m;

	(void)state;
	made_open(&m, "nofp", "recursion");
	unwind(&m, 16384);
	assert_int_equal(m.verdict, UNWIND_CUT);
	assert_names(&m, "u_trap u_recurse");
	assert_true(agrees(&m));
	made_close(&m);
}

#ifdef __aarch64__
#define HAS_LINK_REGISTER	1	/* and frame pointers in all code, by its ABI */
#else
#define HAS_LINK_REGISTER	0
#endif

/* The handler's stack is copied, that of what it interrupted is not. */
static void test_other_stack(void **state)
{
	struct made m;

	(void)state;
	made_open(&m, "nofp", "other_stack");
	unwind(&m, 16384);
	assert_int_equal(m.verdict, UNWIND_CUT);
	assert_names(&m, "u_stop u_handler");
	assert_true(agrees(&m));
	made_close(&m);
	/* The chain of frame pointers leads on, but not by way of the function that was interrupted. */
	made_open(&m, "fp", "other_stack");
	unwind(&m, 16384);
	assert_int_equal(m.verdict, UNWIND_CUT);
	assert_names(&m, "u_stop u_handler");
	made_close(&m);
}

/* ---- frame pointers --------------------------------------------------------------------------- */

static void check_recursion(struct made *m, size_t stack_bytes, unsigned int cnt)
{
	unwind(m, stack_bytes);
	assert_int_equal(m->verdict, UNWIND_WHOLE);
	assert_names(m, "u_trap u_recurse u_recursion main");
	assert_int_equal(count_named(m, "u_recurse"), cnt);
}

static void test_continued_by_fp(void **state)
{
	struct made m;

	(void)state;
	made_open(&m, "fp", "recursion");
	check_recursion(&m, 16384, 101);
	check_recursion(&m, 1000, 101);
	check_recursion(&m, 8, 101);
	/* The caller of a leaf without a frame is in no chain of frames, but in a link register. */
	if (HAS_LINK_REGISTER) {
		check_recursion(&m, 0, 101);
	} else {
		unwind(&m, 0);
		assert_int_equal(m.verdict, UNWIND_CUT);
		assert_names(&m, "u_trap");
	}
	made_close(&m);
}

/* More frames than are kept: whole is not known. */
static void test_too_deep(void **state)
{
	struct made m;

	(void)state;
	made_open(&m, "fp", "deep_recursion");
	unwind(&m, 16384);
	assert_int_equal(m.verdict, UNWIND_CUT);
	assert_int_equal(m.cnt, UNWIND_FRAMES_MAX);
	assert_names(&m, "u_trap u_recurse");
	made_close(&m);
}

/* The program has no rules, the library that called it has. */
static void test_no_rules(void **state)
{
	struct made m;

	(void)state;
	made_open(&m, "nocfi", "recursion");
	unwind(&m, TRACED_STACK_BYTES);
	assert_int_equal(m.verdict, UNWIND_WHOLE);
	assert_names(&m, "u_trap u_recurse u_recursion main");
	/* A leaf has no frame there: its caller is lost. */
	assert_int_equal(count_named(&m, "u_recurse"), 100);
	made_close(&m);
	made_open(&m, "nocfi", "sort");
	unwind(&m, TRACED_STACK_BYTES);
	assert_int_equal(m.verdict, UNWIND_WHOLE);
	assert_names(&m, "u_stop u_compare u_sort main");
	made_close(&m);
}

/* ---- files ------------------------------------------------------------------------------------ */

static void copy_program(const char *variant, const char *to)
{
	char from[4096], command[9000];

	program_path(variant, from);
	snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
	assert_int_equal(system(command), 0);
}

static void check_plain(struct made *m)
{
	unwind(m, 16384);
	assert_int_equal(m->verdict, UNWIND_WHOLE);
	assert_names(m, "u_stop u_middle u_outer u_plain main");
}

/* Deleted before it is opened first; its functions have no names then. */
static void test_deleted(void **state)
{
	char dir[] = "/tmp/unwind.XXXXXX", path[64];
	struct made m;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/program", dir);
	copy_program("nofp", path);
	made_open_at(&m, NULL, path, "plain");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
	m.judge = dwfl_judge_open(m.t->pid);
	unwind(&m, 16384);
	assert_int_equal(m.verdict, UNWIND_WHOLE);
	assert_true(agrees(&m));
	made_close(&m);
}

/* At its path there is another file by now. */
static void test_replaced(void **state)
{
	char path[] = "/tmp/unwind.XXXXXX", other[64];
	const int fd = mkstemp(path);
	struct made m;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	copy_program("nofp", path);
	made_open_at(&m, NULL, path, "plain");
	snprintf(other, sizeof(other), "%s.new", path);
	copy_program("static", other);
	assert_int_equal(rename(other, path), 0);
	m.judge = dwfl_judge_open(m.t->pid);
	unwind(&m, 16384);
	assert_int_equal(m.verdict, UNWIND_WHOLE);
	assert_true(agrees(&m));
	made_close(&m);
	unlink(path);
}

static void test_other_root(void **state)
{
	char dir[] = "/tmp/unwind.XXXXXX", path[64];
	struct made m;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/program", dir);
	copy_program("static", path);
	made_open_at(&m, dir, "/program", "plain");
	check_plain(&m);
	made_close(&m);
	unlink(path);
	rmdir(dir);
}

/* The process has ended before anything is opened. */
static void test_ended(void **state)
{
	struct made m;

	(void)state;
	made_open(&m, "nofp", "plain");
	unwind(&m, 16384);
	unwinder_close(m.u);
	kill(m.t->pid, SIGKILL);
	while (waitpid(m.t->pid, NULL, __WALL) > 0)
		;
	assert_int_equal(unwinder_open(&m.u, m.files, m.maps), 0);
	m.cnt = unwinder_unwind(m.u, &m.t->in, m.frames, &m.verdict);
	assert_int_equal(m.verdict, UNWIND_WHOLE);
	assert_names(&m, "u_stop u_middle u_outer u_plain main");
	made_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nofp), cmocka_unit_test(test_fp), cmocka_unit_test(test_static),
		cmocka_unit_test(test_nopie), cmocka_unit_test(test_stripped), cmocka_unit_test(test_debug_frame),
		cmocka_unit_test(test_nohdr), cmocka_unit_test(test_steps), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_first_steps), cmocka_unit_test(test_other_stack), cmocka_unit_test(test_continued_by_fp),
		cmocka_unit_test(test_too_deep),
		cmocka_unit_test(test_no_rules), cmocka_unit_test(test_deleted), cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_other_root), cmocka_unit_test(test_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
