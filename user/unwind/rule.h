/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a frame is left at an address of a file: where the canonical frame address (CFA, the caller's
 * stack pointer) is, and where the return address and the caller's frame pointer are. And the table
 * of those that were made, for all files.
 */
#ifndef UNWIND_RULE_H
#define UNWIND_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the CFA is computed from the stack pointer or the frame pointer and an offset n. */
enum rule_cfa {
	RULE_NONE,		/* no rule is known, or none of these forms */
	RULE_SP,		/* sp + n */
	RULE_FP,		/* fp + n */
	RULE_AT_SP,		/* what is stored at sp + n */
	RULE_AT_FP,		/* what is stored at fp + n */
	RULE_AUX,		/* aux + n: see machine.h */
};

/* Where a register of the caller is; n in words of 8 bytes. */
enum rule_saved {
	SAVED_SAME,		/* where it was: not changed */
	SAVED_AT_CFA,		/* stored at CFA + n */
	SAVED_AT_SP,		/* stored at sp + n */
	SAVED_AT_FP,		/* stored at fp + n */
	SAVED_UNDEFINED,	/* nowhere; of the return address: there is no caller */
	SAVED_ELSEWHERE,	/* in a form that is not here */
};

struct unwind_rule {
	int32_t cfa_offset;	/* bytes */
	int16_t ra_offset, fp_offset, aux_offset;	/* words */
	uint8_t cfa : 3;	/* enum rule_cfa */
	uint8_t ra : 3, fp : 3, aux : 3;	/* enum rule_saved */
	bool is_signal : 1;	/* the caller was interrupted: its address is not that of a return */
};

#define RULE_TABLE_RULES_MAX	(1U << 20)	/* when there are so many, all are forgotten */

/* Open-addressed, 20 bytes a place. All zero is an empty one. */
struct rule_table {
	struct rule_place *places;
	size_t cap, cnt;	/* @cap: 0 or a power of two */
};

/* The key of @offset in file @file; 0: there is none for it, no rule either. */
uint64_t rule_key(uint32_t file, uint64_t offset);
/* Whether there is a rule, copied into *@rule then. */
bool rule_table_get(const struct rule_table *t, uint64_t key, struct unwind_rule *rule);
/* Adds one that is not there. Without memory it is not kept. */
void rule_table_add(struct rule_table *t, uint64_t key, const struct unwind_rule *rule);
void rule_table_fini(struct rule_table *t);

#endif
