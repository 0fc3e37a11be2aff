// SPDX-License-Identifier: GPL-2.0
/*
 * The initial namespace's inode number is part of the ABI (PROC_PID_INIT_INO).
 */
#include <stdio.h>
#include <unistd.h>

#include "pid_namespace.h"

#define INITIAL	4026531836ULL

uint64_t pid_namespace_number(void)
{
	unsigned long long number = 0;
	char link[32];
	ssize_t len = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);

	link[len < 0 ? 0 : len] = 0;
	return sscanf(link, "pid:[%llu]", &number) == 1 ? number : 0;
}

bool pid_namespace_is_initial(void)
{
	return pid_namespace_number() == INITIAL;
}
