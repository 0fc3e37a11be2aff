/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For how long the kernel lets wait at this moment: for an RCU grace period, and for a worker of each CPU.
 */
#ifndef KERNEL_DELAYS_H
#define KERNEL_DELAYS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One wait; if it has not @ended, @ns is how long it took until it was last looked at. */
struct delay {
	bool known;		/* false: it cannot be measured here */
	bool ended;
	uint64_t ns;
};

struct delays {
	struct delay grace;
	unsigned int cpus_cnt;
	struct delay *work;	/* by position in @cpus of delays_measure(); a work item of the system's work queue */
	pid_t behind;		/* the process that measures, if it has not ended: it still removes its tracefs instances */
};

/*
 * Takes at most @limit_ms, or where a tracefs instance is made within that, @limit_ms from then on. Work items take
 * such an instance, a right of root, and another CPU that one may run on. 0 or -errno.
 */
int delays_measure(struct delays *d, const uint32_t *cpus, unsigned int cpus_cnt, unsigned int limit_ms);
void delays_free(struct delays *d);

#endif
