// SPDX-License-Identifier: GPL-2.0
/*
 * A process that is in a cgroup knows its path. If it has exited, the hierarchy is searched, at most once a second.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "cgroups.h"
#include "kernel/pid_namespace.h"

#define KEPT_MAX	65536U		/* then all are forgotten: hosts make new ones for years */
#define DEPTH_MAX	64U
#define PATH_BYTES	4096U
#define FILE_BYTES_MAX	65536U		/* of /proc/PID/cgroup */
#define SEARCH_NS	1000000000ULL

struct cgroups {
	int root;			/* directory of the hierarchy; -1: there is none */
	struct map map;			/* id to place in @paths */
	char **paths;
	size_t cnt, cap;
	uint64_t searched_ns;
};

/* Where the hierarchy is mounted first; -1: nowhere. */
static int open_root(void)
{
	FILE *mounts = setmntent("/proc/mounts", "re");
	const struct mntent *m;
	int fd = -1;

	while (mounts && fd < 0 && (m = getmntent(mounts)))
		if (!strcmp(m->mnt_type, "cgroup2"))
			fd = open(m->mnt_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mounts)
		endmntent(mounts);
	return fd;
}

int cgroups_open(struct cgroups **out)
{
	struct cgroups *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->root = open_root();
	*out = c;
	return 0;
}

static void forget_all(struct cgroups *c)
{
	while (c->cnt)
		free(c->paths[--c->cnt]);
	map_fini(&c->map);
	c->map = (struct map){ 0 };
}

/* What is not kept is looked for again. */
static const char *keep(struct cgroups *c, uint64_t id, const char *path)
{
	char *copy;

	if (c->cnt == KEPT_MAX)
		forget_all(c);
	copy = strdup(path);
	if (!copy || array_reserve(c->paths, c->cnt, c->cap, 1) || map_add(&c->map, id, c->cnt)) {
		free(copy);
		return NULL;
	}
	return c->paths[c->cnt++] = copy;
}

static const char *kept(const struct cgroups *c, uint64_t id)
{
	const uint32_t i = map_get(&c->map, id);

	return i == MAP_NONE ? NULL : c->paths[i];
}

/* The id of a path; 0: there is none. */
static uint64_t id_of(const struct cgroups *c, const char *path)
{
	struct stat st;

	while (*path == '/')
		path++;
	return fstatat(c->root, *path ? path : ".", &st, 0) ? 0 : st.st_ino;
}

/* By /proc/PID/cgroup, which has a line "0::PATH". The process may have been moved meanwhile. */
static const char *by_process(struct cgroups *c, uint64_t id, uint32_t pid)
{
	char name[48], *text, *line, *rest;
	const char *path = NULL, *known;
	uint64_t found;
	size_t len;

	snprintf(name, sizeof(name), "/proc/%u/cgroup", pid);
	if (text_file_read(name, FILE_BYTES_MAX, &text, &len))
		return NULL;
	for (line = strtok_r(text, "\n", &rest); line && !path; line = strtok_r(NULL, "\n", &rest))
		if (!strncmp(line, "0::/", 4)) {
			found = id_of(c, line + 3);
			known = found ? kept(c, found) : NULL;
			path = !found || (id && found != id) ? "" : known ?: keep(c, found, line + 3);
		}
	free(text);
	return path && *path ? path : NULL;
}

/* What is done with each cgroup, as of cgroups_each(). */
struct visit {
	bool (*found)(void *ctx, const char *path, uint64_t id);
	void *ctx;
};

/* All below @dir, which is closed, and whose path is the first @len bytes of @path. */
static void visit_below(const struct visit *v, int dir, char *path, size_t len, unsigned int depth)
{
	DIR *entries = fdopendir(dir);
	const struct dirent *e;
	int fd, n;

	while (entries && (e = readdir(entries))) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		n = snprintf(path + len, PATH_BYTES - len, "/%s", e->d_name);
		if (n < 0 || (size_t)n >= PATH_BYTES - len || v->found(v->ctx, path, e->d_ino))
			continue;
		fd = depth < DEPTH_MAX ? openat(dirfd(entries), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
		if (fd >= 0)
			visit_below(v, fd, path, len + n, depth + 1);
	}
	if (entries)
		closedir(entries);
	else
		close(dir);
}

void cgroups_each(const struct cgroups *c, bool (*found)(void *ctx, const char *path, uint64_t id), void *ctx)
{
	const struct visit v = { found, ctx };
	char path[PATH_BYTES] = "";
	int fd = c->root >= 0 ? openat(c->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0)
		visit_below(&v, fd, path, 0, 0);
}

static bool keep_found(void *ctx, const char *path, uint64_t id)
{
	if (!kept(ctx, id))
		keep(ctx, id, path);
	return false;
}

const char *cgroups_path(struct cgroups *c, uint64_t id, uint32_t pid)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const char *path = c->root >= 0 ? kept(c, id) : NULL;

	if (path || c->root < 0)
		return path && *path ? path : NULL;
	if (pid_namespace_is_initial())
		path = by_process(c, id, pid);
	if (path || !id || (c->searched_ns && now - c->searched_ns < SEARCH_NS))
		return path;
	c->searched_ns = now;
	cgroups_each(c, keep_found, c);
	/* Ids do not come again: this one is never searched for again. */
	path = kept(c, id) ?: keep(c, id, "");
	return path && *path ? path : NULL;
}

void cgroups_close(struct cgroups *c)
{
	if (!c)
		return;
	forget_all(c);
	if (c->root >= 0)
		close(c->root);
	free(c->paths);
	free(c);
}
