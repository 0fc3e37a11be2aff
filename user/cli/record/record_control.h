/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kfxt snapshot and kfxt status ask of a recording that runs.
 */
#ifndef CLI_RECORD_CONTROL_H
#define CLI_RECORD_CONTROL_H

#include <stdint.h>

struct record_control;
struct recorder;
struct recorder_cfg;
struct recorder_file;
struct record_summary;
struct trigger_fired;

/*
 * Listens, before privileges_confine(). Borrows both. Without a socket, for whatever reason, which is printed, *@out is NULL,
 * and all below do nothing.
 */
void record_control_open(struct record_control **out, const char *command, const struct recorder_cfg *cfg,
			 const struct record_summary *summary);
/* For privileges_cfg.control_fd; 0: none. */
int record_control_listener(const struct record_control *c);
/* Readable when record_control_tick() has something to do. */
int record_control_fd(const struct record_control *c);
/* A few times a second, once @r records: takes requests, answers those for a status. */
void record_control_tick(struct record_control *c, struct recorder *r);
/* What became of a file; whoever asked for it is answered. */
void record_control_done(struct record_control *c, const struct recorder_file *file);
void record_control_fired(struct record_control *c, const struct trigger_fired *fired);
void record_control_close(struct record_control *c);

#endif
