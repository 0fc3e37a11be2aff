/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deferred records of trace_marker.
 */
#ifndef BPF_ABI_MARKER_H
#define BPF_ABI_MARKER_H

#include "raw.h"
#include "ring.h"

/* What a program wrote to trace_marker. */
enum marker_word {
	MARKER_LEN	= RAW_WORDS,	/* bytes; 0: the text could not be read */
	MARKER_TEXT,
	MARKER_TEXT_BYTES	= (EVENT_WORDS_MAX - MARKER_TEXT) * 8,	/* no kernel takes more at once */
};

#endif
