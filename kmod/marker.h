/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What programs write to trace_marker. One caller at a time.
 */
#ifndef KFXT_MARKER_H
#define KFXT_MARKER_H

/* Idempotent, both. After the second no marker is being reported. */
int kfxt_marker_start(void);
void kfxt_marker_stop(void);

/*
 * How many of the @room bytes at @text, an entry of ftrace's buffer, were
 * written by the program, its last newline not counted.
 */
unsigned int kfxt_marker_len(const char *text, unsigned int room);

#endif
