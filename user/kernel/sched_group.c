// SPDX-License-Identifier: GPL-2.0
/*
 * task_wants_autogroup() of the kernel: an autogroup is for tasks of the root of the cpu controller only.
 */
#include "sched_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define PATH_BYTES	4096
#define FILE_BYTES_MAX	(64U << 10)

static bool read_file(const char *root, const char *path, char **text)
{
	char whole[PATH_BYTES];
	size_t len;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	return !text_file_read(whole, FILE_BYTES_MAX, text, &len);
}

static bool autogroups_are_on(const char *root)
{
	char *text;
	bool on;

	if (!read_file(root, "/proc/sys/kernel/sched_autogroup_enabled", &text))
		return false;
	on = text[0] == '1';
	free(text);
	return on;
}

/* "cpu" is among the names of "5:cpu,cpuacct:/path". */
static bool has_cpu(const char *names, const char *end)
{
	size_t len;

	for (; names < end; names += len + 1) {
		len = strcspn(names, ",:");
		if (len == strlen("cpu") && !strncmp(names, "cpu", len))
			return true;
	}
	return false;
}

/* Whether the cgroup has threads of others; true if that cannot be read. */
static bool has_others(const char *dir)
{
	char file[PATH_BYTES], *text, *line, *rest;
	bool has = false;
	size_t len;

	if ((size_t)snprintf(file, sizeof(file), "%s/cgroup.procs", dir) >= sizeof(file) ||
	    text_file_read(file, FILE_BYTES_MAX, &text, &len))
		return true;
	/* 0 is one of another PID namespace. */
	for (line = strtok_r(text, "\n", &rest); line && !has; line = strtok_r(NULL, "\n", &rest))
		has = atoi(line) != getpid();
	free(text);
	return has;
}

/* The directory of a version 2 cgroup that has a weight: the controller is enabled there, and it is not the kernel's root. */
static bool find_weight(const char *root, const char *path, char dir[PATH_BYTES])
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char file[PATH_BYTES];
	unsigned int i;

	for (i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		if (snprintf(dir, PATH_BYTES, "%s%s%s", root, mounts[i], path) < PATH_BYTES &&
		    (size_t)snprintf(file, sizeof(file), "%s/cpu.weight", dir) < sizeof(file) && !access(file, F_OK))
			return true;
	}
	return false;
}

enum cgroup { CGROUP_NONE, CGROUP_OWN, CGROUP_SHARED };

/* One line of /proc/self/cgroup: "5:cpu,cpuacct:/path", "0::/path". */
static enum cgroup cgroup_of(const char *root, const char *line)
{
	const char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
	char dir[PATH_BYTES];

	if (!path)
		return CGROUP_NONE;
	if (path != names + 1)
		return has_cpu(names + 1, path) && strcmp(path, ":/") ? CGROUP_SHARED : CGROUP_NONE;
	if (!find_weight(root, path + 1, dir))
		return CGROUP_NONE;
	return has_others(dir) ? CGROUP_SHARED : CGROUP_OWN;
}

static enum cgroup cpu_cgroup(const char *root)
{
	enum cgroup found = CGROUP_NONE, each;
	char *text, *line, *rest;

	if (!read_file(root, "/proc/self/cgroup", &text))
		return CGROUP_NONE;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		each = cgroup_of(root, line);
		found = each > found ? each : found;
	}
	free(text);
	return found;
}

bool sched_group_is_shared(const char *root, bool with_command)
{
	const enum cgroup cgroup = cpu_cgroup(root);

	if (cgroup != CGROUP_NONE)
		return with_command || cgroup == CGROUP_SHARED;
	return autogroups_are_on(root) && (with_command || getsid(0) != getpid());
}
