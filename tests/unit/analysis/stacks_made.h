/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the tests of stacks: samples made by hand. Failures end the test.
 */
#ifndef STACKS_MADE_H
#define STACKS_MADE_H

#include "analysis/stacks.h"

/*
 * Frames outermost first, separated by ';': a name ending in _[k] is the kernel's; "woken by" begins one of
 * the mapping "waker". The process is 10, unless @thread is below 10: then it is the kernel.
 */
void put_sample(struct stacks *s, enum profile_source source, uint64_t ts, uint64_t thread, uint64_t weight,
		const char *frames);
/* Process 10 "app" with threads 11 and 12 "worker", 13 "logger", and kernel thread 5 "kworker". */
void put_stack_names(struct stacks *s);

#endif
