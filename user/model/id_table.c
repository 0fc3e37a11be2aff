// SPDX-License-Identifier: GPL-2.0
/*
 * Open addressing with linear probing, at most half full.
 */
#include "id_table.h"

#include <errno.h>
#include <stdlib.h>

#define CAP_MIN		256

static struct id_slot *find_slot(struct id_slot *slots, size_t cap, uint64_t key)
{
	size_t i = (size_t)((key * 0x9e3779b97f4a7c15ULL) >> 32) & (cap - 1);

	while (slots[i].value && slots[i].key != key)
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

static int grow_slots(struct id_table *t)
{
	size_t cap = t->cap ? t->cap * 2 : CAP_MIN, i;
	struct id_slot *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < t->cap; i++)
		if (t->slots[i].value)
			*find_slot(slots, cap, t->slots[i].key) = t->slots[i];
	free(t->slots);
	t->slots = slots;
	t->cap = cap;
	return 0;
}

void *id_table_get(const struct id_table *t, uint64_t key)
{
	return t->cap ? find_slot(t->slots, t->cap, key)->value : NULL;
}

int id_table_put(struct id_table *t, uint64_t key, void *value)
{
	struct id_slot *slot = t->cap ? find_slot(t->slots, t->cap, key) : NULL;

	if (slot && slot->value) {
		slot->value = value;
		return 0;
	}
	if (2 * (t->cnt + 1) > t->cap && grow_slots(t))
		return -ENOMEM;
	*find_slot(t->slots, t->cap, key) = (struct id_slot){ .key = key, .value = value };
	t->cnt++;
	return 0;
}

/* Entries after the freed slot that were displaced by it move up. */
void id_table_remove(struct id_table *t, uint64_t key)
{
	struct id_slot *slot = t->cap ? find_slot(t->slots, t->cap, key) : NULL, moved;
	size_t i;

	if (!slot || !slot->value)
		return;
	slot->value = NULL;
	t->cnt--;
	for (i = (size_t)(slot - t->slots + 1) & (t->cap - 1); t->slots[i].value; i = (i + 1) & (t->cap - 1)) {
		moved = t->slots[i];
		t->slots[i].value = NULL;
		*find_slot(t->slots, t->cap, moved.key) = moved;
	}
}

void id_table_fini(struct id_table *t)
{
	free(t->slots);
	*t = (struct id_table){ 0 };
}
