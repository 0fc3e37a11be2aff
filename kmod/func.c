// SPDX-License-Identifier: GPL-2.0
/*
 * Function entry: a filter is an ftrace_ops of its own, made for one
 * kfxt_func_start() and thrown away after it, since ftrace_free_filter() leaves
 * stale pointers on older kernels and one ops must not go through it twice.
 *
 * While a filter is replaced two of them are registered. Each has a number, and
 * the one whose number is in @firing reports; storing the next number is the one
 * moment at which the new filter takes over.
 */
#include "func.h"

#include <linux/ctype.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "anchor.h"
#include "compat.h"
#include "counts.h"
#include "trace.h"

/* Task, softirq, hard interrupt, NMI: what interrupt_context_level() tells apart. */
#define LEVELS	4

struct filter {
	struct ftrace_ops ops;
	unsigned long number;
};

/* Written by its own CPU with preemption off; interrupts have bits and words of their own. */
struct func_cpu {
	unsigned char busy;			/* a bit per level: its tracepoint is running */
	unsigned long passed[LEVELS];		/* the newer filter left this call to the older one */
};

static DEFINE_PER_CPU(struct func_cpu, func_cpu);
static struct filter *traced;			/* of the callers of start and stop */
static unsigned long last_number;
static unsigned long firing;			/* number of the filter that reports, 0 for none */

/*
 * Of two filters that both match a function, ftrace calls the newer one first,
 * because register_ftrace_function() adds at the head of the list. If the store to
 * @firing comes between the two, the newer has already left the call to the older,
 * and the older must not leave it to the newer. So the newer writes down the call
 * it passed on. Interrupts in between have a word of their own.
 */
static bool is_mine(const struct filter *filter, struct func_cpu *cpu, int level, unsigned long ip)
{
	const unsigned long now = READ_ONCE(firing);

	if (filter->number > now) {
		WRITE_ONCE(cpu->passed[level], ip);
		return false;
	}
	if (filter->number < now && READ_ONCE(cpu->passed[level]) != ip)
		return false;
	WRITE_ONCE(cpu->passed[level], 0);
	return true;
}

/*
 * ftrace's own guard lets one nested call per level through, for interrupts that
 * are not counted yet; with "*" most of the events are then the tracer's own.
 */
static void report(struct func_cpu *cpu, int level, unsigned long ip, unsigned long parent_ip)
{
	const unsigned char bit = 1 << level;

	if (cpu->busy & bit) {
		this_cpu_inc(kfxt_counts.recursion);
		return;
	}
	/* Programs read maps under RCU, which 6.1 traces functions without now and then. */
	if (!rcu_is_watching()) {
		this_cpu_inc(kfxt_counts.unwatched);
		return;
	}
	cpu->busy |= bit;
	barrier();	/* what the tracepoint calls finds the bit */
	trace_kfxt_func_entry(ip, parent_ip);
	barrier();	/* and until its last call */
	cpu->busy &= ~bit;
	this_cpu_inc(kfxt_counts.fired);
}

/* Any context, also NMI and before RCU watches. */
static void on_entry(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	const int level = interrupt_context_level();
	struct func_cpu *cpu;

	preempt_disable_notrace();
	cpu = this_cpu_ptr(&func_cpu);
	if (is_mine(container_of(ops, struct filter, ops), cpu, level, ip))
		report(cpu, level, ip, parent_ip);
	preempt_enable_notrace();
}

static struct filter *filter_alloc(void)
{
	struct filter *filter = kzalloc_obj(*filter);

	if (!filter)
		return NULL;
	filter->ops.func = on_entry;
	/* Without it `sysctl kernel.ftrace_enabled=0` would silence us and say nothing. */
	filter->ops.flags = FTRACE_OPS_FL_PERMANENT;
	filter->number = ++last_number;
	return filter;
}

/* Of a filter that is not registered. */
static void filter_free(struct filter *filter)
{
	ftrace_free_filter(&filter->ops);
	kfree(filter);
}

/* 1 if it matched, 0 if not, also where ftrace does not understand it: that is the same error. */
static int filter_add_glob(struct filter *filter, char *glob)
{
	const char *name = glob + (*glob == '!');
	int err;

	/* A number would be a place in ftrace's list of functions. */
	if (!*name || isdigit(*name))
		return -EINVAL;
	err = ftrace_set_filter(&filter->ops, (unsigned char *)glob, strlen(glob), 0);
	if (err == -EINVAL)
		return 0;
	return err ? err : 1;
}

static int filter_add_globs(struct filter *filter, char *globs, size_t bytes)
{
	char *const end = globs + bytes;
	bool any = false;

	if (!bytes || end[-1] || *globs == '!')
		return -EINVAL;
	while (globs < end) {
		const bool adds = *globs != '!';
		char *const next = globs + strlen(globs) + 1;	/* ftrace cuts the glob in pieces */
		int ret;

		if (signal_pending(current))
			return -EINTR;
		ret = filter_add_glob(filter, globs);
		if (ret < 0)
			return ret;
		any |= adds && ret;
		globs = next;
	}
	/* To ftrace an empty filter is all functions, and a '!' may have taken out the last one. */
	return any ? ftrace_set_filter_ip(&filter->ops, (unsigned long)kfxt_anchor, 0, 0) : -EINVAL;
}

/* Before the next filter is registered: the notes of the last one would pass for its own. */
static void forget_passed(void)
{
	int cpu, level;

	for_each_possible_cpu(cpu) {
		for (level = 0; level < LEVELS; level++)
			WRITE_ONCE(per_cpu_ptr(&func_cpu, cpu)->passed[level], 0);
	}
}

/*
 * If ftrace has shut itself down after a bug it does not unregister either, and
 * may call us for ever: then the filter and the module have to stay.
 */
static void filter_remove(struct filter *filter)
{
	if (unregister_ftrace_function(&filter->ops)) {
		__module_get(THIS_MODULE);
		return;
	}
	filter_free(filter);
}

/*
 * Calls that were under way before both filters were called must be over before
 * the switch: they may sit in the older one's trampoline, preempted. And no call
 * may be between the two filters when the older one leaves the list.
 */
static void hand_over(struct filter *from, struct filter *to)
{
	if (!from) {
		WRITE_ONCE(firing, to->number);
		return;
	}
	synchronize_rcu();
	synchronize_rcu_tasks();
	WRITE_ONCE(firing, to->number);
	synchronize_rcu();
	filter_remove(from);
}

int kfxt_func_start(char *globs, size_t bytes)
{
	struct filter *filter = filter_alloc();
	int err;

	if (!filter)
		return -ENOMEM;
	err = filter_add_globs(filter, globs, bytes);
	if (err)
		goto err_filter;
	forget_passed();
	err = register_ftrace_function(&filter->ops);
	if (err)
		goto err_filter;
	hand_over(traced, filter);
	traced = filter;
	return 0;

err_filter:
	filter_free(filter);
	return err;
}

void kfxt_func_stop(void)
{
	WRITE_ONCE(firing, 0);
	if (traced)
		filter_remove(traced);
	traced = NULL;
}
