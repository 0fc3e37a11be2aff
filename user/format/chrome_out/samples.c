// SPDX-License-Identifier: GPL-2.0
/*
 * A tree of frames: one is known by its caller, its name and its mapping.
 */
#include "samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/text.h"

#define PIECE_BYTES	16384U

struct write_frame {
	uint32_t parent;	/* number, 0: none */
	uint32_t next;		/* index of another one of this hash, MAP_NONE: none */
	size_t at;
	uint32_t name_len, mapping_len;
};

static bool is_frame(const struct write_frames *f, const struct write_frame *known, uint32_t parent,
		     const struct profile_frame *frame)
{
	return known->parent == parent && known->name_len == frame->name.len && known->mapping_len == frame->mapping.len &&
	       (!frame->name.len || !memcmp(f->text.data + known->at, frame->name.data, frame->name.len)) &&
	       (!frame->mapping.len ||
		!memcmp(f->text.data + known->at + known->name_len, frame->mapping.data, frame->mapping.len));
}

/* @first: index of one with the same hash, or MAP_NONE. */
static int append_frame(struct write_frames *f, uint64_t hash, uint32_t first, uint32_t parent, const struct profile_frame *frame)
{
	struct write_frame *new;

	if (array_reserve(f->all, f->cnt, f->cap, 1))
		return -ENOMEM;
	if (first == MAP_NONE && map_add(&f->by_hash, hash, (uint32_t)f->cnt))
		return -ENOMEM;
	new = &f->all[f->cnt];
	*new = (struct write_frame){
		.parent = parent, .next = MAP_NONE, .at = f->text.len, .name_len = (uint32_t)frame->name.len,
		.mapping_len = (uint32_t)frame->mapping.len,
	};
	if (first != MAP_NONE) {
		new->next = f->all[first].next;
		f->all[first].next = (uint32_t)f->cnt;
	}
	write_buf_bytes(&f->text, frame->name.data, frame->name.len);
	write_buf_bytes(&f->text, frame->mapping.data, frame->mapping.len);
	f->cnt++;
	return f->text.failed ? -ENOMEM : 0;
}

static int add_frame(struct write_frames *f, uint32_t parent, const struct profile_frame *frame, uint32_t *number)
{
	uint64_t hash = (uint64_t)text_hash(frame->name.data, frame->name.len) << 32 |
			(text_hash(frame->mapping.data, frame->mapping.len) ^ parent * 0x9e3779b9U);
	uint32_t first = map_get(&f->by_hash, hash), i;
	int err;

	for (i = first; i != MAP_NONE; i = f->all[i].next) {
		if (is_frame(f, &f->all[i], parent, frame)) {
			*number = i + 1;
			return 0;
		}
	}
	if (f->cnt == WRITE_FRAMES_MAX) {
		f->left_out++;
		*number = parent;
		return 0;
	}
	err = append_frame(f, hash, first, parent, frame);
	*number = (uint32_t)f->cnt;
	return err;
}

int write_frames_add(struct write_frames *f, const struct profile_frame *frames, unsigned int cnt, uint32_t *number)
{
	unsigned int i;
	int err = 0;

	*number = 0;
	for (i = 0; i < cnt && !err; i++)
		err = add_frame(f, *number, &frames[i], number);
	return err;
}

bool write_frames_put(const struct write_frames *f, struct write_buf *out, size_t *next)
{
	size_t begin = out->len;

	for (; *next < f->cnt && out->len - begin < PIECE_BYTES; ++*next) {
		const struct write_frame *frame = &f->all[*next];

		write_buf_printf(out, "%s\n\"%zu\":{\"name\":", *next ? "," : "", *next + 1);
		write_buf_string(out, f->text.data + frame->at, frame->name_len);
		if (frame->mapping_len) {
			write_buf_text(out, ",\"category\":");
			write_buf_string(out, f->text.data + frame->at + frame->name_len, frame->mapping_len);
		}
		if (frame->parent)
			write_buf_printf(out, ",\"parent\":%u", frame->parent);
		write_buf_char(out, '}');
	}
	return *next < f->cnt;
}

void write_frames_fini(struct write_frames *f)
{
	map_fini(&f->by_hash);
	free(f->all);
	write_buf_fini(&f->text);
}
