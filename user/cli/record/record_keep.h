/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who asks a recording for a file by SIGUSR2: one of what is kept in memory, or the next one of several; and what is said
 * of files of the former.
 */
#ifndef CLI_RECORD_KEEP_H
#define CLI_RECORD_KEEP_H

#include <stdbool.h>

struct record_control;
struct recorder;
struct recorder_file;
struct trigger_fired;

/* All zero: nobody can. */
struct record_keep {
	const char *command;		/* for messages; NULL: not open */
	int signal_fd;
	int tick_fd;			/* an epoll of this and of what @control listens to */
	struct record_control *control;	/* NULL: none */
	bool progress;			/* a line of progress is on the terminal */
	bool failed;			/* a file could not be written */
};

/* First of all: until record_keep_open() SIGUSR2, which would end us, waits. */
void record_keep_hold_signal(void);
/* After that, and before there are threads. An exit code; the message is printed. */
int record_keep_open(struct record_keep *k, const char *command, bool progress);
/* Whose clients ask for files as well; NULL is fine. Both before the recording begins. */
void record_keep_set_control(struct record_keep *k, struct record_control *c);
/* For recorder_run(): readable when record_keep_tick() or record_control_tick() have something to do. -1: not open. */
int record_keep_tick_fd(const struct record_keep *k);
/* A few times a second: takes SIGUSR2. */
void record_keep_tick(struct record_keep *k, struct recorder *r);
#define RECORD_KEEP_TEXT	256
/* What is said of a trigger that has fired. */
void record_keep_fired_text(const struct trigger_fired *fired, char text[RECORD_KEEP_TEXT]);
/* For recorder_keep; @ctx is a struct record_keep. */
void record_keep_fired(void *ctx, const struct trigger_fired *fired);
void record_keep_done(void *ctx, const struct recorder_file *file);
void record_keep_close(struct record_keep *k);

#endif
