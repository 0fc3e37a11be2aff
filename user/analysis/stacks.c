// SPDX-License-Identifier: GPL-2.0
/*
 * Adding up stack samples.
 */
#include "stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/glob.h"

#define NAME_BYTES	64	/* of a thread, for a glob: the kernel's have at most 15 */

int stacks_open(struct stacks **out, const struct stacks_cfg *cfg)
{
	struct stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->cfg = cfg ? *cfg : (struct stacks_cfg){ .process = STACKS_PROCESS_ANY };
	s->cut_name = pf_pool_add(&s->text, "[cut]", 5);
	s->waker_mapping = pf_pool_add(&s->text, "waker", 5);
	*out = s;
	return 0;
}

void stacks_close(struct stacks *s)
{
	enum stacks_named what;

	if (!s)
		return;
	profile_reader_close(s->reader);
	pf_pool_fini(&s->text);
	stack_tree_fini(&s->tree);
	map_fini(&s->frame_map);
	map_fini(&s->thread_map);
	for (what = 0; what < STACKS_NAMED_CNT; what++)
		map_fini(&s->named[what]);
	free(s->frames);
	free(s->threads);
	free(s->names);
	free(s);
}

/* ---- names ------------------------------------------------------------------- */

struct fxt_str stacks_text(const struct stacks *s, uint32_t number)
{
	return pf_pool_str(&s->text, number);
}

int stacks_name(struct stacks *s, enum stacks_named what, uint64_t koid, struct fxt_str name)
{
	struct map *map = &s->named[what];
	uint32_t i = map_get(map, koid);
	int err = 0;

	if (i == MAP_NONE) {
		i = (uint32_t)s->names_cnt;
		err = array_reserve(s->names, s->names_cnt, s->names_cap, 1);
		err = err ? err : map_add(map, koid, i);
		if (err)
			return err;
		s->names_cnt++;
	}
	s->names[i] = pf_pool_add(&s->text, name.data, name.len);
	return 0;
}

struct fxt_str stacks_name_of(const struct stacks *s, enum stacks_named what, const struct stacks_thread *t)
{
	const uint32_t i = map_get(&s->named[what], what == STACKS_THREAD ? t->thread : t->process);

	return stacks_text(s, i == MAP_NONE ? PF_NO_STRING : s->names[i]);
}

bool stacks_thread_matches(const struct stacks *s, const struct stacks_thread *t, const char *glob)
{
	const struct fxt_str name = stacks_name_of(s, STACKS_THREAD, t);
	char text[NAME_BYTES];

	if (!glob)
		return true;
	snprintf(text, sizeof(text), "%.*s", (int)name.len, name.len ? name.data : "");
	return glob_match(glob, text);
}

/* Labels of roots are as find_node() makes them. */
const struct stacks_thread *stacks_thread_of(const struct stacks *s, const struct stack_node *n,
					     enum profile_source *source)
{
	while (n->parent != STACK_TREE_NONE)
		n = &s->tree.nodes[n->parent];
	*source = (enum profile_source)(n->label % PROFILE_SOURCE_CNT);
	return &s->threads[n->label / PROFILE_SOURCE_CNT];
}

/* ---- frames ------------------------------------------------------------------ */

static uint64_t mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct stacks_frame *f, bool every_address)
{
	uint64_t hash = mix(mix((uint64_t)f->kind, f->name), f->mapping);

	return every_address ? mix(mix(mix(mix(hash, f->build_id), f->source_file), f->line), f->rel_pc) : hash;
}

static bool is_same(const struct stacks_frame *a, const struct stacks_frame *b, bool every_address)
{
	return a->name == b->name && a->mapping == b->mapping && a->kind == b->kind &&
	       (!every_address || (a->build_id == b->build_id && a->source_file == b->source_file &&
				   a->line == b->line && a->rel_pc == b->rel_pc));
}

static int add_frame(struct stacks *s, struct stacks_frame *f, uint32_t *index)
{
	const uint64_t hash = hash_of(f, s->cfg.every_address);
	const uint32_t first = map_get(&s->frame_map, hash);
	uint32_t i = first;
	int err;

	while (i != MAP_NONE && !is_same(&s->frames[i], f, s->cfg.every_address))
		i = s->frames[i].same_hash;
	if (i == MAP_NONE) {
		i = (uint32_t)s->frames_cnt;
		err = array_reserve(s->frames, s->frames_cnt, s->frames_cap, 1);
		if (!err && first == MAP_NONE)
			err = map_add(&s->frame_map, hash, i);
		if (err)
			return err;
		f->same_hash = MAP_NONE;
		if (first != MAP_NONE) {
			f->same_hash = s->frames[first].same_hash;
			s->frames[first].same_hash = i;
		}
		s->frames[s->frames_cnt++] = *f;
	}
	*index = i;
	return 0;
}

/* -ENOSPC: there is no space for a string of it. */
static int intern_frame(struct stacks *s, const struct profile_frame *from, uint32_t *index)
{
	struct stacks_frame f = {
		.name = pf_pool_add(&s->text, from->name.data, from->name.len),
		.mapping = pf_pool_add(&s->text, from->mapping.data, from->mapping.len),
		.build_id = pf_pool_add(&s->text, from->build_id.data, from->build_id.len),
		.source_file = pf_pool_add(&s->text, from->source_file.data, from->source_file.len),
		.line = from->line, .rel_pc = from->rel_pc, .kind = from->kind,
	};

	if (f.name == PF_POOL_FULL || f.mapping == PF_POOL_FULL || f.build_id == PF_POOL_FULL ||
	    f.source_file == PF_POOL_FULL)
		return -ENOSPC;
	return add_frame(s, &f, index);
}

/* ---- samples ----------------------------------------------------------------- */

static bool is_selected(const struct stacks_cfg *cfg, const struct profile_sample *sample)
{
	if (sample->ts < cfg->from_ns || (cfg->to_ns && sample->ts > cfg->to_ns))
		return false;
	return cfg->process == STACKS_PROCESS_ANY || cfg->process == sample->process || cfg->process == sample->pid;
}

static int intern_thread(struct stacks *s, const struct profile_sample *sample, uint32_t *index)
{
	const uint64_t key = sample->process << 32 | (uint32_t)sample->thread;
	uint32_t i = map_get(&s->thread_map, key);
	int err;

	if (i == MAP_NONE) {
		i = (uint32_t)s->threads_cnt;
		err = array_reserve(s->threads, s->threads_cnt, s->threads_cap, 1);
		err = err ? err : map_add(&s->thread_map, key, i);
		if (err)
			return err;
		s->threads[s->threads_cnt++] = (struct stacks_thread){
			.process = sample->process, .thread = sample->thread, .pid = sample->pid, .tid = sample->tid,
		};
	}
	*index = i;
	return 0;
}

/* The nodes of one frame below *@node: of the functions at its address. @depth: of *@node in the stack. */
static int add_node(struct stacks *s, const struct profile_frame *f, unsigned int *depth, uint32_t *node)
{
	struct profile_frame inlined[STACKS_INLINED_MAX];
	unsigned int i, cnt = s->cfg.inlined ? s->cfg.inlined(s->cfg.inlined_ctx, f, inlined, STACKS_INLINED_MAX) : 0;
	const struct profile_frame *frames = cnt ? inlined : f;
	uint32_t frame;
	int err = 0;

	for (i = 0; !err && i < (cnt ? cnt : 1) && *depth < PROFILE_FRAMES_MAX; i++, (*depth)++) {
		err = intern_frame(s, &frames[i], &frame);
		err = err ? err : stack_tree_child(&s->tree, *node, frame, node);
	}
	return err;
}

static int find_node(struct stacks *s, const struct profile_sample *sample, uint32_t thread, uint32_t *node)
{
	static const struct profile_frame none = { .name = { .data = "[no stack]", .len = 10 } };
	const struct profile_frame *f = sample->frames_cnt ? sample->frames : &none;
	unsigned int i, depth = 0, cnt = sample->frames_cnt ? sample->frames_cnt : 1;
	int err = stack_tree_child(&s->tree, STACK_TREE_NONE, thread * PROFILE_SOURCE_CNT + sample->source, node);

	for (i = 0; !err && i < cnt; i++)
		err = add_node(s, &f[i], &depth, node);
	return err;
}

static void count(struct stacks_counts *c, const struct profile_sample *sample)
{
	const struct stack_value v = { .samples = 1, .weight_ns = sample->weight };

	if (!c->all.samples || sample->ts < c->from_ns)
		c->from_ns = sample->ts;
	if (!c->all.samples || sample->ts > c->to_ns)
		c->to_ns = sample->ts;
	stack_value_add(&c->all, v);
	c->unweighted += !sample->weight;
}

int stacks_add(struct stacks *s, const struct profile_sample *sample)
{
	struct stacks_sample added = { .source = sample->source, .ts = sample->ts, .weight_ns = sample->weight };
	int err;

	if ((unsigned int)sample->source >= PROFILE_SOURCE_CNT || !is_selected(&s->cfg, sample))
		return 0;
	err = intern_thread(s, sample, &added.thread);
	err = err ? err : find_node(s, sample, added.thread, &added.node);
	if (err == -ENOSPC) {
		s->left_out++;
		return 0;
	}
	if (err)
		return err;
	stack_value_add(&s->tree.nodes[added.node].self, (struct stack_value){ 1, sample->weight });
	count(&s->counts[sample->source], sample);
	return s->cfg.sample ? s->cfg.sample(s->cfg.ctx, &added) : 0;
}

/* ---- questions --------------------------------------------------------------- */

enum profile_source stacks_only_source(const struct stacks *s)
{
	enum profile_source source, only = PROFILE_SOURCE_CNT;

	for (source = 0; source < PROFILE_SOURCE_CNT; source++) {
		if (!s->counts[source].all.samples)
			continue;
		if (only != PROFILE_SOURCE_CNT)
			return PROFILE_SOURCE_CNT;
		only = source;
	}
	return only;
}

bool stacks_has_weights(const struct stacks *s, enum profile_source source)
{
	return s->counts[source].all.samples && !s->counts[source].unweighted;
}

enum profile_source stacks_source_named(const char *name)
{
	enum profile_source source = 0;

	while (source < PROFILE_SOURCE_CNT && strcmp(profile_source_name(source), name) != 0)
		source++;
	return source;
}
