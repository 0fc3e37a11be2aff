/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known of every id. Linux recycles ids, FXT never does: the second
 * thread of an id gets the koid id + 10,000,000, the third id + 20,000,000, and
 * so on.
 */
#ifndef BPF_LIB_IDS_BPF_H
#define BPF_LIB_IDS_BPF_H

#include "compat.bpf.h"
#include "../abi/ids.h"
#include "../abi/patch.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);		/* pages; set before loading, as the size is */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u16) << IDS_PAGE_SHIFT);
} ids __weak SEC(".maps");

const volatile __u32 cfg_ids_shift __weak = IDS_PAGE_SHIFT;	/* of them in a page, log 2 */

/* Shared by both families after linking; set at the first recycled id. */
extern __u32 ids_recycled;

/* The state word of a TID. Only the task of that TID, or the one that wakes it from sleep, changes it. */
static __always_inline __u16 *id_of(__u32 tid)
{
	__u32 key = tid >> cfg_ids_shift, mask = (1U << cfg_ids_shift) - 1;
	__u16 *page = bpf_map_lookup_elem(&ids, &key);

	if (!page)
		return NULL;
	/* The verifier needs the test in the register that is used. */
	barrier_var(page);
	__builtin_assume(page);
	return &page[tid & mask];
}

/* The same where the recorder has put the numbers in place. */
static __always_inline __u16 *id_at(__u64 tid)
{
	const __u64 cnt = PATCH_CONST(NUMBER_IDS);
	__u16 *all = PATCH_ADDRESS(VALUE_IDS);

	if (!cnt)
		return id_of(tid);
	barrier_var(tid);
	if (tid >= cnt)
		return NULL;
	barrier_var(tid);
	__builtin_assume(&all[tid]);
	return &all[tid];
}

static __always_inline __u64 koid_of(__u32 tid)
{
	__u16 *id;

	if (!ids_recycled)
		return tid;
	id = id_of(tid);
	return id ? tid + ID_GENERATION(*id) * ID_GENERATION_STEP : tid;
}

/* Returns whether it was asleep. If so it has @bits from now on. */
static __always_inline bool clear_asleep(__u32 tid, __u16 bits)
{
	__u16 *id = id_of(tid);

	if (!id || !(*id & ID_ASLEEP))
		return false;
	*id = (*id & ~(ID_ASLEEP | ID_DEFERRED)) | bits;
	return true;
}

static __always_inline void set_id(__u32 tid, __u16 bits)
{
	__u16 *id = id_of(tid);

	if (id)
		*id |= bits;
}

#endif
