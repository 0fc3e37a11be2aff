/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kernels do differently. The module is written for the newest one; older
 * ones are brought up to it here and nowhere else.
 *
 * The oldest kernel it is tried on is 6.1. Below 5.18 kfxt itself does not run.
 */
#ifndef KFXT_COMPAT_H
#define KFXT_COMPAT_H

#include <linux/slab.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 18, 0)
#error "kfxt needs Linux 5.18 or later"
#endif

#ifndef CONFIG_DYNAMIC_FTRACE
#error "kfxt's module needs a kernel with CONFIG_DYNAMIC_FTRACE"
#endif

/* Allocating by the object came with 7.0. */
#ifndef kzalloc_obj
#define kzalloc_obj(object)	kzalloc(sizeof(object), GFP_KERNEL)
#endif

#endif
