/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Per-CPU rings of FXT records, shared with the drain through mmap.
 *
 * Single producer: the programs that write here run with interrupts off and
 * never in NMI, so a reservation needs no lock and no atomic. Single consumer:
 * the drain (user/ring/ring.c), which moves @tail.
 */
#ifndef BPF_LIB_RING_BPF_H
#define BPF_LIB_RING_BPF_H

#include "../../user/fxt/format.h"
#include "compat.bpf.h"
#include "../abi/ctl.h"
#include "../abi/patch.h"
#include "../abi/ring.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct cpu_ctl));	/* times CPUs; set before loading */
} ctls __weak SEC(".maps");

/* A ring for each CPU. */
struct chunks {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);		/* CPUs times chunks; set before loading */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 2 * RING_SLACK_BYTES);	/* a chunk and its slack; set before loading */
};

struct chunks rings __weak SEC(".maps");

/*
 * Rare records (names) and notifications. Its writers may be interrupted and
 * nest, which this kind of ring allows.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 21);
} side __weak SEC(".maps");

const volatile __u32 cfg_cpus __weak = 1;
const volatile __u32 cfg_chunk_shift __weak = 12;	/* bytes in a chunk, log 2 */
const volatile __u32 cfg_chunks_shift __weak = 0;	/* chunks in a ring, log 2 */
const volatile __u64 cfg_wake_bytes __weak = 0;	/* fill level that notifies the drain */

static __always_inline struct cpu_ctl *ctl_among(char *all, __u64 cpu, __u64 cpus)
{
	barrier_var(cpu);
	if (!all || cpu >= cpus)
		return NULL;
	barrier_var(cpu);
	return (struct cpu_ctl *)(all + cpu * sizeof(struct cpu_ctl));
}

static __always_inline struct cpu_ctl *ctl_of(__u32 cpu)
{
	__u32 key = 0;

	return ctl_among(bpf_map_lookup_elem(&ctls, &key), cpu, cfg_cpus);
}

/* The same where the recorder has put the numbers in place. */
static __always_inline struct cpu_ctl *ctl_at(__u64 cpu)
{
	return ctl_among(PATCH_ADDRESS(VALUE_CTLS), cpu, PATCH_CONST(NUMBER_CPUS));
}

/* Is this CPU's recording on? One that is to end has not ended. */
static __always_inline bool is_recording(const struct cpu_ctl *ctl)
{
	return ctl->state == CPU_LIVE || ctl->state == CPU_ENDING;
}

/* Was it on, and is not any more? */
static __always_inline bool has_ended(const struct cpu_ctl *ctl)
{
	return ctl->stop_ns;
}

static __always_inline __u64 ring_bytes(void)
{
	return 1ULL << (cfg_chunk_shift + cfg_chunks_shift);
}

static __always_inline __u64 ring_free(const struct cpu_ctl *ctl)
{
	return ring_bytes() - (ctl->head - READ_ONCE(ctl->tail));
}

/*
 * Space for a record of @words in this CPU's ring, which the caller has seen to be free. Of one that
 * reaches its chunk's end the excess is noted, and the next record is in the next chunk.
 */
static __always_inline __u64 *ring_reserve(struct cpu_ctl *ctl, __u32 words)
{
	const __u32 chunk_bytes = 1U << cfg_chunk_shift;
	__u32 key = ctl->chunk, off = ctl->head & (chunk_bytes - 1), mask;
	char *chunk = bpf_map_lookup_elem(&rings, &key);

	if (!chunk)
		return NULL;
	if (off + words * 8 >= chunk_bytes) {
		*(__u64 *)(chunk + chunk_bytes + RING_SLACK_BYTES - 8) = off + words * 8 - chunk_bytes;
		mask = (1U << cfg_chunks_shift) - 1;
		ctl->chunk = (key & ~mask) | ((key + 1) & mask);
	}
	return (__u64 *)(chunk + off);
}

/*
 * Before 6.15 or so a BPF ring buffer hangs the machine if what it calls with its
 * lock held is traced by a program that uses the same ring buffer (rqspinlock
 * ended that). So every program raises a count around its use
 * of the metadata ring, and those on functions, which can come from anywhere, keep
 * away from it while the count is up.
 */
static __always_inline void metadata_enter(struct cpu_ctl *ctl)
{
	__sync_fetch_and_add(&ctl->metadata_users, 1);
}

static __always_inline void metadata_leave(struct cpu_ctl *ctl)
{
	__sync_fetch_and_add(&ctl->metadata_users, -1);
}

static __always_inline void ring_notify(struct cpu_ctl *ctl)
{
	__u64 notification = 0;

	metadata_enter(ctl);
	bpf_ringbuf_output(&side, &notification, sizeof(notification), BPF_RB_FORCE_WAKEUP);
	metadata_leave(ctl);
}

/*
 * Where a record of at most @words goes; NULL if it may reach the end of its chunk. Where the
 * recorder has put the numbers in place.
 */
static __always_inline __u64 *ring_place(struct cpu_ctl *ctl, __u32 words)
{
	const __u64 last = PATCH_CONST(NUMBER_CHUNK_LAST), off = ctl->head & last;
	__u32 key = ctl->chunk;
	char *chunk;

	if (unlikely(off + words * 8 > last))
		return NULL;
	chunk = bpf_map_lookup_elem(&rings, &key);
	if (unlikely(!chunk))
		return NULL;
	barrier_var(chunk);
	__builtin_assume(chunk + off);
	return (__u64 *)(chunk + off);
}

/* Makes the reserved record visible to the drain. */
static __always_inline void ring_submit(struct cpu_ctl *ctl, __u32 words)
{
	store_release(&ctl->head, ctl->head + words * 8);
}

/*
 * Wakes the drain where the ring fills, and says up to where it need not be asked again: there the
 * notification may be due, or the ring is full. Notified and not answered yet, that may change any moment.
 */
static __noinline __attribute__((unused)) int ring_look(struct cpu_ctl *ctl)
{
	__u64 head = ctl->head, tail = READ_ONCE(ctl->tail), until = tail + cfg_wake_bytes, full = tail + ring_bytes();

	if (head >= until) {
		if (!READ_ONCE(ctl->notified)) {
			WRITE_ONCE(ctl->notified, 1);
			ring_notify(ctl);
		}
		until = head + cfg_wake_bytes / 8;
	}
	ctl->fast_until = until < full ? until : full;
	return 0;
}

#endif
