/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether the next file could be written: nobody may ask for one for days, and the status says.
 */
#ifndef SESSION_SPACE_H
#define SESSION_SPACE_H

#include <stdint.h>

#include "archive/broker.h"

/* All zero: it could. */
struct space {
	int err;		/* why not; 0: it could, as far as is known */
	uint64_t bytes, look_ns;	/* so many it needs, which is looked for then */
	struct broker_call call;
};

/* What became of a file, or of one like the next, which needs @bytes. */
void space_see(struct space *s, int err, uint64_t bytes);
/* Looks for space at times while the disk is full; the others end with the next file that is written. */
void space_look(struct space *s, struct broker *broker);

#endif
