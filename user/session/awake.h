/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A CPU that is never idle: the kernel has timers of one that is idle expire on another, which may not run its workers.
 */
#ifndef SESSION_AWAKE_H
#define SESSION_AWAKE_H

struct awake;

/*
 * From now on, and for @ms at most, the CPU does not idle that is the only one the calling thread may run on: a thread runs
 * there that yields to all others. NULL if that cannot be. awake_end() ends it; NULL is fine.
 */
struct awake *awake_begin(unsigned int ms);
void awake_end(struct awake *a);

#endif
