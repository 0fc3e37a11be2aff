// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of stacks: of threads that run, at a fixed period; of threads that slept for long, in their own
 * context once they are switched in again; of the threads that woke them. Kernel frames are found here, the
 * user stack is copied for the recorder to unwind.
 */
#include <linux/bpf_perf_event.h>

#include "abi/stack.h"
#include "lib/event_ring.bpf.h"
#include "lib/stamp.bpf.h"

#define USER_PAGE_BYTES	4096

const volatile __u32 cfg_stack_chunk_shift = 12, cfg_stack_chunks_shift = 0;	/* as those of the other rings */
const volatile __u64 cfg_stack_wake_bytes = 0;
const volatile __u32 cfg_stack_words = 0;	/* of a sample with all it may have */
const volatile __u32 cfg_stack_copy_bytes = 0;	/* of the user stack; 0: none */
const volatile bool cfg_stack_kernel = false;	/* kernel frames */
const volatile bool cfg_stack_fp = false;	/* user frames by frame pointers */
const volatile __u64 cfg_stack_period_ns = 0;

struct chunks stack_rings SEC(".maps");

/* The sample of a thread that is asleep, until it is handed to the recorder. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64[STACK_ASLEEP_WORDS_MAX]);
} asleep_records SEC(".maps");

/* A sample that is being taken, on the CPU of @ctl. */
struct sample {
	struct cpu_ctl *ctl;
	struct stack_ctl *stack;
	struct task_struct *task;	/* whose stack it is */
	__u32 cpu, kind, flags;
	__u64 ts, weight;
	struct actor other;
};

static __always_inline bool sample_begin(struct sample *s, __u32 kind)
{
	s->cpu = bpf_get_smp_processor_id();
	s->ctl = ctl_of(s->cpu);
	s->stack = bpf_map_lookup_elem(&stack_ctls, &s->cpu);
	s->kind = kind;
	return s->ctl && s->stack;
}

static __always_inline struct event_counts *sample_counts(const struct sample *s)
{
	return &s->stack->counts[s->kind < STACK_KIND_CNT ? s->kind : 0];
}

/* A place in the ring for a sample with all it may have; *@at is where that begins. NULL: it is lost. */
static __always_inline __u64 *sample_reserve(const struct sample *s, __u64 *at)
{
	const __u64 ring = 1ULL << (cfg_stack_chunk_shift + cfg_stack_chunks_shift);
	__u32 key;
	char *chunk;

	if (!event_claim(&s->stack->head, &s->stack->tail, cfg_stack_words, ring, sample_counts(s), at))
		return NULL;
	key = (s->ctl->slot << cfg_stack_chunks_shift) |
	      ((*at >> cfg_stack_chunk_shift) & ((1U << cfg_stack_chunks_shift) - 1));
	chunk = bpf_map_lookup_elem(&stack_rings, &key);
	return chunk ? (__u64 *)(chunk + (*at & ((1U << cfg_stack_chunk_shift) - 8))) : NULL;
}

/* Frames that a helper returned the size of, none if it failed; for verifiers no more than there may be. */
static __always_inline __u32 frames_of(long bytes)
{
	__u32 frames = bytes > 0 ? (__u32)bytes / 8 : 0;

	/* A comparison bounds it in one register, and the compiler may have kept it in another. */
	asm volatile("%[frames] &= %[max]" : [frames]"+r"(frames) : [max]"i"(STACK_FRAMES_MAX));
	return frames;
}

/* Of the thread that is current; @ctx is of the program. */
static __always_inline __u32 put_frames(void *ctx, __u64 *to, __u64 flags)
{
	return frames_of(bpf_get_stack(ctx, to, STACK_FRAMES_MAX * 8, flags));
}

/* The user stack from @sp on to the page where it ends or the limit is reached; returns how many bytes. */
static __always_inline __u32 copy_stack(char *to, __u64 sp)
{
	__u32 done = 0, bytes = USER_PAGE_BYTES - (sp & (USER_PAGE_BYTES - 1));

	for (int i = 0; i < STACK_COPY_PAGES_MAX; i++) {
		if (bytes > cfg_stack_copy_bytes - done)
			bytes = cfg_stack_copy_bytes - done;
		if (!bytes || bytes > USER_PAGE_BYTES || done > STACK_COPY_MAX)
			break;
		if (bpf_probe_read_user(to + done, bytes, (void *)(sp + done)))
			break;
		done += bytes;
		bytes = USER_PAGE_BYTES;
	}
	return done;
}

/* Return addresses that the kernel has put its own in place of. */
static __always_inline __u32 put_returns(struct task_struct *task, __u64 *to)
{
	struct return_instance *r;
	__u32 n = 0;

	if (!bpf_core_field_exists(task->utask) || !task->utask)
		return 0;
	r = task->utask->return_instances;
	for (int i = 0; i < STACK_RETURNS_MAX && r; i++) {
		to[2 * i] = r->stack;
		to[2 * i + 1] = r->orig_ret_vaddr;
		n = i + 1;
		r = r->next;
	}
	return n;
}

/* Registers and stack of user mode, after @frames frames; how many by frame pointers are in *@fp, probed ones in *@returns. */
static __always_inline __u32 put_user(void *ctx, const struct sample *s, __u64 *rec, __u32 frames, __u32 *fp, __u32 *returns)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(s->task);

	rec[STACK_IP] = PT_REGS_IP(regs);
	rec[STACK_SP] = PT_REGS_SP(regs);
	rec[STACK_BP] = PT_REGS_FP(regs);
	rec[STACK_LR] = USER_LINK_REGISTER(regs);
	if (cfg_stack_fp)
		*fp = put_frames(ctx, rec + STACK_WORDS + frames, BPF_F_USER_STACK);
	if (!cfg_stack_copy_bytes)
		return 0;
	*returns = put_returns(s->task, rec + STACK_WORDS + frames + *fp);
	return copy_stack((char *)(rec + STACK_WORDS + frames + *fp + 2 * *returns), rec[STACK_SP]);
}

static __always_inline void sample_submit(const struct sample *s, __u64 *rec, __u64 at, __u32 words)
{
	struct stack_ctl *stack = s->stack;

	words = event_trim(&stack->head, at, cfg_stack_words, words);
	store_release(rec, RAW_RECORD(RAW_STACK, words));
	if (stack->head - READ_ONCE(stack->tail) >= cfg_stack_wake_bytes && !READ_ONCE(stack->notified) &&
	    !READ_ONCE(s->ctl->metadata_users)) {
		WRITE_ONCE(stack->notified, 1);
		ring_notify(s->ctl);
	}
}

/*
 * Takes the sample of the thread that is current or, where @other_task is set, kernel frames of that one.
 * Counted before there is a place for it.
 */
static __always_inline void take(void *ctx, const struct sample *s, const bool other_task)
{
	const __u32 no_user = PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER;
	__u32 kernel = 0, fp = 0, returns = 0, bytes = 0, flags = s->flags;
	struct actor who = actor_of(s->task, s->cpu);
	__u64 at, *rec = sample_reserve(s, &at);

	if (!rec)
		return;
	if (s->task->flags & no_user)
		flags |= STACK_KERNEL_THREAD;
	rec[RAW_TS] = s->ts;
	rec[RAW_PROCESS] = who.process;
	rec[RAW_THREAD] = who.thread;
	rec[STACK_WEIGHT] = s->weight;
	rec[STACK_OTHER] = s->other.thread;
	rec[STACK_OTHER_PROCESS] = s->other.process;
	if (s->kind == STACK_WAKER)
		bpf_probe_read_kernel(rec + STACK_COMM, TASK_COMM_LEN, s->task->comm);
	if (cfg_stack_kernel && other_task)
		kernel = frames_of(bpf_get_task_stack(s->task, rec + STACK_WORDS, STACK_FRAMES_MAX * 8, 0));
	else if (cfg_stack_kernel)
		kernel = put_frames(ctx, rec + STACK_WORDS, 0);
	if (other_task)
		flags |= flags & STACK_KERNEL_THREAD ? 0 : STACK_USER_MISSING;
	else if (!(flags & (STACK_KERNEL_THREAD | STACK_INTERRUPT)))
		bytes = put_user(ctx, s, rec, kernel, &fp, &returns);
	rec[STACK_WHAT] = FXT_PUT(s->kind, STACK_F_KIND) | FXT_PUT(s->cpu, STACK_F_CPU) | FXT_PUT(flags, STACK_F_FLAGS);
	rec[STACK_COUNTS] = FXT_PUT(kernel, STACK_F_KERNEL) | FXT_PUT(fp, STACK_F_FP) | FXT_PUT(bytes, STACK_F_BYTES) |
			    FXT_PUT(returns, STACK_F_RETURNS);
	sample_submit(s, rec, at, STACK_WORDS + kernel + fp + 2 * returns + (bytes + 7) / 8);
}

/* Attached to an event of each recorded CPU. The idle thread has nothing to sample. */
SEC("?perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	struct sample s = { .task = bpf_get_current_task_btf(), .weight = cfg_stack_period_ns };
	struct event_counts *counts;

	if (!sample_begin(&s, STACK_CPU))
		return 0;
	if (s.task->pid && s.stack->idle_since)
		s.stack->idle_since = 0;
	if (!is_recording(s.ctl)) {
		__sync_fetch_and_add(&s.stack->outside, 1);
		return 0;
	}
	counts = sample_counts(&s);
	if (!s.task->pid) {
		__sync_fetch_and_add(&counts->seen, 1);
		__sync_fetch_and_add(&s.stack->idle, 1);
		return 0;
	}
	if (!event_selected(counts, s.task))
		return 0;
	s.ts = bpf_ktime_get_boot_ns();
	s.flags = REGS_ARE_OF_USER(&ctx->regs) ? STACK_USER_MODE : 0;
	take(ctx, &s, false);
	return 0;
}

/* A thread slept for long and was switched in, at ctl->last_ns. */
static __always_inline int sample_sleep(void *ctx, struct task_struct *task, const bool other_task)
{
	struct sample s = { .task = task };
	struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());

	if (!ctl || !ctl->slept_since)
		return 0;
	/* Another thread: the program was not run for the switch in which this was found, which the next one counts. */
	if (ctl->last_tid != (__u32)task->pid || !sample_begin(&s, STACK_OFF_CPU))
		return 0;
	s.ts = ctl->slept_since;
	ctl->slept_since = 0;
	s.weight = ctl->last_ns - s.ts;
	if (event_selected(sample_counts(&s), task))
		take(ctx, &s, other_task);
	return 0;
}

/* The last step of a switch, on the stack and with the memory of the thread that was switched in. Since 6.15 or so. */
SEC("?tp_btf/sched_exit_tp")
int on_sched_exit_tp(void *ctx)
{
	return sample_sleep(ctx, bpf_get_current_task_btf(), false);
}

/* Where there is no such tracepoint: finish_task_switch(), or what the compiler made of it. */
SEC("?kprobe")
int on_finish_task_switch(struct pt_regs *ctx)
{
	return sample_sleep(ctx, bpf_get_current_task_btf(), false);
}

/* Where there are no kprobes either: before the switch, whose thread has only its kernel stack then. After on_sched_switch(). */
SEC("?tp_btf/sched_switch")
int on_switch_sleep(unsigned long long *ctx)
{
	return sample_sleep(ctx, (void *)ctx[2], true);
}

/* A thread is woken that has slept for long. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(on_waking_sleep, struct task_struct *p)
{
	struct sample s = { .task = bpf_get_current_task_btf() };
	__u64 *stamp = stamp_of(p->pid), since;

	if (p == s.task || !stamp || !sample_begin(&s, STACK_WAKER) || !is_recording(s.ctl))
		return 0;
	since = READ_ONCE(*stamp);
	s.ts = bpf_ktime_get_boot_ns();
	if (!since || s.ts < since + cfg_off_cpu_ns || !event_selected(sample_counts(&s), p))
		return 0;
	s.weight = s.ts - since;
	s.other = actor_of(p, s.cpu);
	s.flags = in_interrupt(s.ctl->preempt_count, s.task, false) ? STACK_INTERRUPT : 0;
	take(ctx, &s, false);
	return 0;
}

/* Neither runs nor waits for a CPU, and will run again. */
static __always_inline bool is_asleep(struct task_struct *p)
{
	const __u32 state = p->__state;

	return state && !(state & (TASK_NEW | TASK_WAKING)) && !p->exit_state && !task_on_cpu(p) &&
	       (!p->on_rq || task_sched_delayed(p));
}

/* Read once, when no CPU is recorded any more: who is asleep has no switch-in in which it could be sampled. */
SEC("?iter/task")
int record_asleep(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	__u64 *rec, *stamp, since;
	struct cpu_ctl *ctl;
	__u32 key = 0, frames, flags;
	struct actor who;
	__u16 *id;

	if (!p || !is_selected(p) || !is_asleep(p))
		return 0;
	/* On a CPU that is not recorded it may have run at any time. */
	ctl = ctl_of(task_cpu(p));
	if (!ctl || !ctl->start_ns)
		return 0;
	id = id_of(p->pid);
	stamp = stamp_of(p->pid);
	rec = bpf_map_lookup_elem(&asleep_records, &key);
	if (!id || !stamp || !rec)
		return 0;
	since = READ_ONCE(*stamp);
	/* Without a stamp either it slept all the time, or its sleep or its life began where nothing is recorded. */
	if (!since && (*id & (ID_RAN | ID_WOKEN) || p->start_boottime >= ctl->start_ns))
		return 0;
	who = actor_of(p, task_cpu(p));
	frames = frames_of(bpf_get_task_stack(p, rec + STACK_WORDS, STACK_FRAMES_MAX * 8, 0));
	flags = p->flags & PF_KTHREAD ? STACK_KERNEL_THREAD : STACK_USER_MISSING;
	rec[0] = RAW_RECORD(RAW_STACK, STACK_WORDS + frames);
	rec[RAW_TS] = since;
	rec[RAW_PROCESS] = who.process;
	rec[RAW_THREAD] = who.thread;
	rec[STACK_WHAT] = FXT_PUT(STACK_OFF_CPU, STACK_F_KIND) | FXT_PUT(task_cpu(p), STACK_F_CPU) |
			  FXT_PUT(flags, STACK_F_FLAGS);
	rec[STACK_COUNTS] = FXT_PUT(frames, STACK_F_KERNEL);
	bpf_seq_write(ctx->meta->seq, rec, (STACK_WORDS + frames) * 8);
	return 0;
}
