// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <sys/utsname.h>

#include "preempt_rt.h"

bool kernel_is_preempt_rt(void)
{
	struct utsname u;

	return !uname(&u) && strstr(u.version, "PREEMPT_RT");
}
