/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deferred records of requests of block devices.
 */
#ifndef BPF_ABI_BLOCK_H
#define BPF_ABI_BLOCK_H

#include "raw.h"

/* A request of a block device, from issue to completion. */
enum block_word {
	BLOCK_DEVICE	= OPEN_WORDS,	/* as the kernel has it: major << 20 | minor; 0: none */
	BLOCK_SECTOR,
	BLOCK_WHAT,
	BLOCK_WORDS,
};
#define BLOCK_F_BYTES	0, 32
#define BLOCK_F_OP	32, 8		/* enum req_op */
#define BLOCK_F_FLAGS	32, 32		/* blk_opf_t, the op among it */

#endif
