/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scans a whole Trace Event JSON text, looks at every byte handed out, and checks what must hold
 * for any input.
 */
#ifndef SCAN_WALK_H
#define SCAN_WALK_H

#include "format/chrome/scan.h"

struct scan_walk {
	uint64_t digest;		/* of every event, every member and the counts */
	struct chrome_scan_counts counts;
	uint64_t frames;
	const char *broken;		/* the promise that was not kept, or NULL */
	int end;			/* what the last call returned */
};

struct scan_walk_options {
	size_t chunk;			/* bytes that the input has at a time; 0: all at once */
	int err;			/* what the input returns after the last byte */
	void (*each)(void *ctx, const struct chrome_event *event);	/* may be NULL */
	void *ctx;
};

/* Promises: offsets rise, spans are within their event, the counts add up. */
struct scan_walk scan_walk(const char *data, size_t len, struct scan_walk_options how);

#endif
