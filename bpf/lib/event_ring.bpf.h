/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Per-CPU rings for programs that come from any context, interrupt each other and
 * may be preempted. Without a lock: a writer claims its place by compare-and-exchange,
 * writes, and makes the record visible by its first word, last. The drain
 * (user/ring/event_ring.c) stops at a word that is 0 and zeroes what it took.
 */
#ifndef BPF_LIB_EVENT_RING_BPF_H
#define BPF_LIB_EVENT_RING_BPF_H

#include "../abi/ctl.h"
#include "../abi/ids.h"
#include "names.bpf.h"

#define EVENT_TRIES	4	/* each failure means that another writer got its place */

struct chunks event_rings __weak SEC(".maps");

const volatile __u32 cfg_event_chunks_shift __weak = 0;
const volatile __u64 cfg_event_wake_bytes __weak = 0;

/* The thread that events of this context belong to, as koids. */
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

/* A deferred record of which the beginning or the end is missing. */
static __always_inline void raw_lose(struct cpu_ctl *ctl)
{
	__sync_fetch_and_add(&ctl->raws.seen, 1);
	__sync_fetch_and_add(&ctl->raws.lost, 1);
	__sync_fetch_and_add(&ctl->unpaired_raws, 1);
}

static __always_inline void event_filter(struct event_counts *counts)
{
	__sync_fetch_and_add(&counts->seen, 1);
	__sync_fetch_and_add(&counts->filtered, 1);
}

static __always_inline bool is_shed(const struct cpu_ctl *ctl, enum shed_class class)
{
	return unlikely(READ_ONCE(ctl->shedding) & 1U << class);
}

/* Is this class of events left out for now? Then this one is counted. Asked about those that are selected. */
static __always_inline bool event_shed(struct cpu_ctl *ctl, enum shed_class class)
{
	if (!is_shed(ctl, class))
		return false;
	__sync_fetch_and_add(&ctl->shed[class], 1);
	return true;
}

/* Are events of @me selected? If not, this one is counted as filtered. */
static __always_inline bool event_selected(struct event_counts *counts, struct task_struct *me)
{
	if (is_selected(me))
		return true;
	event_filter(counts);
	return false;
}

/*
 * Claims @words of the ring between *@tail and *@head, of which @limit bytes may be in use; *@at is where
 * they begin. False: there is no space, or another writer was faster each time. Either is counted.
 */
static __always_inline bool event_claim(__u64 *head, const __u64 *tail, __u32 words, __u64 limit,
					struct event_counts *counts, __u64 *at)
{
	__sync_fetch_and_add(&counts->seen, 1);
#pragma unroll
	for (int i = 0; i < EVENT_TRIES; i++) {
		*at = READ_ONCE(*head);
		if (*at + words * 8 - READ_ONCE(*tail) > limit)
			goto full;
		if (__sync_val_compare_and_swap(head, *at, *at + words * 8) == *at)
			return true;
	}
	__sync_fetch_and_add(&counts->contended, 1);
full:
	__sync_fetch_and_add(&counts->lost, 1);
	return false;
}

/*
 * A place for @words, at most EVENT_WORDS_MAX, its first word 0; NULL: none, and it is lost. Of the
 * ring @limit bytes may be in use: frequent events leave space for others.
 */
static __always_inline __u64 *event_reserve(struct cpu_ctl *ctl, __u32 words, __u64 limit,
					     struct event_counts *counts)
{
	__u64 head;
	__u32 key;
	char *chunk;

	if (!event_claim(&ctl->event_head, &ctl->event_tail, words, limit, counts, &head))
		return NULL;
	key = (ctl->slot << cfg_event_chunks_shift) |
	      ((head >> cfg_chunk_shift) & ((1U << cfg_event_chunks_shift) - 1));
	chunk = bpf_map_lookup_elem(&event_rings, &key);
	/* A multiple of 8: the verifier requires that of the address of an atomic store. */
	return chunk ? (__u64 *)(chunk + (head & ((1U << cfg_chunk_shift) - 8))) : NULL;
}

/* Reserves space for a deferred record or a call. The last eighth of the ring is kept for the log. */
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
 * unless another record was claimed since. @at was *@head before it was claimed. Returns what size it has.
 */
static __always_inline __u32 event_trim(__u64 *head, __u64 at, __u32 words, __u32 used)
{
	__u64 end = at + words * 8;

	return __sync_val_compare_and_swap(head, end, at + used * 8) == end ? used : words;
}

/* Makes the record visible, @header being its first word, and wakes the drain where the ring fills. */
static __always_inline void event_submit(struct cpu_ctl *ctl, __u64 *rec, __u64 header)
{
	store_release(rec, header);
	if (ctl->event_head - READ_ONCE(ctl->event_tail) >= cfg_event_wake_bytes &&
	    !READ_ONCE(ctl->event_notified) && !READ_ONCE(ctl->metadata_users)) {
		WRITE_ONCE(ctl->event_notified, 1);
		ring_notify(ctl);
	}
}

#endif
