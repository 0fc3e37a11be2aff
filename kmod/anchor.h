/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A function that ftrace can trace and that nobody calls: every filter has it.
 */
#ifndef KFXT_ANCHOR_H
#define KFXT_ANCHOR_H

void kfxt_anchor(void);

#endif
