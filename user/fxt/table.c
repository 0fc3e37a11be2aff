/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table from keys to the small integers that stand for them in a trace.
 *
 * Entries are an array addressed by index. Links between them are indexes too,
 * 0 being none: one chain per hash bucket, one queue of the replaceable entries
 * from the oldest to the youngest, one list of freed indexes. It knows nothing
 * of records; the writer emits those.
 */
#include "table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	char *key;
	uint64_t used;		/* the record that used it last */
	uint32_t hash, len;
	uint16_t chain;		/* next in the bucket */
	uint16_t next;		/* next in the queue, or in the free list */
	bool fixed;
};

struct fxt_table {
	struct entry *entries;
	uint16_t *buckets;
	uint32_t mask;
	unsigned int limit;
	unsigned int fresh;	/* lowest index never given away */
	unsigned int fixed;	/* how many are */
	uint16_t oldest, youngest, free;
	bool began;		/* a replaceable entry was added: too late for fixed ones */
	size_t bytes, bytes_max;
	uint64_t record, replaced;
};

/* Up to seven bytes as one word, without a call: two loads that may overlap. */
static uint64_t load_short(const unsigned char *at, size_t len)
{
	uint32_t low, high;

	if (len >= sizeof(low)) {
		memcpy(&low, at, sizeof(low));
		memcpy(&high, at + len - sizeof(high), sizeof(high));
		return low | (uint64_t)high << 32;
	}
	return len ? at[0] | (uint64_t)at[len / 2] << 8 | (uint64_t)at[len - 1] << 16 : 0;
}

/* Eight bytes a step: each step is a bijection of the state, so short keys cannot collapse. */
static uint32_t hash_key(const void *key, size_t len)
{
	uint64_t h = len * 0x9e3779b97f4a7c15ULL, word;
	const unsigned char *at = key;

	for (; len >= sizeof(word); at += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		h = (h ^ word) * 0xff51afd7ed558ccdULL;
		h ^= h >> 32;
	}
	h = (h ^ load_short(at, len)) * 0xff51afd7ed558ccdULL;
	h ^= h >> 32;
	h *= 0xc4ceb9fe1a85ec53ULL;
	return h >> 32;
}

int fxt_table_open(struct fxt_table **out, unsigned int limit, size_t bytes_max)
{
	struct fxt_table *t = calloc(1, sizeof(*t));
	uint32_t buckets = 256;

	if (!t)
		return -ENOMEM;
	while (buckets < limit)
		buckets *= 2;
	t->limit = limit;
	t->bytes_max = bytes_max;
	t->mask = buckets - 1;
	t->fresh = 1;
	t->entries = calloc(limit + 1, sizeof(*t->entries));
	t->buckets = calloc(buckets, sizeof(*t->buckets));
	if (!t->entries || !t->buckets) {
		fxt_table_close(t);
		return -ENOMEM;
	}
	*out = t;
	return 0;
}

void fxt_table_close(struct fxt_table *t)
{
	unsigned int i;

	if (!t)
		return;
	for (i = 1; t->entries && i <= t->limit; i++)
		free(t->entries[i].key);
	free(t->entries);
	free(t->buckets);
	free(t);
}

void fxt_table_begin(struct fxt_table *t)
{
	t->record++;
}

unsigned int fxt_table_find(struct fxt_table *t, const void *key, size_t len)
{
	uint32_t hash = hash_key(key, len);
	unsigned int i;

	for (i = t->buckets[hash & t->mask]; i; i = t->entries[i].chain) {
		struct entry *e = &t->entries[i];

		if (e->hash == hash && e->len == len && !memcmp(e->key, key, len)) {
			e->used = t->record;
			return i;
		}
	}
	return 0;
}

static void unchain(struct fxt_table *t, unsigned int index)
{
	struct entry *e = &t->entries[index];
	uint16_t *link = &t->buckets[e->hash & t->mask];

	while (*link != index)
		link = &t->entries[*link].chain;
	*link = e->chain;
}

/* Takes an entry that left the queue out of the table; its index is free again. */
static void drop(struct fxt_table *t, unsigned int index)
{
	struct entry *e = &t->entries[index];

	unchain(t, index);
	free(e->key);
	e->key = NULL;
	t->bytes -= e->len;
	e->next = t->free;
	t->free = index;
}

/* Makes room: of what the record does not use, the one added longest ago goes. */
static bool replace_oldest(struct fxt_table *t)
{
	unsigned int prev = 0, i = t->oldest;

	while (i && t->entries[i].used == t->record) {
		prev = i;
		i = t->entries[i].next;
	}
	if (!i)
		return false;
	if (prev)
		t->entries[prev].next = t->entries[i].next;
	else
		t->oldest = t->entries[i].next;
	if (t->youngest == i)
		t->youngest = prev;
	drop(t, i);
	t->replaced++;
	return true;
}

static void enqueue(struct fxt_table *t, unsigned int index)
{
	t->entries[index].next = 0;
	if (t->youngest)
		t->entries[t->youngest].next = index;
	else
		t->oldest = index;
	t->youngest = index;
}

/* An index nobody has, fixed ones stepped over; the caller made sure there is one. */
static unsigned int take_index(struct fxt_table *t)
{
	unsigned int index;

	if (t->fresh <= t->limit) {
		index = t->fresh++;
	} else {
		index = t->free;
		t->free = t->entries[index].next;
	}
	return index;
}

static bool has_index(struct fxt_table *t)
{
	while (t->fresh <= t->limit && t->entries[t->fresh].fixed)
		t->fresh++;
	return t->fresh <= t->limit || t->free;
}

static void fill_entry(struct fxt_table *t, unsigned int index, char *copy, size_t len)
{
	struct entry *e = &t->entries[index];
	uint16_t *bucket;

	e->key = copy;
	e->len = len;
	e->hash = hash_key(copy, len);
	e->used = t->record;
	bucket = &t->buckets[e->hash & t->mask];
	e->chain = *bucket;
	*bucket = index;
	t->bytes += len;
}

static char *copy_key(const void *key, size_t len)
{
	char *copy = malloc(len + 1);

	if (copy)
		memcpy(copy, key, len);
	return copy;
}

int fxt_table_add(struct fxt_table *t, const void *key, size_t len)
{
	unsigned int index;
	char *copy;

	while (!has_index(t) || t->bytes + len > t->bytes_max)
		if (!replace_oldest(t))
			return -ENOSPC;
	copy = copy_key(key, len);
	if (!copy)
		return -ENOMEM;
	index = take_index(t);
	enqueue(t, index);
	t->began = true;
	fill_entry(t, index, copy, len);
	return index;
}

int fxt_table_add_fixed(struct fxt_table *t, unsigned int index, const void *key, size_t len)
{
	char *copy;

	if (!index || index > t->limit || t->began || t->entries[index].fixed)
		return -EINVAL;
	copy = copy_key(key, len);
	if (!copy)
		return -ENOMEM;
	t->entries[index].fixed = true;
	t->fixed++;
	/* Fixed keys must never make the others look too many. */
	t->bytes_max += len;
	fill_entry(t, index, copy, len);
	return 0;
}

void fxt_table_forget(struct fxt_table *t)
{
	unsigned int i, next;

	for (i = t->oldest; i; i = next) {
		next = t->entries[i].next;
		drop(t, i);
	}
	t->oldest = 0;
	t->youngest = 0;
}

unsigned int fxt_table_room(const struct fxt_table *t)
{
	return t->limit - t->fixed;
}

const void *fxt_table_fixed(const struct fxt_table *t, unsigned int index, size_t *len)
{
	if (index > t->limit || !t->entries[index].fixed)
		return NULL;
	*len = t->entries[index].len;
	return t->entries[index].key;
}

uint64_t fxt_table_replaced(const struct fxt_table *t)
{
	return t->replaced;
}
