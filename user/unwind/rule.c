// SPDX-License-Identifier: GPL-2.0
/*
 * Rules by file and offset: multiplicative hashing, linear probing, at most two thirds full.
 */
#include <stdlib.h>
#include <string.h>

#include "rule.h"

#define CAP_MIN		1024U
#define OFFSET_BITS	48
#define FILES_MAX	0xffffU		/* mapped_files has no more; one is left so that no key is 0 */

struct rule_place {
	uint32_t key[2];		/* low, high; both 0: free */
	struct unwind_rule rule;
};

_Static_assert(sizeof(struct rule_place) == 20, "as said in rule.h");

uint64_t rule_key(uint32_t file, uint64_t offset)
{
	if (file >= FILES_MAX || offset >> OFFSET_BITS)
		return 0;
	return (uint64_t)(file + 1) << OFFSET_BITS | offset;
}

static uint64_t key_at(const struct rule_place *place)
{
	return (uint64_t)place->key[1] << 32 | place->key[0];
}

/* The place of @key, or the free one where it would be. */
static struct rule_place *find(const struct rule_table *t, uint64_t key)
{
	size_t i = (key * 0x9e3779b97f4a7c15ULL) >> 32;
	uint64_t at;

	for (;; i++) {
		at = key_at(&t->places[i & (t->cap - 1)]);
		if (at == key || !at)
			return &t->places[i & (t->cap - 1)];
	}
}

bool rule_table_get(const struct rule_table *t, uint64_t key, struct unwind_rule *rule)
{
	const struct rule_place *place;

	if (!t->cap || !key)
		return false;
	place = find(t, key);
	if (!key_at(place))
		return false;
	*rule = place->rule;
	return true;
}

static void put_rule(struct rule_table *t, uint64_t key, const struct unwind_rule *rule)
{
	struct rule_place *place = find(t, key);

	place->key[0] = (uint32_t)key;
	place->key[1] = key >> 32;
	place->rule = *rule;
}

static bool grow_places(struct rule_table *t)
{
	struct rule_table larger = { .cap = t->cap ? 2 * t->cap : CAP_MIN, .cnt = t->cnt };
	size_t i;

	larger.places = calloc(larger.cap, sizeof(*larger.places));
	if (!larger.places)
		return false;
	for (i = 0; i < t->cap; i++)
		if (key_at(&t->places[i]))
			put_rule(&larger, key_at(&t->places[i]), &t->places[i].rule);
	free(t->places);
	*t = larger;
	return true;
}

void rule_table_add(struct rule_table *t, uint64_t key, const struct unwind_rule *rule)
{
	if (!key)
		return;
	if (t->cnt == RULE_TABLE_RULES_MAX) {
		memset(t->places, 0, t->cap * sizeof(*t->places));
		t->cnt = 0;
	}
	if (3 * t->cnt >= 2 * t->cap && !grow_places(t))
		return;
	put_rule(t, key, rule);
	t->cnt++;
}

void rule_table_fini(struct rule_table *t)
{
	free(t->places);
	*t = (struct rule_table){ 0 };
}
