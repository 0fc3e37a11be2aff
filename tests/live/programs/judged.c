// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt, but for stacks that are unwound twice, by libdwfl as well, from the same registers and bytes. Its files are read
 * while the recording goes on: `judged record --no-sandbox ...`. Prints last what it found, as one line:
 *
 *	judged STACKS equal EQUAL longer LONGER shorter SHORTER other OTHER gone GONE
 *
 * longer: libdwfl ends before, where the copy of the stack does or there is no rule, and frame pointers lead on.
 * shorter: the stack is said to be cut, and libdwfl finds more. other: other frames, or said to be whole and not.
 * gone: the process, or what it had mapped, is not there any more. Only on x86-64: libdwfl is no judge on arm64.
 */
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi/ids.h"
#include "elf/mapped_file.h"
#include "unwind/unwind.h"

#ifdef __x86_64__
#define IS_JUDGE	1
#else
#define IS_JUDGE	0
#endif
#define PROCESSES_MAX	1024U
#define FRAMES_MAX	512U
#define SHOWN_MAX	5U

unsigned int __real_unwinder_unwind(struct unwinder *u, const struct unwind_input *in, struct unwind_frame *frames,
				    enum unwind_verdict *verdict);
unsigned int __wrap_unwinder_unwind(struct unwinder *u, const struct unwind_input *in, struct unwind_frame *frames,
				    enum unwind_verdict *verdict);

static struct {
	uint64_t stacks, equal, longer, shorter, other, gone;
} counts;

/* What both are asked about. */
static const struct unwind_input *input;
static pid_t input_pid;

/* ---- processes ------------------------------------------------------------------------------- */

static struct process {
	uint64_t koid;
	Dwfl *dwfl;
} processes[PROCESSES_MAX];
static unsigned int processes_cnt;

static int no_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, const char *file,
			const char *link, GElf_Word crc, char **found)
{
	(void)module;
	(void)userdata;
	(void)name;
	(void)base;
	(void)file;
	(void)link;
	(void)crc;
	(void)found;
	return -1;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	(void)dwfl;
	(void)arg;
	if (*thread)
		return 0;
	*thread = &input;
	return input_pid;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *arg)
{
	(void)dwfl;
	(void)arg;
	if (input->stack_bytes < sizeof(*word) || address - input->regs.sp > input->stack_bytes - sizeof(*word))
		return false;
	memcpy(word, (const char *)input->stack + (address - input->regs.sp), sizeof(*word));
	return true;
}

/* As DWARF numbers them: rbp, rsp, and the return address. */
static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const Dwarf_Word frame[] = { input->regs.bp, input->regs.sp }, ip = input->regs.ip;

	(void)arg;
	return dwfl_thread_state_registers(thread, 6, 2, frame) && dwfl_thread_state_registers(thread, 16, 1, &ip);
}

static Dwfl *open_dwfl(pid_t pid)
{
	static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = no_debuginfo };
	static const Dwfl_Thread_Callbacks threads = {
		.next_thread = next_thread, .memory_read = read_memory, .set_initial_registers = set_registers,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (dwfl && (dwfl_linux_proc_report(dwfl, pid) || dwfl_report_end(dwfl, NULL, NULL) ||
		     !dwfl_attach_state(dwfl, NULL, pid, &threads, NULL))) {
		dwfl_end(dwfl);
		dwfl = NULL;
	}
	return dwfl;
}

static struct process *process_of(uint64_t koid, pid_t pid)
{
	struct process *p = processes;

	while (p < processes + processes_cnt && p->koid != koid)
		p++;
	if (p == processes + PROCESSES_MAX)
		return NULL;
	if (p == processes + processes_cnt) {
		processes_cnt++;
		*p = (struct process){ .koid = koid, .dwfl = open_dwfl(pid) };
	}
	return p;
}

/* ---- judging --------------------------------------------------------------------------------- */

struct found {
	uint64_t pcs[FRAMES_MAX];
	unsigned int cnt;
};

static int add_frame(Dwfl_Frame *frame, void *ctx)
{
	struct found *f = ctx;
	Dwarf_Addr pc;

	if (f->cnt == FRAMES_MAX || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	f->pcs[f->cnt++] = pc;
	return DWARF_CB_OK;
}

/* Whether it has the module of @pc; that of the nearest one is found, too. */
static bool knows(Dwfl *dwfl, uint64_t pc)
{
	Dwfl_Module *module = dwfl_addrmodule(dwfl, pc);
	Dwarf_Addr start = 0, end = 0;

	if (module)
		dwfl_module_info(module, NULL, &start, &end, NULL, NULL, NULL, NULL);
	return pc >= start && pc < end;
}

/* Whether each address that we know a file of is in one, for it too. */
static bool knows_all(Dwfl *dwfl, const struct unwind_frame *frames, unsigned int cnt)
{
	unsigned int i;

	for (i = 0; i < cnt; i++)
		if (frames[i].file != MAPPED_FILE_NONE && !knows(dwfl, frames[i].pc))
			return false;
	return true;
}

static void show(const struct unwind_frame *frames, unsigned int cnt, enum unwind_verdict verdict, const struct found *f)
{
	unsigned int i;

	if (counts.other > SHOWN_MAX)
		return;
	fprintf(stderr, "judged: process %d, verdict %d, %zu bytes\n", input_pid, verdict, input->stack_bytes);
	for (i = 0; i < cnt || i < f->cnt; i++)
		fprintf(stderr, "judged:   %#" PRIx64 " %#" PRIx64 "\n", i < cnt ? frames[i].pc : 0, i < f->cnt ? f->pcs[i] : 0);
}

static void compare(const struct unwind_frame *frames, unsigned int cnt, enum unwind_verdict verdict, const struct found *f)
{
	unsigned int i = 0;

	while (i < cnt && i < f->cnt && frames[i].pc == f->pcs[i])
		i++;
	if (i == cnt && i == f->cnt) {
		counts.equal++;
	} else if (i == f->cnt) {
		counts.longer++;
	} else if (i == cnt && verdict != UNWIND_WHOLE) {
		counts.shorter++;
	} else {
		counts.other++;
		show(frames, cnt, verdict, f);
	}
}

static void judge(const struct unwind_frame *frames, unsigned int cnt, enum unwind_verdict verdict)
{
	struct process *p = process_of(input->process, input_pid);
	struct found f = { .cnt = 0 };

	counts.stacks++;
	/* Not by reporting anew: what is attached has borrowed from a module. */
	if (p && p->dwfl && !knows_all(p->dwfl, frames, cnt)) {
		dwfl_end(p->dwfl);
		p->dwfl = open_dwfl(input_pid);
	}
	if (!p || !p->dwfl || !knows_all(p->dwfl, frames, cnt)) {
		counts.gone++;
		return;
	}
	dwfl_getthread_frames(p->dwfl, input_pid, add_frame, &f);
	compare(frames, cnt, verdict, &f);
}

unsigned int __wrap_unwinder_unwind(struct unwinder *u, const struct unwind_input *in, struct unwind_frame *frames,
				    enum unwind_verdict *verdict)
{
	const unsigned int cnt = __real_unwinder_unwind(u, in, frames, verdict);

	input = in;
	input_pid = (pid_t)(in->process % ID_GENERATION_STEP);
	/* Probed returns it knows nothing of. */
	if (IS_JUDGE && cnt && in->stack_bytes && !in->returns_cnt)
		judge(frames, cnt, *verdict);
	return cnt;
}

static __attribute__((destructor)) void print_counts(void)
{
	if (counts.stacks)
		fprintf(stderr, "judged %" PRIu64 " equal %" PRIu64 " longer %" PRIu64 " shorter %" PRIu64 " other %" PRIu64
			" gone %" PRIu64 "\n", counts.stacks, counts.equal, counts.longer, counts.shorter, counts.other, counts.gone);
}
