// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps one CPU from running the work items of others, as a faulty driver does, until it is unloaded.
 *
 *   insmod blocker.ko cpu=1            by a work item of the system's queue that does not end
 *   insmod blocker.ko cpu=1 thread=1   by a real-time kernel thread that does not sleep
 *
 * Only for test machines: what waits for that CPU waits until then.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

static unsigned int cpu;
module_param(cpu, uint, 0444);
MODULE_PARM_DESC(cpu, "the one to keep busy");

static bool thread;
module_param(thread, bool, 0444);
MODULE_PARM_DESC(thread, "by a thread, not a work item");

static bool ends;
static struct task_struct *spinner;

/* Other threads run in between, work items of this queue do not. */
static void spin(struct work_struct *work)
{
	while (!READ_ONCE(ends)) {
		cpu_relax();
		cond_resched();
	}
}
static DECLARE_WORK(spinning, spin);

static int spin_thread(void *unused)
{
	sched_set_fifo(current);
	while (!kthread_should_stop()) {
		cpu_relax();
		cond_resched();
	}
	return 0;
}

static int __init blocker_init(void)
{
	if (cpu >= nr_cpu_ids || !cpu_online(cpu))
		return -EINVAL;
	if (!thread) {
		schedule_work_on(cpu, &spinning);
		return 0;
	}
	spinner = kthread_create(spin_thread, NULL, "blocker");
	if (IS_ERR(spinner))
		return PTR_ERR(spinner);
	kthread_bind(spinner, cpu);
	wake_up_process(spinner);
	return 0;
}

static void __exit blocker_exit(void)
{
	WRITE_ONCE(ends, true);
	if (thread)
		kthread_stop(spinner);
	else
		flush_work(&spinning);
}

module_init(blocker_init);
module_exit(blocker_exit);
MODULE_DESCRIPTION("kfxt test: keeps a CPU's workers from running");
MODULE_LICENSE("GPL");
