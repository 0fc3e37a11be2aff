// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <sys/utsname.h>

#include "preemptible.h"

bool kernel_tracepoints_are_preemptible(void)
{
	struct utsname u;

	return !uname(&u) && strtoul(u.release, NULL, 10) >= 7;
}
