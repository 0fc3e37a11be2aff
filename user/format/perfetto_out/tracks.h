/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracks that events are on: a tree of TrackDescriptors. Each is described in the packet before its
 * first event.
 *
 * Threads and processes of Linux have tracks of these; what is no thread has a track below its process,
 * or below a root that is named as the process that FXT has it in.
 */
#ifndef FORMAT_PERFETTO_OUT_TRACKS_H
#define FORMAT_PERFETTO_OUT_TRACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "fxt/fxt.h"
#include "format/perfetto/pool.h"
#include "tasks.h"

struct pb_buf;

struct out_track {
	uint64_t uuid, parent;
	bool is_linux;		/* ProcessTree packets name it */
	bool described;
};

struct out_tracks {
	struct out_tasks *tasks;
	struct pb_buf *out;		/* takes the packets */
	uint64_t cnt;			/* uuids are 1 to this */
	struct map by_thread, by_process, by_marked;	/* koid: index of list[]; the last one of markers of a thread */
	struct out_track *list;
	size_t list_cnt, list_cap;
	struct pf_pool counters;	/* keys; number 1 has counter_uuids[0] */
	uint64_t *counter_uuids;
	size_t counter_uuids_cap;
};

void out_tracks_init(struct out_tracks *t, struct out_tasks *tasks, struct pb_buf *out);
void out_tracks_fini(struct out_tracks *t);
/* Descriptions so far are lost: each track is described again before its next event. */
void out_tracks_forget(struct out_tracks *t);
/* The track of a thread or process, at most as old as @ts_ns: 0 with *@uuid set, or -ENOMEM. */
int out_tracks_thread(struct out_tracks *t, struct fxt_thread at, uint64_t ts_ns, uint64_t *uuid);
int out_tracks_process(struct out_tracks *t, uint64_t koid, uint64_t ts_ns, uint64_t *uuid);
/*
 * A track "markers" below that of a thread of Linux; of others the same as out_tracks_thread(). What a program marks
 * may begin in one system call and end in another, and slices of one track must not cross.
 */
int out_tracks_markers(struct out_tracks *t, struct fxt_thread at, uint64_t ts_ns, uint64_t *uuid);
/* That of argument @arg of a counter. *@uuid is 0 if there are too many. */
int out_tracks_counter(struct out_tracks *t, const struct fxt_event *e, struct fxt_str arg, uint64_t ts_ns,
		       uint64_t *uuid);
/* A new one below the process @koid. */
int out_tracks_add(struct out_tracks *t, uint64_t koid, struct fxt_str name, uint64_t ts_ns, uint64_t *uuid);
/* A kernel object record has named a process or thread: its track, if it has one that has a name of its own. */
int out_tracks_rename(struct out_tracks *t, const struct fxt_record *rec, uint64_t ts_ns);

#endif
