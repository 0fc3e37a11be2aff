// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of the kernel and of programs, at entry and, with --returns, at return.
 * Whatever the probe, func_enter() and func_leave() handle it. The programs are
 * loaded as they are needed (user/source/func/programs.c).
 */
#include "abi/func.h"
#include "abi/patch.h"
#include "abi/strings.h"
#include "lib/func.bpf.h"

#include <bpf/usdt.bpf.h>

const volatile bool cfg_func_parent __weak = false;
const volatile __u32 cfg_func_slots_shift __weak = 0;	/* slots of func_slots, log 2 */
const volatile __u32 cfg_func_cnt __weak = 0;
/* Return trampolines: they replace the caller's address while a return probe is pending; 0: none. */
const volatile __u64 cfg_func_trampolines[FUNC_TRAMPOLINES] __weak = { 0 };
const volatile __u32 cfg_func_rate __weak = 0;	/* calls in RATE_WINDOW; 0: no limit */

#define RATE_WINDOW_SHIFT	26	/* 67 ms */

/* By id; see FUNC_INFO_*. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} func_infos __weak SEC(".maps");

/* See FUNC_SLOT(). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} func_slots __weak SEC(".maps");

/* By the CPU's slot times functions plus id. */
struct func_rate {
	__u32 window, calls;
	__u64 ratelimited;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct func_rate);
} func_rates __weak SEC(".maps");

/* Until it is handed to the recorder. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct open_stack);
} open_stacks __weak SEC(".maps");

/* Are calls left out for now? Where returns are not probed this is all that they cost then. */
static __always_inline bool call_shed(const struct call *c)
{
	if (!is_shed(c->ctl, SHED_CALLS))
		return false;
	if (event_selected(&c->ctl->calls, c->task))
		event_shed(c->ctl, SHED_CALLS);
	return true;
}

/* False: this CPU does not record calls now. */
static __always_inline bool call_begin(struct call *c)
{
	c->cpu = bpf_get_smp_processor_id();
	c->ctl = ctl_of(c->cpu);
	if (!c->ctl || !is_recording(c->ctl))
		return false;
	c->task = bpf_get_current_task_btf();
	return cfg_func_exit || !call_shed(c);
}

static __always_inline __u32 id_of_address(__u64 addr)
{
	const __u32 mask = (1U << cfg_func_slots_shift) - 1;
	const __u64 wanted = FUNC_SLOT_ADDR(FUNC_SLOT(addr, 0));
	__u32 key = FUNC_HASH(addr, cfg_func_slots_shift ?: 1) & mask;
	__u64 *slot;

#pragma unroll
	for (int i = 0; i < FUNC_PROBES; i++) {
		slot = bpf_map_lookup_elem(&func_slots, &key);
		if (!slot || !*slot)
			break;
		if (FUNC_SLOT_ADDR(*slot) == wanted)
			return FUNC_SLOT_ID(*slot);
		key = (key + 1) & mask;
	}
	return FUNC_ID_NONE;
}

/* Too many calls of this function on this CPU of late? */
static __always_inline bool is_ratelimited(const struct call *c, __u64 ts)
{
	__u32 key = c->ctl->slot * cfg_func_cnt + c->id, window = ts >> RATE_WINDOW_SHIFT;
	struct func_rate *rate;

	if (!cfg_func_rate || c->id == FUNC_ID_NONE)
		return false;
	rate = bpf_map_lookup_elem(&func_rates, &key);
	if (!rate)
		return false;
	if (rate->window != window) {
		rate->window = window;
		rate->calls = 0;
	}
	if (rate->calls++ < cfg_func_rate)
		return false;
	__sync_fetch_and_add(&rate->ratelimited, 1);
	__sync_fetch_and_add(&c->ctl->calls.seen, 1);
	__sync_fetch_and_add(&c->ctl->ratelimited_calls, 1);
	return true;
}

/* ---- records ---------------------------------------------------------------- */

/* An instant. Returns whether it is in the ring. */
static __always_inline bool write_entry(const struct call *c, __u64 ts, __u64 refs)
{
	const struct actor who = actor_of(c->task, c->cpu);
	__u64 *rec = call_reserve(c, 4);

	if (!rec)
		return false;
	rec[RAW_TS] = ts;
	rec[RAW_PROCESS] = who.process;
	rec[RAW_THREAD] = who.thread;
	event_submit(c->ctl, rec, FXT_HEADER(FXT_EVENT, 4) | FXT_PUT(FXT_INSTANT, FXT_F_EVENT_TYPE) | refs);
	return true;
}

/* A slice, with its return value in as many words as its type takes. */
static __always_inline bool write_slice(const struct call *c, struct actor who, __u64 ts, __u64 end_ts,
					__u64 info, __u64 value)
{
	const __u32 type = info & FUNC_INFO_RETURN;
	const bool wide = type == FXT_ARG_INT64 || type == FXT_ARG_UINT64 || type == FXT_ARG_POINTER;
	const __u32 words = 5 + !!type + wide;
	__u64 *rec = call_reserve(c, words), arg = FXT_ARG_HEADER(type, 1 + wide, STR_RETURN);

	if (!rec)
		return false;
	rec[RAW_TS] = ts;
	rec[RAW_PROCESS] = who.process;
	rec[RAW_THREAD] = who.thread;
	if (!type) {
		rec[4] = end_ts;
	} else if (wide) {
		rec[4] = arg;
		rec[5] = value;
		rec[6] = end_ts;
	} else {
		rec[4] = arg | FXT_PUT(type == FXT_ARG_BOOL ? value & 1 : value, FXT_F_ARG_VALUE32);
		rec[5] = end_ts;
	}
	event_submit(c->ctl, rec, FXT_HEADER(FXT_EVENT, words) |
		     FXT_PUT(FXT_DURATION_COMPLETE, FXT_F_EVENT_TYPE) |
		     FXT_PUT(!!type, FXT_F_EVENT_NARGS) | (info & FUNC_INFO_REFS));
	return true;
}

/* ---- calls that have not returned ---------------------------------------------- */

static __always_inline __u32 who_calls(const struct call *c)
{
	return c->task->pid ?: OPEN_IDLE(c->cpu);
}

static __always_inline bool is_trampoline(__u64 addr)
{
	bool is = false;

#pragma unroll
	for (int i = 0; i < FUNC_TRAMPOLINES; i++)
		is |= cfg_func_trampolines[i] == addr;
	return addr && is;
}

/*
 * Keeps an entry until its return. The depth is raised before the place is filled:
 * an interrupt in between works above it and leaves all as it was. One that is @left_out has a place inside of others,
 * or its return would be taken for that of the same function further out.
 */
static __always_inline bool open_push(const struct call *c, __u64 ts, bool left_out)
{
	struct open_calls *slot = open_slot(who_calls(c), !left_out);
	struct open_call *place, *below;
	struct actor who;
	__u32 depth;

	if (!slot)
		return false;
	depth = OPEN_DEPTH(slot->owner);
	place = open_place(slot, depth);
	if (!place || (left_out && !depth))
		return false;
	WRITE_ONCE(place->start_ns, OPEN_SHED);	/* the recorder may look at it before it is filled */
	WRITE_ONCE(slot->owner, OPEN_OWNER(OPEN_WHO(slot->owner), depth + 1));
	if (!depth) {
		who = actor_of(c->task, c->cpu);
		slot->process = who.process;
		slot->thread = who.thread;
	}
	/* Clocks may be coarse; a call must not begin with the one that it is part of. */
	if (ts <= slot->last_ns)
		ts = slot->last_ns + 1;
	slot->last_ns = ts;
	place->addr = c->id == FUNC_ID_NONE ? c->addr : c->id;
	place->parent = c->parent;
	/* A jump from the end of a traced function: both return to the same place. */
	if (cfg_func_parent && depth && is_trampoline(c->parent)) {
		below = open_place(slot, depth - 1);
		place->parent = below ? below->parent : c->parent;
	}
	store_release(&place->start_ns, left_out ? OPEN_SHED : ts);
	return true;
}

/*
 * Takes the entry that belongs to this return, and with it those above whose
 * returns were not seen, which are lost. False: there is none.
 */
static __always_inline bool open_pop(struct call *c, struct open_call *entry, __u64 *ts, struct actor *who)
{
	struct open_calls *slot = open_slot(who_calls(c), false);
	__u64 addr = c->id == FUNC_ID_NONE ? c->addr : c->id;
	struct open_call *place;
	__u64 lost = 0, kept;
	__u32 depth;

	if (!slot)
		return false;
	depth = OPEN_DEPTH(slot->owner);
	for (int i = 0; i < OPEN_CALLS && depth; i++) {
		depth--;
		place = open_place(slot, depth);
		if (!place)
			return false;
		if (place->addr != addr) {
			/* Not OPEN_SHED: without a jump, each of which would double what verifiers have to go through. */
			kept = -place->start_ns;
			barrier_var(kept);
			lost += kept >> 63;
			continue;
		}
		*entry = *place;
		if (i)
			lose_returns(c->ctl, lost);
		if (*ts <= slot->last_ns)
			*ts = slot->last_ns + 1;
		slot->last_ns = *ts;
		who->process = slot->process;
		who->thread = slot->thread;
		barrier();
		if (depth)
			WRITE_ONCE(slot->owner, OPEN_OWNER(OPEN_WHO(slot->owner), depth));
		else	/* the partner of open_slot()'s exchange, on any CPU */
			store_release(&slot->owner, 0);
		return true;
	}
	return false;
}

/* ---- both ends of a call ---------------------------------------------------------- */

/* Returns whether the return must be probed, too. */
static __always_inline bool func_enter(struct call *c)
{
	bool left_out;
	__u64 ts, *info;

	if (!event_selected(&c->ctl->calls, c->task))
		return false;
	left_out = cfg_func_exit && event_shed(c->ctl, SHED_CALLS);
	ts = bpf_ktime_get_boot_ns();
	info = bpf_map_lookup_elem(&func_infos, &c->id);
	if (!left_out && is_ratelimited(c, ts))
		return false;
	if (cfg_func_exit) {
		if (open_push(c, ts, left_out))
			return true;
		if (left_out)
			return false;
		__sync_fetch_and_add(&c->ctl->calls.seen, 1);
		__sync_fetch_and_add(&c->ctl->deep_calls, 1);
		return false;
	}
	if (!info || !(*info & FUNC_INFO_REFS) || cfg_func_parent)
		write_raw(c, actor_of(c->task, c->cpu), ts, 0, 0, 0);
	else
		write_entry(c, ts, *info & FUNC_INFO_REFS);
	return false;
}

static __always_inline void func_leave(struct call *c, __u64 value)
{
	__u64 ts = bpf_ktime_get_boot_ns(), *info = bpf_map_lookup_elem(&func_infos, &c->id);
	struct open_call entry;
	struct actor who;

	if (!open_pop(c, &entry, &ts, &who) || entry.start_ns == OPEN_SHED)
		return;
	c->parent = entry.parent;
	if (!info || !(*info & FUNC_INFO_REFS) || cfg_func_parent)
		write_raw(c, who, entry.start_ns, ts, value, 0);
	else
		write_slice(c, who, entry.start_ns, ts, *info, value);
}

/* ---- probes ------------------------------------------------------------------------ */

static __always_inline __u64 kernel_parent(struct pt_regs *ctx)
{
	return cfg_func_parent ? kernel_return_address(ctx) : 0;
}

/* By the kernel's own address; kprobe.multi has no cheaper way to know. */
static __always_inline bool by_address(struct call *c, __u64 addr)
{
	if (!call_begin(c))
		return false;
	c->addr = addr;
	c->id = id_of_address(addr);
	return true;
}

/* By the attach cookie, which is the id. */
static __always_inline bool by_cookie(struct call *c, void *ctx)
{
	if (!call_begin(c))
		return false;
	c->id = bpf_get_attach_cookie(ctx);
	return true;
}

SEC("kprobe.multi")
int func_multi(struct pt_regs *ctx)
{
	struct call c = { .parent = kernel_parent(ctx) };

	if (by_address(&c, bpf_get_func_ip(ctx)))
		func_enter(&c);
	return 0;
}

SEC("kprobe.multi")
int func_multi_return(struct pt_regs *ctx)
{
	struct call c = { 0 };

	if (by_address(&c, bpf_get_func_ip(ctx)))
		func_leave(&c, PT_REGS_RC(ctx));
	return 0;
}

static bool (*const session_is_return)(void *ctx) = (void *)CALL_SESSION_IS_RETURN;

/* Both ends by one program; what it returns at entry says whether it is run at return. */
SEC("kprobe.multi")
int func_session(struct pt_regs *ctx)
{
	struct call c = { 0 };

	if (!by_address(&c, bpf_get_func_ip(ctx)))
		return 1;
	if (session_is_return(ctx)) {
		func_leave(&c, PT_REGS_RC(ctx));
		return 0;
	}
	c.parent = kernel_parent(ctx);
	return !func_enter(&c);
}

/* The module's tracepoint. */
SEC("raw_tp")
int func_module(struct bpf_raw_tracepoint_args *ctx)
{
	struct call c = { .parent = cfg_func_parent ? ctx->args[1] : 0 };

	if (by_address(&c, ctx->args[0]))
		func_enter(&c);
	return 0;
}

SEC("fentry")
int func_fentry(void *ctx)
{
	struct call c = { 0 };

	if (by_cookie(&c, ctx))
		func_enter(&c);
	return 0;
}

SEC("fexit")
int func_fexit(void *ctx)
{
	struct call c = { 0 };
	__u64 value = 0;

	if (!by_cookie(&c, ctx))
		return 0;
	bpf_get_func_ret(ctx, &value);
	func_leave(&c, value);
	return 0;
}

SEC("kprobe")
int func_kprobe(struct pt_regs *ctx)
{
	struct call c = { .parent = kernel_parent(ctx) };

	if (by_cookie(&c, ctx))
		func_enter(&c);
	return 0;
}

static __always_inline int leave_by_cookie(struct pt_regs *ctx)
{
	struct call c = { 0 };

	if (by_cookie(&c, ctx))
		func_leave(&c, PT_REGS_RC(ctx));
	return 0;
}

SEC("kretprobe")
int func_kretprobe(struct pt_regs *ctx)
{
	return leave_by_cookie(ctx);
}

/*
 * Since 6.13 the kernel gives a program that needs much stack a private one on each CPU,
 * which is right where it does not run a program that a preempted thread is inside of. For
 * probes of user space it does: the other thread's call would then overwrite this one's time
 * and thread. A program with a tail call keeps to its thread's stack; this one is never made.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} no_programs SEC(".maps");

const volatile bool cfg_tail_call = false;

static __always_inline void keep_to_own_stack(void *ctx)
{
	if (cfg_tail_call)
		bpf_tail_call(ctx, &no_programs, 0);
}

SEC("uprobe")
int func_uprobe(struct pt_regs *ctx)
{
	struct call c = { 0 };

	keep_to_own_stack(ctx);
	if (!by_cookie(&c, ctx))
		return 0;
	if (cfg_func_parent)
		c.parent = user_return_address(ctx);
	func_enter(&c);
	return 0;
}

SEC("uretprobe")
int func_uretprobe(struct pt_regs *ctx)
{
	keep_to_own_stack(ctx);
	return leave_by_cookie(ctx);
}

/* A USDT probe: always an instant, with the values of its arguments. */
SEC("usdt")
int func_usdt(struct pt_regs *ctx)
{
	struct call c = { 0 };
	struct actor who;
	__u64 *rec, ts;
	long value;
	int cnt;

	keep_to_own_stack(ctx);
	if (!call_begin(&c) || !event_selected(&c.ctl->calls, c.task) || (cfg_func_exit && event_shed(c.ctl, SHED_CALLS)))
		return 0;
	c.id = bpf_usdt_cookie(ctx);
	ts = bpf_ktime_get_boot_ns();
	if (is_ratelimited(&c, ts))
		return 0;
	who = actor_of(c.task, c.cpu);
	rec = call_reserve(&c, FUNC_ARGS + FUNC_ARGS_MAX);
	if (!rec)
		return 0;
	cnt = bpf_usdt_arg_cnt(ctx);
	rec[RAW_TS] = ts;
	rec[RAW_PROCESS] = who.process;
	rec[RAW_THREAD] = who.thread;
	rec[FUNC_END_TS] = 0;
	rec[FUNC_ID] = c.id;
	rec[FUNC_ADDR] = 0;
	rec[FUNC_PARENT] = 0;
	rec[FUNC_RETURN] = 0;
	for (int i = 0; i < FUNC_ARGS_MAX; i++) {
		value = 0;
		if (i < cnt)
			bpf_usdt_arg(ctx, i, &value);
		rec[FUNC_ARGS + i] = value;
	}
	event_submit(c.ctl, rec, RAW_RECORD(RAW_FUNC, FUNC_ARGS + FUNC_ARGS_MAX));
	return 0;
}

/* ---- at the end --------------------------------------------------------------------- */

/* Read once, when no call is recorded any more: the stacks of threads with calls that have not returned, as far as is known. */
SEC("iter/task")
int record_inside(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct open_stack *stack;
	__u32 key = 0;
	long bytes;

	if (!p || task_on_cpu(p) || !open_slot(p->pid, false))
		return 0;
	stack = bpf_map_lookup_elem(&open_stacks, &key);
	if (!stack)
		return 0;
	bytes = bpf_get_task_stack(p, stack->frames, sizeof(stack->frames), 0);
	stack->who = p->pid;
	stack->frames_cnt = bytes > 0 ? bytes / sizeof(*stack->frames) : 0;
	bpf_seq_write(ctx->meta->seq, stack, sizeof(*stack));
	return 0;
}
