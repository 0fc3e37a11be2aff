// SPDX-License-Identifier: GPL-2.0
/*
 * Stops itself deep in a stack of a known shape: `unwound SHAPE`. The functions that the shapes consist of
 * have names that begin with u_.
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define FUNCTION	__attribute__((noinline, noclone, noipa))
#define KEEP()		__asm__ volatile("" ::: "memory")	/* so that no call is the last thing done */

static volatile int sink, is_stepped;
static jmp_buf jump;
static ucontext_t main_context, coroutine_context;

FUNCTION static void u_stop(void)
{
	raise(SIGSTOP);
	KEEP();
}

/* In no library, so that the frame pointer is the program's own. */
FUNCTION static void u_trap(void)
{
#if defined(__x86_64__)
	__asm__ volatile("int3");
#elif defined(__aarch64__)
	__asm__ volatile("brk #0");
#endif
	KEEP();
}

FUNCTION static void u_fill(volatile char *buf, size_t bytes)
{
	buf[0] = buf[bytes - 1] = 1;
	u_stop();
	KEEP();
}

/* ---- plain ---------------------------------------------------------------------------------- */

FUNCTION static int u_middle(int a, int b)
{
	u_stop();
	KEEP();
	return a + b;
}

FUNCTION static int u_outer(int a)
{
	const int b = u_middle(a, 2) + u_middle(a, 3);

	KEEP();
	return b;
}

FUNCTION static void u_plain(void)
{
	sink = u_outer(1);
	KEEP();
}

/* ---- frames of 1 KiB ------------------------------------------------------------------------ */

FUNCTION static int u_recurse(int depth)
{
	volatile char buf[1000];

	buf[depth] = 1;
	if (depth)
		sink = u_recurse(depth - 1);
	else if (!is_stepped)
		u_trap();
	KEEP();
	return buf[depth];
}

FUNCTION static void u_recursion(void)
{
	sink = u_recurse(100);
	KEEP();
}

FUNCTION static void u_deep_recursion(void)
{
	sink = u_recurse(200);
	KEEP();
}

/* ---- stacks that move ----------------------------------------------------------------------- */

FUNCTION static void u_allocate(size_t bytes)
{
	volatile char *buf = alloca(bytes);

	u_fill(buf, bytes);
	KEEP();
}

FUNCTION static void u_alloca(void)
{
	u_allocate(300 + sink);
	KEEP();
}

/* Aligned by more than the stack is, and of a size not known before. */
FUNCTION static void u_align(size_t bytes)
{
	volatile char aligned[128] __attribute__((aligned(128)));
	volatile char *buf = alloca(bytes);

	aligned[0] = (char)bytes;
	u_fill(buf, bytes);
	KEEP();
	sink = aligned[0];
}

FUNCTION static void u_aligned(void)
{
	u_align(77 + sink);
	KEEP();
}

/* ---- signals -------------------------------------------------------------------------------- */

FUNCTION static void u_handler(int signal)
{
	(void)signal;
	if (!is_stepped)
		u_stop();
	KEEP();
}

FUNCTION static void u_handle(int flags)
{
	struct sigaction sa = { .sa_handler = u_handler, .sa_flags = flags };

	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	KEEP();
}

FUNCTION static void u_signal(void)
{
	u_handle(0);
	KEEP();
}

FUNCTION static void u_other_stack(void)
{
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };

	sigaltstack(&stack, NULL);
	u_handle(SA_ONSTACK);
	KEEP();
}

/* Interrupted at any instruction, also before a frame is there. */
static volatile int *volatile nowhere;

FUNCTION static int u_fault_at(volatile int *at)
{
	return *at;
}

FUNCTION static void u_fault(void)
{
	struct sigaction sa = { .sa_handler = u_handler };

	sigaction(SIGSEGV, &sa, NULL);
	sink = u_fault_at(nowhere);
	KEEP();
}

/* ---- jumps and stacks of their own ---------------------------------------------------------- */

FUNCTION static void u_jump(void)
{
	longjmp(jump, 1);
}

FUNCTION static void u_longjmp(void)
{
	if (!setjmp(jump))
		u_jump();
	u_stop();
	KEEP();
}

FUNCTION static void u_coroutine_entry(void)
{
	u_stop();
	KEEP();
}

FUNCTION static void u_coroutine(void)
{
	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = malloc(65536);
	coroutine_context.uc_stack.ss_size = 65536;
	coroutine_context.uc_link = &main_context;
	makecontext(&coroutine_context, u_coroutine_entry, 0);
	swapcontext(&main_context, &coroutine_context);
	KEEP();
}

FUNCTION static void *u_thread_entry(void *arg)
{
	u_stop();
	KEEP();
	return arg;
}

FUNCTION static void u_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, u_thread_entry, NULL);
	pthread_join(thread, NULL);
	KEEP();
}

/* ---- through libraries ---------------------------------------------------------------------- */

FUNCTION static int u_compare(const void *a, const void *b)
{
	if (!is_stepped)
		u_stop();
	KEEP();
	return *(const int *)a - *(const int *)b;
}

FUNCTION static void u_sort(void)
{
	int numbers[] = { 3, 1, 2 };

	qsort(numbers, 3, sizeof(numbers[0]), u_compare);
	KEEP();
}

/* To be stepped through: calls by way of the PLT, of the vdso, and what libraries do. */
FUNCTION static void u_steps(void)
{
	struct timespec ts;
	char text[64];

	is_stepped = 1;
	u_stop();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	snprintf(text, sizeof(text), "%ld %s %d", (long)ts.tv_nsec, "text", sink);
	sink += (int)strlen(text);
	u_handle(0);
	free(malloc(100000));
	u_sort();
	u_recurse(3);
}

static const struct {
	const char *name;
	void (*run)(void);
} shapes[] = {
	{ "plain", u_plain }, { "recursion", u_recursion }, { "deep_recursion", u_deep_recursion },
	{ "alloca", u_alloca }, { "aligned", u_aligned }, { "signal", u_signal },
	{ "other_stack", u_other_stack }, { "fault", u_fault }, { "longjmp", u_longjmp },
	{ "coroutine", u_coroutine }, { "thread", u_thread }, { "sort", u_sort }, { "steps", u_steps },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (argc == 2 && !strcmp(argv[1], shapes[i].name)) {
			shapes[i].run();
			return 0;
		}
	return 2;
}
