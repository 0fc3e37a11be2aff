/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deferred records of work items.
 */
#ifndef BPF_ABI_WORKQUEUE_H
#define BPF_ABI_WORKQUEUE_H

#include "raw.h"

/* A work item that was executed. */
enum work_word {
	WORK_ITEM	= OPEN_WORDS,	/* addresses */
	WORK_FUNCTION,
	WORK_QUEUED_TS,			/* 0: not known */
	WORK_WORDS,
};

#endif
