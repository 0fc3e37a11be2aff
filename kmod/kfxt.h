/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What user space and the module agree on: the device's calls.
 *
 * One opener at a time (-EBUSY), with CAP_PERFMON or CAP_SYS_ADMIN (-EPERM).
 * Closing the file ends everything that was started through it.
 */
#ifndef KFXT_KMOD_H
#define KFXT_KMOD_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define KFXT_DEVICE		"/dev/kfxt"
#define KFXT_ABI_VERSION	2

/* The tracepoint, for BPF_RAW_TRACEPOINT_OPEN. */
#define KFXT_TP_FUNC_ENTRY	"kfxt_func_entry"	/* (unsigned long ip, unsigned long parent_ip) */

#define KFXT_FILTER_BYTES_MAX	(1U << 20)

/*
 * Functions to trace: @bytes of globs, each ending with a NUL, applied in order;
 * one that begins with '!' takes functions out again. At least one must match
 * (-EINVAL), and the first may not begin with '!'.
 */
struct kfxt_filter {
	__u64 text;		/* user space address */
	__u32 bytes;		/* at most KFXT_FILTER_BYTES_MAX, else -E2BIG */
	__u32 reserved;		/* 0 */
};

/* Since the filter was first set, of one CPU. */
struct kfxt_counts {
	__u32 cpu;		/* in; -EINVAL if there is none */
	__u32 reserved;		/* 0 */
	__u64 fired;		/* handed to the tracepoint */
	__u64 recursion;	/* not handed over: reached inside of itself */
	__u64 unwatched;	/* not handed over: RCU was not watching */
};

#define KFXT_IOC_VERSION	_IOR('k', 0x40, __u32)
/* Starts, or replaces what was traced at one moment: no call is seen twice or by neither. */
#define KFXT_IOC_FUNC_START	_IOW('k', 0x41, struct kfxt_filter)
#define KFXT_IOC_FUNC_STOP	_IO('k', 0x42)
#define KFXT_IOC_COUNTS		_IOWR('k', 0x43, struct kfxt_counts)

#endif
