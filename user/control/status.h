/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a recorder says of itself while it runs: kfxt-status(1) has what the names in JSON mean.
 *
 * All strings are borrowed and may have any bytes. Times of day are ns since 1970 (CLOCK_REALTIME), 0: never. A double
 * that is not known is NAN; a string that is not known is NULL.
 */
#ifndef CONTROL_STATUS_H
#define CONTROL_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Of a flight recorder. */
struct control_status_window {
	bool there;		/* false: all is written at once, there is no window */
	uint64_t keep_ns, keep_bytes;	/* what the options allow; 0: no limit of this kind */
	uint64_t held_ns, held_bytes;
	uint64_t raw_bytes;	/* what is held, not compressed */
	uint64_t overwritten;	/* events that were recorded and have been given up since */
	bool dumping;		/* a file is being written now */
};

/* Events of a class: those that were selected, by what became of them. */
struct control_status_count {
	const char *name;	/* "switches" */
	uint64_t recorded, lost, filtered;
	uint64_t shed;		/* for the budget */
	uint64_t ratelimited;	/* beyond a limit of their rate */
};

/* In percent of one CPU. */
struct control_status_cost {
	double total, kernel, recorder;
	bool measured;		/* false: by typical times of the programs */
	double budget;		/* NAN: none */
	const char *const *shed;	/* what is not recorded at present, for the budget */
	unsigned int shed_cnt;
};

struct control_status_trigger {
	const char *word;	/* as it was given: "runq>10ms" */
	uint64_t fired, suppressed;
	uint64_t last_ns;	/* time of day */
	const char *file;	/* the last one that is complete; NULL: none */
	const char *blind;	/* why it cannot fire at present; NULL: it can */
};

struct control_status_files {
	uint64_t written, failed, deleted;
	const char *last;	/* the last one that is complete */
	const char *paused;	/* why no files are written at present, as "no space left on device"; NULL: they are */
	uint64_t hooks_run, hooks_failed, hooks_running;
	uint64_t hooks_skipped;	/* not run: too many were, or it was not possible */
};

struct control_status {
	pid_t pid;
	const char *version;	/* of kfxt */
	uint64_t now_ns, since_ns;	/* time of day: of this status, of the begin of the recording */
	const char *const *options;	/* of the command line, without the name of the command */
	unsigned int options_cnt;
	const char *output;	/* pattern of the names of files, or the file */
	struct control_status_window window;
	double events_per_s, bytes_per_s;	/* of late; bytes as they are kept or written */
	const struct control_status_count *counts;
	unsigned int counts_cnt;
	struct control_status_cost cost;
	uint64_t memory_bytes;	/* rings, maps, the window and the recorder's own */
	const struct control_status_trigger *triggers;
	unsigned int triggers_cnt;
	struct control_status_files files;
};

/* One JSON object of one line; for free(). NULL: no memory. */
char *control_status_json(const struct control_status *s);
/* The same for people, in lines. */
char *control_status_text(const struct control_status *s);

#endif
