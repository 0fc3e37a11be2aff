/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The samples of ftrace text, and ways to parse them that must come to the same.
 */
#ifndef PARSE_SAMPLES_H
#define PARSE_SAMPLES_H

#include <stddef.h>

#include "parse_walk.h"

struct sample {
	char *data;	/* to be freed; NULL: there is no such file */
	size_t len;
};

struct sample read_sample(const char *name);
/* Calls @check for each sample of plain text. */
void each_sample(void (*check)(const char *name, struct sample s));
/* Both kept all promises and found the same events; @what is the fault if not. */
void same_walk(const char *name, struct parse_walk a, struct parse_walk b, const char *what);
struct parse_walk walk_whole(struct sample s);
struct parse_walk walk_pieces(struct sample s, size_t chunk);
/* Without the fast path. */
struct parse_walk walk_general(struct sample s);

#endif
