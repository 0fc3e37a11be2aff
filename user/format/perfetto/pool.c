// SPDX-License-Identifier: GPL-2.0
/*
 * A hash table of numbers; the text is in blocks that never move.
 */
#include "pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text_hash.h"

#define BLOCK_BYTES	(64U << 10)

static char *reserve_text(struct pf_pool *p, size_t len)
{
	size_t size = len > BLOCK_BYTES ? len : BLOCK_BYTES;
	char *block;

	if (p->blocks_cnt && p->used + len <= BLOCK_BYTES) {
		p->used += len;
		return p->blocks[p->blocks_cnt - 1] + p->used - len;
	}
	if (array_reserve(p->blocks, p->blocks_cnt, p->blocks_cap, 1))
		return NULL;
	block = malloc(size);
	if (!block)
		return NULL;
	p->blocks[p->blocks_cnt++] = block;
	p->used = len;
	return block;
}

static size_t slot_of(const struct pf_pool *p, uint32_t hash, const void *data, size_t len)
{
	size_t i = hash & (p->slots_cap - 1);

	for (; p->slots[i]; i = (i + 1) & (p->slots_cap - 1)) {
		const struct pf_string *s = &p->strings[p->slots[i] - 1];

		if (s->hash == hash && s->len == len && !memcmp(s->data, data, len))
			break;
	}
	return i;
}

static int grow_slots(struct pf_pool *p)
{
	size_t cap = p->slots_cap ? 2 * p->slots_cap : 1024, i, at;
	uint32_t *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < p->cnt; i++) {
		for (at = p->strings[i].hash & (cap - 1); slots[at]; at = (at + 1) & (cap - 1))
			;
		slots[at] = (uint32_t)i + 1;
	}
	free(p->slots);
	p->slots = slots;
	p->slots_cap = cap;
	return 0;
}

uint32_t pf_pool_add_below(struct pf_pool *p, const void *data, size_t len, size_t max)
{
	uint32_t hash;
	size_t at;
	char *copy;

	if (!len)
		return PF_NO_STRING;
	if (2 * (p->cnt + 1) > p->slots_cap && grow_slots(p))
		return PF_POOL_FULL;
	hash = text_hash(data, len);
	at = slot_of(p, hash, data, len);
	if (p->slots[at])
		return p->slots[at];
	if (p->bytes > max || len > max - p->bytes || array_reserve(p->strings, p->cnt, p->cap, 1))
		return PF_POOL_FULL;
	copy = reserve_text(p, len);
	if (!copy)
		return PF_POOL_FULL;
	memcpy(copy, data, len);
	p->bytes += len;
	p->strings[p->cnt++] = (struct pf_string){ copy, (uint32_t)len, hash };
	p->slots[at] = (uint32_t)p->cnt;
	return (uint32_t)p->cnt;
}

uint32_t pf_pool_add(struct pf_pool *p, const void *data, size_t len)
{
	return pf_pool_add_below(p, data, len, PF_POOL_BYTES);
}

void pf_pool_fini(struct pf_pool *p)
{
	size_t i;

	for (i = 0; i < p->blocks_cnt; i++)
		free(p->blocks[i]);
	free(p->blocks);
	free(p->strings);
	free(p->slots);
	*p = (struct pf_pool){ 0 };
}
