// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/array.h"
#include "base/cgroup_name.h"
#include "base/glob.h"
#include "capture/source.h"
#include "cgroup_filter.h"
#include "cgroups.h"

#define CONTAINER_DIGITS_MIN	12U	/* as many as runtimes print */

/* ---- words -------------------------------------------------------------------------- */

static bool matches(const struct cgroup_word *w, const char *path)
{
	const struct cgroup_part part = w->container ? cgroup_container(path) : cgroup_unit(path);
	char unit[NAME_MAX + 1];

	if (w->dir)
		return !strcmp(path, w->dir);
	if (!part.len || part.len >= sizeof(unit))
		return false;
	if (w->container)
		return !strncmp(part.text, w->container, strlen(w->container));
	memcpy(unit, part.text, part.len);
	unit[part.len] = 0;
	return glob_match(w->unit, unit);
}

static bool matches_any(const struct cgroup_filter *f, const char *path)
{
	size_t i;

	for (i = 0; i < f->words_cnt && !matches(&f->words[i], path); i++)
		;
	return i < f->words_cnt;
}

/* 0, or -ENOSPC. */
static int take_id(__u64 *ids, unsigned int places, uint64_t id)
{
	__u64 *place = NULL;
	unsigned int i;

	for (i = 0; i < places; i++) {
		if (__atomic_load_n(&ids[i], __ATOMIC_RELAXED) == id)
			return 0;
		if (!place && !ids[i])
			place = &ids[i];
	}
	if (!place)
		return -ENOSPC;
	__atomic_store_n(place, id, __ATOMIC_RELAXED);
	return 0;
}

/* ---- at the beginning --------------------------------------------------------------- */

static int add_id(struct cgroup_filter *f, uint64_t id, char *why, size_t size)
{
	if (take_id(f->ids, FILTER_CGROUPS_MAX, id)) {
		snprintf(why, size, "--cgroup: more than %u", FILTER_CGROUPS_MAX);
		return -EINVAL;
	}
	for (f->cnt = 0; f->cnt < FILTER_CGROUPS_MAX && f->ids[f->cnt];)
		f->cnt++;
	return 0;
}

/* Its directory is @path, of which another one may be made once this one was removed. */
static int add_dir_word(struct cgroup_filter *f, const char *path, char *why, size_t size)
{
	const char *below = cgroup_below_mount(path);
	size_t len = below ? strlen(below) : 0;
	struct cgroup_word word = { 0 };

	while (len && below[len - 1] == '/')
		len--;
	if (!len)		/* all there is, or not known where it is */
		return 0;
	if (f->dirs == FILTER_CGROUPS_MAX) {
		snprintf(why, size, "--cgroup: more than %u", FILTER_CGROUPS_MAX);
		return -EINVAL;
	}
	word.dir = strndup(below, len);
	if (!word.dir || array_reserve(f->words, f->words_cnt, f->words_cap, 1)) {
		free(word.dir);
		return -ENOMEM;
	}
	f->words[f->words_cnt++] = word;
	f->dirs++;
	return 0;
}

/* The kernel's id of a cgroup is the inode number of its directory. */
static int add_dir(struct cgroup_filter *f, const char *path, bool may_come, char *why, size_t size)
{
	char real[PATH_MAX];
	struct statfs fs;
	struct stat st;
	int err;

	if (stat(path, &st) || statfs(path, &fs) || !realpath(path, real)) {
		if (errno == ENOENT && may_come && cgroup_below_mount(path)) {
			f->absent = path;
			return add_dir_word(f, path, why, size);
		}
		snprintf(why, size, "--cgroup %s: %s", path, strerror(errno));
		return -EINVAL;
	}
	if (fs.f_type != CGROUP2_SUPER_MAGIC || !S_ISDIR(st.st_mode)) {
		snprintf(why, size, "--cgroup %s: not a directory of the cgroup v2 hierarchy", path);
		return -EINVAL;
	}
	err = add_id(f, st.st_ino, why, size);
	return err ?: add_dir_word(f, real, why, size);
}

struct search {
	struct cgroup_filter *f;
	const struct cgroup_word *word;
	unsigned int found;
	int err;
	char *why;
	size_t size;
};

/* What is below belongs to it. */
static bool take_found(void *ctx, const char *path, uint64_t id)
{
	struct search *s = ctx;

	if (!matches(s->word, path))
		return false;
	s->found++;
	s->err = s->err ?: add_id(s->f, id, s->why, s->size);
	return true;
}

static int add_word(struct cgroup_filter *f, const char *word, struct cgroup_word meant, bool may_come, char *why, size_t size)
{
	struct search search = { .f = f, .word = &meant, .why = why, .size = size };
	struct cgroups *all;
	int err = array_reserve(f->words, f->words_cnt, f->words_cap, 1) ? -ENOMEM : cgroups_open(&all);

	if (err)
		return err;
	f->words[f->words_cnt++] = meant;
	f->has_names = true;
	cgroups_each(all, take_found, &search);
	cgroups_close(all);
	if (search.found)
		return search.err;
	if (may_come && meant.unit) {
		f->absent = word;
		return 0;
	}
	snprintf(why, size, "--cgroup %s: there is none", word);
	return -EINVAL;
}

int cgroup_filter_add(struct cgroup_filter *f, const char *word, bool may_come, char *why, size_t size)
{
	size_t len;

	if (!strncmp(word, "unit=", 5) && word[5])
		return add_word(f, word, (struct cgroup_word){ .unit = word + 5 }, may_come, why, size);
	if (strncmp(word, "container=", 10) != 0)
		return add_dir(f, word, may_come, why, size);
	len = strlen(word + 10);
	if (len >= CONTAINER_DIGITS_MIN && strspn(word + 10, "0123456789abcdef") == len)
		return add_word(f, word, (struct cgroup_word){ .container = word + 10 }, may_come, why, size);
	snprintf(why, size, "--cgroup %s: takes an id, or its first %u digits or more", word, CONTAINER_DIGITS_MIN);
	return -EINVAL;
}

unsigned int cgroup_filter_places(const struct cgroup_filter *f)
{
	/* One that was removed leaves its place to the next one of its path. */
	return f->has_names ? FILTER_CGROUPS_MAX : f->cnt > f->dirs ? f->cnt : f->dirs;
}

void cgroup_filter_share(struct cgroup_filter *f, __u64 *ids, const __u64 *unreported)
{
	memcpy(ids, f->ids, sizeof(f->ids));
	f->shared = ids;
	f->unreported = unreported;
}

/* ---- later -------------------------------------------------------------------------- */

static void refuse(struct cgroup_filter *f, const char *path)
{
	const size_t len = strlen(path), skip = len < sizeof(f->first_refused) ? 0 : len + 1 - sizeof(f->first_refused);

	if (!f->refused++)
		snprintf(f->first_refused, sizeof(f->first_refused), "%s", path + skip);
}

/* Whether @path is selected; what is below is then, too. */
static bool take_made(void *ctx, const char *path, uint64_t id)
{
	struct cgroup_filter *f = ctx;
	const bool is_selected = matches_any(f, path);

	if (is_selected && take_id(f->shared, cgroup_filter_places(f), id))
		refuse(f, path);
	return is_selected;
}

void cgroup_filter_made(struct cgroup_filter *f, const char *path, uint64_t id)
{
	const char *slash = strrchr(path, '/');
	char above[PATH_MAX];

	if (!f->shared || !slash)
		return;
	snprintf(above, sizeof(above), "%.*s", (int)(slash - path), path);
	if (!*above || !matches_any(f, above))
		take_made(f, path, id);
}

void cgroup_filter_look(struct cgroup_filter *f, const struct cgroups *all)
{
	uint64_t unreported;

	if (!f->words_cnt || !f->shared)
		return;
	unreported = __atomic_load_n(f->unreported, __ATOMIC_ACQUIRE);
	if (f->has_looked && f->looked == unreported)
		return;
	f->has_looked = true;
	f->looked = unreported;
	cgroups_each(all, take_made, f);
}

bool cgroup_filter_late(const struct cgroup_filter *f, struct source_late *late)
{
	*late = (struct source_late){ .name = "cgroups" };
	if (!f->refused)
		return false;
	snprintf(late->why, sizeof(late->why), "%u that --cgroup means, %s first: at most %u at once", f->refused, f->first_refused,
		 FILTER_CGROUPS_MAX);
	return true;
}

void cgroup_filter_close(struct cgroup_filter *f)
{
	size_t i;

	for (i = 0; i < f->words_cnt; i++)
		free(f->words[i].dir);
	free(f->words);
}
