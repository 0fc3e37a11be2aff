/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attaching to thousands of functions or tracepoints, and detaching, takes a while.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>

/* Reports progress: @done of @all @what. Returns whether to go on, which counts for attaching only. */
typedef bool (*progress_fn)(void *ctx, const char *doing, unsigned int done, unsigned int all, const char *what);

#endif
