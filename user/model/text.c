// SPDX-License-Identifier: GPL-2.0
/*
 * A hash of text, eight bytes at a time.
 */
#include "text.h"

uint32_t text_hash(const char *data, size_t len)
{
	uint64_t h = len * 0x9e3779b97f4a7c15ULL, word;

	for (; len >= sizeof(word); data += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		h = (h ^ word) * 0xff51afd7ed558ccdULL;
		h ^= h >> 32;
	}
	word = 0;
	memcpy(&word, data, len);
	h = (h ^ word) * 0xff51afd7ed558ccdULL;
	return (uint32_t)(h >> 32);
}
