/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Per-CPU rings for programs that come from any context, interrupt each other and
 * may be preempted. Without a lock: a writer claims its place by compare-and-exchange,
 * writes, and makes the record visible by its first word, last. The drain
 * (user/record/event_ring.c) stops at a word that is 0 and zeroes what it took.
 */
#ifndef KFXT_EVENT_RING_BPF_H
#define KFXT_EVENT_RING_BPF_H

#include "names.bpf.h"

#define EVENT_TRIES	4	/* each failure means that another writer got its place */

struct chunks event_rings __weak SEC(".maps");

const volatile __u32 cfg_event_chunks_shift __weak = 0;
const volatile __u64 cfg_event_wake_bytes __weak = 0;

/* Who is charged with what happens here, as koids. */
struct actor {
	__u64 process, thread;
};

static __always_inline struct actor actor_of(const struct task_struct *p, __u32 cpu)
{
	__u32 tid = p->pid;

	if (!tid)
		return (struct actor){ 0, IDLE_KOID(cpu) };
	return (struct actor){ process_of(p), koid_of(tid) };
}

static __always_inline __u64 event_ring_bytes(void)
{
	return 1ULL << (cfg_chunk_shift + cfg_event_chunks_shift);
}

static __always_inline void event_lose(struct event_counts *counts)
{
	__sync_fetch_and_add(&counts->seen, 1);
	__sync_fetch_and_add(&counts->lost, 1);
}

static __always_inline void event_filter(struct event_counts *counts)
{
	__sync_fetch_and_add(&counts->seen, 1);
	__sync_fetch_and_add(&counts->filtered, 1);
}

/* Is what @me does wanted? If not, that is all there will be of it. */
static __always_inline bool event_wanted(struct event_counts *counts, struct task_struct *me)
{
	if (is_wanted(me))
		return true;
	event_filter(counts);
	return false;
}

/*
 * A place for @words, at most EVENT_WORDS_MAX, its first word 0; NULL: none, and it is lost. Of the
 * ring @room bytes may be in use: what comes in floods leaves some to others.
 */
static __always_inline __u64 *event_reserve(struct cpu_ctl *ctl, __u32 words, __u64 room,
					     struct event_counts *counts)
{
	__u64 head;
	__u32 key;
	char *chunk;

	__sync_fetch_and_add(&counts->seen, 1);
#pragma unroll
	for (int i = 0; i < EVENT_TRIES; i++) {
		head = READ_ONCE(ctl->event_head);
		if (head + words * 8 - READ_ONCE(ctl->event_tail) > room)
			break;
		if (__sync_val_compare_and_swap(&ctl->event_head, head, head + words * 8) == head)
			goto claimed;
	}
	__sync_fetch_and_add(&counts->lost, 1);
	return NULL;
claimed:
	key = (ctl->slot << cfg_event_chunks_shift) |
	      ((head >> cfg_chunk_shift) & ((1U << cfg_event_chunks_shift) - 1));
	chunk = bpf_map_lookup_elem(&event_rings, &key);
	/* A multiple of 8: the verifier wants to see that of what is stored to atomically. */
	return chunk ? (__u64 *)(chunk + (head & ((1U << cfg_chunk_shift) - 8))) : NULL;
}

/* A place for a raw record, or for a call: floods of them leave the log the last eighth. */
static __always_inline __u64 *flood_reserve(struct cpu_ctl *ctl, __u32 words,
					     struct event_counts *counts)
{
	return event_reserve(ctl, words, event_ring_bytes() / 8 * 7, counts);
}

static __always_inline __u64 *raw_reserve(struct cpu_ctl *ctl, __u32 words)
{
	return flood_reserve(ctl, words, &ctl->raws);
}

/*
 * A record of @words turned out to need only @used: gives back the rest, which must be zero,
 * unless another record was claimed since. @head was ctl->event_head before event_reserve().
 * Returns what size it has.
 */
static __always_inline __u32 event_trim(struct cpu_ctl *ctl, __u64 head, __u32 words, __u32 used)
{
	__u64 end = head + words * 8;

	return __sync_val_compare_and_swap(&ctl->event_head, end, head + used * 8) == end ? used : words;
}

/* Makes the record visible, @header being its first word, and wakes the drain where the ring fills. */
static __always_inline void event_submit(struct cpu_ctl *ctl, __u64 *rec, __u64 header)
{
	store_release(rec, header);
	if (ctl->event_head - READ_ONCE(ctl->event_tail) >= cfg_event_wake_bytes &&
	    !READ_ONCE(ctl->event_rung) && !READ_ONCE(ctl->side_users)) {
		WRITE_ONCE(ctl->event_rung, 1);
		ring_doorbell(ctl);
	}
}

#endif
