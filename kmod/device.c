// SPDX-License-Identifier: GPL-2.0
/*
 * A device and not module parameters: an open file pins the module, and its
 * release, which also comes when the recorder is killed, ends what was started.
 * Parameters stay writable while the module is on its way out.
 */
#include "device.h"

#include <linux/bitops.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "counts.h"
#include "func.h"
#include "kfxt.h"

static unsigned long opened;		/* bit 0: there is an opener */
static DEFINE_MUTEX(control);		/* one start or stop at a time */

/* There is one tracepoint: with two openers each would get the other's events. */
static int on_open(struct inode *inode, struct file *file)
{
	if (!perfmon_capable())
		return -EPERM;
	if (test_and_set_bit_lock(0, &opened))
		return -EBUSY;
	kfxt_counts_reset();
	return nonseekable_open(inode, file);
}

static int on_release(struct inode *inode, struct file *file)
{
	kfxt_func_stop();
	clear_bit_unlock(0, &opened);
	return 0;
}

static long start_func(const void __user *arg)
{
	struct kfxt_filter filter;
	char *globs;
	long ret;

	if (copy_from_user(&filter, arg, sizeof(filter)))
		return -EFAULT;
	if (filter.reserved || !filter.bytes)
		return -EINVAL;
	if (filter.bytes > KFXT_FILTER_BYTES_MAX)
		return -E2BIG;
	globs = vmemdup_user(u64_to_user_ptr(filter.text), filter.bytes);
	if (IS_ERR(globs))
		return PTR_ERR(globs);
	ret = kfxt_func_start(globs, filter.bytes);
	kvfree(globs);
	return ret;
}

static long stop_func(const void __user *arg)
{
	kfxt_func_stop();
	return 0;
}

static long control_with(long (*call)(const void __user *arg), const void __user *arg)
{
	long ret;

	if (mutex_lock_interruptible(&control))
		return -EINTR;
	ret = call(arg);
	mutex_unlock(&control);
	return ret;
}

static long read_counts(void __user *arg)
{
	struct kfxt_counts counts;
	int err;

	if (copy_from_user(&counts, arg, sizeof(counts)))
		return -EFAULT;
	if (counts.reserved)
		return -EINVAL;
	err = kfxt_counts_read(&counts);
	if (err)
		return err;
	return copy_to_user(arg, &counts, sizeof(counts)) ? -EFAULT : 0;
}

static long on_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case KFXT_IOC_VERSION:
		return put_user(KFXT_ABI_VERSION, (__u32 __user *)user);
	case KFXT_IOC_FUNC_START:
		return control_with(start_func, user);
	case KFXT_IOC_FUNC_STOP:
		return control_with(stop_func, user);
	case KFXT_IOC_COUNTS:
		return read_counts(user);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = on_open,
	.release = on_release,
	.unlocked_ioctl = on_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/* Who may open it is a matter of capabilities, which a recorder has that is not root. */
static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kfxt",
	.fops = &operations,
	.mode = 0666,
};

int kfxt_device_register(void)
{
	return misc_register(&device);
}

void kfxt_device_unregister(void)
{
	misc_deregister(&device);
}
