/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deferred records of what CPUs do with their power.
 */
#ifndef BPF_ABI_POWER_H
#define BPF_ABI_POWER_H

#include "raw.h"

/* A number of a CPU that changed; no thread's doing. */
enum power_kind {
	POWER_IDLE,
	POWER_FREQUENCY,
	POWER_KIND_CNT
};
enum power_word {
	POWER_WHAT	= RAW_WORDS,
	POWER_WORDS,
};
#define POWER_F_VALUE	0, 32
#define POWER_F_CPU	32, 16
#define POWER_F_KIND	48, 8		/* enum power_kind */

#endif
