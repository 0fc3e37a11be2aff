// SPDX-License-Identifier: GPL-2.0
#include "living_thread.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool has_program(uint32_t tid)
{
	char path[32], target[1];

	snprintf(path, sizeof(path), "/proc/%u/exe", tid);
	return readlink(path, target, sizeof(target)) > 0;
}

uint32_t living_thread(uint32_t pid)
{
	const struct dirent *entry;
	uint32_t found = pid, tid;
	char path[32];
	DIR *dir;

	if (has_program(pid))
		return pid;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	if (!dir)
		return pid;
	while (found == pid && (entry = readdir(dir))) {
		tid = isdigit((unsigned char)entry->d_name[0]) ? strtoul(entry->d_name, NULL, 10) : pid;
		if (tid != pid && has_program(tid))
			found = tid;
	}
	closedir(dir);
	return found;
}
