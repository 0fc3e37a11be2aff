// SPDX-License-Identifier: GPL-2.0
/*
 * What is done for any source by what its struct source_ops says.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "bpf/abi/raw.h"
#include "fxt/fxt.h"
#include "kernel/btf.h"
#include "source.h"

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

int source_write_open(const struct source_ops *ops, void *s, struct source_ctx *c, const char *map, uint64_t now_ns)
{
	const int fd = bpf_object__find_map_fd_by_name(c->obj, map);
	uint64_t rec[OPEN_WORDS_MAX], key[2], *last = NULL;
	unsigned int written;
	int err = 0, failed;

	for (; !bpf_map_get_next_key(fd, last, key); last = key) {
		if (bpf_map_lookup_elem(fd, key, rec))
			continue;
		rec[OPEN_END_TS] = now_ns;
		rec[OPEN_PLACE] |= OPEN_UNFINISHED;
		failed = source_decode(ops, s, c, rec, &written);
		c->events += written;
		c->lost += !!failed;
		err = err ?: failed;
	}
	return err;
}
