// SPDX-License-Identifier: GPL-2.0
/*
 * A pool of byte strings a table: names as they are, build ids in hexadecimal, mappings, frames and stacks as
 * the numbers they are made of. Frames repeat, and each takes four look-ups, so the last ones are in a cache.
 */
#include "intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/perfetto/fields.h"

#define BUILD_ID_MAX	64U	/* bytes */

/* Without padding, since it is compared as bytes. */
struct frame_key {
	uint64_t rel_pc;
	uint32_t name, mapping, source_path, line, kind, unused;
};

struct profile_cached_frame {
	struct frame_key key;		/* its @mapping is not compared */
	uint32_t path, build_id;	/* of the mapping */
	uint32_t number;		/* 0: empty */
};

struct mapping_key {
	uint32_t build_id, path;
};

/* At most PROFILE_STRING_MAX bytes, not cut within a character. */
static size_t cut_len(struct fxt_str s)
{
	size_t len = s.len;

	if (len <= PROFILE_STRING_MAX)
		return len;
	len = PROFILE_STRING_MAX;
	while (len > PROFILE_STRING_MAX - 4 && ((unsigned char)s.data[len] & 0xc0) == 0x80)
		len--;
	return len;
}

/* The number of those bytes: 0, -ENOSPC; *@is_new: it has to be written. */
static int number_of(struct pf_pool *pool, const void *data, size_t len, uint32_t *number, bool *is_new)
{
	size_t before = pool->cnt;

	*number = pf_pool_add(pool, data, len);
	*is_new = pool->cnt > before;
	return *number == PF_POOL_FULL ? -ENOSPC : 0;
}

static int intern_string(struct profile_intern *in, struct pf_pool *pool, enum pf_interned table, struct fxt_str s,
			 uint32_t *number)
{
	size_t len = cut_len(s), entry;
	bool is_new;
	int err = number_of(pool, s.data, len, number, &is_new);

	if (err || !is_new)
		return err;
	entry = pb_begin(&in->added, table);
	pb_put_u64(&in->added, PF_ENTRY_IID, *number);
	pb_put_bytes(&in->added, PF_ENTRY_STRING, s.data, len);
	pb_end(&in->added, entry);
	return 0;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Hexadecimal to bytes, at most half of @s.len; 0 if it is something else. */
static size_t to_bytes(struct fxt_str s, unsigned char *out, size_t max)
{
	size_t i;

	if (s.len % 2 || s.len / 2 > max)
		return 0;
	for (i = 0; i < s.len / 2; i++) {
		int high = digit(s.data[2 * i]), low = digit(s.data[2 * i + 1]);

		if (high < 0 || low < 0)
			return 0;
		out[i] = (unsigned char)(high << 4 | low);
	}
	return i;
}

static int intern_build_id(struct profile_intern *in, struct fxt_str hex, uint32_t *number)
{
	unsigned char bytes[BUILD_ID_MAX];
	bool is_new;
	int err = number_of(&in->build_ids, hex.data, cut_len(hex), number, &is_new);
	size_t entry;

	if (err || !is_new)
		return err;
	entry = pb_begin(&in->added, PF_INTERNED_BUILD_IDS);
	pb_put_u64(&in->added, PF_ENTRY_IID, *number);
	pb_put_bytes(&in->added, PF_ENTRY_STRING, bytes, to_bytes(hex, bytes, sizeof(bytes)));
	pb_end(&in->added, entry);
	return 0;
}

static void put_if(struct pb_buf *b, unsigned int field, uint64_t value)
{
	if (value)
		pb_put_u64(b, field, value);
}

/* A mapping has no address: it is the same in all processes. */
static int intern_mapping(struct profile_intern *in, const struct profile_frame *f, struct mapping_key *key,
			  uint32_t *number)
{
	size_t entry;
	bool is_new;
	int err;

	*number = 0;
	*key = (struct mapping_key){ 0 };
	if (!f->mapping.len && !f->build_id.len)
		return 0;
	err = intern_string(in, &in->paths, PF_INTERNED_MAPPING_PATHS, f->mapping, &key->path);
	err = err ? err : intern_build_id(in, f->build_id, &key->build_id);
	err = err ? err : number_of(&in->mappings, key, sizeof(*key), number, &is_new);
	if (err || !is_new)
		return err;
	entry = pb_begin(&in->added, PF_INTERNED_MAPPINGS);
	pb_put_u64(&in->added, PF_MAPPING_IID, *number);
	put_if(&in->added, PF_MAPPING_BUILD_ID, key->build_id);
	put_if(&in->added, PF_MAPPING_PATH_IDS, key->path);
	pb_end(&in->added, entry);
	return 0;
}

static void put_frame(struct pb_buf *b, uint32_t number, const struct frame_key *key)
{
	size_t entry = pb_begin(b, PF_INTERNED_FRAMES);

	pb_put_u64(b, PF_FRAME_IID, number);
	put_if(b, PF_FRAME_FUNCTION, key->name);
	put_if(b, PF_FRAME_MAPPING, key->mapping);
	put_if(b, PF_FRAME_REL_PC, key->rel_pc);
	put_if(b, PF_FRAME_SOURCE_PATH, key->source_path);
	put_if(b, PF_FRAME_LINE, key->line);
	put_if(b, PF_FRAME_KIND, key->kind);
	pb_end(b, entry);
}

/* Where it is in the cache, if it is there. */
static struct profile_cached_frame *place_of(const struct profile_intern *in, const struct profile_frame *f)
{
	uint64_t h = (f->rel_pc ^ (uintptr_t)f->name.data) * 0x9e3779b97f4a7c15ULL;

	return &in->cache[(h >> 40) & (PROFILE_CACHED_FRAMES - 1)];
}

static bool is_text(const struct pf_pool *pool, uint32_t number, struct fxt_str s)
{
	struct fxt_str known = pf_pool_str(pool, number);

	return known.len == s.len && (!s.len || !memcmp(known.data, s.data, s.len));
}

static bool is_cached(const struct profile_intern *in, const struct profile_cached_frame *c, const struct profile_frame *f)
{
	return c->number && c->key.rel_pc == f->rel_pc && c->key.line == f->line && c->key.kind == f->kind &&
	       is_text(&in->functions, c->key.name, f->name) && is_text(&in->paths, c->path, f->mapping) &&
	       is_text(&in->build_ids, c->build_id, f->build_id) &&
	       is_text(&in->source_paths, c->key.source_path, f->source_file);
}

static int look_up_frame(struct profile_intern *in, const struct profile_frame *f, struct profile_cached_frame *c)
{
	struct frame_key *key = &c->key;
	struct mapping_key mapping;
	bool is_new;
	int err;

	*c = (struct profile_cached_frame){ .key = { .rel_pc = f->rel_pc, .line = f->line, .kind = f->kind } };
	err = intern_string(in, &in->functions, PF_INTERNED_FUNCTIONS, f->name, &key->name);
	err = err ? err : intern_mapping(in, f, &mapping, &key->mapping);
	err = err ? err : intern_string(in, &in->source_paths, PF_INTERNED_SOURCE_PATHS, f->source_file, &key->source_path);
	err = err ? err : number_of(&in->frames, key, sizeof(*key), &c->number, &is_new);
	if (err)
		return err;
	c->path = mapping.path;
	c->build_id = mapping.build_id;
	if (is_new)
		put_frame(&in->added, c->number, key);
	return 0;
}

static int intern_frame(struct profile_intern *in, const struct profile_frame *f, uint32_t *number)
{
	struct profile_cached_frame *c = place_of(in, f), found;
	int err;

	if (!is_cached(in, c, f)) {
		err = look_up_frame(in, f, &found);
		if (err)
			return err;
		*c = found;
	}
	*number = c->number;
	return 0;
}

/* The innermost frames that fit, below one that says so: 0 or -ENOSPC. */
static int intern_frames(struct profile_intern *in, const struct profile_frame *frames, unsigned int *cnt)
{
	static const struct profile_frame cut = { .name = { .data = "[cut]", .len = 5 } };
	bool is_cut = *cnt > PROFILE_FRAMES_MAX;
	unsigned int i, skipped = is_cut ? *cnt - PROFILE_FRAMES_MAX : 0;
	int err = 0;

	*cnt -= skipped;
	for (i = 0; i < *cnt && !err; i++)
		err = intern_frame(in, is_cut && !i ? &cut : &frames[skipped + i], &in->iids[i]);
	return err;
}

int profile_intern_stack(struct profile_intern *in, const struct profile_frame *frames, unsigned int cnt,
			 uint32_t *stack)
{
	unsigned int i;
	size_t entry;
	bool is_new;
	int err;

	if (!in->iids)
		in->iids = malloc(PROFILE_FRAMES_MAX * sizeof(*in->iids));
	if (!in->cache)
		in->cache = calloc(PROFILE_CACHED_FRAMES, sizeof(*in->cache));
	if (!in->iids || !in->cache)
		return -ENOMEM;
	err = intern_frames(in, frames, &cnt);
	err = err ? err : number_of(&in->stacks, in->iids, cnt * sizeof(*in->iids), stack, &is_new);
	if (err || !is_new)
		return err;
	entry = pb_begin(&in->added, PF_INTERNED_CALLSTACKS);
	pb_put_u64(&in->added, PF_CALLSTACK_IID, *stack);
	for (i = 0; i < cnt; i++)
		pb_put_u64(&in->added, PF_CALLSTACK_FRAMES, in->iids[i]);
	pb_end(&in->added, entry);
	return in->added.failed ? -ENOMEM : 0;
}

void profile_intern_fini(struct profile_intern *in)
{
	pf_pool_fini(&in->functions);
	pf_pool_fini(&in->build_ids);
	pf_pool_fini(&in->paths);
	pf_pool_fini(&in->source_paths);
	pf_pool_fini(&in->mappings);
	pf_pool_fini(&in->frames);
	pf_pool_fini(&in->stacks);
	pb_buf_fini(&in->added);
	free(in->iids);
	free(in->cache);
	in->iids = NULL;
	in->cache = NULL;
}
