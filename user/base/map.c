// SPDX-License-Identifier: GPL-2.0
/*
 * Open addressing with linear probing, at most half full, so that a lookup
 * touches one cache line in nearly every case.
 */
#include "map.h"

#include <errno.h>
#include <stdlib.h>

#define CAP_MIN		256

static int grow_slots(struct map *m)
{
	struct map bigger = { .cap = m->cap ? m->cap * 2 : CAP_MIN, .cnt = m->cnt };
	size_t i;

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (i = 0; i < bigger.cap; i++)
		bigger.slots[i].value = MAP_NONE;
	for (i = 0; i < m->cap; i++)
		if (m->slots[i].value != MAP_NONE)
			*map_find(&bigger, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return 0;
}

int map_add(struct map *m, uint64_t key, uint32_t value)
{
	int err;

	if (2 * (m->cnt + 1) > m->cap) {
		err = grow_slots(m);
		if (err)
			return err;
	}
	*map_find(m, key) = (struct map_slot){ .key = key, .value = value };
	m->cnt++;
	return 0;
}

int map_set(struct map *m, uint64_t key, uint32_t value)
{
	if (map_get(m, key) == MAP_NONE)
		return map_add(m, key, value);
	map_find(m, key)->value = value;
	return 0;
}

void map_fini(struct map *m)
{
	free(m->slots);
	*m = (struct map){ 0 };
}
