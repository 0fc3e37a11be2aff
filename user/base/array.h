/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arrays that grow: a pointer, a count and a capacity, which are the caller's own variables. All zero
 * is an empty one, free() ends it.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <errno.h>
#include <stddef.h>

/*
 * Capacity for @more elements after the @cnt that @array has: 0, or -ENOMEM with all as it was. @array and
 * @cap, of any unsigned type, are updated. Capacities double, so that adding costs the same on average.
 */
#define array_reserve(array, cnt, cap, more) \
	((size_t)(cap) - (cnt) >= (size_t)(more) ? 0 : ({ \
		size_t array_cap_ = (cap); \
		void *moved_ = array_grow((array), &array_cap_, (cnt), (more), sizeof(*(array)), \
					  (__typeof__(cap))-1); \
		if (moved_) { \
			(array) = moved_; \
			(cap) = (__typeof__(cap))array_cap_; \
		} \
		moved_ ? 0 : -ENOMEM; \
	}))

/* For array_reserve(): returns @array with *@cap, at most @cap_max, large enough; NULL: no memory. */
void *array_grow(void *array, size_t *cap, size_t cnt, size_t more, size_t element_bytes, size_t cap_max);

#endif
