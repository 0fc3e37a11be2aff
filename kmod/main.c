// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt's kernel module: function entry for kernels, or amounts of functions, for
 * which BPF alone is no good; see README.md. It writes no records and keeps no
 * buffer: it fires a tracepoint, and a BPF program does the rest.
 */
#include <linux/init.h>
#include <linux/module.h>

#include "device.h"
#include "selftest.h"

/* Once the device is there it can be used, so it comes last. */
static int __init kfxt_init(void)
{
	int err = kfxt_selftest();

	return err ? err : kfxt_device_register();
}

/* Nobody has the device open, or we would not be here; so nothing is traced. */
static void __exit kfxt_exit(void)
{
	kfxt_device_unregister();
}

module_init(kfxt_init);
module_exit(kfxt_exit);

MODULE_DESCRIPTION("function entry as a tracepoint, for kfxt");
MODULE_LICENSE("GPL");
