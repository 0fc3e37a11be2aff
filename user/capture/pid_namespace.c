// SPDX-License-Identifier: GPL-2.0
/*
 * The initial namespace's inode number is part of the ABI (PROC_PID_INIT_INO).
 */
#include <string.h>
#include <unistd.h>

#include "pid_namespace.h"

bool pid_namespace_is_initial(void)
{
	char link[32];
	ssize_t len = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);

	link[len < 0 ? 0 : len] = 0;
	return !strcmp(link, "pid:[4026531836]");
}
