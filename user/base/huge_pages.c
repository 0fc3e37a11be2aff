// SPDX-License-Identifier: GPL-2.0
#include "huge_pages.h"

#include <stdbool.h>
#include <sys/prctl.h>

static bool refused;
static int before;	/* as PR_GET_THP_DISABLE returned it: bit 0, whether it was set, and from 6.18 on its flags */

void huge_pages_refuse(void)
{
	const int now = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);

	if (refused || now < 0 || prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		return;
	before = now;
	refused = true;
}

void huge_pages_restore(void)
{
	if (refused)
		prctl(PR_SET_THP_DISABLE, before & 1, before & ~1, 0, 0);
}
