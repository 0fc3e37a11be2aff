/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks and repairs UTF-8. Private to libfxt. */
#ifndef FXT_UTF8_H
#define FXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Whether all of it is UTF-8. */
bool fxt_utf8_valid(const char *s, size_t len);

struct fxt_utf8_repair {
	size_t len;		/* bytes written */
	bool cut;		/* something was left out at the end */
	bool repaired;		/* something was replaced by U+FFFD */
};

/* Copies at most @max bytes, whole characters only, making them UTF-8. */
struct fxt_utf8_repair fxt_utf8_repair(char *dst, size_t max, const char *src, size_t len);

#pragma GCC visibility pop

#endif
