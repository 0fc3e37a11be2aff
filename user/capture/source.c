// SPDX-License-Identifier: GPL-2.0
/*
 * What is done for any source by what its struct source_ops says.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi/raw.h"
#include "fxt/fxt.h"
#include "kernel/btf.h"
#include "source.h"

/* Of maps of enum open_word records; shorter ones leave the rest zero. */
struct open_key {
	uint64_t words[2];
};

const char *source_lacks(const struct source_ops *ops)
{
	const struct source_tracepoint *t = ops->tracepoints;

	for (; t < ops->tracepoints + SOURCE_PARTS_MAX && t->name; t++)
		if (!kernel_btf_has_tracepoint(t->name, t->nargs))
			return t->name;
	return ops->file && access(ops->file, R_OK) ? ops->file : NULL;
}

void source_prepare(const struct source_ops *ops, struct bpf_object *obj, bool selected)
{
	bool has[SOURCE_PARTS_MAX] = { false };
	char name[64];
	unsigned int k;

	if (selected && ops->optional[0])
		kernel_btf_have_tracepoints(ops->optional, SOURCE_PARTS_MAX, has);
	for (k = 0; k < SOURCE_PARTS_MAX && ops->programs[k]; k++)
		bpf_program__set_autoload(bpf_object__find_program_by_name(obj, ops->programs[k]), selected);
	for (k = 0; k < SOURCE_PARTS_MAX && ops->optional[k]; k++) {
		snprintf(name, sizeof(name), "on_%s", ops->optional[k]);
		bpf_program__set_autoload(bpf_object__find_program_by_name(obj, name), has[k]);
	}
	for (k = 0; k < SOURCE_PARTS_MAX && ops->maps[k]; k++)
		bpf_map__set_autocreate(bpf_object__find_map_by_name(obj, ops->maps[k]), selected);
}

enum shed_class source_shed_class(const struct source_ops *ops)
{
	return ops->shed_runs ? ops->shed_class : SHED_CNT;
}

int source_decode(const struct source_ops *ops, void *s, struct source_ctx *c, const uint64_t *rec,
		  unsigned int *written)
{
	*written = 0;
	if (FXT_GET(rec[RAW_HEADER], FXT_F_SIZE) < ops->raw_words_min)
		return -EINVAL;
	return ops->decode(s, c, rec, written);
}

/* Of one record, as it was in the map. */
static int write_open(const struct source_ops *ops, void *s, struct source_ctx *c, uint64_t *rec, uint64_t end_ns,
		      bool continues, uint64_t *written)
{
	unsigned int cnt;
	int err;

	if (continues && rec[RAW_TS] >= end_ns)
		return 0;
	rec[OPEN_END_TS] = end_ns;
	rec[OPEN_PLACE] |= OPEN_UNFINISHED | (continues ? OPEN_CONTINUES : 0);
	err = source_decode(ops, s, c, rec, &cnt);
	*written += cnt;
	if (!continues)
		c->lost += !!err;
	return err;
}

static int by_key(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct open_key));
}

/*
 * The keys that are there, each once, in an order of no meaning; how many. While programs write, going on from a key that was
 * deleted begins anew. To read batches the kernel would not run programs on this CPU meanwhile.
 */
static unsigned int find_keys(const struct bpf_map *map, struct open_key *keys, unsigned int max)
{
	const struct open_key *last = NULL;
	unsigned int cnt = 0, kept = 0, i;

	while (cnt < max && !bpf_map_get_next_key(bpf_map__fd(map), last, &keys[cnt]))
		last = &keys[cnt++];
	qsort(keys, cnt, sizeof(*keys), by_key);
	for (i = 0; i < cnt; i++)
		if (!kept || by_key(&keys[i], &keys[kept - 1]))
			keys[kept++] = keys[i];
	return kept;
}

int source_write_open(const struct source_ops *ops, void *s, struct source_ctx *c, const char *map, uint64_t end_ns,
		      bool continues, uint64_t *written)
{
	const struct bpf_map *open = bpf_object__find_map_by_name(c->obj, map);
	const unsigned int max = bpf_map__max_entries(open);
	struct open_key *keys = calloc(max, sizeof(*keys));
	const unsigned int cnt = keys ? find_keys(open, keys, max) : 0;
	uint64_t rec[OPEN_WORDS_MAX];
	int err = keys ? 0 : -ENOMEM, failed;
	unsigned int i;

	for (i = 0; i < cnt; i++) {
		if (bpf_map_lookup_elem(bpf_map__fd(open), &keys[i], rec))
			continue;
		failed = write_open(ops, s, c, rec, end_ns, continues, written);
		err = err ?: failed;
	}
	free(keys);
	return err;
}
