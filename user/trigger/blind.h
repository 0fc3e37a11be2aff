/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When records of any CPU are missing: then a thread that is not seen to run may run.
 */
#ifndef TRIGGER_BLIND_H
#define TRIGGER_BLIND_H

#include <stdbool.h>
#include <stdint.h>

#define BLIND_MAX	1024U

struct blind_span {
	uint64_t from_ns, to_ns;
};

/* All zero is one that is never blind. */
struct blind {
	uint64_t begin_ns;		/* before it not all CPUs had started */
	struct blind_span spans[BLIND_MAX];	/* disjoint, by time */
	unsigned int cnt;
};

/* In any order. Of too many the two oldest become one, with all between them. */
void blind_add(struct blind *b, uint64_t from_ns, uint64_t to_ns);
/* The first span that ends after @ns, NULL if there is none. */
const struct blind_span *blind_after(const struct blind *b, uint64_t ns);
/*
 * Whether any of it divides what lasted from @from_ns to @to_ns. @is_begun: it is known to have lasted before all CPUs had started, as
 * far as that goes.
 */
static inline bool blind_divides(const struct blind *b, uint64_t from_ns, uint64_t to_ns, bool is_begun)
{
	/* There is none after most that is asked about. */
	const bool is_last = !b->cnt || b->spans[b->cnt - 1].to_ns <= from_ns;

	return (!is_last && blind_after(b, from_ns)->from_ns < to_ns) || (from_ns < b->begin_ns && !is_begun);
}
/* The last span that begins before @ns, NULL if there is none. */
const struct blind_span *blind_before(const struct blind *b, uint64_t ns);

#endif
