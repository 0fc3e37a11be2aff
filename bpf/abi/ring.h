/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shape of the rings, of switches and wakeups and of events.
 */
#ifndef BPF_ABI_RING_H
#define BPF_ABI_RING_H

#include <linux/types.h>

#define SWITCH_WORDS	6	/* header, time, out, in, two weights */

/*
 * A ring is 2^n chunks of 2^m bytes. A record starts inside a chunk and may run
 * over its end into the slack after it; how far it did is in the chunk's
 * last word, so that the drain knows where the chunk's records end and the next
 * chunk's begin. Chunks exist because a map value was at most 4 MiB before 6.8.
 */
#define RING_SLACK_BYTES	4096
#define RING_CHUNK_BYTES_MAX	(1U << 20)

/*
 * The event ring: as above, but its records become visible one by one, by their
 * first word, which is 0 until then and again once the drain has taken them.
 * A record is at most EVENT_WORDS_MAX long and needs no word about the slack.
 */
#define EVENT_WORDS_MAX		(RING_SLACK_BYTES / 8)

#endif
