/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The few kernel types the programs look into, with the fields they use and no
 * others. CO-RE relocates each access against the running kernel's BTF, so the
 * order and the neighbours of the fields do not matter, nor, where they are
 * unsigned here, their size.
 */
#ifndef BPF_LIB_KERNEL_BPF_H
#define BPF_LIB_KERNEL_BPF_H

#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <linux/types.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define TASK_COMM_LEN	16

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_info {
	unsigned long flags;
	__u32 status;		/* x86 only */
	__u32 cpu;
	__u32 preempt_count;	/* not on x86 */
};

struct rq {
	int cpu;
};

/* Any structure that begins with an int. */
struct refcount_struct {
	struct {
		int counter;
	} refs;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
	unsigned long long sum_exec_runtime;
	unsigned char sched_delayed;	/* since 6.12 */
};

struct mm_struct {
	unsigned long arg_start, arg_end;
};

struct super_block {
	unsigned long s_magic;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct super_block *d_sb;
};

struct path {
	struct dentry *dentry;
};

struct file {
	struct path f_path;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct kernfs_node {
	__u64 id;
};

struct cgroup_root;

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;	/* of its hierarchy */
};

struct css_set {
	struct cgroup *dfl_cgrp;	/* in the v2 hierarchy */
};

#define SIGNAL_GROUP_EXIT	4	/* flags: its process ends, with .group_exit_code */

struct signal_struct {
	struct {
		int counter;
	} live;			/* threads that have not begun to exit */
	int group_exit_code;
	unsigned int flags;
};

struct return_instance {
	unsigned long stack;
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
};

struct uprobe_task {
	struct return_instance *return_instances;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int exit_state;
	int exit_code;		/* as wait(2) has it */
	unsigned int flags;
	unsigned int on_rq;	/* one byte since 7.x */
	unsigned int on_cpu;
	int prio;
	int pid, tgid;
	struct sched_entity se;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	unsigned long long start_boottime;
	struct mm_struct *mm;
	struct files_struct *files;
	struct css_set *cgroups;
	struct signal_struct *signal;
	struct uprobe_task *utask;
	unsigned int in_execve:1;
	char comm[TASK_COMM_LEN];
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

/* include/linux/sched.h; the values are the same in every kernel since 4.14. */
#define TASK_INTERRUPTIBLE	0x0001
#define TASK_UNINTERRUPTIBLE	0x0002
#define TASK_REPORT		0x007f
#define TASK_WAKING		0x0200
#define TASK_NOLOAD		0x0400
#define TASK_NEW		0x0800
#define TASK_IDLE		(TASK_UNINTERRUPTIBLE | TASK_NOLOAD)
#define TASK_RTLOCK_WAIT	0x1000
#define TASK_FROZEN		0x8000
#define PF_EXITING		0x00000004
#define PF_IO_WORKER		0x00000010
#define PF_USER_WORKER		0x00004000	/* since 6.4; before, never set in a thread that runs */
#define PF_KTHREAD		0x00200000

/* include/linux/preempt.h */
#define SOFTIRQ_OFFSET		0x00000100	/* serving one, not merely bh-disabled */
#define HARDIRQ_MASK		0x000f0000
#define NMI_MASK		0x00f00000

#endif
