// SPDX-License-Identifier: GPL-2.0
/*
 * Profiles of pprof as an output: one message Profile of profile.proto. Its strings are those of the stacks
 * by their numbers there; number 0 is the empty one in both.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "format/perfetto/encode.h"
#include "formats_p.h"
#include "profile_out.h"

#define FLUSH_BYTES	(64U << 10)

/* Fields of profile.proto. */
enum {
	PPROF_SAMPLE_TYPE = 1, PPROF_SAMPLE = 2, PPROF_MAPPING = 3, PPROF_LOCATION = 4, PPROF_FUNCTION = 5,
	PPROF_STRING_TABLE = 6, PPROF_TIME_NANOS = 9, PPROF_DURATION_NANOS = 10, PPROF_PERIOD_TYPE = 11,
	PPROF_PERIOD = 12, PPROF_DEFAULT_SAMPLE_TYPE = 14,
	VALUE_TYPE = 1, VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3,
	LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3,
	MAPPING_ID = 1, MAPPING_FILENAME = 5, MAPPING_BUILD_ID = 6, MAPPING_HAS_FUNCTIONS = 7,
	LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4,
	LINE_FUNCTION = 1, LINE_LINE = 2,
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILENAME = 4,
};

struct pprof {
	struct profile_out out;		/* first, as profile_out.h has it */
	struct pb_buf buf;
	enum profile_source source;
	bool weights;
	struct map functions, mappings;	/* by two strings: ids, from 1 */
	bool *used;			/* frames that samples of @source have */
};

static const char *const suffixes[] = { ".pprof", ".pb", NULL };

static int flush(struct pprof *p, size_t from_bytes)
{
	int err = p->buf.failed ? -ENOMEM : 0;

	if (err || p->buf.len < from_bytes || !p->buf.len)
		return err;
	err = p->out.cfg.write(p->out.cfg.ctx, p->buf.data, p->buf.len);
	p->buf.len = 0;
	return err;
}

/* A string of ours; without space for it the message fails. */
static uint64_t word(struct pprof *p, const char *text)
{
	const uint32_t number = pf_pool_add(&p->out.stacks->text, text, strlen(text));

	p->buf.failed |= number == PF_POOL_FULL;
	return number;
}

static void put_type(struct pprof *p, unsigned int field, const char *type, const char *unit)
{
	const size_t begun = pb_begin(&p->buf, field);

	pb_put_u64(&p->buf, VALUE_TYPE, word(p, type));
	pb_put_u64(&p->buf, VALUE_UNIT, word(p, unit));
	pb_end(&p->buf, begun);
}

/* What values are: as programs of Go name those of the CPU and of waiting. */
static void put_head(struct pprof *p)
{
	const struct stacks_counts *c = &p->out.stacks->counts[p->source];
	const bool is_cpu = p->source == PROFILE_CPU;
	const char *time = is_cpu ? "cpu" : "delay", *cnt = is_cpu ? "samples" : "contentions";

	put_type(p, PPROF_SAMPLE_TYPE, cnt, "count");
	if (p->weights)
		put_type(p, PPROF_SAMPLE_TYPE, time, "nanoseconds");
	pb_put_u64(&p->buf, PPROF_DEFAULT_SAMPLE_TYPE, word(p, p->weights ? time : cnt));
	if (p->out.wall_ns)
		pb_put_u64(&p->buf, PPROF_TIME_NANOS, c->from_ns + (uint64_t)p->out.wall_ns);
	pb_put_u64(&p->buf, PPROF_DURATION_NANOS, c->to_ns - c->from_ns);
	if (is_cpu && p->weights) {
		put_type(p, PPROF_PERIOD_TYPE, time, "nanoseconds");
		pb_put_u64(&p->buf, PPROF_PERIOD, c->all.weight_ns / c->all.samples);
	}
}

/* ---- samples ----------------------------------------------------------------- */

static void put_label(struct pprof *p, const char *key, struct fxt_str str, uint64_t num)
{
	size_t begun;

	if (!str.len && str.data)
		return;
	begun = pb_begin(&p->buf, SAMPLE_LABEL);
	pb_put_u64(&p->buf, LABEL_KEY, word(p, key));
	if (str.data)
		pb_put_u64(&p->buf, LABEL_STR, pf_pool_add(&p->out.stacks->text, str.data, str.len));
	else
		pb_put_u64(&p->buf, LABEL_NUM, num);
	pb_end(&p->buf, begun);
}

static void put_labels(struct pprof *p, const struct stacks_thread *t)
{
	const struct fxt_str none = { 0 };

	put_label(p, "comm", stacks_name_of(p->out.stacks, STACKS_THREAD, t), 0);
	put_label(p, "tid", none, t->thread);
	put_label(p, "process", stacks_name_of(p->out.stacks, STACKS_PROCESS, t), 0);
	put_label(p, "pid", none, t->process);
	put_label(p, "cgroup", stacks_name_of(p->out.stacks, STACKS_CGROUP, t), 0);
	put_label(p, "container", stacks_name_of(p->out.stacks, STACKS_CONTAINER, t), 0);
	put_label(p, "unit", stacks_name_of(p->out.stacks, STACKS_UNIT, t), 0);
}

static void put_values(struct pprof *p, struct stack_value v)
{
	const size_t begun = pb_begin(&p->buf, SAMPLE_VALUE);

	pb_put_varint(&p->buf, v.samples);
	if (p->weights)
		pb_put_varint(&p->buf, v.weight_ns);
	pb_end(&p->buf, begun);
}

/* Locations are the innermost first, as nodes lead outwards. */
static void put_sample(struct pprof *p, const struct stack_node *n, const struct stacks_thread *thread)
{
	const struct stacks *s = p->out.stacks;
	const size_t begun = pb_begin(&p->buf, PPROF_SAMPLE);
	const struct stack_value self = n->self;
	const size_t locations = pb_begin(&p->buf, SAMPLE_LOCATION);

	for (; n->parent != STACK_TREE_NONE; n = &s->tree.nodes[n->parent]) {
		p->used[n->label] = true;
		pb_put_varint(&p->buf, n->label + 1ULL);
	}
	pb_end(&p->buf, locations);
	put_values(p, self);
	put_labels(p, thread);
	pb_end(&p->buf, begun);
}

static int put_samples(struct pprof *p)
{
	const struct stacks *s = p->out.stacks;
	const struct stacks_thread *thread;
	enum profile_source source;
	const struct stack_node *n;
	int err = 0;

	for (n = s->tree.nodes; !err && n < s->tree.nodes + s->tree.nodes_cnt; n++) {
		thread = n->self.samples ? stacks_thread_of(s, n, &source) : NULL;
		if (!thread || source != p->source)
			continue;
		put_sample(p, n, thread);
		err = flush(p, FLUSH_BYTES);
	}
	return err;
}

/* ---- frames ------------------------------------------------------------------ */

/* The id of two strings, and whether it is new. */
static uint64_t number_of(struct pprof *p, struct map *map, uint32_t a, uint32_t b, bool *is_new)
{
	const uint64_t key = (uint64_t)a << 32 | b;
	uint32_t id = map_get(map, key);

	*is_new = id == MAP_NONE;
	if (*is_new) {
		id = (uint32_t)map->cnt + 1;
		p->buf.failed |= map_add(map, key, id) != 0;
	}
	return id;
}

static uint64_t put_function(struct pprof *p, const struct stacks_frame *f)
{
	bool is_new;
	const uint64_t id = number_of(p, &p->functions, f->name, f->source_file, &is_new);
	size_t begun;

	if (!is_new)
		return id;
	begun = pb_begin(&p->buf, PPROF_FUNCTION);
	pb_put_u64(&p->buf, FUNCTION_ID, id);
	pb_put_u64(&p->buf, FUNCTION_NAME, f->name);
	pb_put_u64(&p->buf, FUNCTION_SYSTEM_NAME, f->name);
	pb_put_u64(&p->buf, FUNCTION_FILENAME, f->source_file);
	pb_end(&p->buf, begun);
	return id;
}

/* 0: the frame has none. */
static uint64_t put_mapping(struct pprof *p, const struct stacks_frame *f)
{
	bool is_new = false;
	const uint64_t id = f->mapping ? number_of(p, &p->mappings, f->mapping, f->build_id, &is_new) : 0;
	size_t begun;

	if (!is_new)
		return id;
	begun = pb_begin(&p->buf, PPROF_MAPPING);
	pb_put_u64(&p->buf, MAPPING_ID, id);
	pb_put_u64(&p->buf, MAPPING_FILENAME, f->mapping);
	pb_put_u64(&p->buf, MAPPING_BUILD_ID, f->build_id);
	pb_put_u64(&p->buf, MAPPING_HAS_FUNCTIONS, 1);
	pb_end(&p->buf, begun);
	return id;
}

static void put_location(struct pprof *p, const struct stacks_frame *f, uint64_t id)
{
	const uint64_t function = put_function(p, f), mapping = put_mapping(p, f);
	const size_t begun = pb_begin(&p->buf, PPROF_LOCATION);
	size_t line;

	pb_put_u64(&p->buf, LOCATION_ID, id);
	pb_put_u64(&p->buf, LOCATION_MAPPING, mapping);
	pb_put_u64(&p->buf, LOCATION_ADDRESS, f->rel_pc);
	line = pb_begin(&p->buf, LOCATION_LINE);
	pb_put_u64(&p->buf, LINE_FUNCTION, function);
	pb_put_u64(&p->buf, LINE_LINE, f->line);
	pb_end(&p->buf, line);
	pb_end(&p->buf, begun);
}

static int put_frames(struct pprof *p, bool kernel)
{
	const struct stacks *s = p->out.stacks;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < s->frames_cnt; i++) {
		if (!p->used[i] || (s->frames[i].kind == PROFILE_KERNEL) != kernel)
			continue;
		put_location(p, &s->frames[i], i + 1);
		err = flush(p, FLUSH_BYTES);
	}
	return err;
}

/* Readers refuse strings that are not UTF-8. */
static void put_string(struct pprof *p, struct fxt_str s)
{
	const size_t begun = pb_begin(&p->buf, PPROF_STRING_TABLE);
	size_t at, len;

	for (at = 0; at < s.len; at += len ? len : 1) {
		len = log_utf8_len(s.data + at, s.len - at);
		pb_put_raw(&p->buf, len ? s.data + at : "?", len ? len : 1);
	}
	pb_end(&p->buf, begun);
}

static int put_strings(struct pprof *p)
{
	const struct pf_pool *text = &p->out.stacks->text;
	size_t i;
	int err = 0;

	for (i = 0; !err && i <= text->cnt; i++) {
		put_string(p, i ? pf_pool_str(text, (uint32_t)i) : fxt_str(""));
		err = flush(p, FLUSH_BYTES);
	}
	return err;
}

/* ---- opening and closing ----------------------------------------------------- */

static int output_open(void **writer, const struct writer_cfg *cfg)
{
	const struct stacks_cfg stacks_cfg = { .process = STACKS_PROCESS_ANY, .every_address = true };
	struct pprof *p = calloc(1, sizeof(*p));
	int err = p ? profile_out_open(&p->out, cfg, &stacks_cfg) : -ENOMEM;

	if (err)
		free(p);
	else
		*writer = p;
	return err;
}

static int write_profile(struct pprof *p)
{
	int err;

	p->source = profile_out_source(&p->out);
	p->weights = stacks_has_weights(p->out.stacks, p->source);
	p->used = calloc(p->out.stacks->frames_cnt + 1, sizeof(*p->used));
	if (!p->used)
		return -ENOMEM;
	put_head(p);
	err = put_samples(p);
	/* Readers take the first mapping for the program. */
	err = err ? err : put_frames(p, false);
	err = err ? err : put_frames(p, true);
	err = err ? err : put_strings(p);
	return err ? err : flush(p, 0);
}

static int output_close(void *writer)
{
	struct pprof *p = writer;
	int err;

	if (!p)
		return 0;
	err = profile_out_end(&p->out);
	err = err ? err : write_profile(p);
	profile_out_fini(&p->out);
	pb_buf_fini(&p->buf);
	map_fini(&p->functions);
	map_fini(&p->mappings);
	free(p->used);
	free(p);
	return err;
}

const struct writer_ops pprof_format_writer = {
	.name = "pprof",
	.suffixes = suffixes,
	.sources = profile_out_sources,
	.is_gzip = true,
	.open = output_open,
	.record = profile_out_record,
	.left_out = profile_out_left_out,
	.left_out_kind = profile_out_left_out_kind,
	.source = profile_out_source_name,
	.close = output_close,
};
