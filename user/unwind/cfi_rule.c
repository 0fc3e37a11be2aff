// SPDX-License-Identifier: GPL-2.0
/*
 * Of all registers few matter: those of the CFA, the return address, the frame pointer and the machine's aux. What
 * is said of others is read and left.
 */
#include <dwarf.h>
#include <limits.h>

#include "cfi_expr.h"
#include "cfi_rule.h"

#define REMEMBERED_MAX	16	/* compilers remember one state */

struct saved {
	enum rule_saved how;
	int64_t n;		/* bytes */
};

struct row {
	struct cfi_value cfa;
	struct saved ra, fp, aux;
};

struct run {
	const struct unwind_machine *machine;
	const struct cfi_cie *cie;
	struct cursor c;
	uint64_t address, at;	/* what is asked for; where the row holds from */
	struct row row, initial, remembered[REMEMBERED_MAX];
	unsigned int remembered_cnt;
	bool has_ended;		/* the next row is about what comes after the address */
};

/* ---- registers ------------------------------------------------------------------------------- */

static struct saved *saved_of(struct run *r, struct row *row, uint64_t reg)
{
	if (reg == r->cie->ra)
		return &row->ra;
	if (reg == r->machine->fp)
		return &row->fp;
	return reg == r->machine->aux ? &row->aux : NULL;
}

static void save(struct run *r, uint64_t reg, enum rule_saved how, int64_t n)
{
	struct saved *s = saved_of(r, &r->row, reg);

	if (s)
		*s = (struct saved){ how, n };
}

/* Factored offsets; a product that does not fit is none that a rule can have. */
static int64_t factored(const struct run *r, uint64_t n)
{
	int64_t product;

	return __builtin_mul_overflow((int64_t)n, r->cie->data_align, &product) ? INT64_MAX : product;
}

static void save_at_cfa(struct run *r, uint64_t reg, int64_t n)
{
	save(r, reg, SAVED_AT_CFA, n);
}

static void save_by_expression(struct run *r, uint64_t reg)
{
	const uint64_t bytes = cursor_uleb(&r->c);
	struct cursor c = { .at = cursor_take(&r->c, bytes) };
	struct cfi_value v;

	if (!c.at)
		return;
	c.end = r->c.at;
	v = cfi_expr_eval(r->machine, c, r->address, true);
	if (v.kind == CFI_VALUE_CFA)
		save(r, reg, SAVED_AT_CFA, v.n);
	else if (v.kind == CFI_VALUE_SP || v.kind == CFI_VALUE_FP)
		save(r, reg, v.kind == CFI_VALUE_SP ? SAVED_AT_SP : SAVED_AT_FP, v.n);
	else
		save(r, reg, SAVED_ELSEWHERE, 0);
}

static void restore(struct run *r, uint64_t reg)
{
	struct saved *s = saved_of(r, &r->row, reg);

	if (s)
		*s = *saved_of(r, &r->initial, reg);
}

/* ---- the CFA --------------------------------------------------------------------------------- */

static void set_cfa_register(struct run *r, uint64_t reg)
{
	r->row.cfa.kind = reg == r->machine->sp ? CFI_VALUE_SP :
			  reg == r->machine->fp ? CFI_VALUE_FP :
			  reg == r->machine->aux ? CFI_VALUE_AUX : CFI_VALUE_NONE;
}

static void set_cfa_offset(struct run *r, int64_t n)
{
	if (r->row.cfa.kind == CFI_VALUE_AT_SP || r->row.cfa.kind == CFI_VALUE_AT_FP)
		r->row.cfa.kind = CFI_VALUE_NONE;	/* was an expression */
	r->row.cfa.n = n;
}

static void set_cfa(struct run *r, uint64_t reg, int64_t n)
{
	set_cfa_register(r, reg);
	r->row.cfa.n = n;
}

static void set_cfa_expression(struct run *r)
{
	const uint64_t bytes = cursor_uleb(&r->c);
	struct cursor c = { .at = cursor_take(&r->c, bytes) };

	if (!c.at)
		return;
	c.end = r->c.at;
	r->row.cfa = cfi_expr_eval(r->machine, c, r->address, false);
	if (r->row.cfa.kind == CFI_VALUE_NUMBER || r->row.cfa.kind == CFI_VALUE_CFA)
		r->row.cfa.kind = CFI_VALUE_NONE;
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void advance(struct run *r, uint64_t delta)
{
	const uint64_t left = r->address - r->at;

	if (r->cie->code_align && delta > left / r->cie->code_align)
		r->has_ended = true;
	else
		r->at += delta * r->cie->code_align;
}

static void remember(struct run *r)
{
	if (r->remembered_cnt == REMEMBERED_MAX)
		r->c.is_bad = true;
	else
		r->remembered[r->remembered_cnt++] = r->row;
}

static void recall(struct run *r)
{
	if (r->remembered_cnt)
		r->row = r->remembered[--r->remembered_cnt];
	else
		r->c.is_bad = true;
}

/* Those with a register first and, but for some, a number. */
static void step_register(struct run *r, uint8_t op)
{
	const uint64_t reg = cursor_uleb(&r->c);

	switch (op) {
	case DW_CFA_offset_extended:
		save_at_cfa(r, reg, factored(r, cursor_uleb(&r->c)));
		break;
	case DW_CFA_offset_extended_sf:
		save_at_cfa(r, reg, factored(r, (uint64_t)cursor_sleb(&r->c)));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		save_at_cfa(r, reg, factored(r, -cursor_uleb(&r->c)));
		break;
	case DW_CFA_restore_extended:
		restore(r, reg);
		break;
	case DW_CFA_undefined:
		save(r, reg, SAVED_UNDEFINED, 0);
		break;
	case DW_CFA_same_value:
		save(r, reg, SAVED_SAME, 0);
		break;
	case DW_CFA_expression:
		save_by_expression(r, reg);
		break;
	default:	/* in another register, or a value that is computed */
		if (op == DW_CFA_val_expression)
			cursor_take(&r->c, cursor_uleb(&r->c));
		else
			cursor_uleb(&r->c);
		save(r, reg, SAVED_ELSEWHERE, 0);
	}
}

static void step_cfa(struct run *r, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = cursor_uleb(&r->c);
		set_cfa(r, reg, (int64_t)cursor_uleb(&r->c));
		break;
	case DW_CFA_def_cfa_sf:
		reg = cursor_uleb(&r->c);
		set_cfa(r, reg, factored(r, (uint64_t)cursor_sleb(&r->c)));
		break;
	case DW_CFA_def_cfa_register:
		set_cfa_register(r, cursor_uleb(&r->c));
		break;
	case DW_CFA_def_cfa_offset:
		set_cfa_offset(r, (int64_t)cursor_uleb(&r->c));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa_offset(r, factored(r, (uint64_t)cursor_sleb(&r->c)));
		break;
	default:
		set_cfa_expression(r);
	}
}

/* Those with the upper two bits 0. */
static void step_extended(struct run *r, uint8_t op)
{
	switch (op) {
	case DW_CFA_nop:
	case DW_CFA_AARCH64_negate_ra_state:	/* the codes are cut off whether they are there or not */
		break;
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
		advance(r, cursor_number(&r->c, 1U << (op - DW_CFA_advance_loc1)));
		break;
	case DW_CFA_remember_state:
		remember(r);
		break;
	case DW_CFA_restore_state:
		recall(r);
		break;
	case DW_CFA_def_cfa ... DW_CFA_def_cfa_expression:
	case DW_CFA_def_cfa_sf: case DW_CFA_def_cfa_offset_sf:
		step_cfa(r, op);
		break;
	case DW_CFA_offset_extended ... DW_CFA_register:
	case DW_CFA_expression: case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset: case DW_CFA_val_offset_sf: case DW_CFA_val_expression:
	case DW_CFA_GNU_negative_offset_extended:
		step_register(r, op);
		break;
	case DW_CFA_GNU_args_size:
		cursor_uleb(&r->c);
		break;
	default:	/* set_loc is not written by compilers */
		r->c.is_bad = true;
	}
}

static bool run_instructions(struct run *r, struct cursor instructions)
{
	uint8_t op;

	r->c = instructions;
	while (r->c.at < r->c.end && !r->c.is_bad && !r->has_ended) {
		op = (uint8_t)cursor_number(&r->c, 1);
		switch (op & 0xc0) {
		case DW_CFA_advance_loc:
			advance(r, op & 0x3f);
			break;
		case DW_CFA_offset:
			save_at_cfa(r, op & 0x3f, factored(r, cursor_uleb(&r->c)));
			break;
		case DW_CFA_restore:
			restore(r, op & 0x3f);
			break;
		default:
			step_extended(r, op);
		}
	}
	return !r->c.is_bad;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static uint8_t cfa_form(enum cfi_value_kind kind)
{
	switch (kind) {
	case CFI_VALUE_SP:
		return RULE_SP;
	case CFI_VALUE_FP:
		return RULE_FP;
	case CFI_VALUE_AT_SP:
		return RULE_AT_SP;
	case CFI_VALUE_AT_FP:
		return RULE_AT_FP;
	case CFI_VALUE_AUX:
		return RULE_AUX;
	default:
		return RULE_NONE;
	}
}

static uint8_t saved_form(const struct saved *s, int16_t *words)
{
	if (s->n % 8 || s->n / 8 < INT16_MIN || s->n / 8 > INT16_MAX)
		return SAVED_ELSEWHERE;
	*words = (int16_t)(s->n / 8);
	return s->how;
}

void cfi_rule_make(const struct unwind_machine *m, const struct cfi_cie *cie, const struct cfi_fde *fde,
		   uint64_t address, struct unwind_rule *rule)
{
	struct run r = { .machine = m, .cie = cie, .address = address, .at = address };

	*rule = (struct unwind_rule){ .cfa = RULE_NONE };
	/* What the CIE says holds from the start: it has no addresses to advance to. */
	if (!run_instructions(&r, cie->instructions) || r.has_ended)
		return;
	r.initial = r.row;
	r.at = fde->start;
	if (!run_instructions(&r, fde->instructions) || r.row.cfa.n < INT32_MIN || r.row.cfa.n > INT32_MAX)
		return;
	rule->cfa_offset = (int32_t)r.row.cfa.n;
	rule->cfa = cfa_form(r.row.cfa.kind);
	rule->ra = saved_form(&r.row.ra, &rule->ra_offset);
	rule->fp = saved_form(&r.row.fp, &rule->fp_offset);
	rule->aux = saved_form(&r.row.aux, &rule->aux_offset);
	rule->is_signal = cie->is_signal;
	if (rule->ra == SAVED_UNDEFINED)
		rule->cfa = RULE_SP;	/* it does not matter: there is no caller */
	if (rule->ra == SAVED_ELSEWHERE || (rule->ra == SAVED_SAME && !m->has_link_register))
		rule->cfa = RULE_NONE;
}
