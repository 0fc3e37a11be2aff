/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a word for tracepoints that matches none may have been meant to be.
 */
#ifndef SOURCE_TRACEPOINT_NEAR_H
#define SOURCE_TRACEPOINT_NEAR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/suggest.h"
#include "kernel/tracefs.h"

struct tracepoint_near {
	const struct tracefs_event *offered;	/* sorted by system; NULL: they cannot be read */
	size_t offered_cnt;
	bool presets;				/* words for presets are known, too */
};

/* The text of suggest_text() for globs @system, which may be all of the word, and @event; either may be "". */
const char *tracepoint_near(const struct tracepoint_near *n, const char *system, const char *event,
			    char text[SUGGEST_TEXT_BYTES]);

#endif
