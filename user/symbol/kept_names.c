// SPDX-License-Identifier: GPL-2.0
/*
 * By a hash of 64 bits; strings that share it are in a chain.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/map.h"
#include "base/text_hash.h"
#include "kept_names.h"

#define BLOCK_BYTES	(64U << 10)	/* of strings one after another */
#define NAME_NONE	UINT32_MAX

struct name {
	const char *text;
	uint32_t next;		/* with the same hash */
};

struct kept_names {
	struct map by_hash;
	struct name *all;
	uint32_t cnt, cap;
	char **blocks;
	uint32_t block_cnt, block_cap;
	size_t block_used;
	size_t bytes, bytes_max;
	bool is_full;
};

/* C0, DEL, C1. */
static bool is_control(const char *text, size_t bytes)
{
	const unsigned char *p = (const unsigned char *)text;

	return bytes == 1 ? *p < 0x20 || *p == 0x7f : p[0] == 0xc2 && p[1] < 0xa0;
}

/* A copy in @out of KEPT_NAME_LEN_MAX + 1 bytes, cut at a whole character. Its length. */
static size_t clean(char *out, const char *text, size_t len)
{
	size_t used = 0, i, n;

	for (i = 0; i < len; i += n ?: 1) {
		n = log_utf8_len(text + i, len - i);
		if ((n ?: 1) > KEPT_NAME_LEN_MAX - used)
			break;
		if (n && !is_control(text + i, n)) {
			memcpy(out + used, text + i, n);
			used += n;
		} else {
			out[used++] = '?';
		}
	}
	out[used] = 0;
	return used;
}

static char *allocate(struct kept_names *n, size_t bytes)
{
	char *block;

	if (bytes > n->bytes_max - n->bytes) {
		n->is_full = true;
		return NULL;
	}
	if (!n->block_cnt || bytes > BLOCK_BYTES - n->block_used) {
		if (array_reserve(n->blocks, n->block_cnt, n->block_cap, 1))
			return NULL;
		block = malloc(BLOCK_BYTES);
		if (!block)
			return NULL;
		n->blocks[n->block_cnt++] = block;
		n->block_used = 0;
	}
	n->bytes += bytes;
	n->block_used += bytes;
	return n->blocks[n->block_cnt - 1] + n->block_used - bytes;
}

/* @first: the chain of its hash, NAME_NONE if that is new. */
static const char *add_name(struct kept_names *n, const char *text, size_t len, uint64_t hash, uint32_t first)
{
	char *copy;

	if (n->cnt == NAME_NONE || array_reserve(n->all, n->cnt, n->cap, 1))
		return NULL;
	copy = allocate(n, len + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, len + 1);
	n->all[n->cnt] = (struct name){ copy, NAME_NONE };
	if (first != NAME_NONE) {
		n->all[n->cnt].next = n->all[first].next;
		n->all[first].next = n->cnt;
	} else if (map_add(&n->by_hash, hash, n->cnt)) {
		return NULL;
	}
	n->cnt++;
	return copy;
}

const char *kept_names_put(struct kept_names *n, const char *text, size_t len)
{
	char cleaned[KEPT_NAME_LEN_MAX + 1];
	uint32_t first, i;
	uint64_t hash;

	len = clean(cleaned, text, len);
	hash = text_hash_of(0, cleaned, len);
	first = map_get(&n->by_hash, hash);
	for (i = first; i != NAME_NONE; i = n->all[i].next)
		if (!strcmp(n->all[i].text, cleaned))
			return n->all[i].text;
	return add_name(n, cleaned, len, hash, first);
}

int kept_names_open(struct kept_names **out, size_t bytes_max)
{
	struct kept_names *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->bytes_max = bytes_max;
	*out = n;
	return 0;
}

bool kept_names_are_full(const struct kept_names *n)
{
	return n->is_full;
}

void kept_names_forget(struct kept_names *n)
{
	while (n->block_cnt)
		free(n->blocks[--n->block_cnt]);
	free(n->blocks);
	free(n->all);
	map_fini(&n->by_hash);
	*n = (struct kept_names){ .bytes_max = n->bytes_max };
}

void kept_names_close(struct kept_names *n)
{
	if (!n)
		return;
	kept_names_forget(n);
	free(n);
}
