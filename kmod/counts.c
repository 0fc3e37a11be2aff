// SPDX-License-Identifier: GPL-2.0
#include "counts.h"

#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/string.h>

DEFINE_PER_CPU(struct counts, kfxt_counts);

void kfxt_counts_reset(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&kfxt_counts, cpu), 0, sizeof(struct counts));
}

int kfxt_counts_read(struct kfxt_counts *out)
{
	const struct counts *counts;

	if (out->cpu >= nr_cpu_ids || !cpu_possible(out->cpu))
		return -EINVAL;
	counts = per_cpu_ptr(&kfxt_counts, out->cpu);
	out->fired = READ_ONCE(counts->fired);
	out->recursion = READ_ONCE(counts->recursion);
	out->unwatched = READ_ONCE(counts->unwatched);
	return 0;
}
