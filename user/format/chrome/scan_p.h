/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside of the scanner: the window on the input.
 */
#ifndef FORMAT_CHROME_SCAN_P_H
#define FORMAT_CHROME_SCAN_P_H

#include "scan.h"

enum scan_state {
	SCAN_START,
	SCAN_EVENTS,		/* in an array of events */
	SCAN_SAMPLES,		/* in the array samples */
	SCAN_MEMBERS,		/* in the outermost object */
	SCAN_FRAMES,		/* in the object stackFrames */
	SCAN_TAIL,		/* after the JSON */
	SCAN_ENDED,
};

struct chrome_scan {
	chrome_read_fn read;
	void *read_ctx;
	char *buf;		/* CHROME_PAD_BYTES follow @end */
	size_t cap, pos, end;	/* what is in the window from @pos on is still to be taken */
	uint64_t base;		/* offset in the input of buf[0] */
	bool at_end;		/* the input has nothing after the window */
	enum scan_state state;
	uint64_t commas;	/* since the last element */
	bool has_element;	/* of the list that the scanner is in */
	uint64_t inner;		/* lists in it that are open */
	uint64_t number;	/* elements of event lists so far */
	char name[256];		/* of the member, cut */
	size_t name_len;
	chrome_text_fn text;	/* NULL: it is a member as others are */
	void *text_ctx;
	struct chrome_scan_counts counts;
};

#define SCAN_LOOK_BACK	64U	/* bytes before @pos that stay in the window */

/* Reads more after what is in the window. 1, 0 at the end of the input, or -errno. */
int scan_more(struct chrome_scan *s);
/*
 * To the next byte that is no blank, which stays: that byte, -1 at the end of the input, or
 * -errno - 1.
 */
int scan_peek(struct chrome_scan *s);
/* Keeps the first problem of the whole; the scanner is at it. */
void scan_problem(struct chrome_scan *s, const char *text);
/*
 * Passes over the damaged event at the scanner's place: to its end, or to where the next one
 * seems to begin. 1, 0: the input ended first, or -errno.
 */
int scan_recover(struct chrome_scan *s);
/* Passes over a value of any length. 1, 0: the input ended first, or -errno. */
int scan_skip_value(struct chrome_scan *s);

#endif
