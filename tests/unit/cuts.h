/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which places of a file a test tries, where it could try every byte: CUT_STEP in the environment says
 * how far they are apart. 1 is every byte; 37, if it is not set: each 37th, and the borders of records or
 * lines with 2 bytes on either side. Beyond 37, which is for sanitizers, borders are as much fewer.
 */
#ifndef CUTS_H
#define CUTS_H

#include <stdbool.h>
#include <stddef.h>

#define CUT_STEP_USUAL	37

struct cuts {
	unsigned char *at;	/* one for each place, the end among them: 1 if it is tried */
	size_t len;
	size_t step;
	size_t borders;
};

/* For a file of @len bytes; ends the test if there is no memory, or CUT_STEP is no number above 0. */
void cuts_init(struct cuts *c, size_t len);

/* A record or line begins at @at. */
void cuts_border(struct cuts *c, size_t at);

/* The lines of @text, or the records of the FXT trace @data, both of @c's length. */
void cuts_lines(struct cuts *c, const char *text);
void cuts_records(struct cuts *c, const void *data);

/* The first place at or after @from that is tried; beyond the length if there is none. */
size_t cuts_next(const struct cuts *c, size_t from);

void cuts_free(struct cuts *c);

/* How many of @most tries that have no place in a file: all, a quarter, or a fiftieth with sanitizers. */
size_t cuts_tries(size_t most);

#endif
