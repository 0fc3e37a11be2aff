/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One record of scheduling, as it is sorted.
 */
#ifndef FORMAT_CHROME_OUT_SCHED_H
#define FORMAT_CHROME_OUT_SCHED_H

#include <stdint.h>

#include "buf.h"
#include "names.h"

#define LETTERS_MAX	16U

enum sched_item_kind {
	SCHED_ITEM_SWITCH,
	SCHED_ITEM_WAKEUP,
	SCHED_ITEM_LOSS,
};

/* Switches that did not happen: kfxt(1), "Marks". */
enum sched_mark {
	SCHED_MARK_NONE,
	SCHED_MARK_START, SCHED_MARK_STOP, SCHED_MARK_GAP, SCHED_MARK_FILTER,
	SCHED_MARK_STATE,	/* of a thread that does not run: nothing is switched */
	SCHED_MARK_IMPLIED,	/* a wakeup that was not recorded */
};

struct sched_item {
	uint64_t ts_ns;
	uint64_t in, out;	/* koids; of a wakeup the woken thread and the waker, 0 if it is not known */
	uint64_t lost;		/* events, 0: it is not known how many */
	int32_t in_prio, out_prio;
	uint16_t cpu;
	uint8_t kind, mark;
	char state[LETTERS_MAX + 1];	/* Linux's letters for that of the outgoing thread */
};

/* What the text of a trace has said so far. */
struct sched_text {
	struct sched_text_cpu *cpus;
	unsigned int cpus_cnt;
	bool begun;
};

/* All zero is one that has said nothing. */
void sched_text_fini(struct sched_text *t);
/*
 * Appends the line of @item to @b, before the first one the head of the text; nothing for what was made
 * up. 0 or -ENOMEM.
 */
int sched_text_put(struct sched_text *t, struct write_buf *b, const struct write_names *threads,
		    const struct sched_item *item);

#endif
