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

/* A version 2 cgroup has a weight if the controller is enabled there. */
static bool has_weight(const char *root, const char *path)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char file[PATH_BYTES];
	unsigned int i;

	for (i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		if ((size_t)snprintf(file, sizeof(file), "%s%s%s/cpu.weight", root, mounts[i], path) < sizeof(file) &&
		    !access(file, F_OK))
			return true;
	}
	return false;
}

/* One line of /proc/self/cgroup: "5:cpu,cpuacct:/path", "0::/path". */
static bool is_in_cpu_cgroup(const char *root, const char *line)
{
	const char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;

	if (!path || !strcmp(path, ":/"))
		return false;
	return path == names + 1 ? has_weight(root, path + 1) : has_cpu(names + 1, path);
}

static bool has_cpu_cgroup(const char *root)
{
	char *text, *line, *rest;
	bool has = false;

	if (!read_file(root, "/proc/self/cgroup", &text))
		return false;
	for (line = strtok_r(text, "\n", &rest); line && !has; line = strtok_r(NULL, "\n", &rest))
		has = is_in_cpu_cgroup(root, line);
	free(text);
	return has;
}

bool sched_group_is_shared(const char *root)
{
	return getsid(0) != getpid() && (autogroups_are_on(root) || has_cpu_cgroup(root));
}
