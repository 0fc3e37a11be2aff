// SPDX-License-Identifier: GPL-2.0
/*
 * The index of a name in an array of names: a hash table with chains, in the array's order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "name_index.h"

static uint32_t hash(const char *name)
{
	uint32_t h = 2166136261U;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619U;
	return h ^ h >> 15;
}

int name_index_init(struct name_index *index, const char *const *names, uint32_t cnt)
{
	uint32_t size = 16, i, *head;

	while (size < cnt && size < 1U << 31)
		size *= 2;
	index->names = names;
	index->mask = size - 1;
	index->heads = malloc(size * sizeof(*index->heads));
	index->next = malloc((cnt ? cnt : 1) * sizeof(*index->next));
	if (!index->heads || !index->next) {
		name_index_fini(index);
		return -ENOMEM;
	}
	memset(index->heads, 0xff, size * sizeof(*index->heads));
	for (i = cnt; i-- > 0;) {
		head = &index->heads[hash(names[i]) & index->mask];
		index->next[i] = *head;
		*head = i;
	}
	return 0;
}

void name_index_fini(struct name_index *index)
{
	free(index->heads);
	free(index->next);
	index->heads = index->next = NULL;
}

/* @name at @i or later in its chain. */
static uint32_t find_from(const struct name_index *index, uint32_t i, const char *name)
{
	while (i != NAME_INDEX_NONE && strcmp(index->names[i], name))
		i = index->next[i];
	return i;
}

uint32_t name_index_first(const struct name_index *index, const char *name)
{
	return find_from(index, index->heads[hash(name) & index->mask], name);
}

uint32_t name_index_next(const struct name_index *index, uint32_t i)
{
	return find_from(index, index->next[i], index->names[i]);
}
