/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which threads are recorded: all, or those that one of the selectors of `kfxt record` matches.
 * A thread is judged when it is first looked at, by an event or a switch, and again when
 * its name changes. So nothing has to be read from /proc, and none is missed that lives shortly.
 */
#ifndef BPF_LIB_FILTER_BPF_H
#define BPF_LIB_FILTER_BPF_H

#include "../abi/filter.h"
#include "ids.bpf.h"

const volatile bool cfg_filter __weak = false;
const volatile __u32 cfg_filter_comms __weak = 0;	/* globs in filter_comms */
const volatile __u32 cfg_filter_cgroups __weak = 0;	/* so many of filter_cgroups may be used */

/* The process whose children are followed, the recorder's own, if they are born from @filter_since_ns on; 0: none. Set by filter_follow. */
extern __u32 filter_parent;
extern __u64 filter_since_ns;
/* Ids, 0: free. Set by the recorder, at any time. */
extern __u64 filter_cgroups[FILTER_CGROUPS_MAX];

struct verdict_page {
	__u8 verdicts[VERDICTS_PER_PAGE];
};

/*
 * By id. Apart from the words of ids.bpf.h, since anybody may judge a thread, at any time; but
 * for the marks of the recorder and of its parent, which stay, the result is always the same.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);		/* pages, IDS_MAX / VERDICTS_PER_PAGE where there is a filter; set before loading */
	__type(key, __u32);
	__type(value, struct verdict_page);
} verdicts __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);		/* cfg_filter_comms */
	__type(key, __u32);
	__type(value, struct comm_glob);
} filter_comms __weak SEC(".maps");

static __always_inline __u8 *verdict_of(__u32 tid)
{
	__u32 key = tid / VERDICTS_PER_PAGE;
	struct verdict_page *page = bpf_map_lookup_elem(&verdicts, &key);

	return page ? &page->verdicts[tid % VERDICTS_PER_PAGE] : NULL;
}

static __always_inline bool has_verdict(__u32 tid, __u8 bits)
{
	__u8 *verdict = verdict_of(tid);

	return verdict && *verdict & bits;
}

struct comm_search {
	char name[COMM_BYTES_MAX];
	bool found;
};

static long try_comm(__u32 i, struct comm_search *search)
{
	struct comm_glob *glob = bpf_map_lookup_elem(&filter_comms, &i);

	search->found = glob && comm_glob_matches(glob, search->name);
	return search->found;
}

static __always_inline bool comm_is_selected(const char *comm)
{
	struct comm_search search = { 0 };

	bpf_probe_read_kernel_str(search.name, sizeof(search.name), comm);
	bpf_loop(cfg_filter_comms, try_comm, &search, 0);
	return search.found;
}

/*
 * Is it in one of the cgroups, or below? Looked at each time: whole processes are moved at
 * once, and where a thread belongs is a few loads away.
 */
static __always_inline bool in_selected_cgroup(struct task_struct *p)
{
	struct cgroup_subsys_state *parent;
	struct cgroup *group;
	__u64 id;
	int i;

	if (!cfg_filter_cgroups)
		return false;
	group = p->cgroups->dfl_cgrp;
	for (int depth = 0; depth < FILTER_DEPTH_MAX; depth++) {
		id = group->kn->id;
#pragma unroll
		for (i = 0; i < FILTER_CGROUPS_MAX; i++)
			if ((__u32)i < cfg_filter_cgroups && id == *(volatile __u64 *)&filter_cgroups[i])
				return true;
		parent = group->self.parent;
		if (!parent)
			break;
		group = parent->cgroup;
	}
	return false;
}

/* The command, which the recorder makes last of its children, or a child of one that is followed already. */
static __always_inline void follow(struct task_struct *p, struct task_struct *parent, __u8 *verdict)
{
	if (!filter_parent || p->tgid == filter_parent)
		return;
	if ((parent->tgid == filter_parent && p->start_boottime >= filter_since_ns) || has_verdict(parent->pid, VERDICT_FOLLOWED))
		*verdict |= VERDICT_FOLLOWED;
}

/* By all that stays as it is while @p is called @comm. */
static __always_inline void judge(struct task_struct *p, const char *comm, __u8 *verdict)
{
	/* For one whose birth was missed; see meet(). */
	if (!(*verdict & VERDICT_JUDGED))
		follow(p, p->real_parent, verdict);
	if (*verdict & (VERDICT_TID | VERDICT_FOLLOWED) || has_verdict(p->tgid, VERDICT_PID) ||
	    (cfg_filter_comms && comm_is_selected(comm)))
		*verdict |= VERDICT_JUDGED | VERDICT_SELECTED;
	else
		*verdict = (*verdict & ~VERDICT_SELECTED) | VERDICT_JUDGED;
}

/* is_selected() where there is a filter. An idle thread is never selected. */
static __noinline __attribute__((unused)) bool is_chosen(struct task_struct *p)
{
	__u8 *verdict = p->pid ? verdict_of(p->pid) : NULL;

	if (!verdict)
		return false;
	if (!(*verdict & VERDICT_JUDGED))
		judge(p, p->comm, verdict);
	if (cfg_filter_cgroups)
		*verdict = (*verdict & ~VERDICT_CGROUP) | (in_selected_cgroup(p) ? VERDICT_CGROUP : 0);
	/* Without a jump: each would double what verifiers have to go through in the callers. */
	return (*verdict / VERDICT_SELECTED | *verdict / VERDICT_CGROUP) & 1;
}

/* Was this thread asked for? For any program, of bpf_get_current_task_btf() among others. */
static __always_inline bool is_selected(struct task_struct *p)
{
	return !cfg_filter || is_chosen(p);
}

/* A new thread has the id, about which nothing is known yet. */
static __always_inline void forget_verdict(__u32 tid)
{
	__u8 *verdict = cfg_filter ? verdict_of(tid) : NULL;

	if (verdict)
		*verdict = *verdict & (VERDICT_SELECTED | VERDICT_CGROUP) ? VERDICT_PAST : 0;
}

#endif
