/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hash map from 64-bit ids to array indexes, for koids. It only grows.
 */
#ifndef READ_MAP_H
#define READ_MAP_H

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

uint32_t map_get(const struct map *m, uint64_t key);
/* Adds a key that is not there yet. Returns 0 or -ENOMEM. */
int map_add(struct map *m, uint64_t key, uint32_t value);
void map_fini(struct map *m);

#endif
