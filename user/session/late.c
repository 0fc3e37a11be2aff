// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel lets wait: sources when the recording begins, and command lines; and cgroups for which there is no place. The
 * trace says since when they are recorded, or again and again, for each of several files, that they are not.
 */
#include <string.h>

#include "ledger.h"
#include "capture/sources.h"
#include "capture/thread_filter.h"
#include "fxt/fxt.h"
#include "session_p.h"

#define AGAIN_NS	1000000000ULL

static int write_late(struct recorder *r, const struct source_late *late, uint64_t at_ns)
{
	const struct fxt_arg args[] = {
		fxt_arg_str("source", fxt_str(late->name)),
		late->since_ns ? fxt_arg_u64("after_ns", late->since_ns - r->start_ns) :
				 fxt_arg_str("why", fxt_str_inline(late->why, strlen(late->why))),
	};

	return ledger_write_event(r->w, "late", late->since_ns ?: at_ns, args, 2);
}

bool recorder_late(const struct recorder *r, unsigned int *kind, struct source_late *late)
{
	if (sources_late(r->cfg->sources, kind, late))
		return true;
	while (*kind < LATE_CNT)
		if ((*kind)++ == LATE_NAMES ? tasks_late(r->tasks, late) : filter_late(r->cfg->filter, late))
			return true;
	return false;
}

int recorder_write_late(struct recorder *r, uint64_t at_ns, bool end)
{
	struct source_late late;
	unsigned int kind = 0;
	int err = 0;

	while (!err && recorder_late(r, &kind, &late)) {
		struct said_late *said = &r->said_late[kind - 1];

		if (late.since_ns ? said->since_ns == late.since_ns : !end && said->at_ns && at_ns - said->at_ns < AGAIN_NS)
			continue;
		*said = (struct said_late){ late.since_ns, at_ns };
		err = write_late(r, &late, at_ns);
	}
	return err;
}
