// SPDX-License-Identifier: GPL-2.0
/* See texts.h. */
#include "texts.h"

#include <string.h>

void texts_add(struct texts *t, const uint64_t *rec, size_t words)
{
	static const char *const known[TEXT_CNT] = {
#define X(id, text) [TEXT_##id] = text,
		TRIGGER_TEXTS(X)
#undef X
	};
	const size_t len = FXT_GET(rec[0], FXT_F_STRING_LEN);
	uint8_t *out = &t->by_index[FXT_GET(rec[0], FXT_F_STRING_INDEX)];
	unsigned int i;

	*out = TEXT_NONE;
	if (len > (words - 1) * 8)
		return;
	for (i = TEXT_NONE + 1; i < TEXT_CNT; i++)
		if (strlen(known[i]) == len && !memcmp(rec + 1, known[i], len))
			*out = (uint8_t)i;
}
