// SPDX-License-Identifier: GPL-2.0
/*
 * There are no jumps, so an expression takes no longer than its bytes say.
 */
#include <dwarf.h>

#include "cfi_expr.h"

#define DEPTH_MAX	16

struct expr {
	const struct unwind_machine *machine;
	struct cursor c;
	uint64_t address;
	struct cfi_value stack[DEPTH_MAX];
	unsigned int depth;
	bool is_bad;
};

static void push(struct expr *x, enum cfi_value_kind kind, int64_t n)
{
	if (x->depth == DEPTH_MAX)
		x->is_bad = true;
	else
		x->stack[x->depth++] = (struct cfi_value){ kind, n };
}

static struct cfi_value pop(struct expr *x)
{
	if (x->depth)
		return x->stack[--x->depth];
	x->is_bad = true;
	return (struct cfi_value){ 0 };
}

static void push_register(struct expr *x, uint64_t reg, int64_t n)
{
	if (reg == x->machine->sp)
		push(x, CFI_VALUE_SP, n);
	else if (reg == x->machine->fp)
		push(x, CFI_VALUE_FP, n);
	else if (reg == x->machine->ip)
		push(x, CFI_VALUE_NUMBER, (int64_t)(x->address + (uint64_t)n));
	else
		push(x, CFI_VALUE_NONE, 0);
}

static void dereference(struct expr *x)
{
	const struct cfi_value v = pop(x);

	if (v.kind == CFI_VALUE_SP || v.kind == CFI_VALUE_FP)
		push(x, v.kind == CFI_VALUE_SP ? CFI_VALUE_AT_SP : CFI_VALUE_AT_FP, v.n);
	else
		push(x, CFI_VALUE_NONE, 0);
}

/* To what is a number or a register; nothing but 0 can be added to what is stored somewhere. */
static void add_number(struct expr *x, struct cfi_value to, int64_t n)
{
	if (n && (to.kind == CFI_VALUE_AT_SP || to.kind == CFI_VALUE_AT_FP))
		to.kind = CFI_VALUE_NONE;
	else if (n)
		to.n = (int64_t)((uint64_t)to.n + (uint64_t)n);
	push(x, to.kind, to.n);
}

static bool compare_values(uint8_t op, int64_t a, int64_t b)
{
	switch (op) {
	case DW_OP_eq:
		return a == b;
	case DW_OP_ge:
		return a >= b;
	case DW_OP_gt:
		return a > b;
	case DW_OP_le:
		return a <= b;
	case DW_OP_lt:
		return a < b;
	default:
		return a != b;
	}
}

/* Of two numbers, @a the one that was there first. */
static int64_t compute(uint8_t op, int64_t a, int64_t b)
{
	switch (op) {
	case DW_OP_and:
		return a & b;
	case DW_OP_or:
		return a | b;
	case DW_OP_shl:
		return b >= 0 && b < 64 ? (int64_t)((uint64_t)a << b) : 0;
	case DW_OP_shr:
		return b >= 0 && b < 64 ? (int64_t)((uint64_t)a >> b) : 0;
	default:
		return compare_values(op, a, b);
	}
}

static void binary(struct expr *x, uint8_t op)
{
	const struct cfi_value b = pop(x), a = pop(x);
	const bool numbers = a.kind == CFI_VALUE_NUMBER && b.kind == CFI_VALUE_NUMBER;

	if (op == DW_OP_plus && b.kind == CFI_VALUE_NUMBER)
		add_number(x, a, b.n);
	else if (op == DW_OP_plus && a.kind == CFI_VALUE_NUMBER)
		add_number(x, b, a.n);
	else if (op == DW_OP_minus && b.kind == CFI_VALUE_NUMBER)
		add_number(x, a, (int64_t)-(uint64_t)b.n);
	else if (numbers && op != DW_OP_plus && op != DW_OP_minus)
		push(x, CFI_VALUE_NUMBER, compute(op, a.n, b.n));
	else
		push(x, CFI_VALUE_NONE, 0);
}

/* Numbers of 1, 2, 4, 8 bytes without and with a sign, in this order. */
static void push_constant(struct expr *x, uint8_t op)
{
	const unsigned int bytes = 1U << (op - DW_OP_const1u) / 2;

	push(x, CFI_VALUE_NUMBER, op & 1 ? cursor_signed(&x->c, bytes) : (int64_t)cursor_number(&x->c, bytes));
}

static void step(struct expr *x, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case DW_OP_lit0 ... DW_OP_lit31:
		push(x, CFI_VALUE_NUMBER, op - DW_OP_lit0);
		break;
	case DW_OP_breg0 ... DW_OP_breg31:
		push_register(x, op - DW_OP_breg0, cursor_sleb(&x->c));
		break;
	case DW_OP_bregx:
		reg = cursor_uleb(&x->c);
		push_register(x, reg, cursor_sleb(&x->c));
		break;
	case DW_OP_const1u ... DW_OP_const8s:
		push_constant(x, op);
		break;
	case DW_OP_constu:
		push(x, CFI_VALUE_NUMBER, (int64_t)cursor_uleb(&x->c));
		break;
	case DW_OP_consts:
		push(x, CFI_VALUE_NUMBER, cursor_sleb(&x->c));
		break;
	case DW_OP_plus_uconst:
		add_number(x, pop(x), (int64_t)cursor_uleb(&x->c));
		break;
	case DW_OP_deref:
		dereference(x);
		break;
	case DW_OP_plus: case DW_OP_minus: case DW_OP_and: case DW_OP_or: case DW_OP_shl: case DW_OP_shr:
	case DW_OP_eq ... DW_OP_ne:
		binary(x, op);
		break;
	case DW_OP_nop:
		break;
	default:
		x->is_bad = true;
	}
}

struct cfi_value cfi_expr_eval(const struct unwind_machine *m, struct cursor c, uint64_t address, bool has_cfa)
{
	struct expr x = { .machine = m, .c = c, .address = address };

	if (has_cfa)
		push(&x, CFI_VALUE_CFA, 0);
	while (x.c.at < x.c.end && !x.is_bad && !x.c.is_bad)
		step(&x, (uint8_t)cursor_number(&x.c, 1));
	if (!x.depth || x.is_bad || x.c.is_bad)
		return (struct cfi_value){ 0 };
	return x.stack[x.depth - 1];
}
