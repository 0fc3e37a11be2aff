// SPDX-License-Identifier: GPL-2.0
/*
 * Open addressing with linear probing, at most half full, so that a lookup
 * touches one cache line in nearly every case.
 */
#include "map.h"

#include <errno.h>
#include <stdlib.h>

#define CAP_MIN		256

/* Fibonacci hashing: koids are small and dense, the top bits of the product are not. */
static size_t slot_of(const struct map *m, uint64_t key)
{
	return (size_t)((key * 0x9e3779b97f4a7c15ULL) >> 32) & (m->cap - 1);
}

static struct map_slot *find_slot(const struct map *m, uint64_t key)
{
	size_t i = slot_of(m, key);

	while (m->slots[i].value != MAP_NONE && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

static int grow(struct map *m)
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
			*find_slot(&bigger, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return 0;
}

uint32_t map_get(const struct map *m, uint64_t key)
{
	return m->cap ? find_slot(m, key)->value : MAP_NONE;
}

int map_add(struct map *m, uint64_t key, uint32_t value)
{
	int err;

	if (2 * (m->cnt + 1) > m->cap) {
		err = grow(m);
		if (err)
			return err;
	}
	*find_slot(m, key) = (struct map_slot){ .key = key, .value = value };
	m->cnt++;
	return 0;
}

void map_fini(struct map *m)
{
	free(m->slots);
	*m = (struct map){ 0 };
}
