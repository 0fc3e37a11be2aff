/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known of every id. Linux recycles ids, FXT never does: the second
 * thread of an id gets the koid id + 10,000,000, the third id + 20,000,000, and
 * so on.
 */
#ifndef KFXT_IDS_BPF_H
#define KFXT_IDS_BPF_H

#include "kernel.bpf.h"
#include "session.h"

struct id_page {
	__u16 ids[IDS_PER_PAGE];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);		/* pid_max in pages; set before loading */
	__type(key, __u32);
	__type(value, struct id_page);
} ids __weak SEC(".maps");

/* Shared by both families after linking; set at the first recycled id. */
extern __u32 ids_recycled;

/* The word of an id. Only who runs as that id, or wakes it from sleep, changes it. */
static __always_inline __u16 *id_of(__u32 tid)
{
	__u32 key = tid / IDS_PER_PAGE;
	struct id_page *page = bpf_map_lookup_elem(&ids, &key);

	if (!page)
		return NULL;
	asm volatile("" : "+r"(page));	/* a verifier wants the test before the addition */
	return &page->ids[tid % IDS_PER_PAGE];
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
	*id = (*id & ~(ID_ASLEEP | ID_LATE)) | bits;
	return true;
}

static __always_inline void set_id(__u32 tid, __u16 bits)
{
	__u16 *id = id_of(tid);

	if (id)
		*id |= bits;
}

#endif
