/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The strings of a trace, each kept once: names, categories and other text that is likely to come
 * again is a number in what is sorted.
 */
#ifndef FORMAT_PERFETTO_POOL_H
#define FORMAT_PERFETTO_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "fxt/fxt.h"

#define PF_NO_STRING	0U		/* also the empty string */
#define PF_POOL_BYTES	(32U << 20)	/* of text; what is beyond has no number */
#define PF_POOL_FULL	UINT32_MAX

struct pf_pool {
	char **blocks;
	size_t blocks_cnt, blocks_cap, used;	/* of the last block */
	size_t bytes;
	struct pf_string { const char *data; uint32_t len, hash; } *strings;
	size_t cnt, cap;			/* number 1 is strings[0] */
	uint32_t *slots;			/* numbers, by hash; 0: free */
	size_t slots_cap;			/* 0 or a power of two */
};

/* Of that text, which is copied; PF_POOL_FULL: there is no space or memory for more. */
uint32_t pf_pool_add(struct pf_pool *p, const void *data, size_t len);
/* The same where all text may be @max bytes: what can be kept elsewhere leaves space for what cannot. */
uint32_t pf_pool_add_below(struct pf_pool *p, const void *data, size_t len, size_t max);
/* All zero is an empty one. */
void pf_pool_fini(struct pf_pool *p);

/* Lives as long as the pool. */
static inline struct fxt_str pf_pool_str(const struct pf_pool *p, uint32_t number)
{
	if (!number || number > p->cnt)
		return (struct fxt_str){ .data = "" };
	return (struct fxt_str){ .data = p->strings[number - 1].data, .len = p->strings[number - 1].len };
}

#endif
