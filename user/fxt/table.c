/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table from keys to the small integers that replace them in a trace.
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
	uint16_t followed;	/* what was found after it, 0: nothing */
	bool fixed;
};

struct fxt_table {
	struct entry *entries;
	uint16_t *buckets;
	uint32_t mask;
	unsigned int limit;
	unsigned int fresh;	/* lowest index never given away */
	unsigned int last;	/* highest index ever used */
	unsigned int fixed;	/* how many are */
	uint16_t oldest, youngest, free;
	uint16_t found;		/* the last one that was */
	bool began;		/* a replaceable entry was added: too late for fixed ones */
	size_t bytes, bytes_max;
	uint64_t record, replaced;
};

#define HASH_FIRST	0x9e3779b97f4a7c15ULL	/* odd, with bits all over */
#define HASH_SECOND	0xff51afd7ed558ccdULL

static inline uint64_t load_word(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Up to seven bytes as one word, without a call: two loads that may overlap. */
static inline uint64_t load_short(const char *at, size_t len)
{
	const unsigned char *byte = (const unsigned char *)at;
	uint32_t low, high;

	if (len >= sizeof(low)) {
		memcpy(&low, at, sizeof(low));
		memcpy(&high, at + len - sizeof(high), sizeof(high));
		return low | (uint64_t)high << 32;
	}
	return len ? byte[0] | (uint64_t)byte[len / 2] << 8 | (uint64_t)byte[len - 1] << 16 : 0;
}

/* Sixteen bytes: for either word a bijection of the state, so keys that differ in one cannot collapse. */
static inline uint64_t hash_words(uint64_t h, uint64_t a, uint64_t b)
{
	h = (h ^ a) * HASH_FIRST;
	return (h ^ h >> 32 ^ b) * HASH_SECOND;
}

/* Sixteen bytes a step; the last ones may overlap. */
static inline uint32_t hash_key(const char *key, size_t len)
{
	uint64_t h = len;
	size_t at;

	if (len < 8) {
		h = hash_words(h, load_short(key, len), 0);
	} else {
		for (at = 16; at < len; at += 16)
			h = hash_words(h, load_word(key + at - 16), load_word(key + at - 8));
		h = hash_words(h, load_word(len < 16 ? key : key + len - 16), load_word(key + len - 8));
	}
	return (uint32_t)((h ^ h >> 32) * HASH_FIRST >> 32);
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
	for (i = 1; i <= t->last; i++)
		free(t->entries[i].key);
	free(t->entries);
	free(t->buckets);
	free(t);
}

void fxt_table_begin(struct fxt_table *t)
{
	t->record++;
}

/* Eight bytes a step; the last ones may overlap. */
static inline bool is_same(const char *a, const char *b, size_t len)
{
	size_t at;

	if (len < 8)
		return load_short(a, len) == load_short(b, len);
	for (at = 8; at < len; at += 8)
		if (load_word(a + at - 8) != load_word(b + at - 8))
			return false;
	return load_word(a + len - 8) == load_word(b + len - 8);
}

static __attribute__((noinline)) unsigned int search(struct fxt_table *t, const char *key, size_t len)
{
	uint32_t hash = hash_key(key, len);
	struct entry *e;
	unsigned int i;

	for (i = t->buckets[hash & t->mask]; i; i = e->chain) {
		e = &t->entries[i];
		if (e->hash == hash && e->len == len && is_same(e->key, key, len)) {
			e->used = t->record;
			t->entries[t->found].followed = (uint16_t)i;
			t->found = (uint16_t)i;
			return i;
		}
	}
	return 0;
}

/* Records of a kind name the same things in the same order: what followed the last one found may well be it. */
unsigned int fxt_table_find(struct fxt_table *t, const void *key, size_t len)
{
	uint16_t i = t->entries[t->found].followed;
	struct entry *e = &t->entries[i];

	if (!e->key || e->len != len || !is_same(e->key, key, len))
		return search(t, key, len);
	e->used = t->record;
	t->found = i;
	return i;
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

/* Frees an index: of those that the record does not use, the one added longest ago. */
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

/* An unused index, fixed ones skipped; the caller made sure there is one. */
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

	if (index > t->last)
		t->last = index;
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

unsigned int fxt_table_space(const struct fxt_table *t)
{
	return t->limit - t->fixed;
}

unsigned int fxt_table_last(const struct fxt_table *t)
{
	return t->last;
}

const void *fxt_table_fixed(const struct fxt_table *t, unsigned int index, size_t *len)
{
	if (index > t->last || !t->entries[index].fixed)
		return NULL;
	*len = t->entries[index].len;
	return t->entries[index].key;
}

uint64_t fxt_table_replaced(const struct fxt_table *t)
{
	return t->replaced;
}
