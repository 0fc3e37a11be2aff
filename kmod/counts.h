/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What each CPU handed over, and what it could not.
 *
 * Words and not u64, for a word is read whole. They are raised by this_cpu_inc(),
 * which an interrupt in the middle does no harm.
 */
#ifndef KFXT_COUNTS_H
#define KFXT_COUNTS_H

#include <linux/percpu.h>

#include "kfxt.h"

struct counts {
	unsigned long fired;
	unsigned long recursion;
	unsigned long unwatched;
};

DECLARE_PER_CPU(struct counts, kfxt_counts);

/* Only while nothing is traced. */
void kfxt_counts_reset(void);

/* Fills in the counts of @out->cpu; -EINVAL if there is no such CPU. */
int kfxt_counts_read(struct kfxt_counts *out);

#endif
