/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which CPUs are online now.
 */
#ifndef TRIGGER_ONLINE_H
#define TRIGGER_ONLINE_H

#include <stdbool.h>

#include "base/num.h"

/* All zero is one that does not know. */
struct online {
	int fd;
	bool is_open;
};

/* Without the file below @root it is not known. */
void online_open(struct online *o, const char *root);
/* False: not known. */
bool online_read(const struct online *o, struct num_cpus *cpus);
void online_close(struct online *o);

#endif
