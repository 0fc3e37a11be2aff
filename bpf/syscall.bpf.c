// SPDX-License-Identifier: GPL-2.0
/*
 * System calls: kept at entry, written at exit as one record. A call that was not seen to
 * begin, such as the return of a new thread from the clone() of its parent, is none of ours.
 */
#include "abi/ctl.h"
#include "abi/raw.h"
#include "abi/syscall.h"
#include "lib/syscall.bpf.h"

/* By number: SYSCALL_SELECTED and so on. The numbers of 32-bit programs are after the others. */
const volatile __u16 cfg_syscall[2 * SYSCALL_NUMBERS] = { 0 };
const volatile __u16 cfg_syscall_unknown = 0;	/* of other numbers */

/* The name of the program that a thread is about to execute, which will not be in its memory any more. */
struct exec_text {
	char text[SYSCALL_TEXT_BYTES];
};
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct exec_text);
} exec_texts SEC(".maps");

static __always_inline __u16 syscall_info(__u64 call)
{
	__u32 i = SYSCALL_NR(call);

	if (i >= SYSCALL_NUMBERS)
		return cfg_syscall_unknown;
	return cfg_syscall[i + (call & SYSCALL_COMPAT ? SYSCALL_NUMBERS : 0)];
}

static __always_inline void keep_text(struct task_struct *me, const void *text)
{
	struct exec_text *to = bpf_task_storage_get(&exec_texts, me, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (to && bpf_probe_read_user_str(to->text, sizeof(to->text), text) < 0)
		bpf_task_storage_delete(&exec_texts, me);
}

/*
 * Attached through perf, some 15 ns dearer than tp_btf: that way they run with preemption off.
 * As tp_btf 7.x preempts them, and does not run a program that a preempted thread is inside of;
 * on a busy machine a quarter of the calls were missed.
 */
struct sys_enter {
	__u64 common;
	long nr;
	unsigned long args[SYSCALL_ARGS_MAX];
};
struct sys_exit {
	__u64 common;
	long nr;	/* -1 where a signal handler returned */
	long ret;
};

/* A call begins that is not recorded. */
static __always_inline int skip_call(struct cpu_ctl *ctl)
{
	struct open_syscall *slot = open_syscall(false);

	/* The program was not run when the call in there returned. */
	if (slot && slot->call) {
		raw_lose(ctl);
		slot->call = 0;
	}
	return 0;
}

SEC("tp/raw_syscalls/sys_enter")
int on_sys_enter(const struct sys_enter *ctx)
{
	struct task_struct *me = bpf_get_current_task_btf();
	const __u64 call = (__u32)ctx->nr | (syscall_is_compat(me) ? SYSCALL_COMPAT : 0);
	const __u16 info = syscall_info(call), text = FXT_GET(info, SYSCALL_TEXT_ARG(0));
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_ctl *ctl = ctl_of(cpu);
	struct open_syscall *slot;
	struct actor who;
	__u64 ts;

	if (!(info & (SYSCALL_SELECTED | SYSCALL_PROBE)) || !ctl || !is_recording(ctl) || !event_selected(&ctl->raws, me))
		return 0;
	if (info & SYSCALL_PROBE)
		event_filter(&ctl->raws);	/* its exit is reported as that of call -1 */
	if (info & SYSCALL_PROBE || event_shed(ctl, SHED_SYSCALLS))
		return skip_call(ctl);
	slot = open_syscall(true);
	/* No slot, or the program was not run when a call in there returned. */
	if (!slot || slot->call)
		raw_lose(ctl);
	if (!slot)
		return 0;
	/* None is open until all is there: the recorder may look. */
	WRITE_ONCE(slot->call, 0);
	barrier();
	who = actor_of(me, cpu);
	slot->process = who.process;
	slot->thread = who.thread;
#pragma unroll
	for (int i = 0; i < SYSCALL_ARGS_MAX; i++)
		slot->args[i] = ctx->args[i];
	if (info & SYSCALL_EXEC && text)
		keep_text(me, (void *)slot->args[(text - 1) & 1]);
	ts = bpf_ktime_get_boot_ns();
	slot->ts = ts > slot->ts ? ts : slot->ts + 1;
	store_release(&slot->call, call | SYSCALL_OPEN);
	return 0;
}

/* Copies the text that the @i'th text argument is to @rec, after @words; returns its size in words. */
static __always_inline __u32 put_text(__u64 *rec, __u32 words, __u16 info, __u64 addr, int i)
{
	struct exec_text *kept;
	long len = -1;

	if (!(info & SYSCALL_EXEC)) {
		len = bpf_probe_read_user_str(rec + words, SYSCALL_TEXT_BYTES, (void *)addr);
	} else {
		kept = bpf_task_storage_get(&exec_texts, bpf_get_current_task_btf(), NULL, 0);
		if (kept)
			len = bpf_probe_read_kernel_str(rec + words, SYSCALL_TEXT_BYTES, kept->text);
	}
	if (len < 0 || len > SYSCALL_TEXT_BYTES)
		return 0;
	/* Of an empty text some kernels do not count the NUL. */
	len = len ?: 1;
	rec[SYSCALL_TEXT_LEN] |= (__u64)len << 32 * i;
	return ((__u32)len + 7) / 8;
}

static __always_inline void write_syscall(struct cpu_ctl *ctl, struct open_syscall *slot, __u16 info, long ret)
{
	const __u32 arg1 = FXT_GET(info, SYSCALL_TEXT_ARG(0)), arg2 = FXT_GET(info, SYSCALL_TEXT_ARG(1));
	const __u32 words = SYSCALL_TEXT + (!!arg1 + !!arg2) * SYSCALL_TEXT_BYTES / 8;
	const __u64 head = READ_ONCE(ctl->event_head);
	__u64 *rec = syscall_reserve(ctl, slot, words);
	__u32 used = SYSCALL_TEXT;

	if (!rec)
		return;
	rec[SYSCALL_RETURN] = ret;
	rec[SYSCALL_TEXT_LEN] = 0;
	if (arg1 && arg1 <= SYSCALL_ARGS_MAX)
		used += put_text(rec, used, info, rec[SYSCALL_ARGS + arg1 - 1], 0);
	if (arg2 && arg2 <= SYSCALL_ARGS_MAX)
		used += put_text(rec, used, info, rec[SYSCALL_ARGS + arg2 - 1], 1);
	if (used < words)
		used = event_trim(&ctl->event_head, head, words, used);
	event_submit(ctl, rec, RAW_RECORD(RAW_SYSCALL, used));
}

SEC("tp/raw_syscalls/sys_exit")
int on_sys_exit(const struct sys_exit *ctx)
{
	const __u64 call = (__u32)ctx->nr |
			   (syscall_is_compat(bpf_get_current_task_btf()) ? SYSCALL_COMPAT : 0) | SYSCALL_OPEN;
	struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());
	struct open_syscall *slot;
	__u16 info = syscall_info(call);

	if (!ctl || (!(info & (SYSCALL_SELECTED | SYSCALL_EXEC)) && SYSCALL_NR(call) != -1))
		return 0;
	slot = open_syscall(false);
	if (!slot || !slot->call || has_ended(ctl))
		return 0;
	info = syscall_info(slot->call);
	if (slot->call == call || SYSCALL_NR(call) == -1 || info & SYSCALL_EXEC) {
		if (is_recording(ctl))
			write_syscall(ctl, slot, info, ctx->ret);
	} else if (is_recording(ctl)) {
		/* Neither its own return was seen nor the entry of this one. */
		raw_lose(ctl);
	}
	slot->call = 0;
	return 0;
}
