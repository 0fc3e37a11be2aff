/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A test at load, in debug builds.
 */
#ifndef KFXT_SELFTEST_H
#define KFXT_SELFTEST_H

#ifdef KFXT_SELFTEST
/* 0, or -EIO with what was wrong in the kernel's log. Leaves nothing traced. */
int kfxt_selftest(void);

/* What the test traces. */
void kfxt_selftest_one(void);
void kfxt_selftest_two(void);
#else
static inline int kfxt_selftest(void)
{
	return 0;
}
#endif

#endif
