/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of two traces, as text and as JSON.
 */
#ifndef REPORT_STACKS_DIFF_PRINT_H
#define REPORT_STACKS_DIFF_PRINT_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/stacks_diff.h"
#include "base/json.h"

struct stacks_diff_print {
	const char *paths[STACKS_SIDES];
	uint64_t top;	/* functions that are printed, those that changed most */
	size_t width;	/* columns that a line may have; 0: any number */
};

/* On stdout. Rows that are in neither trace by what is compared are left out. */
void stacks_diff_print_text(const struct stacks_diff *d, const struct stacks_diff_print *p);
/* Members of the object that is open. */
void stacks_diff_print_json(struct json *j, const struct stacks_diff *d, const struct stacks_diff_print *p);

#endif
