// SPDX-License-Identifier: GPL-2.0
/*
 * In a file of its own, which is compiled for ftrace; the rest of the module is
 * not, so that "*" does not trace the tracer.
 */
#include "anchor.h"

#include <linux/compiler.h>

noinline void kfxt_anchor(void)
{
	barrier();
}
