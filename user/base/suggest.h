/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a mistyped or shortened word may have been meant to be.
 */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

#define SUGGEST_CNT		3
#define SUGGEST_BYTES		128	/* with the NUL; longer names are never suggested */
#define SUGGEST_TEXT_BYTES	512

/* Up to three of @names that are like @word, a name or a glob, nearest first, into @near; "" after them. */
void suggest_names(const char *word, const char *const *names, unsigned int cnt,
		   char near[SUGGEST_CNT][SUGGEST_BYTES]);
/* " (did you mean a, b?)", @prefix before each, or "" if there is none, into @text, which it returns. */
const char *suggest_text(char text[SUGGEST_TEXT_BYTES], const char *prefix,
			 char near[SUGGEST_CNT][SUGGEST_BYTES]);

#endif
