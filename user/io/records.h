/* SPDX-License-Identifier: GPL-2.0 */
/*
 * FXT records as output handles them: by their sizes only.
 */
#ifndef IO_RECORDS_H
#define IO_RECORDS_H

#include <stddef.h>

/* Called with @len bytes of whole records that are not in the trace and never will be. */
typedef void (*records_lost_fn)(void *ctx, const void *records, size_t len);

/* How many of the @len bytes at @data, which begins with a record, are whole records. */
size_t records_whole_bytes(const void *data, size_t len);

#endif
