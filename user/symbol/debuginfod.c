// SPDX-License-Identifier: GPL-2.0
/*
 * The library is loaded when it is first needed: it brings that of HTTP with it, which would take time and
 * memory at each start of the recorder.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debuginfod.h"

#define LIBRARY		"libdebuginfod.so.1"
#define SERVERS		"DEBUGINFOD_URLS"
#define ID_LEN_MAX	128

/* As in elfutils' debuginfod.h. @len 0: @build_id is hex. The descriptor of the file, or -errno. */
struct library {
	void *(*begin)(void);
	int (*find_debuginfo)(void *client, const unsigned char *build_id, int len, char **path);
	void (*end)(void *client);
};

static int load(struct library *l)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return -ENOSYS;
	l->begin = dlsym(handle, "debuginfod_begin");
	l->find_debuginfo = dlsym(handle, "debuginfod_find_debuginfo");
	l->end = dlsym(handle, "debuginfod_end");
	return l->begin && l->find_debuginfo && l->end ? 0 : -ENOSYS;
}

static bool is_build_id(const char *s)
{
	const size_t len = strlen(s);
	size_t i;

	for (i = 0; i < len && isxdigit((unsigned char)s[i]); i++)
		;
	return len && i == len && len <= ID_LEN_MAX && len % 2 == 0;
}

static int find(const struct library *l, const char *build_id, char path[PATH_MAX])
{
	void *client = l->begin();
	char *found = NULL;
	int fd;

	if (!client)
		return -ENOMEM;
	fd = l->find_debuginfo(client, (const unsigned char *)build_id, 0, &found);
	l->end(client);
	if (fd >= 0) {
		close(fd);
		fd = found && snprintf(path, PATH_MAX, "%s", found) < PATH_MAX ? 0 : -ENAMETOOLONG;
	}
	free(found);
	return fd;
}

int debuginfod_fetch(const char *build_id, char path[PATH_MAX])
{
	const char *servers = getenv(SERVERS);
	struct library l;
	int err;

	if (!is_build_id(build_id))
		return -EINVAL;
	err = load(&l);
	if (err)
		return err;
	if (!servers || !*servers)
		return -ENOENT;
	err = find(&l, build_id, path);
	return err == -ENOSYS ? -ENOENT : err;
}
