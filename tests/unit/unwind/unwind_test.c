// SPDX-License-Identifier: GPL-2.0
/*
 * Rules and stacks that are made by hand, for both machines on each.
 */
#include <dwarf.h>
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "../elf/maps_made.h"
#include "cfi_made.h"
#include "elf/mapped_file.h"
#include "elf/process_maps.h"
#include "unwind/unwind_p.h"

#define SP	0x7ffd00000000ULL
#define WORDS	64
#define TRAMPOLINE	0x7ffff0000000ULL

struct test {
	struct mapped_files *files;
	struct process_maps *maps;
	struct unwinder *u;
	int fd;
	char maps_text[320];
	uint64_t stack[WORDS], fp[UNWIND_FRAMES_MAX];
	struct unwind_input in;
	struct unwind_frame frames[UNWIND_FRAMES_MAX];
	unsigned int cnt;
	enum unwind_verdict verdict;
};

/* ---- setting up ------------------------------------------------------------------------------ */

static void test_open(struct test *t, const struct cfi_made *m)
{
	uint8_t file[CFI_MADE_BYTES];
	int events_err;

	memset(t, 0, sizeof(*t));
	cfi_made_build(m, file);
	t->fd = cfi_made_open(file, sizeof(file));
	cfi_made_maps(t->fd, sizeof(file), t->maps_text);
	strcat(t->maps_text, "7ffff0000000-7ffff0001000 --xp 00000000 00:00 0 [uprobes]\n");
	maps_made_begin(0);
	maps_made_proc(t->maps_text);
	assert_int_equal(mapped_files_open(&t->files), 0);
	assert_int_equal(process_maps_open(&t->maps, t->files, &events_err), 0);
	assert_int_equal(process_maps_begin(t->maps), 0);
	assert_int_equal(unwinder_open_for(&t->u, m->machine == EM_AARCH64 ? &unwind_arm64 : &unwind_x86_64, t->files,
					   t->maps), 0);
	t->in = (struct unwind_input){
		.process = (uint64_t)getpid(), .ts = 1, .regs.sp = SP, .stack = t->stack,
		.stack_bytes = sizeof(t->stack), .fp = t->fp,
	};
}

static void test_close(struct test *t)
{
	unwinder_close(t->u);
	process_maps_close(t->maps);
	mapped_files_close(t->files);
	close(t->fd);
}

static void unwind(struct test *t)
{
	t->cnt = unwinder_unwind(t->u, &t->in, t->frames, &t->verdict);
}

/* The frames' addresses, up to a 0, and the verdict. */
static void assert_stack(struct test *t, enum unwind_verdict verdict, const uint64_t *pcs)
{
	unsigned int i;

	unwind(t);
	for (i = 0; i < t->cnt && pcs[i]; i++)
		assert_int_equal(t->frames[i].pc, pcs[i]);
	assert_int_equal(i, t->cnt);
	assert_int_equal(pcs[i], 0);
	assert_int_equal(t->verdict, verdict);
}
#define PCS(...)	((const uint64_t[]){ __VA_ARGS__, 0 })

/* ---- x86-64 ---------------------------------------------------------------------------------- */

/* Before anything is saved: the return address is at sp. */
#define X86_64_CIE	CFI_BYTES(DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1)

static const struct cfi_made x86_64 = {
	.machine = EM_X86_64, .ra = 16, .cie = X86_64_CIE,
	.functions = {
		/* push rbp; at 1: mov rsp, rbp; at 4: ...; at 16: pop rbp */
		CFI_BYTES(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
			  DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6,
			  DW_CFA_advance_loc | 12, DW_CFA_def_cfa, 7, 8),
		/* sub 24, rsp in its middle */
		CFI_BYTES(DW_CFA_advance_loc | 4, DW_CFA_remember_state, DW_CFA_def_cfa_offset, 32,
			  DW_CFA_advance_loc1, 60, DW_CFA_restore_state),
		/* the outermost one */
		CFI_BYTES(DW_CFA_undefined, 16),
		/* an entry of a PLT: sp + 8, and 8 more from its instruction at 11 */
		CFI_BYTES(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and,
			  DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus),
		/* a frame that does not grow */
		CFI_BYTES(DW_CFA_def_cfa_offset_sf, 1),
		/* aligned: the CFA is stored below the frame pointer, which is saved where it points to */
		CFI_BYTES(DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref,
			  DW_CFA_expression, 6, 2, DW_OP_breg6, 0),
	},
};

static void test_sp_and_fp(void **state)
{
	struct test t;

	(void)state;
	test_open(&t, &x86_64);
	/* In 0 at 8, called by 1, called by 2. */
	t.in.regs.ip = CFI_MADE_PC(0, 8);
	t.in.regs.bp = SP + 16;
	t.stack[2] = 0x1234;
	t.stack[3] = CFI_MADE_PC(1, 20);
	t.stack[4 + 3] = CFI_MADE_PC(2, 9);
	assert_stack(&t, UNWIND_WHOLE, PCS(CFI_MADE_PC(0, 8), CFI_MADE_PC(1, 20), CFI_MADE_PC(2, 9)));
	assert_false(t.frames[0].is_call);
	assert_true(t.frames[1].is_call);
	assert_int_equal(t.frames[1].offset, CFI_MADE_CODE + 0x114);
	assert_int_equal(t.frames[2].file, 0);
	test_close(&t);
}

/* Rules and open files go by the index of a file, which may be another one's afterwards. */
static void test_files_are_forgotten(void **state)
{
	struct mapped_file file = { .path = "/other" };
	struct test t;

	(void)state;
	test_open(&t, &x86_64);
	t.in.regs.ip = CFI_MADE_PC(0, 8);
	t.in.regs.bp = SP + 16;
	t.stack[3] = CFI_MADE_PC(1, 20);
	t.stack[4 + 3] = CFI_MADE_PC(2, 9);
	assert_stack(&t, UNWIND_WHOLE, PCS(CFI_MADE_PC(0, 8), CFI_MADE_PC(1, 20), CFI_MADE_PC(2, 9)));
	assert_int_equal(t.frames[2].file, 0);
	for (file.inode = 1; !mapped_files_are_many(t.files); file.inode++)
		assert_int_not_equal(mapped_files_add(t.files, &file), MAPPED_FILE_NONE);
	assert_int_equal(process_maps_read(t.maps), 0);
	assert_int_equal(mapped_files_generation(t.files), 1);
	assert_int_equal(mapped_files_add(t.files, &file), 0);
	assert_stack(&t, UNWIND_WHOLE, PCS(CFI_MADE_PC(0, 8), CFI_MADE_PC(1, 20), CFI_MADE_PC(2, 9)));
	assert_int_equal(t.frames[2].file, 1);
	test_close(&t);
}

/* The rule of a return address is that of the call, which may be the last instruction of another row. */
static void test_call_at_the_end(void **state)
{
	struct test t;

	(void)state;
	test_open(&t, &x86_64);
	t.in.regs.ip = CFI_MADE_PC(0, 0);
	t.stack[0] = CFI_MADE_PC(1, 64);	/* its frame of 32 bytes ends here */
	t.stack[1 + 3] = CFI_MADE_PC(3, 0);	/* after the last instruction of 2 */
	assert_stack(&t, UNWIND_WHOLE, PCS(CFI_MADE_PC(0, 0), CFI_MADE_PC(1, 64), CFI_MADE_PC(3, 0)));
	/* An instruction that was interrupted there is of the next row. */
	t.in.regs.ip = CFI_MADE_PC(1, 64);
	t.stack[0] = CFI_MADE_PC(2, 1);
	assert_stack(&t, UNWIND_WHOLE, PCS(CFI_MADE_PC(1, 64), CFI_MADE_PC(2, 1)));
	test_close(&t);
}

static void test_epilogue(void **state)
{
	struct test t;

	(void)state;
	test_open(&t, &x86_64);
	/* rbp has been taken from the stack: it is that of 0 again, whose frame begins at 3 words above. */
	t.in.regs.ip = CFI_MADE_PC(0, 16);
	t.in.regs.bp = SP + 24;
	t.stack[0] = CFI_MADE_PC(0, 10);
	t.stack[4] = CFI_MADE_PC(2, 1);
	assert_stack(&t, UNWIND_WHOLE, PCS(CFI_MADE_PC(0, 16), CFI_MADE_PC(0, 10), CFI_MADE_PC(2, 1)));
	test_close(&t);
}

static void test_plt(void **state)
{
	struct test t;

	(void)state;
	test_open(&t, &x86_64);
	t.in.regs.ip = CFI_MADE_PC(3, 0x10 + 10);
	t.stack[0] = CFI_MADE_PC(2, 1);
	assert_stack(&t, UNWIND_WHOLE, PCS(CFI_MADE_PC(3, 0x1a), CFI_MADE_PC(2, 1)));
	t.in.regs.ip = CFI_MADE_PC(3, 0x10 + 11);
	t.stack[0] = 5;
	t.stack[1] = CFI_MADE_PC(2, 1);
	assert_stack(&t, UNWIND_WHOLE, PCS(CFI_MADE_PC(3, 0x1b), CFI_MADE_PC(2, 1)));
	test_close(&t);
}

static void test_aligned(void **state)
{
	struct test t;

	(void)state;
	test_open(&t, &x86_64);
	t.in.regs.ip = CFI_MADE_PC(5, 0);
	t.in.regs.bp = SP + 32;
	t.stack[3] = SP + 80;		/* the CFA */
	t.stack[4] = SP + 96;		/* rbp of the caller */
	t.stack[9] = CFI_MADE_PC(0, 10);
	t.stack[12 + 1] = CFI_MADE_PC(2, 1);
	assert_stack(&t, UNWIND_WHOLE, PCS(CFI_MADE_PC(5, 0), CFI_MADE_PC(0, 10), CFI_MADE_PC(2, 1)));
	test_close(&t);
}

/* ---- what ends it ---------------------------------------------------------------------------- */

static void test_ends(void **state)
{
	struct test t;

	(void)state;
	test_open(&t, &x86_64);
	assert_stack(&t, UNWIND_NO_USER, (const uint64_t[]){ 0 });
	t.in.regs.ip = 0x10;
	assert_stack(&t, UNWIND_UNMAPPED, PCS(0x10));
	assert_int_equal(t.frames[0].file, MAPPED_FILE_NONE);
	t.in.regs.ip = CFI_MADE_PC(0, 0);
	t.stack[0] = 0x123456789;
	assert_stack(&t, UNWIND_UNMAPPED, PCS(CFI_MADE_PC(0, 0), 0x123456789));
	t.stack[0] = 0;
	assert_stack(&t, UNWIND_WHOLE, PCS(CFI_MADE_PC(0, 0)));
	/* The same CFA again and again. */
	t.stack[0] = CFI_MADE_PC(4, 1);
	assert_stack(&t, UNWIND_NO_RULE, PCS(CFI_MADE_PC(0, 0), CFI_MADE_PC(4, 1)));
	test_close(&t);
}

static void test_bounds(void **state)
{
	const uint64_t sps[] = { 0, 1, 8, UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 8, UINT64_MAX - 16, 1ULL << 63 };
	const size_t bytes[] = { 0, 1, 7, 8, 9, 15, 16 };
	struct test t;
	size_t i, k;

	(void)state;
	test_open(&t, &x86_64);
	t.in.regs.ip = CFI_MADE_PC(0, 0);
	t.stack[0] = t.stack[1] = CFI_MADE_PC(0, 1);
	for (i = 0; i < sizeof(sps) / sizeof(sps[0]); i++)
		for (k = 0; k < sizeof(bytes) / sizeof(bytes[0]); k++) {
			t.in.regs.sp = sps[i];
			t.in.regs.bp = sps[i] + 8 * k;
			t.in.stack_bytes = bytes[k];
			unwind(&t);
			assert_in_range(t.cnt, 1, 1 + bytes[k] / 8);
			assert_int_not_equal(t.verdict, UNWIND_WHOLE);
		}
	test_close(&t);
}

/* As many frames as there is stack for, and not more than fit. */
static void test_many(void **state)
{
	uint64_t stack[200];
	struct test t;
	unsigned int i;

	(void)state;
	test_open(&t, &x86_64);
	for (i = 0; i < 200; i++)
		stack[i] = CFI_MADE_PC(0, 1);
	t.in.regs.ip = CFI_MADE_PC(0, 0);
	t.in.stack = stack;
	t.in.stack_bytes = 100 * sizeof(*stack);
	unwind(&t);
	assert_int_equal(t.cnt, 101);
	assert_int_equal(t.verdict, UNWIND_CUT);
	t.in.stack_bytes = sizeof(stack);
	unwind(&t);
	assert_int_equal(t.cnt, UNWIND_FRAMES_MAX);
	assert_int_equal(t.verdict, UNWIND_CUT);
	test_close(&t);
}

/* ---- by the kernel's frame pointers ---------------------------------------------------------- */

static void test_join(void **state)
{
	struct test t;
	unsigned int i;

	(void)state;
	test_open(&t, &x86_64);
	t.in.regs.ip = CFI_MADE_PC(0, 0);
	t.in.regs.bp = SP + 8;
	t.in.stack_bytes = 24;
	t.stack[0] = t.stack[2] = CFI_MADE_PC(0, 8);	/* a recursion: two of the four are in the copy */
	t.stack[1] = SP + 64;
	t.fp[0] = CFI_MADE_PC(0, 0);
	for (i = 1; i <= 4; i++)
		t.fp[i] = CFI_MADE_PC(0, 8);
	t.fp[5] = CFI_MADE_PC(1, 5);
	t.in.fp_cnt = 6;
	assert_stack(&t, UNWIND_WHOLE, t.fp);
	/* What is not mapped is no return address. */
	t.fp[5] = 0x55;
	unwind(&t);
	assert_int_equal(t.cnt, 5);
	assert_int_equal(t.verdict, UNWIND_CUT);
	/* A chain that ends where the copy ends says nothing. */
	t.in.fp_cnt = 3;
	unwind(&t);
	assert_int_equal(t.cnt, 3);
	assert_int_equal(t.verdict, UNWIND_CUT);
	/* A frame pointer of another stack. */
	t.in.fp_cnt = 5;
	t.stack[1] = SP - 0x100000000ULL;
	unwind(&t);
	assert_int_equal(t.cnt, 3);
	/* A function that has the register for something else: its caller is not in the chain. */
	t.stack[1] = SP + 64;
	t.stack[2] = t.fp[2] = CFI_MADE_PC(1, 20);
	unwind(&t);
	assert_int_equal(t.cnt, 3);
	assert_int_equal(t.verdict, UNWIND_CUT);
	/* The same further on in the chain. */
	t.stack[2] = t.fp[2] = CFI_MADE_PC(0, 8);
	t.fp[3] = CFI_MADE_PC(1, 20);
	unwind(&t);
	assert_int_equal(t.cnt, 4);
	assert_int_equal(t.verdict, UNWIND_CUT);
	test_close(&t);
}

/* A function with a return probe: the caller is in the kernel's chain, if at all. */
static void test_probed(void **state)
{
	struct test t;

	(void)state;
	test_open(&t, &x86_64);
	/* In 0, called by 0, called by 1, called by 2. */
	t.in.regs.ip = CFI_MADE_PC(0, 8);
	t.in.regs.bp = SP + 16;
	t.stack[2] = SP + 48;
	t.stack[3] = TRAMPOLINE;
	t.stack[6] = 0x1234;
	t.stack[7] = CFI_MADE_PC(1, 20);
	t.stack[8 + 3] = CFI_MADE_PC(2, 9);
	/* Probed by two. Another probed return is not of this stack. */
	t.in.returns = (const struct unwind_return[]){ { SP + 24, TRAMPOLINE }, { SP + 24, CFI_MADE_PC(0, 9) }, { SP, 0x1234 } };
	t.in.returns_cnt = 3;
	assert_stack(&t, UNWIND_WHOLE,
		     PCS(CFI_MADE_PC(0, 8), CFI_MADE_PC(0, 9), CFI_MADE_PC(1, 20), CFI_MADE_PC(2, 9)));
	t.in.returns_cnt = 1;
	assert_stack(&t, UNWIND_UNMAPPED, PCS(CFI_MADE_PC(0, 8), TRAMPOLINE));
	test_close(&t);
}

/* ---- arm64 ----------------------------------------------------------------------------------- */

static const struct cfi_made arm64 = {
	.machine = EM_AARCH64, .ra = 30, .cie = CFI_BYTES(DW_CFA_def_cfa, 31, 0),
	.functions = {
		/* stp x29, x30, [sp, #-32]! */
		CFI_BYTES(DW_CFA_AARCH64_negate_ra_state, DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 32,
			  DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3),
		/* a leaf */
		CFI_BYTES(DW_CFA_nop),
		/* the outermost one */
		CFI_BYTES(DW_CFA_undefined, 30),
	},
	/* nop; mov x8, #139; svc #0; stp x16, x30, [sp, #-16]!; twice: adrp x16; ldr x17; add x16; br x17 */
	.code = CFI_BYTES(0x1f, 0x20, 0x03, 0xd5, 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4,
			  0xf0, 0x7b, 0xbf, 0xa9, 0x90, 0x00, 0x00, 0xb0, 0x11, 0xfe, 0x47, 0xf9,
			  0x10, 0xe2, 0x3f, 0x91, 0x20, 0x02, 0x1f, 0xd6,
			  0x90, 0x00, 0x00, 0xb0, 0x11, 0x02, 0x40, 0xf9, 0x10, 0x02, 0x00, 0x91, 0x20, 0x02, 0x1f, 0xd6),
};

#define SIGNED(pc)	((pc) | 0x5bULL << 56 | 0x7fULL << 48)	/* with an authentication code */

static void test_arm64_leaf(void **state)
{
	struct test t;

	(void)state;
	test_open(&t, &arm64);
	t.in.regs.ip = CFI_MADE_PC(1, 8);
	t.in.regs.lr = SIGNED(CFI_MADE_PC(0, 16));
	t.stack[0] = SP + 64;
	t.stack[1] = SIGNED(CFI_MADE_PC(2, 4));
	assert_stack(&t, UNWIND_WHOLE, PCS(CFI_MADE_PC(1, 8), CFI_MADE_PC(0, 16), CFI_MADE_PC(2, 4)));
	/* A caller cannot have its return address in the register, too. */
	t.stack[1] = CFI_MADE_PC(1, 4);
	t.stack[0] = 1;
	assert_stack(&t, UNWIND_NO_RULE, PCS(CFI_MADE_PC(1, 8), CFI_MADE_PC(0, 16), CFI_MADE_PC(1, 4)));
	test_close(&t);
}

static void test_arm64_signal(void **state)
{
	uint64_t stack[200] = { 0 };
	struct test t;

	(void)state;
	test_open(&t, &arm64);
	/* A leaf was interrupted by a handler, a leaf too, which returns to the kernel's code. */
	t.in.regs.ip = CFI_MADE_PC(1, 0);
	t.in.regs.lr = CFI_MADE_PC(3, 4);
	t.in.stack = stack;
	t.in.stack_bytes = sizeof(stack);
	stack[312 / 8 + 29] = SP + 1000;
	stack[312 / 8 + 30] = CFI_MADE_PC(0, 40);
	stack[312 / 8 + 31] = SP + 800;
	stack[312 / 8 + 32] = CFI_MADE_PC(1, 12);
	stack[800 / 8 + 1] = CFI_MADE_PC(2, 4);
	assert_stack(&t, UNWIND_WHOLE, PCS(CFI_MADE_PC(1, 0), CFI_MADE_PC(3, 4), CFI_MADE_PC(1, 12), CFI_MADE_PC(0, 40),
					   CFI_MADE_PC(2, 4)));
	assert_false(t.frames[2].is_call);
	assert_true(t.frames[3].is_call);
	test_close(&t);
}

/* No linker writes rules for it: the first entry has moved the stack pointer, the others have not. */
static void test_arm64_plt(void **state)
{
	unsigned int at;
	struct test t;

	(void)state;
	test_open(&t, &arm64);
	t.in.regs.lr = CFI_MADE_PC(0, 16);
	for (at = 16; at < 48; at += 4) {
		t.in.regs.ip = CFI_MADE_PC(3, at);
		t.in.regs.bp = 0;
		t.stack[1] = at < 32 ? 0x77 : CFI_MADE_PC(2, 4);
		t.stack[3] = at < 32 ? CFI_MADE_PC(2, 4) : 0x77;
		assert_stack(&t, UNWIND_WHOLE, PCS(t.in.regs.ip, CFI_MADE_PC(0, 16), CFI_MADE_PC(2, 4)));
	}
	test_close(&t);
}

/* After code without rules the stack pointer is not known: by frame pointers then, as the ABI has them. */
static void test_arm64_fp(void **state)
{
	struct test t;

	(void)state;
	test_open(&t, &arm64);
	t.in.regs.ip = CFI_MADE_PC(5, 0);
	t.in.regs.bp = SP + 8;
	t.stack[1] = SP + 40;
	t.stack[2] = CFI_MADE_PC(0, 40);
	t.stack[5] = 0;
	t.stack[6] = CFI_MADE_PC(2, 4);
	assert_stack(&t, UNWIND_WHOLE, PCS(CFI_MADE_PC(5, 0), CFI_MADE_PC(0, 40), CFI_MADE_PC(2, 4)));
	test_close(&t);
}

/* ---- hostile files --------------------------------------------------------------------------- */

static long memory_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* Function @hostile is not understood, and costs nothing. */
static void check_hostile(struct cfi_made_bytes hostile)
{
	struct cfi_made m = { .machine = EM_X86_64, .ra = 16, .cie = X86_64_CIE, .functions = { hostile } };
	struct test t;
	long before;

	test_open(&t, &m);
	before = memory_kib();
	t.in.regs.ip = CFI_MADE_PC(0, 8);
	t.stack[0] = CFI_MADE_PC(0, 8);
	assert_stack(&t, UNWIND_NO_RULE, PCS(CFI_MADE_PC(0, 8)));
	assert_in_range(memory_kib() - before, 0, 2000);
	test_close(&t);
}

static void test_hostile(void **state)
{
	const struct cfi_made_bytes hostile[] = {
		CFI_BYTES(DW_CFA_restore_state),
		CFI_BYTES(DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_remember_state,
			  DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_remember_state,
			  DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_remember_state,
			  DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_remember_state,
			  DW_CFA_remember_state),
		CFI_BYTES(DW_CFA_def_cfa, 7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
		CFI_BYTES(DW_CFA_def_cfa, 7, 0xff, 0xff, 0xff, 0xff, 0x7f),
		CFI_BYTES(DW_CFA_def_cfa_register, 3),
		CFI_BYTES(DW_CFA_def_cfa_expression, 0xff, 0x7f, 0),
		CFI_BYTES(DW_CFA_def_cfa_expression, 1, DW_OP_plus),
		CFI_BYTES(DW_CFA_def_cfa_expression, 3, DW_OP_skip, 0xfd, 0xff),
		CFI_BYTES(DW_CFA_def_cfa_expression, 0),
		CFI_BYTES(DW_CFA_expression, 16, 2, DW_OP_breg3, 0),
		CFI_BYTES(DW_CFA_register, 16, 5),
		CFI_BYTES(DW_CFA_same_value, 16),
		CFI_BYTES(0x3f),
		CFI_BYTES(DW_CFA_offset_extended_sf, 16, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40),
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++)
		check_hostile(hostile[i]);
}

/* A register with a high number is nothing to us, and costs no memory. */
static void test_high_register(void **state)
{
	struct cfi_made m = { .machine = EM_X86_64, .ra = 16, .cie = X86_64_CIE, .functions = {
		CFI_BYTES(DW_CFA_offset_extended, 0xff, 0xff, 0xff, 0x7f, 1),
		CFI_BYTES(DW_CFA_undefined, 16),
	} };
	const long before = memory_kib();
	struct test t;

	(void)state;
	test_open(&t, &m);
	t.in.regs.ip = CFI_MADE_PC(0, 8);
	t.stack[0] = CFI_MADE_PC(1, 8);
	assert_stack(&t, UNWIND_WHOLE, PCS(CFI_MADE_PC(0, 8), CFI_MADE_PC(1, 8)));
	assert_in_range(memory_kib() - before, 0, 2000);
	test_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sp_and_fp), cmocka_unit_test(test_call_at_the_end), cmocka_unit_test(test_epilogue),
		cmocka_unit_test(test_files_are_forgotten),
		cmocka_unit_test(test_plt), cmocka_unit_test(test_aligned), cmocka_unit_test(test_ends),
		cmocka_unit_test(test_bounds), cmocka_unit_test(test_many), cmocka_unit_test(test_join),
		cmocka_unit_test(test_probed), cmocka_unit_test(test_arm64_leaf), cmocka_unit_test(test_arm64_signal),
		cmocka_unit_test(test_arm64_plt), cmocka_unit_test(test_arm64_fp), cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_high_register),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
