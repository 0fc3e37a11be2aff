// SPDX-License-Identifier: GPL-2.0
#include "array.h"

#include <stdint.h>
#include <stdlib.h>

#define CAP_MIN		16

void *array_grow(void *array, size_t *cap, size_t cnt, size_t more, size_t element_bytes, size_t cap_max)
{
	size_t needed, bigger = *cap < CAP_MIN ? CAP_MIN : *cap;
	void *moved;

	if (__builtin_add_overflow(cnt, more, &needed) || needed > cap_max)
		return NULL;
	while (bigger < needed)
		bigger = bigger > cap_max / 2 ? needed : 2 * bigger;
	if (bigger > PTRDIFF_MAX / element_bytes)
		return NULL;
	moved = realloc(array, bigger * element_bytes);
	if (moved)
		*cap = bigger;
	return moved;
}
