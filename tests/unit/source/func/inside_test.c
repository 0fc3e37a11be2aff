// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of which calls are under way: what is open in the slots against stacks as the kernel hands them out.
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
#include <unistd.h>

#include <cmocka.h>

#include "bpf/abi/func.h"
#include "kernel/symbols.h"
#include "source/func/func_p.h"
#include "source/func/inside.h"

#define BASE	0xffffffff81000000ULL
#define SLOT	4000U
#define WHO	77U
#define THREADS	25U	/* more than are read at once, and no more than a pipe takes */

enum { A, B, C, OF_A_PROGRAM, CNT };	/* functions that are traced, the last one not of the kernel */
enum { OTHER = CNT };			/* of the kernel, and not traced */

struct fixture {
	struct funcs f;
	struct open_calls *slots;
	int write_fd;
};

/* Somewhere in a function, as a return address is. */
static uint64_t in(unsigned int func)
{
	return BASE + 0x100 * func + 0x20;
}

static struct kernel_symbols *make_symbols(bool hidden)
{
	static const struct { unsigned int func; const char *name; } rows[] = {
		{ A, "a" }, { B, "b" }, { C, "c" }, { OF_A_PROGRAM, "d" }, { OTHER, "other" },
	};
	char path[] = "/tmp/kfxt-inside.XXXXXX";
	struct kernel_symbols *symbols = NULL;
	FILE *f = fdopen(mkstemp(path), "w");
	unsigned int i;

	assert_non_null(f);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		fprintf(f, "%llx T %s\n", hidden ? 0 : BASE + 0x100 * rows[i].func, rows[i].name);
	fclose(f);
	assert_int_equal(kernel_symbols_open(&symbols, path), hidden ? -EPERM : 0);
	unlink(path);
	return symbols;
}

static int set_up(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	int ends[2];
	unsigned int i;

	if (!x || pipe2(ends, O_CLOEXEC))
		return -1;
	x->f.inside_fd = ends[0];
	x->write_fd = ends[1];
	x->slots = calloc(OPEN_SLOTS, sizeof(*x->slots));
	x->f.funcs = calloc(CNT, sizeof(*x->f.funcs));
	if (!x->slots || !x->f.funcs)
		return -1;
	x->f.open = x->slots;
	x->f.misses = true;
	x->f.counts.kernel = OF_A_PROGRAM;
	x->f.cnt = CNT;
	for (i = 0; i < CNT; i++)
		x->f.funcs[i] = (struct func){ .kind = i == OF_A_PROGRAM ? FUNC_USER : FUNC_KERNEL, .addr = BASE + 0x100 * i };
	x->f.symbols = make_symbols(false);
	*state = x;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *x = *state;

	inside_detach(&x->f);
	inside_detach(&x->f);
	if (x->write_fd >= 0)
		close(x->write_fd);
	kernel_symbols_close(x->f.symbols);
	free(x->f.funcs);
	free(x->slots);
	free(x);
	return 0;
}

/* Calls of thread @who, the outermost first. */
static void open_calls(struct fixture *x, unsigned int slot, uint32_t who, const char *funcs)
{
	unsigned int i;

	for (i = 0; i < strlen(funcs); i++)
		x->slots[slot].calls[i] = (struct open_call){ .start_ns = 100 + i, .addr = funcs[i] - 'a' };
	x->slots[slot].owner = OPEN_OWNER(who, i);
}

static uint64_t frame(char what)
{
	if (what == '0')
		return 0x1234;
	if (what >= 'A' && what <= 'Z')
		return BASE + 0x100 * (what - 'A' + 1);
	return in(what == '.' ? OTHER : (unsigned int)what - 'a');
}

/*
 * A stack, the innermost frame first; "." is a function that is not traced, "0" an address of none, "A" the end of a: where
 * its last instruction, a call, would return to.
 */
static void hand_out(struct fixture *x, uint32_t who, const char *funcs)
{
	struct open_stack stack = { .who = who, .frames_cnt = strlen(funcs) };
	unsigned int i;

	for (i = 0; i < strlen(funcs); i++)
		stack.frames[i] = frame(funcs[i]);
	assert_int_equal(write(x->write_fd, &stack, sizeof(stack)), sizeof(stack));
}

static uint64_t *read_all(struct fixture *x)
{
	uint64_t *inside = NULL;

	close(x->write_fd);
	x->write_fd = -1;
	assert_int_equal(inside_read(&x->f, &inside), 0);
	assert_non_null(inside);
	return inside;
}

static void test_match(void **state)
{
	static const struct {
		const char *open, *stack;
		uint64_t expected;
	} rows[] = {
		{ "abc", "cba", 7 },
		{ "abc", ".c.b..0a.", 7 },
		{ "abc", "ca", 5 },		/* b has returned */
		{ "abc", "", 0 },		/* nothing is known of it */
		{ "abc", "...", 0 },
		{ "aa", "a", 2 },		/* one of the two: it came back in */
		{ "aa", "aa", 3 },
		{ "aa", "aaa", 3 },		/* the outer one began before the recording */
		{ "aba", "ab", 6 },
		{ "ab", "ab", 1 },		/* b in a new call, which is not open */
		{ "a", "b", 0 },
		{ "ab", ".A", 1 },
		{ "da", "ad", 2 },		/* d is no function of the kernel, whatever is at that address */
	};
	struct fixture *x = *state;
	uint64_t *inside;
	unsigned int i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		open_calls(x, i, 1000 + i, rows[i].open);
		hand_out(x, 1000 + i, rows[i].stack);
	}
	inside = read_all(x);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (inside[i] != rows[i].expected)
			fail_msg("%s, stack %s: 0x%llx", rows[i].open, rows[i].stack, (unsigned long long)inside[i]);
	free(inside);
}

/* Of all that there are, each in its own slot; of a thread without one nothing. */
static void test_threads(void **state)
{
	struct fixture *x = *state;
	uint64_t *inside;
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		open_calls(x, SLOT + i, WHO + i, i % 2 ? "ab" : "bc");
		hand_out(x, WHO + i, i % 3 ? "b" : "");
		hand_out(x, WHO + 1000 + i, "abc");
	}
	inside = read_all(x);
	for (i = 0; i < OPEN_SLOTS; i++) {
		const unsigned int k = i - SLOT;

		assert_int_equal(inside[i], k >= THREADS || k % 3 == 0 ? 0 : k % 2 ? 2 : 1);
	}
	free(inside);
}

static void test_shed(void **state)
{
	struct fixture *x = *state;
	uint64_t *inside;

	open_calls(x, SLOT, WHO, "aa");
	x->slots[SLOT].calls[1].start_ns = OPEN_SHED;
	hand_out(x, WHO, "a");
	inside = read_all(x);
	assert_int_equal(inside[SLOT], 1);
	free(inside);
}

/* As deep as calls and stacks may be, and lengths that cannot be. */
static void test_limits(void **state)
{
	char deep[OPEN_CALLS + 1], stack[OPEN_FRAMES_MAX + 1];
	struct open_stack bad = { .who = WHO + 1, .frames_cnt = UINT32_MAX };
	struct fixture *x = *state;
	uint64_t *inside;

	memset(deep, 'b', OPEN_CALLS);
	memset(stack, 'b', OPEN_FRAMES_MAX);
	deep[OPEN_CALLS] = stack[OPEN_FRAMES_MAX] = '\0';
	open_calls(x, SLOT, WHO, deep);
	x->slots[SLOT].owner = OPEN_OWNER(WHO, 1000);
	hand_out(x, WHO, stack);
	open_calls(x, 0, WHO + 1, "a");
	bad.frames[OPEN_FRAMES_MAX - 1] = in(A);
	assert_int_equal(write(x->write_fd, &bad, sizeof(bad)), sizeof(bad));
	inside = read_all(x);
	assert_true(inside[SLOT] == UINT64_MAX);
	assert_int_equal(inside[0], 1);
	free(inside);
}

/* kernel.kptr_restrict: then nobody knows. */
static void test_hidden(void **state)
{
	struct fixture *x = *state;
	uint64_t *inside;
	unsigned int i;

	kernel_symbols_close(x->f.symbols);
	x->f.symbols = make_symbols(true);
	for (i = 0; i < CNT; i++)
		x->f.funcs[i].addr = 0;
	open_calls(x, SLOT, WHO, "abc");
	hand_out(x, WHO, "cba");
	inside = read_all(x);
	assert_int_equal(inside[SLOT], 0);
	free(inside);
}

static void test_no_iterator(void **state)
{
	struct fixture *x = *state;
	uint64_t *inside = NULL;

	inside_detach(&x->f);
	open_calls(x, SLOT, WHO, "abc");
	inside = read_all(x);
	assert_int_equal(inside[SLOT], 0);
	free(inside);
	x->f.inside_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	inside = NULL;
	assert_int_equal(inside_read(&x->f, &inside), -EISDIR);
	free(inside);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_match, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_threads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_shed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_limits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hidden, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_iterator, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
