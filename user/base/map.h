/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hash map from 64-bit ids to array indexes, for koids. It only grows.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#define MAP_NONE	UINT32_MAX	/* not found; not a value */

struct map_slot {
	uint64_t key;
	uint32_t value;
};

/* All zero is an empty map. */
struct map {
	struct map_slot *slots;
	size_t cap;		/* 0 or a power of two */
	size_t cnt;
};

/*
 * Where the key is, or would be, in a map that is not empty. Fibonacci hashing: koids are small and dense, the
 * top bits of the product are not.
 */
static inline struct map_slot *map_find(const struct map *m, uint64_t key)
{
	size_t i = (size_t)((key * 0x9e3779b97f4a7c15ULL) >> 32) & (m->cap - 1);

	while (m->slots[i].value != MAP_NONE && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

static inline uint32_t map_get(const struct map *m, uint64_t key)
{
	return m->cap ? map_find(m, key)->value : MAP_NONE;
}

/* Adds a key that is not there yet. Returns 0 or -ENOMEM. */
int map_add(struct map *m, uint64_t key, uint32_t value);
/* The same of one that may be there: it has the new value. */
int map_set(struct map *m, uint64_t key, uint32_t value);
void map_fini(struct map *m);

#endif
