/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the writer share. Private to user/format/chrome.
 */
#ifndef FORMAT_CHROME_OUT_WRITER_P_H
#define FORMAT_CHROME_OUT_WRITER_P_H

#include <stdbool.h>

#include "base/pieces.h"
#include "fxt/fxt.h"
#include "model/sort.h"
#include "writer.h"
#include "buf.h"
#include "names.h"
#include "samples.h"

/* What is sorted before it can be written. */
enum early_group {
	EARLY_SLICE,		/* begins and ends of durations */
	EARLY_FLOW,
	EARLY_SCHED,
};

/* An event as it is sorted: this, then the strings, the last one members of a JSON object. */
struct early_event {
	struct fxt_thread at;
	uint64_t ts_ns;
	uint32_t category_len, name_len, args_len;
	uint8_t type;		/* enum fxt_event_type */
};

/* Groups of lines. */
enum line_group { LINE_EVENT, LINE_SAMPLE };

/* Ranks of lines of the same time: slices first, the longer ones before those inside of them. */
#define RANK_SLICE(duration_ns)	((UINT64_MAX - 1) - ((duration_ns) < UINT64_MAX - 1 ? (duration_ns) : UINT64_MAX - 1))
#define RANK_UNFINISHED		0
#define RANK_OTHER		UINT64_MAX

struct chrome_writer {
	struct chrome_writer_cfg cfg;
	struct fxt_reader *reader;
	struct pieces input;		/* what the reader was not given yet */
	int err;
	uint64_t left_out[CHROME_LEFT_CNT];
	struct write_names processes, threads;
	bool has_sched;			/* switches, wakeups or losses */
	struct event_sort *early;	/* see enum early_group */
	struct event_sort *lines;	/* events as JSON, without the comma; samples after them */
	struct profile_reader *profile;
	struct write_frames frames;	/* of samples */
	struct write_buf line, args;	/* being made */
	struct write_buf out;		/* to be handed on */
	bool has_lines;			/* something is in the list of events */
	/* The last log record, until it is known that no instant shows it. */
	bool log_held;
	uint64_t log_ts;
	struct fxt_thread log_thread;
	struct write_buf log_text;
};

/* What begins each event but metadata, in w->line. */
void chrome_line_begin(struct chrome_writer *w, const char *phase, struct fxt_thread at, uint64_t ts_ns,
		       struct fxt_str category, struct fxt_str name);
/* The id of one that has one. */
void chrome_line_id(struct chrome_writer *w, uint64_t id);
/* Puts w->args, if there are any, and ends the line, which is sorted in. 0 or -errno. */
int chrome_line_end(struct chrome_writer *w, uint64_t ts_ns, uint64_t rank);

/* early.c: sorts in one event, for which @key says where. 0 or -errno. */
int chrome_early_add(struct chrome_writer *w, struct event_sort_key key, const struct fxt_record *rec, uint64_t ts_ns);
/* The item in @copy, where it may be read as a struct, until the next one is; NULL: no memory. */
const struct early_event *chrome_early_get(struct write_buf *copy, const struct event_sort_item *item);
struct fxt_str chrome_early_category(const struct early_event *e);
struct fxt_str chrome_early_name(const struct early_event *e);
/* Adds its arguments to w->args. */
void chrome_early_put_args(struct chrome_writer *w, const struct early_event *e);

/*
 * slices.c: makes lines of begins and ends; the first item that is none of them is in *@item. 1, 0 if there is
 * none, or -errno.
 */
int chrome_slices_pair(struct chrome_writer *w, struct event_sort_item *item);

/* flows.c: sorts in one event of a flow. 0 or -errno. */
int chrome_flows_add(struct chrome_writer *w, const struct fxt_record *rec, uint64_t ts_ns);
/* Makes lines of those from *@item on; the rest as chrome_slices_pair(). */
int chrome_flows_put(struct chrome_writer *w, struct event_sort_item *item);

/* sched.c: sorts in one record of scheduling. 0 or -errno. */
int chrome_sched_add(struct chrome_writer *w, const struct fxt_record *rec, uint64_t ts_ns);
/* The same for a slice that says what was lost on a CPU; other slices are none of its business. */
int chrome_sched_add_loss(struct chrome_writer *w, const struct fxt_record *rec, uint64_t ts_ns);
/* Makes lines of them (slices and states), or the member of the text (ftrace), from *@item on. 0 or -errno. */
int chrome_sched_write(struct chrome_writer *w, struct event_sort_item *item);
/* write.c: hands on what is in w->out, if it is much or @all. 0 or -errno. */
int chrome_flush(struct chrome_writer *w, bool all);

#endif
