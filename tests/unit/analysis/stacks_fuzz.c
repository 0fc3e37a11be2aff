// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer entry for stack samples: whatever the records are, trees, profiles and comparisons agree on how many
 * samples there are. The first byte says how many of the other bytes are the names and samples of packets in a
 * BLOB; the rest is FXT. The second one chooses the tree.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks_diff.h"
#include "analysis/stacks_folded.h"
#include "analysis/stacks_view.h"
#include "base/pieces.h"
#include "format/formats.h"
#include "fxt/fxt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static int drop(void *ctx, const void *data, size_t len)
{
	size_t *sum = ctx;

	(void)data;
	*sum += len;
	return 0;
}

static void read_records(struct stacks *s, const uint8_t *data, size_t size)
{
	struct pieces pieces = { .data = (const char *)data, .len = size, .ended = true };
	struct fxt_reader *r;
	struct fxt_record rec;

	check(!fxt_reader_open(&r, pieces_read, &pieces), "no memory");
	while (fxt_reader_next(r, &rec) > 0)
		check(!stacks_read(s, &rec), "no memory");
	fxt_reader_close(r);
}

static void view(const struct stacks *s, enum profile_source source, unsigned int how)
{
	const struct stacks_view_cfg cfg = { .source = source, .by = how % STACKS_BY_CNT, .inverted = how & 4 };
	struct stacks_view v;
	uint64_t sum = 0;
	size_t i;

	check(!stacks_view_init(&v, s, &cfg), "no memory");
	check(v.all.samples == s->counts[source].all.samples, "samples of a tree");
	check(v.cut.samples <= v.all.samples && v.no_user.samples <= v.all.samples, "parts of samples");
	for (i = 0; i < v.tree.nodes_cnt; i++)
		sum += v.tree.nodes[i].parent == STACK_TREE_NONE ? v.tree.nodes[i].total.samples : 0;
	check(sum == v.all.samples, "roots are all samples");
	stacks_view_fini(&v);
}

static void compare(const struct stacks *a, const struct stacks *b, enum profile_source source)
{
	const struct stacks_diff_cfg cfg = { .source = source };
	struct stacks_folded f = { 0 };
	struct stacks_diff d;
	size_t i;

	check(!stacks_diff_init(&d, a, b, &cfg), "no memory");
	check(d.all[STACKS_BEFORE].samples == a->counts[source].all.samples, "samples before");
	check(d.all[STACKS_AFTER].samples == b->counts[source].all.samples, "samples after");
	for (i = 0; i < d.rows_cnt; i++)
		check(d.rows[i].self[STACKS_AFTER].samples <= d.rows[i].total[STACKS_AFTER].samples, "self in total");
	stacks_diff_fini(&d);
	check(!stacks_folded_add(&f, a, source, 0) && !stacks_folded_add(&f, b, source, 1), "no memory");
	stacks_folded_fini(&f);
}

static void write_profile(const char *name, const uint8_t *data, size_t size)
{
	const struct writer_ops *ops = formats_writer_named(name);
	size_t sum = 0;
	const struct writer_cfg cfg = { .write = drop, .ctx = &sum };
	void *writer = NULL;

	check(ops && !ops->open(&writer, &cfg), "no memory");
	ops->record(writer, data, size);
	check(!ops->close(writer), "a profile that is not written");
}

/* Packets alone, without the records around them. */
static void read_packets(struct stacks *s, const uint8_t *data, size_t size)
{
	const struct fxt_record rec = {
		.kind = FXT_KIND_BLOB, .blob = { .type = FXT_BLOB_PERFETTO, .data = data, .len = size },
	};

	check(!stacks_read(s, &rec), "no memory");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum profile_source source;
	struct stacks *a = NULL, *b = NULL;
	size_t packets;

	if (size < 2)
		return 0;
	packets = (size - 2) * data[0] / 255;
	check(!stacks_open(&a, NULL) && !stacks_open(&b, NULL), "no memory");
	read_packets(a, data + 2, packets);
	read_records(b, data + 2 + packets, size - 2 - packets);
	for (source = 0; source < PROFILE_SOURCE_CNT; source++) {
		view(a, source, data[1]);
		view(b, source, data[1]);
		compare(a, b, source);
	}
	write_profile("folded", data + 2 + packets, size - 2 - packets);
	write_profile("pprof", data + 2 + packets, size - 2 - packets);
	write_profile("speedscope", data + 2 + packets, size - 2 - packets);
	stacks_close(a);
	stacks_close(b);
	return 0;
}
