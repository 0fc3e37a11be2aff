// SPDX-License-Identifier: GPL-2.0
#include "task_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char task_state_parse(const char *stat)
{
	/* A name may have any characters. */
	const char *end = strrchr(stat, ')');

	return end && end[1] == ' ' && end[2] ? end[2] : '?';
}

void task_waits_in(pid_t pid, pid_t tid, char *where, size_t size)
{
	char path[64];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/wchan", (int)pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? 0 : read(fd, where, size - 1);
	where[len > 0 ? len : 0] = 0;
	if (fd >= 0)
		close(fd);
	if (!strcmp(where, "0"))
		where[0] = 0;
}
