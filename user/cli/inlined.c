// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses by file and place, with what was found out about each.
 */
#include "inlined.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "format/perfetto/pool.h"
#include "symbol/inlines.h"

#define PATH_BYTES	4096U
#define BUILD_ID_BYTES	130U
#define FUNCTIONS_MAX	32U		/* at one address */
#define PLACE_BITS	44		/* of an address in a file; files are numbered above */

struct inlined {
	struct inlines *inlines;
	struct pf_pool text;
	struct map by_place;		/* file and address to an index of @places */
	struct place {
		size_t first;		/* of @frames */
		unsigned int cnt;
	} *places;
	size_t places_cnt, places_cap;
	struct profile_frame *frames;	/* of each place, outermost first */
	size_t frames_cnt, frames_cap;
};

int inlined_open(struct inlined **out, bool use_debuginfod)
{
	struct inlined *i = calloc(1, sizeof(*i));
	int err = i ? inlines_open(&i->inlines, use_debuginfod) : -ENOMEM;

	if (err)
		free(i);
	else
		*out = i;
	return err;
}

void inlined_close(struct inlined *i)
{
	if (!i)
		return;
	inlines_close(i->inlines);
	pf_pool_fini(&i->text);
	map_fini(&i->by_place);
	free(i->places);
	free(i->frames);
	free(i);
}

/* A name that says only where the function is: the debug file has a better one. */
static bool is_address(struct fxt_str name)
{
	return !name.len || memmem(name.data, name.len, "+0x", 3);
}

static struct fxt_str copy(struct inlined *i, struct fxt_str s)
{
	return pf_pool_str(&i->text, pf_pool_add(&i->text, s.data, s.len));
}

static struct fxt_str inlined_name(struct inlined *i, const char *name)
{
	char text[PATH_BYTES];
	int len = snprintf(text, sizeof(text), "%s (inlined)", name);

	return copy(i, fxt_str_n(text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1));
}

/* @found: innermost first; the last one has the symbol, whose name is in the trace. */
static int keep(struct inlined *i, const struct profile_frame *frame, const struct inline_frame *found, unsigned int cnt)
{
	const size_t first = i->frames_cnt;
	struct profile_frame *f;
	unsigned int at;

	if (array_reserve(i->frames, i->frames_cnt, i->frames_cap, cnt))
		return -ENOMEM;
	for (at = cnt; at--; ) {
		f = &i->frames[i->frames_cnt++];
		*f = (struct profile_frame){ .kind = frame->kind, .rel_pc = frame->rel_pc, .line = found[at].line };
		f->mapping = copy(i, frame->mapping);
		f->build_id = copy(i, frame->build_id);
		f->source_file = copy(i, fxt_str(found[at].file));
		if (at + 1 < cnt)
			f->name = inlined_name(i, found[at].name);
		else
			f->name = copy(i, is_address(frame->name) ? fxt_str(found[at].name) : frame->name);
		if (!f->name.len) {
			i->frames_cnt = first;	/* no space for more names */
			return -ENOMEM;
		}
	}
	return 0;
}

/* Looks a place up and remembers it, also that nothing is known of it. The index, or MAP_NONE. */
static uint32_t add_place(struct inlined *i, uint64_t key, const struct profile_frame *frame)
{
	struct inline_frame found[FUNCTIONS_MAX];
	char path[PATH_BYTES], build_id[BUILD_ID_BYTES];
	struct place place = { .first = i->frames_cnt };
	int cnt;

	if (frame->mapping.len >= sizeof(path) || frame->build_id.len >= sizeof(build_id))
		return MAP_NONE;
	snprintf(path, sizeof(path), "%.*s", (int)frame->mapping.len, frame->mapping.data);
	snprintf(build_id, sizeof(build_id), "%.*s", (int)frame->build_id.len, frame->build_id.len ? frame->build_id.data : "");
	cnt = inlines_find(i->inlines, path, build_id, frame->rel_pc, found, FUNCTIONS_MAX);
	place.cnt = cnt > 0 && !keep(i, frame, found, (unsigned int)cnt) ? (unsigned int)cnt : 0;
	if (array_reserve(i->places, i->places_cnt, i->places_cap, 1) ||
	    map_add(&i->by_place, key, (uint32_t)i->places_cnt))
		return MAP_NONE;
	i->places[i->places_cnt] = place;
	return (uint32_t)i->places_cnt++;
}

/* Only frames of programs in files; @key is unlike that of any other place. */
static bool has_place(struct inlined *i, const struct profile_frame *frame, uint64_t *key)
{
	char file[PATH_BYTES + BUILD_ID_BYTES];
	uint32_t number;
	int len;

	if (frame->kind != PROFILE_NATIVE || !frame->mapping.len || frame->mapping.data[0] != '/' ||
	    !frame->rel_pc || frame->rel_pc >> PLACE_BITS)
		return false;
	len = snprintf(file, sizeof(file), "%.*s%c%.*s", (int)frame->build_id.len,
		       frame->build_id.len ? frame->build_id.data : "", ' ', (int)frame->mapping.len, frame->mapping.data);
	if ((size_t)len >= sizeof(file))
		return false;
	number = pf_pool_add(&i->text, file, (size_t)len);
	*key = (uint64_t)number << PLACE_BITS | frame->rel_pc;
	return !(number >> (64 - PLACE_BITS));
}

unsigned int inlined_frames(void *inlined, const struct profile_frame *frame, struct profile_frame *out,
			    unsigned int max)
{
	struct inlined *i = inlined;
	const struct place *p;
	uint32_t index;
	uint64_t key;

	if (!has_place(i, frame, &key))
		return 0;
	index = map_get(&i->by_place, key);
	if (index == MAP_NONE)
		index = add_place(i, key, frame);
	p = index == MAP_NONE ? NULL : &i->places[index];
	if (!p || !p->cnt || p->cnt > max)
		return 0;
	memcpy(out, &i->frames[p->first], p->cnt * sizeof(*out));
	return p->cnt;
}
