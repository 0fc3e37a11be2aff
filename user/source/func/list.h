/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All functions that may be traced, and which of them globs mean; what set.c and
 * module_filter.c share.
 */
#ifndef SOURCE_FUNC_LIST_H
#define SOURCE_FUNC_LIST_H

#include "kernel/symbols.h"
#include "kernel_func.h"
#include "name_index.h"

struct func_list {
	struct kernel_func *funcs;	/* in the order of the source; .entry only, if that */
	const char **names;
	unsigned int cnt;
	enum func_source source;
	struct name_index index;	/* of .names */
	char *text;			/* which they point into; else into the symbols */
	const struct kernel_symbols *symbols;	/* NULL: not known */
};

/* The marks of func_list_choose(). */
#define FUNC_TAKEN	0x01	/* chosen */
#define FUNC_LEFT	0x02	/* a glob matched it, the exclude list kept it out */

/* @tracefs NULL: wherever it is mounted; @symbols, kept, may be NULL. 0, -EACCES, -ENOMEM. */
int func_list_open(struct func_list *list, const char *tracefs,
		   const struct kernel_symbols *symbols);
void func_list_close(struct func_list *list);
/*
 * Marks each function. NULL, or the first glob that matches none. @marks are all 0 before,
 * and have a byte for each function.
 */
const char *func_list_choose(const struct func_list *list, const struct func_set_cfg *cfg,
			     uint8_t *marks);

/* Code that ftrace is known not to trace by where it lies. */
struct func_ranges {
	struct func_range {
		uint64_t begin, end;
	} ranges[4];
};

void func_ranges_init(struct func_ranges *r, const struct kernel_symbol *all, unsigned int cnt);
bool func_ranges_have(const struct func_ranges *r, uint64_t addr);

#endif
