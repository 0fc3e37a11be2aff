/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which threads to record: those that any of the selectors matches. The BPF programs
 * decide (bpf/lib/filter.bpf.h); these are their parameters.
 */
#ifndef CAPTURE_THREAD_FILTER_H
#define CAPTURE_THREAD_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi/filter.h"

struct cgroups;
struct filter;
struct kfxt_bpf;
struct source_late;

/* Texts as the user gave them. */
struct filter_list {
	const char *const *items;
	unsigned int cnt;
};

struct filter_cfg {
	struct filter_list pids, tids;	/* numbers, or several with commas */
	struct filter_list comms;	/* globs */
	struct filter_list cgroups;	/* as cgroup_filter_add() has them */
	bool follow;			/* children of this process, which come later, and theirs */
	bool stays;			/* the recording goes on for long: units may come later */
};

/*
 * Looks everything up that was asked for; *@out is NULL if nothing was. -EINVAL: something is
 * not there or wrong, -ENOTSUP: it cannot be had here, -ENOMEM; @why then says so.
 */
int filter_open(struct filter **out, const struct filter_cfg *cfg, char *why, size_t why_size);
/* What was given as a unit that there is not yet; NULL: nothing. @f may be NULL. */
const char *filter_absent(const struct filter *f);
/* The choice in words, for the trace. */
const char *filter_text(const struct filter *f);
/* Before loading: constants and sizes of maps. NULL is fine, everywhere. */
int filter_prepare(const struct filter *f, struct kfxt_bpf *skel);
/* After loading, before anything is attached: what is in the maps. 0 or -errno. */
int filter_fill(struct filter *f, struct kfxt_bpf *skel);
/* After that: what the caller forks from here on is the command, if that was asked for. 0 or -errno. */
int filter_follow(const struct filter *f);
/* A cgroup that was made. NULL is fine. */
void filter_cgroup_made(struct filter *f, const char *path, uint64_t id);
/* Now and then: those whose making was not reported. */
void filter_look(struct filter *f, const struct cgroups *all);
/* Whether not all that were asked for are selected. */
bool filter_late(const struct filter *f, struct source_late *late);
/* Was the thread of this id, or the one before, selected when it was last looked at? */
bool filter_selected(const struct filter *f, uint32_t tid);
void filter_close(struct filter *f);

/* -EINVAL: no name can match, as it has at most 15 characters. */
int filter_compile_comm(struct comm_glob *glob, const char *pattern);

#endif
