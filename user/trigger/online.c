// SPDX-License-Identifier: GPL-2.0
/* See online.h. The file stays open: it is read after each round of the drain. */
#include "online.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define LIST_BYTES	4096U

void online_open(struct online *o, const char *root)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/online", root);
	o->fd = open(path, O_RDONLY | O_CLOEXEC);
	o->is_open = o->fd >= 0;
}

bool online_read(const struct online *o, struct num_cpus *cpus)
{
	char list[LIST_BYTES];
	ssize_t len = o->is_open ? pread(o->fd, list, sizeof(list), 0) : 0;

	while (len > 0 && list[len - 1] == '\n')
		len--;
	return len > 0 && !num_parse_cpus_n(list, (size_t)len, cpus);
}

void online_close(struct online *o)
{
	if (o->is_open)
		close(o->fd);
	o->is_open = false;
}
