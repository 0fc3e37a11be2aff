/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Looks through an input that can be read twice for the times of events, so that, when it is read,
 * it is known at each place how early what follows can be.
 */
#ifndef FORMAT_CHROME_AHEAD_H
#define FORMAT_CHROME_AHEAD_H

#include <stddef.h>
#include <stdint.h>

struct ahead;

/* Bytes at an offset of the input: the number read, 0 at the end, or -errno. */
typedef long (*chrome_read_at_fn)(void *ctx, void *buf, size_t len, uint64_t offset);

/*
 * Reads all of the input. 0; -EDOM: times are below 0, or in a form that is not looked for, or there is
 * ftrace text; -ENOMEM, or an error of @read_at.
 */
int ahead_open(struct ahead **out, chrome_read_at_fn read_at, void *ctx);
/*
 * No event that begins at @offset or later has an earlier time than this, in ns; INT64_MAX - 1 where none
 * has a time. That of metadata does not count.
 */
int64_t ahead_least(const struct ahead *a, uint64_t offset);
/* Frames of stacks may follow the events that refer to them: 1, *@offset is where; 0: there are none; -EDOM: which? */
int ahead_frames(const struct ahead *a, uint64_t *offset);
/*
 * The next place before @end where there is "ts", "stackFrames" or something that makes what is found
 * unreliable; @end: none. Quotes follow @end, AHEAD_PAD_BYTES of them.
 */
#define AHEAD_PAD_BYTES	64U
const char *ahead_find(const char *p, const char *end);
/* The same as CPUs without AVX2 do it. */
const char *ahead_find_plain(const char *p, const char *end);
/* NULL is fine. */
void ahead_close(struct ahead *a);

#endif
