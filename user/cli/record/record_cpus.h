/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which CPUs a recording is of.
 */
#ifndef CLI_RECORD_CPUS_H
#define CLI_RECORD_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/num.h"
#include "session/session.h"

struct record_cpus {
	uint32_t *list;			/* in ascending order; for free() */
	unsigned int cnt;
	char text[RECORDER_CPUS_TEXT];	/* the same: "0-3,7" */
	char online[RECORDER_CPUS_TEXT];	/* at the start */
};

/* @selected: by options; none: all that are online. An exit code; the message is printed, as @command's. */
int record_cpus_choose(struct record_cpus *out, const struct num_cpus *selected, const char *command);
/* At the end, of a recording of all CPUs: whether some came online, which have no ring, as @others that ran something. It is printed. */
bool record_cpus_changed(const struct record_cpus *cpus, const struct num_cpus *others);

#endif
