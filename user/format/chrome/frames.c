// SPDX-License-Identifier: GPL-2.0
/*
 * Names and places are one text, frames refer to it and to each other by number.
 */
#include "frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "value.h"

#define DEPTH_MAX	CHROME_DEPTH_MAX	/* also ends circles */
#define NO_FRAME	UINT32_MAX

struct chrome_frame {
	uint32_t parent;	/* NO_FRAME: it has none */
	uint32_t name_at, name_len, category_at, category_len, place_at, place_len;
};

/* The frame's number, made if it is new; NO_FRAME: no space. */
static uint32_t number_of(struct chrome_frames *f, uint64_t key)
{
	uint32_t number = map_get(&f->by_key, key);

	if (number != MAP_NONE)
		return number;
	if (f->cnt == CHROME_FRAMES_MAX || array_reserve(f->all, f->cnt, f->cap, 1) ||
	    map_add(&f->by_key, key, (uint32_t)f->cnt))
		return NO_FRAME;
	f->all[f->cnt] = (struct chrome_frame){ .parent = NO_FRAME };
	return (uint32_t)f->cnt++;
}

/* There is space for it; the length. */
static uint32_t put_text(struct chrome_frames *f, const struct chrome_value *v, uint32_t *at)
{
	uint64_t bad = 0;
	size_t len = chrome_string_decode(v->data, v->len, f->text + f->text_len, v->len, &bad);

	*at = (uint32_t)f->text_len;
	f->text_len += len;
	return (uint32_t)len;
}

int chrome_frames_name(struct chrome_frames *f, uint64_t key, const struct chrome_value *name,
		       const struct chrome_value *category, const char *place, size_t place_len)
{
	uint32_t number = number_of(f, key);
	size_t len = name->len + category->len + place_len;
	struct chrome_frame *frame;

	if (number == NO_FRAME || len > CHROME_FRAMES_BYTES_MAX - f->text_len ||
	    array_reserve(f->text, f->text_len, f->text_cap, len + 1))
		return -ENOMEM;
	frame = &f->all[number];
	frame->name_len = put_text(f, name, &frame->name_at);
	frame->category_len = put_text(f, category, &frame->category_at);
	frame->place_at = (uint32_t)f->text_len;
	frame->place_len = (uint32_t)place_len;
	if (place_len)
		memcpy(f->text + f->text_len, place, place_len);
	f->text_len += place_len;
	return 0;
}

int chrome_frames_parent(struct chrome_frames *f, uint64_t key, uint64_t parent)
{
	uint32_t number = number_of(f, key), above = number_of(f, parent);

	if (number == NO_FRAME || above == NO_FRAME)
		return -ENOMEM;
	f->all[number].parent = above;
	return 0;
}

bool chrome_frames_find(const struct chrome_frames *f, uint64_t key, struct fxt_str *name, struct fxt_str *place)
{
	uint32_t number = map_get(&f->by_key, key);

	if (number == MAP_NONE)
		return false;
	*name = fxt_str_n(f->text + f->all[number].name_at, f->all[number].name_len);
	*place = fxt_str_n(f->text + f->all[number].place_at, f->all[number].place_len);
	return true;
}

/*
 * From frame @key to its root, as far as @bytes have space for the names with a byte each: how many. A parent that is only referred to
 * has no name: the stack begins after it. *@cut: there are more.
 */
static unsigned int path_of(const struct chrome_frames *f, uint64_t key, size_t bytes, uint32_t path[DEPTH_MAX], bool *cut)
{
	uint32_t number = map_get(&f->by_key, key);
	unsigned int depth = 0;

	for (; number < f->cnt && f->all[number].name_len; number = f->all[number].parent) {
		*cut = depth == DEPTH_MAX || f->all[number].name_len >= bytes;
		if (*cut)
			return depth;
		bytes -= f->all[number].name_len + 1;
		path[depth++] = number;
	}
	*cut = false;
	return depth;
}

size_t chrome_frames_stack(const struct chrome_frames *f, uint64_t key, char *out, size_t size, bool *cut)
{
	uint32_t path[DEPTH_MAX];
	unsigned int depth = path_of(f, key, size, path, cut);
	size_t len;

	for (len = 0; depth--;) {
		memcpy(out + len, f->text + f->all[path[depth]].name_at, f->all[path[depth]].name_len);
		len += f->all[path[depth]].name_len;
		out[len++] = ';';
	}
	return len ? len - 1 : 0;
}

/* "URL:LINE:COLUMN" without the column, the line apart. */
static void set_place(const struct chrome_frames *f, const struct chrome_frame *from, struct profile_frame *to)
{
	struct fxt_str place = fxt_str_n(f->text + from->place_at, from->place_len);
	unsigned int numbers;
	uint64_t line = 0, unit = 1;

	for (numbers = 0; numbers < 2; numbers++) {
		for (line = 0, unit = 1; place.len && place.data[place.len - 1] != ':'; place.len--, unit *= 10)
			line += unit * (uint64_t)(place.data[place.len - 1] - '0');
		place.len -= place.len > 0;
	}
	to->source_file = place;
	to->line = line <= UINT32_MAX ? (uint32_t)line : 0;
}

unsigned int chrome_frames_list(const struct chrome_frames *f, uint64_t key, struct profile_frame *out, bool *cut)
{
	uint32_t path[DEPTH_MAX];
	unsigned int depth = path_of(f, key, SIZE_MAX, path, cut), i;

	for (i = 0; i < depth; i++) {
		const struct chrome_frame *frame = &f->all[path[depth - 1 - i]];

		out[i] = (struct profile_frame){
			.name = fxt_str_n(f->text + frame->name_at, frame->name_len),
			.mapping = fxt_str_n(f->text + frame->category_at, frame->category_len),
		};
		set_place(f, frame, &out[i]);
	}
	return depth;
}

void chrome_frames_fini(struct chrome_frames *f)
{
	map_fini(&f->by_key);
	free(f->all);
	free(f->text);
	*f = (struct chrome_frames){ 0 };
}
