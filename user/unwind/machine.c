// SPDX-License-Identifier: GPL-2.0
#include <elf.h>

#include "machine.h"

/* The runtime linker computes its CFA from rbx when a function is called for the first time. */
const struct unwind_machine unwind_x86_64 = {
	.elf = EM_X86_64, .sp = 7, .fp = 6, .ip = 16, .aux = 3,
	.address_mask = UINT64_MAX,
	.fp_gives_cfa = true,
};

/*
 * The vdso has no call frame information for the end of a signal handler: "mov x8, #139; svc #0" is how it is
 * known. At sp is struct rt_sigframe: siginfo of 128 bytes, 168 bytes of ucontext aligned to 176, the address of
 * the fault, x0 to x30, sp, pc.
 */
#define ARM64_SIGNAL_X(n)	(312 + (n) * 8)
#define ARM64_MOV_X8_139	0xd2801168U
#define ARM64_SVC_0		0xd4000001U
#define ARM64_STP_X16_X30	0xa9bf7bf0U	/* [sp, #-16]!: begins the first entry of a PLT */

static const struct unwind_rule arm64_signal_rule = {
	.cfa = RULE_AT_SP, .cfa_offset = ARM64_SIGNAL_X(31),
	.ra = SAVED_AT_SP, .ra_offset = ARM64_SIGNAL_X(32) / 8,
	.fp = SAVED_AT_SP, .fp_offset = ARM64_SIGNAL_X(29) / 8,
	.is_signal = true,
};

/* "adrp x16; ldr x17, [x16]; add x16, x16; br x17", with any numbers: nothing else uses these registers so. */
static bool is_arm64_plt(uint32_t code)
{
	return (code & 0x9f00001f) == 0x90000010 || (code & 0xffc003ff) == 0xf9400211 ||
	       (code & 0xffc003ff) == 0x91000210 || code == 0xd61f0220;
}

/* Linkers for arm64 write no call frame information for PLTs: the return address is still in its register. */
static void arm64_rule_by_code(const uint32_t *code, struct unwind_rule *rule)
{
	const uint32_t *here = code + MACHINE_CODE_BEFORE;
	bool is_first = false;

	if (here[0] == ARM64_MOV_X8_139 && here[1] == ARM64_SVC_0)
		*rule = arm64_signal_rule;
	if (!is_arm64_plt(here[0]))
		return;
	for (; code < here; code++)
		is_first |= *code == ARM64_STP_X16_X30;
	*rule = (struct unwind_rule){ .cfa = RULE_SP, .cfa_offset = is_first ? 16 : 0 };
}

/* The bits above 48 hold a pointer authentication code. */
const struct unwind_machine unwind_arm64 = {
	.elf = EM_AARCH64, .sp = 31, .fp = 29, .ip = 0xff, .aux = 0xff,
	.address_mask = (1ULL << 48) - 1,
	.has_link_register = true,
	.signal_lr_offset = ARM64_SIGNAL_X(30),
	.rule_by_code = arm64_rule_by_code,
};

#if defined(__x86_64__)
const struct unwind_machine *const unwind_machine_here = &unwind_x86_64;
#elif defined(__aarch64__)
const struct unwind_machine *const unwind_machine_here = &unwind_arm64;
#else
const struct unwind_machine *const unwind_machine_here;
#endif
