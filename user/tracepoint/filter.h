/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Filters on the fields of a tracepoint, "bytes > 65536 && rwbs == W": from text to the tests
 * that the kernel side goes through (struct field_test).
 */
#ifndef TRACEPOINT_FILTER_H
#define TRACEPOINT_FILTER_H

#include <stdbool.h>
#include <stddef.h>

struct tracepoint_format;
struct tracepoint_info;

/*
 * Puts the tests that @text means into @info. The language is that of ftrace's filter
 * files: comparisons by == != < <= > >= and &, of strings by == != and ~ with a '*' at the
 * end; && || ! and parentheses. 0 or -EINVAL with the reason in @why.
 */
int tracepoint_filter_compile(struct tracepoint_info *info, const struct tracepoint_format *format,
			      const char *text, char *why, size_t why_size);
/* Whether a record of @len bytes passes these tests; without any, each does. Of one that is cut what is missing fits nothing. */
bool tracepoint_filter_matches(const struct tracepoint_info *info, const void *record, size_t len);

#endif
