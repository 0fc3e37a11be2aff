/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What writer and reader both need to know about a record's shape beyond its
 * bit fields: how many words its parts take. Private to libfxt.
 */
#ifndef FXT_WIRE_H
#define FXT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format.h"

/* "Atoms": words are little endian, and this library moves them as they are. */
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "libfxt needs a little-endian machine"
#endif

#define FXT_WORD	8U		/* bytes */

/* "Atoms": a stream is padded to the next word. No length is too large to ask. */
static inline uint64_t fxt_words(uint64_t bytes)
{
	return bytes / FXT_WORD + (bytes % FXT_WORD != 0);
}

/* Words a string ref adds to its record. */
static inline size_t fxt_ref_words(unsigned int ref)
{
	return ref & FXT_STR_INLINE ? fxt_words(ref & FXT_STRING_INDEX_MAX) : 0;
}

/* Words a thread ref adds to its record; of a userspace object it is one. */
static inline size_t fxt_thread_words(unsigned int ref)
{
	return ref ? 0 : 2;
}

/* "Event record": counter id, correlation id or end time after the arguments. */
static inline bool fxt_event_has_id(unsigned int type)
{
	return type == FXT_COUNTER || (type >= FXT_DURATION_COMPLETE && type <= FXT_FLOW_END);
}

#endif
