/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiting for an RCU grace period of the kernel.
 */
#ifndef KERNEL_GRACE_H
#define KERNEL_GRACE_H

/*
 * Until one has ended that begins after the call, for however long; no signal ends that. -EOPNOTSUPP: the kernel waits for none, so nothing
 * is known; else 0 or -errno. From one thread of a process at a time.
 */
int grace_wait(void);
/*
 * The same in another way, which the kernel has on machines with nohz_full CPUs, too: as a process of several threads registers for one of
 * the kinds of membarrier(2). So it waits as often as there are kinds, four at most, in a process and those it is forked from.
 */
int grace_wait_registering(void);

#endif
