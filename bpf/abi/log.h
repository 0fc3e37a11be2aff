/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deferred records of the log of the kernel.
 */
#ifndef BPF_ABI_LOG_H
#define BPF_ABI_LOG_H

#include "raw.h"

/* A line of the kernel's log. */
enum log_word {
	LOG_LEN		= RAW_WORDS,	/* bytes; and LOG_INTERRUPT */
	LOG_TEXT,
	LOG_TEXT_BYTES	= 1024,	/* no kernel prints more at once */
};

#define LOG_INTERRUPT		(1ULL << 32)	/* the thread is the one it came upon */

#endif
