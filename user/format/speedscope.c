// SPDX-License-Identifier: GPL-2.0
/*
 * JSON of speedscope as an output: for each thread its samples in order of time, with their weights. Samples
 * are sorted by thread, beyond EVENT_SORT_BYTES in a temporary file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "formats_p.h"
#include "model/sort.h"
#include "profile_out.h"

/* Of a thread there are two lists, first of stacks and then of weights. */
enum { LIST_STACKS, LIST_WEIGHTS, LISTS };

struct item {
	uint64_t value;			/* node or weight */
	enum profile_source source;
};

struct speedscope {
	struct profile_out out;		/* first, as profile_out.h has it */
	struct event_sort *sorted;
	enum profile_source source;
	bool weights;
	struct json json;
	/* While it is written. */
	bool is_open;			/* a profile */
	uint32_t list;			/* the group of the last item */
	uint64_t sum;			/* of weights */
};

static const char *const suffixes[] = { ".speedscope.json", NULL };

/* ---- samples ----------------------------------------------------------------- */

static int add_item(struct speedscope *s, const struct stacks_sample *sample, unsigned int list, uint64_t value)
{
	const struct event_sort_key key = { .ts = sample->ts, .group = sample->thread * LISTS + list };
	const struct item item = { .value = value, .source = sample->source };

	return event_sort_add(s->sorted, key, &item, sizeof(item));
}

static int take_sample(void *ctx, const struct stacks_sample *sample)
{
	int err = add_item(ctx, sample, LIST_STACKS, sample->node);

	return err ? err : add_item(ctx, sample, LIST_WEIGHTS, sample->weight_ns);
}

/* ---- output ------------------------------------------------------------------ */

static void key_str(struct json *j, const char *key, struct fxt_str s)
{
	json_key(j, key);
	json_string(j, s.len ? s.data : "[unknown]", s.len ? s.len : 9);
}

static void put_frame(struct json *j, const struct stacks *s, const struct stacks_frame *f)
{
	json_line(j, "");
	json_object(j);
	key_str(j, "name", stacks_text(s, f->name));
	if (f->source_file || f->mapping)
		key_str(j, "file", stacks_text(s, f->source_file ? f->source_file : f->mapping));
	if (f->line)
		json_key_u64(j, "line", f->line);
	json_end(j);
}

static void put_frames(struct json *j, const struct stacks *s)
{
	size_t i;

	json_key(j, "shared");
	json_object(j);
	json_key(j, "frames");
	json_array(j);
	for (i = 0; i < s->frames_cnt; i++)
		put_frame(j, s, &s->frames[i]);
	json_end(j);
	json_end(j);
}

static void put_name(struct json *j, const struct stacks *s, const struct stacks_thread *t)
{
	const struct fxt_str process = stacks_name_of(s, STACKS_PROCESS, t), thread = stacks_name_of(s, STACKS_THREAD, t);
	char name[300];
	int len = snprintf(name, sizeof(name), "%.*s: %.*s (%" PRIu64 ")", process.len ? (int)process.len : 1,
			   process.len ? process.data : "?", thread.len ? (int)thread.len : 1,
			   thread.len ? thread.data : "?", t->thread);

	json_key(j, "name");
	json_string(j, name, (size_t)len < sizeof(name) ? (size_t)len : sizeof(name) - 1);
}

static void begin_profile(struct speedscope *s, uint32_t thread)
{
	struct json *j = &s->json;

	json_line(j, "");
	json_object(j);
	json_key_text(j, "type", "sampled");
	put_name(j, s->out.stacks, &s->out.stacks->threads[thread]);
	json_key_text(j, "unit", s->weights ? "nanoseconds" : "none");
	json_key(j, "samples");
	json_array(j);
	s->is_open = true;
	s->sum = 0;
}

static void begin_weights(struct speedscope *s)
{
	json_end(&s->json);
	json_line(&s->json, "");
	json_key(&s->json, "weights");
	json_array(&s->json);
}

static void end_profile(struct speedscope *s)
{
	if (!s->is_open)
		return;
	json_end(&s->json);
	json_key_u64(&s->json, "startValue", 0);
	json_key(&s->json, "endValue");
	json_fixed(&s->json, (double)s->sum, 0);
	json_end(&s->json);
	s->is_open = false;
}

/* Frames, the outermost first. */
static void put_stack(struct speedscope *s, uint64_t node)
{
	const struct stack_node *nodes = s->out.stacks->tree.nodes, *n = &nodes[node];
	uint32_t frames[PROFILE_FRAMES_MAX];
	size_t cnt = 0;

	for (; n->parent != STACK_TREE_NONE; n = &nodes[n->parent])
		frames[cnt++] = n->label;
	json_array(&s->json);
	while (cnt)
		json_u64(&s->json, frames[--cnt]);
	json_end(&s->json);
}

/* A number always: what is beyond 2^53 is none of a sample. */
static void put_weight(struct speedscope *s, uint64_t weight_ns)
{
	const uint64_t weight = s->weights ? weight_ns : 1;

	json_fixed(&s->json, (double)weight, 0);
	s->sum += weight;
}

static void put_item(struct speedscope *s, const struct event_sort_item *sorted)
{
	const struct item *item = sorted->data;
	const bool is_new = !s->is_open || sorted->key.group / LISTS != s->list / LISTS;

	if (item->source != s->source)
		return;
	if (is_new) {
		end_profile(s);
		begin_profile(s, sorted->key.group / LISTS);
	} else if (sorted->key.group != s->list) {
		begin_weights(s);
	}
	s->list = sorted->key.group;
	if (s->list % LISTS == LIST_STACKS)
		put_stack(s, item->value);
	else
		put_weight(s, item->value);
}

static int put_profiles(struct speedscope *s)
{
	struct event_sort_item item;
	int got = 0;

	json_key(&s->json, "profiles");
	json_array(&s->json);
	while (!s->out.err && (got = event_sort_next(s->sorted, &item)) > 0)
		put_item(s, &item);
	end_profile(s);
	json_end(&s->json);
	return s->out.err ? s->out.err : got;
}

static int write_all(struct speedscope *s)
{
	FILE *stream = profile_out_stream(&s->out);
	struct json *j = &s->json;
	int err, closed;

	if (!stream)
		return -ENOMEM;
	s->source = profile_out_source(&s->out);
	s->weights = stacks_has_weights(s->out.stacks, s->source);
	json_init(j, stream, false);
	json_object(j);
	json_key_text(j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_key_text(j, "exporter", "kfxt");
	json_key_text(j, "name", profile_source_name(s->source));
	put_frames(j, s->out.stacks);
	err = put_profiles(s);
	json_end(j);
	closed = profile_out_stream_close(&s->out, stream);
	return err ? err : closed;
}

/* ---- opening and closing ----------------------------------------------------- */

static void release(struct speedscope *s)
{
	event_sort_close(s->sorted);
	profile_out_fini(&s->out);
	free(s);
}

static int output_open(void **writer, const struct writer_cfg *cfg)
{
	struct speedscope *s = calloc(1, sizeof(*s));
	const struct stacks_cfg stacks_cfg = {
		.process = STACKS_PROCESS_ANY, .every_address = true, .sample = take_sample, .ctx = s,
	};
	int err = s ? profile_out_open(&s->out, cfg, &stacks_cfg) : -ENOMEM;

	if (err) {
		free(s);
		return err;
	}
	err = event_sort_open(&s->sorted, EVENT_SORT_BYTES);
	if (err)
		release(s);
	else
		*writer = s;
	return err;
}

static int output_close(void *writer)
{
	struct speedscope *s = writer;
	int err;

	if (!s)
		return 0;
	err = profile_out_end(&s->out);
	err = err ? err : write_all(s);
	release(s);
	return err;
}

const struct writer_ops speedscope_format_writer = {
	.name = "speedscope",
	.suffixes = suffixes,
	.sources = profile_out_sources,
	.open = output_open,
	.record = profile_out_record,
	.left_out = profile_out_left_out,
	.left_out_kind = profile_out_left_out_kind,
	.source = profile_out_source_name,
	.close = output_close,
};
