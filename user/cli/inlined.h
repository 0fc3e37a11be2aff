/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that the compiler inlined, for the frames of stack samples: each address is looked up once.
 */
#ifndef CLI_INLINED_H
#define CLI_INLINED_H

#include <stdbool.h>

#include "profile/profile.h"

struct inlined;

/* @use_debuginfod: debug files that are not here are fetched from the network. 0 or -ENOMEM. */
int inlined_open(struct inlined **out, bool use_debuginfod);
/* For stacks_cfg.inlined; @inlined is a struct inlined. What is put into @out lives as long as it. */
unsigned int inlined_frames(void *inlined, const struct profile_frame *frame, struct profile_frame *out,
			    unsigned int max);
/* NULL is fine. */
void inlined_close(struct inlined *i);

#endif
