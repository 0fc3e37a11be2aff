/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events as TrackEvent packets, a slice with its duration as a packet for each end, and lines of the kernel's
 * log as packets of the log view.
 */
#ifndef FORMAT_PERFETTO_OUT_EVENTS_H
#define FORMAT_PERFETTO_OUT_EVENTS_H

#include <stdbool.h>

#include "fxt/fxt.h"
#include "args.h"
#include "async.h"
#include "tracks.h"

#define OUT_SEQUENCE	2U	/* of our packets; the recorder's in BLOBs are of 1 */

struct out_events {
	struct pb_buf *out;		/* takes the packets */
	struct out_tracks tracks;
	struct out_async async;
	struct out_strings strings;
	bool begun;			/* there are packets of the sequence */
	uint64_t *left_out;		/* the writer's, by kind */
	/* The last event, until it is known that no flow belongs to it. */
	struct pb_buf body;
	bool held, has_end, is_end;	/* @has_end: of a slice whose end is known */
	bool is_async;			/* it is no record that has both */
	uint64_t uuid, ts_ns, end_ns;	/* of it */
	/* The last line of the log, until it is known what else is said of it. */
	struct pb_buf line;
	bool line_held;
	uint64_t line_ns;
	struct fxt_thread line_thread;
	uint64_t realtime_offset_ns;	/* real time less boot time; 0: not known */
};

void out_events_init(struct out_events *v, struct out_tasks *tasks, struct pb_buf *out);
void out_events_fini(struct out_events *v);
/* Nanoseconds, unless they are more than readers take. */
static inline bool out_ns_of(uint64_t ticks, uint64_t ticks_per_second, uint64_t *ns)
{
	unsigned __int128 value = ticks;

	if (ticks_per_second != 1000000000) {
		if (!ticks_per_second)
			return false;
		value = value * 1000000000 / ticks_per_second;
	}
	*ns = (uint64_t)value;
	return value <= INT64_MAX;
}

/* An event record: 0 or -ENOMEM. */
int out_events_take(struct out_events *v, const struct fxt_record *rec, uint64_t ts_ns, uint64_t ticks_per_second);
/* A log record: 0 or -ENOMEM. */
int out_events_log(struct out_events *v, const struct fxt_record *rec, uint64_t ts_ns);
/* Packets so far are lost: those that follow do not refer to them. What is held is dropped. */
void out_events_forget(struct out_events *v);
/* Appends what is held: 0 or -ENOMEM. */
int out_events_put(struct out_events *v);

#endif
