/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which cgroups a filter selects: directories, those of a container or of units; also once they are made later, as when a
 * service is started again.
 */
#ifndef CAPTURE_CGROUP_FILTER_H
#define CAPTURE_CGROUP_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi/filter.h"

struct cgroups;
struct source_late;

/* A container or units, as triggers have them, or the path of a directory below where the hierarchy is mounted; the others are NULL. */
struct cgroup_word {
	const char *container, *unit;
	char *dir;
};

struct cgroup_filter {
	__u64 ids[FILTER_CGROUPS_MAX];
	unsigned int cnt;		/* of directories, and what words meant at the beginning */
	struct cgroup_word *words;
	size_t words_cnt, words_cap;
	bool has_names;			/* some are containers or units, which may be many */
	unsigned int dirs;
	__u64 *shared;		/* as the programs have them, 0: free; NULL: not loaded yet */
	const __u64 *unreported;	/* made, and not reported by the programs */
	uint64_t looked;		/* of these, when it last looked at all */
	bool has_looked;
	const char *absent;		/* a word of which there was none at the beginning; NULL: none */
	unsigned int refused;		/* not selected: there are too many at once */
	char first_refused[64];		/* end of its path */
};

/*
 * Selects "DIR", "container=ID" or "unit=GLOB", which must live as long as @f. If @may_come there need be no such unit or directory
 * yet.
 * -EINVAL: there is none, or too many, or it is no cgroup, with one line in @why; or -ENOMEM.
 */
int cgroup_filter_add(struct cgroup_filter *f, const char *word, bool may_come, char *why, size_t size);
/* How many ids the programs have to look at. */
unsigned int cgroup_filter_places(const struct cgroup_filter *f);
/* Where the programs have the ids, and how many new cgroups they could not report. */
void cgroup_filter_share(struct cgroup_filter *f, __u64 *ids, const __u64 *unreported);
/* One that was made. */
void cgroup_filter_made(struct cgroup_filter *f, const char *path, uint64_t id);
/* Looks at all there are, once, and again if some that were made were not reported. */
void cgroup_filter_look(struct cgroup_filter *f, const struct cgroups *all);
/* Whether there were more than can be selected at once. */
bool cgroup_filter_late(const struct cgroup_filter *f, struct source_late *late);
void cgroup_filter_close(struct cgroup_filter *f);

#endif
