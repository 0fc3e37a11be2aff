// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of frames of the kernel: which are there only because something is traced.
 */
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

#include "elf/mapped_file.h"
#include "source/stack/kernel_frames.h"

#define BASE	0xffffffff81000000ULL

struct fixture {
	char dir[32];
	struct mapped_files *files;
	struct symbolizer *s;
};

/* Each 0x100 after the one before. */
static const char *const symbols[] = {
	"_stext", "entry", "sys_nap", "do_nap", "schedule", "__schedule", "finish_task_switch.isra.0", "try_to_wake_up",
	"bpf_prog_0123_program", "bpf_trace_run2", "__traceiter_sched_switch", "bpf_trampoline_6442", "trace_call_bpf", "helper", "_etext",
};

static int set_up(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	char path[64];
	unsigned int i;
	FILE *f;

	strcpy(x->dir, "/tmp/kfxt-frames-XXXXXX");
	if (!mkdtemp(x->dir))
		return -1;
	snprintf(path, sizeof(path), "%s/proc", x->dir);
	if (mkdir(path, 0700))
		return -1;
	strcat(path, "/kallsyms");
	f = fopen(path, "w");
	for (i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		fprintf(f, "%llx T %s\n", BASE + 0x100 * i, symbols[i]);
	fclose(f);
	*state = x;
	return mapped_files_open(&x->files) || symbolizer_open(&x->s, x->files, x->dir);
}

static int tear_down(void **state)
{
	struct fixture *x = *state;
	char path[64];

	symbolizer_close(x->s);
	mapped_files_close(x->files);
	snprintf(path, sizeof(path), "%s/proc/kallsyms", x->dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/proc", x->dir);
	rmdir(path);
	rmdir(x->dir);
	free(x);
	return 0;
}

/* "name" is an address in the middle of it, "name+" one just after its call of a trampoline. */
static uint64_t address_of(const char *name, size_t len)
{
	const bool at_entry = name[len - 1] == '+';
	uint64_t i;

	len -= at_entry;
	for (i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		if (strlen(symbols[i]) == len && !strncmp(symbols[i], name, len))
			return BASE + 0x100 * i + (at_entry ? 9 : 0x50);
	fail_msg("%.*s", (int)len, name);
	return 0;
}

/* Both innermost first, separated by spaces. */
static void expect_frames(const struct fixture *x, const char *stack, bool in_tracepoint, const char *expected)
{
	unsigned int cnt = 0, i, n;
	struct symbol out[32];
	char text[512] = "";
	uint64_t pcs[32];
	size_t len;

	for (; *stack; stack += len + (stack[len] == ' ')) {
		len = strcspn(stack, " ");
		pcs[cnt++] = address_of(stack, len);
	}
	n = kernel_frames_of(x->s, pcs, cnt, in_tracepoint, out);
	for (i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "", out[i].name);
	assert_string_equal(text, expected);
}

static void test_tracepoint(void **state)
{
	const struct fixture *x = *state;

	expect_frames(x, "bpf_prog_0123_program bpf_trace_run2 __traceiter_sched_switch __schedule schedule do_nap sys_nap entry", true,
		      "__schedule schedule do_nap sys_nap entry");
	/* One of another function between the tracer's, and a probe in place of the tracepoint. */
	expect_frames(x, "bpf_prog_0123_program helper trace_call_bpf finish_task_switch.isra.0+ __schedule schedule do_nap", true,
		      "finish_task_switch.isra.0 __schedule schedule do_nap");
	expect_frames(x, "bpf_prog_0123_program try_to_wake_up sys_nap", true, "try_to_wake_up sys_nap");
	expect_frames(x, "", true, "");
}

/* A function between with a program of its own: what is above that is not the tracepoint's. */
static void test_trampoline_below(void **state)
{
	const struct fixture *x = *state;

	/* Called from its entry, with the address to go on there on the stack (up to 6.x). */
	expect_frames(x, "bpf_prog_0123_program bpf_trace_run2 __schedule schedule do_nap bpf_trampoline_6442 do_nap+ sys_nap entry", true,
		      "__schedule schedule do_nap sys_nap entry");
	/* Jumped to (7.x). */
	expect_frames(x, "bpf_prog_0123_program bpf_trace_run2 __schedule schedule do_nap bpf_trampoline_6442 sys_nap entry", true,
		      "__schedule schedule do_nap sys_nap entry");
	/* Of a function that calls itself both calls stay. */
	expect_frames(x, "bpf_prog_0123_program __schedule do_nap bpf_trampoline_6442 do_nap do_nap sys_nap", true,
		      "__schedule do_nap do_nap do_nap sys_nap");
	expect_frames(x, "do_nap bpf_trampoline_6442 do_nap+ sys_nap", false, "do_nap sys_nap");
}

/* What a CPU executes is shown, also where that is a program or a trampoline. */
static void test_executed(void **state)
{
	const struct fixture *x = *state;

	expect_frames(x, "bpf_prog_0123_program bpf_trace_run2 __schedule schedule", false,
		      "bpf_prog_0123_program bpf_trace_run2 __schedule schedule");
	expect_frames(x, "bpf_trampoline_6442 do_nap+ sys_nap", false, "bpf_trampoline_6442 do_nap sys_nap");
	expect_frames(x, "bpf_prog_0123_program bpf_trampoline_6442 do_nap+ sys_nap", false, "bpf_prog_0123_program do_nap sys_nap");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tracepoint), cmocka_unit_test(test_trampoline_below), cmocka_unit_test(test_executed),
	};

	return cmocka_run_group_tests_name("kernel_frames", tests, set_up, tear_down);
}
