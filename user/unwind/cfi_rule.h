/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rule of an address, by running the instructions of its FDE as far as that address.
 */
#ifndef UNWIND_CFI_RULE_H
#define UNWIND_CFI_RULE_H

#include "cfi_entry.h"
#include "machine.h"

/* rule->cfa is RULE_NONE if it is of no form that a rule can have. */
void cfi_rule_make(const struct unwind_machine *m, const struct cfi_cie *cie, const struct cfi_fde *fde,
		   uint64_t address, struct unwind_rule *rule);

#endif
