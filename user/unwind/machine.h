/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between the machines whose stacks are unwound. Both are compiled on each of them, so that
 * each can be tested on the other.
 */
#ifndef UNWIND_MACHINE_H
#define UNWIND_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rule.h"

#define MACHINE_CODE_BEFORE	4
#define MACHINE_CODE_WORDS	(MACHINE_CODE_BEFORE + 2)

struct unwind_machine {
	uint16_t elf;			/* e_machine */
	uint8_t sp, fp, ip;		/* DWARF's numbers of registers; 0xff: there is none */
	uint8_t aux;			/* one that is not in a sample, but is followed once a function has saved it */
	uint64_t address_mask;		/* the bits of a return address that are its address */
	bool has_link_register;		/* a leaf's return address is in a register */
	bool fp_gives_cfa;		/* after {fp, return address} at fp comes the caller's stack */
	uint16_t signal_lr_offset;	/* from sp in a signal frame: where the link register was saved */
	/*
	 * The rule of an instruction for which no file has one, by the @MACHINE_CODE_BEFORE instructions before it,
	 * itself and the next; NULL: there are no such rules. Leaves *@rule alone if it does not know it.
	 */
	void (*rule_by_code)(const uint32_t *code, struct unwind_rule *rule);
};

extern const struct unwind_machine unwind_x86_64, unwind_arm64;
/* Of the machine that this is compiled for; NULL: none of these. */
extern const struct unwind_machine *const unwind_machine_here;

#endif
