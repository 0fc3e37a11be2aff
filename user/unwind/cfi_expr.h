/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DWARF expressions of call frame information, computed without the registers: what can be known of the
 * result is a register plus a number, or what is stored there.
 */
#ifndef UNWIND_CFI_EXPR_H
#define UNWIND_CFI_EXPR_H

#include "cursor.h"
#include "machine.h"

enum cfi_value_kind {
	CFI_VALUE_NONE,		/* of another form */
	CFI_VALUE_NUMBER,	/* n */
	CFI_VALUE_CFA,		/* CFA + n */
	CFI_VALUE_SP, CFI_VALUE_FP, CFI_VALUE_AUX,	/* register + n; the last not in expressions */
	CFI_VALUE_AT_SP, CFI_VALUE_AT_FP,	/* what is stored at register + n */
};

struct cfi_value {
	enum cfi_value_kind kind;
	int64_t n;
};

/* Of @c at the instruction at @address. @has_cfa: the CFA is on its stack when it begins. */
struct cfi_value cfi_expr_eval(const struct unwind_machine *m, struct cursor c, uint64_t address, bool has_cfa);

#endif
