/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events: interrupts, system calls and functions by their length, lines of the log, markers. Each is one
 * record, so it is evaluated as it is.
 */
#ifndef TRIGGER_EVENTS_H
#define TRIGGER_EVENTS_H

#include "base/clock.h"
#include "firing.h"
#include "fxt/fxt.h"
#include "texts.h"

struct events {
	struct firing *firing;	/* borrowed */
	uint32_t any, irq, syscall, func, log, mark, event;	/* triggers, as bits */
	uint64_t least_irq_ns, least_syscall_ns, least_func_ns;	/* lowest thresholds */
	struct time_share taken;	/* by expressions, on lines of the log */
	uint64_t now_ns;		/* of the latest round, CLOCK_BOOTTIME */
	bool is_skipping;		/* a line since then, as those before had taken too long */
	uint64_t skipped_ns;		/* the round after the last one that was; 0: none was */
};

/* After all events up to @now_ns, which may be before that of the last call. */
void events_round(struct events *e, uint64_t now_ns);
/* Whether a line was skipped in the last minute, so that whoever looks from time to time sees it. */
bool events_skip_lines(const struct events *e);

/* Sets what follows from the triggers. */
void events_set_triggers(struct events *e);
/* Whether an event record of @words words may be one: then it is read, for the next function. */
bool events_may_fire(const struct events *e, const struct texts *texts, const uint64_t *rec, size_t words);
/* See triggers_found(). */
void events_found(struct events *e, const char *source, uint64_t ts_ns, uint64_t thread);
/* 0 or -ENOMEM. */
int events_take(struct events *e, const struct fxt_record *rec);

#endif
