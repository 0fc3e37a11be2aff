// SPDX-License-Identifier: GPL-2.0
/* See blind.h. */
#include "blind.h"

#include <string.h>

/* How many of the first spans end before @ns. */
static unsigned int count_before(const struct blind *b, uint64_t ns)
{
	unsigned int low = 0, high = b->cnt;

	while (low < high) {
		const unsigned int middle = (low + high) / 2;

		if (b->spans[middle].to_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void remove_spans(struct blind *b, unsigned int at, unsigned int cnt)
{
	memmove(&b->spans[at], &b->spans[at + cnt], (b->cnt - at - cnt) * sizeof(b->spans[0]));
	b->cnt -= cnt;
}

static void insert_span(struct blind *b, unsigned int at, struct blind_span span)
{
	memmove(&b->spans[at + 1], &b->spans[at], (b->cnt - at) * sizeof(b->spans[0]));
	b->spans[at] = span;
	b->cnt++;
}

void blind_add(struct blind *b, uint64_t from_ns, uint64_t to_ns)
{
	struct blind_span span = { from_ns, to_ns };
	unsigned int at, same = 0;

	if (b->cnt == BLIND_MAX) {
		b->spans[1].from_ns = b->spans[0].from_ns;
		remove_spans(b, 0, 1);
	}
	at = count_before(b, from_ns);
	for (; at + same < b->cnt && b->spans[at + same].from_ns <= to_ns; same++) {
		const struct blind_span *old = &b->spans[at + same];

		span.from_ns = old->from_ns < span.from_ns ? old->from_ns : span.from_ns;
		span.to_ns = old->to_ns > span.to_ns ? old->to_ns : span.to_ns;
	}
	remove_spans(b, at, same);
	insert_span(b, at, span);
}

const struct blind_span *blind_after(const struct blind *b, uint64_t ns)
{
	unsigned int i = count_before(b, ns);

	while (i < b->cnt && b->spans[i].to_ns <= ns)
		i++;
	return i < b->cnt ? &b->spans[i] : NULL;
}

const struct blind_span *blind_before(const struct blind *b, uint64_t ns)
{
	unsigned int i = count_before(b, ns);

	while (i < b->cnt && b->spans[i].from_ns < ns)
		i++;
	return i ? &b->spans[i - 1] : NULL;
}
