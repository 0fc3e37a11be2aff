// SPDX-License-Identifier: GPL-2.0
/*
 * A hash of text, eight bytes at a time.
 */
#include "text_hash.h"

#include <string.h>

uint64_t text_hash_of(uint64_t seed, const char *data, size_t len)
{
	uint64_t h = seed * 0xd6e8feb86659fd93ULL ^ len * 0x9e3779b97f4a7c15ULL, word;

	for (; len >= sizeof(word); data += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		h = (h ^ word) * 0xff51afd7ed558ccdULL;
		h ^= h >> 32;
	}
	word = 0;
	memcpy(&word, data, len);
	return (h ^ word) * 0xff51afd7ed558ccdULL;
}

uint32_t text_hash(const char *data, size_t len)
{
	return (uint32_t)(text_hash_of(0, data, len) >> 32);
}
