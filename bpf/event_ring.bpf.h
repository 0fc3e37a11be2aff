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

/*
 * A place for @words, at most EVENT_WORDS_MAX, its first word 0; NULL: none, which @lost
 * counts. Of the ring @room bytes may be in use: what comes in floods leaves some to others.
 */
static __always_inline __u64 *event_reserve(struct cpu_ctl *ctl, __u32 words, __u64 room, __u64 *lost)
{
	__u64 head;
	__u32 key;
	char *chunk;

#pragma unroll
	for (int i = 0; i < EVENT_TRIES; i++) {
		head = READ_ONCE(ctl->event_head);
		if (head + words * 8 - READ_ONCE(ctl->event_tail) > room)
			break;
		if (__sync_val_compare_and_swap(&ctl->event_head, head, head + words * 8) == head)
			goto claimed;
	}
	__sync_fetch_and_add(lost, 1);
	return NULL;
claimed:
	key = (ctl->slot << cfg_event_chunks_shift) |
	      ((head >> cfg_chunk_shift) & ((1U << cfg_event_chunks_shift) - 1));
	chunk = bpf_map_lookup_elem(&event_rings, &key);
	/* A multiple of 8: the verifier wants to see that of what is stored to atomically. */
	return chunk ? (__u64 *)(chunk + (head & ((1U << cfg_chunk_shift) - 8))) : NULL;
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
