// SPDX-License-Identifier: GPL-2.0
/*
 * What it costs to unwind a user stack: unwind_load FRAMES ROUNDS
 *
 * Copies its own stack of about so many frames and unwinds it again and again. Prints nanoseconds of CPU time a
 * sample with all rules known, with none, with no file open yet, and by libdwfl; and how many frames there were:
 * "KNOWN NEW FIRST LIBDWFL FRAMES". Fails if libdwfl finds another number of frames. Only for x86-64.
 */
#include <dirent.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "elf/mapped_file.h"
#include "elf/process_maps.h"
#include "unwind/unwind_p.h"

#define STACK_BYTES	16384

struct sample {
	struct unwind_input in;
	char stack[STACK_BYTES];
	greg_t regs[17];	/* as DWARF numbers them */
};

extern void *__libc_stack_end;
static struct sample sample;
static struct unwind_frame frames[UNWIND_FRAMES_MAX];
static enum unwind_verdict verdict;
static volatile int sink;

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);

/* Other processes are not looked at: finding ours among them takes more instructions if there are more. */
DIR *__wrap_opendir(const char *path)
{
	return __real_opendir(strcmp(path, "/proc") ? path : "/proc/self/ns");
}

static double cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* ---- a stack to unwind ----------------------------------------------------------------------- */

#define FUNCTION	__attribute__((noinline, noclone, noipa))

FUNCTION static void take_sample(void)
{
	static ucontext_t c;

	getcontext(&c);
	sample.in = (struct unwind_input){ .process = (uint64_t)getpid(), .ts = 1, .stack = sample.stack,
					   .stack_bytes = STACK_BYTES };
	const int dwarf[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9,
			      REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };

	for (size_t i = 0; i < sizeof(dwarf) / sizeof(dwarf[0]); i++)
		sample.regs[i] = c.uc_mcontext.gregs[dwarf[i]];
	sample.in.regs = (struct unwind_regs){ .ip = (uint64_t)sample.regs[16], .sp = (uint64_t)sample.regs[7],
					       .bp = (uint64_t)sample.regs[6] };
	if ((uint64_t)__libc_stack_end - sample.in.regs.sp < STACK_BYTES)
		sample.in.stack_bytes = (uint64_t)__libc_stack_end - sample.in.regs.sp;
	memcpy(sample.stack, (const void *)sample.in.regs.sp, sample.in.stack_bytes);
}

typedef void (*function)(int);

#define DESCEND(name, next)					\
	FUNCTION static void name(int depth);			\
	FUNCTION static void next(int depth);			\
	FUNCTION static void name(int depth)			\
	{							\
		volatile char buf[24 + 8 * __COUNTER__];	\
								\
		buf[0] = (char)depth;				\
		if (depth > 0)					\
			next(depth - 1);			\
		else						\
			take_sample();				\
		sink = buf[0];					\
	}
DESCEND(d0, d1)
DESCEND(d1, d2)
DESCEND(d2, d3)
DESCEND(d3, d4)
DESCEND(d4, d5)
DESCEND(d5, d6)
DESCEND(d6, d7)
DESCEND(d7, d0)

/* ---- ours -------------------------------------------------------------------------------------- */

static unsigned int unwind_all(struct unwinder *u, int rounds)
{
	unsigned int cnt = 0;

	while (rounds--)
		cnt = unwinder_unwind(u, &sample.in, frames, &verdict);
	return cnt;
}

/* Not inlined, this and the next: the guard counts their instructions. */
FUNCTION static double unwind_known(struct unwinder *u, int rounds)
{
	const double begin = cpu_ns();

	unwind_all(u, rounds);
	return (cpu_ns() - begin) / rounds;
}

FUNCTION static double unwind_new(struct unwinder *u, int rounds)
{
	const double begin = cpu_ns();
	int i;

	for (i = 0; i < rounds; i++) {
		rule_table_fini(&u->rules);
		unwind_all(u, 1);
	}
	return (cpu_ns() - begin) / rounds;
}

static double unwind_first(struct mapped_files *files, struct process_maps *maps, int rounds)
{
	const double begin = cpu_ns();
	struct unwinder *u;
	int i;

	for (i = 0; i < rounds; i++) {
		if (unwinder_open(&u, files, maps))
			exit(1);
		unwind_all(u, 1);
		unwinder_close(u);
	}
	return (cpu_ns() - begin) / rounds;
}

/* ---- libdwfl's --------------------------------------------------------------------------------- */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	(void)dwfl;
	(void)arg;
	if (*thread)
		return 0;
	*thread = &sample;
	return getpid();
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *arg)
{
	(void)dwfl;
	(void)arg;
	if (address - sample.in.regs.sp > sample.in.stack_bytes - sizeof(*word))
		return false;
	memcpy(word, sample.stack + (address - sample.in.regs.sp), sizeof(*word));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	(void)arg;
	return dwfl_thread_state_registers(thread, 0, 17, (const Dwarf_Word *)sample.regs);
}

static int count_frame(Dwfl_Frame *frame, void *ctx)
{
	unsigned int *cnt = ctx;

	(void)frame;
	++*cnt;
	return DWARF_CB_OK;
}

static double by_libdwfl(int rounds, unsigned int *cnt)
{
	static char *debug_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &debug_path,
	};
	static const Dwfl_Thread_Callbacks threads = {
		.next_thread = next_thread, .memory_read = read_memory, .set_initial_registers = set_registers,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);
	double begin;
	int i;

	dwfl_linux_proc_report(dwfl, getpid());
	dwfl_report_end(dwfl, NULL, NULL);
	dwfl_attach_state(dwfl, NULL, getpid(), &threads, NULL);
	dwfl_getthread_frames(dwfl, getpid(), count_frame, cnt);
	begin = cpu_ns();
	for (i = 0; i < rounds; i++) {
		*cnt = 0;
		dwfl_getthread_frames(dwfl, getpid(), count_frame, cnt);
	}
	return (cpu_ns() - begin) / rounds;
}

int main(int argc, char **argv)
{
	const int depth = argc > 1 ? atoi(argv[1]) : 20, rounds = argc > 2 ? atoi(argv[2]) : 1000;
	struct mapped_files *files;
	struct process_maps *maps;
	unsigned int cnt, judged = 0;
	struct unwinder *u;
	double ns[4];
	int events_err;

	d0(depth - 7);
	if (mapped_files_open(&files) || process_maps_open(&maps, files, &events_err) || unwinder_open(&u, files, maps))
		return 1;
	cnt = unwind_all(u, 1);
	ns[0] = unwind_known(u, rounds);
	ns[1] = unwind_new(u, rounds);
	ns[2] = unwind_first(files, maps, rounds / 10 + 1);
	ns[3] = by_libdwfl(rounds, &judged);
	printf("%.0f %.0f %.0f %.0f %u\n", ns[0], ns[1], ns[2], ns[3], cnt);
	unwinder_close(u);
	process_maps_close(maps);
	mapped_files_close(files);
	if (cnt != judged || verdict != UNWIND_WHOLE)
		fprintf(stderr, "%u frames, verdict %d; libdwfl has %u\n", cnt, verdict, judged);
	return cnt != judged || verdict != UNWIND_WHOLE;
}
