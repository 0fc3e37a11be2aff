/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the drain has read of a ring stays in the caches of its CPU, and who writes there again
 * has to get each line from them: where the two CPUs share no cache, that costs more than all
 * else about a record. So the drain takes out what it gives back.
 */
#ifndef RING_CACHE_FLUSH_H
#define RING_CACHE_FLUSH_H

#include <stddef.h>

/*
 * Takes out of the caches of all CPUs the line of @at and those after it up to that of @end, which is
 * left to who goes on writing there. What they hold stays. Nothing happens where the CPU cannot.
 */
void cache_flush(const void *at, const void *end);

#endif
