// SPDX-License-Identifier: GPL-2.0
/*
 * Dictionaries and arrays of names that are paths. Arguments that are nested follow each other, so neighbours with
 * the same beginning are of one dictionary or array; all of them have it up to the same offset.
 */
#include "nest.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "format/perfetto/fields.h"

#define DEPTH_MAX	16U
#define INDEX_DIGITS	6U

/* A name of a member, or "[0]". */
struct part {
	size_t len, next;	/* bytes of it; where the next one begins, or the length of the name */
	bool is_index;
	unsigned int index;
};

/* What follows a part; false: nothing that may. */
static bool set_next(struct fxt_str name, size_t end, struct part *p)
{
	p->next = end;
	if (end == name.len || name.data[end] == '[')
		return true;
	p->next++;
	return name.data[end] == '.' && p->next < name.len && name.data[p->next] != '[';
}

static bool read_index(struct fxt_str name, size_t at, struct part *p)
{
	size_t end = at + 1;

	for (; end < name.len && name.data[end] >= '0' && name.data[end] <= '9' && end <= at + INDEX_DIGITS; end++)
		p->index = p->index * 10 + (unsigned int)(name.data[end] - '0');
	p->is_index = true;
	p->len = end + 1 - at;
	return end > at + 1 && end < name.len && name.data[end] == ']' && set_next(name, end + 1, p);
}

static bool read_part(struct fxt_str name, size_t at, struct part *p)
{
	size_t end = at;

	*p = (struct part){ 0 };
	if (at < name.len && name.data[at] == '[')
		return read_index(name, at, p);
	while (end < name.len && !memchr(".[]", name.data[end], 3))
		end++;
	p->len = end - at;
	return p->len && set_next(name, end, p);
}

/* Whether the name is a path that packets have dictionaries and arrays for. */
static bool is_path(struct fxt_str name)
{
	unsigned int depth = 0;
	struct part p;
	size_t at = 0;

	for (; at < name.len && depth < DEPTH_MAX; at = p.next, depth++)
		if (!read_part(name, at, &p) || (!depth && p.is_index))
			return false;
	return depth > 1 && at == name.len;
}

/* How many of @args have the part @p of the first one, which is not its last, and go on as that does. */
static size_t run_len(const struct fxt_arg *args, size_t cnt, const struct part *p)
{
	const struct fxt_str first = args[0].name;
	size_t i;

	for (i = 1; i < cnt; i++)
		if (args[i].name.len <= p->next || memcmp(args[i].name.data, first.data, p->next) != 0 ||
		    (args[i].name.data[p->next] == '[') != (first.data[p->next] == '['))
			break;
	return i;
}

/* Whether the indexes of each array in it are 0, 1, 2 ..., as those of packets are by their places. */
static bool is_dense(const struct fxt_arg *args, size_t cnt, size_t at)
{
	unsigned int expected = 0;
	struct part p;
	size_t i = 0, len;

	for (; i < cnt; i += len) {
		if (!read_part(args[i].name, at, &p) || (p.is_index && p.index != expected++))
			return false;
		len = p.next == args[i].name.len ? 1 : run_len(args + i, cnt - i, &p);
		if (p.next < args[i].name.len && !is_dense(args + i, len, p.next))
			return false;
	}
	return true;
}

static void put_name(struct out_strings *s, struct pb_buf *b, const struct fxt_str *name, size_t at, size_t len)
{
	const struct fxt_str part = fxt_str_n(name->data + at, len);

	out_strings_put(s, b, OUT_ARG_NAMES, part, PF_ANNOTATION_NAME_IID, PF_ANNOTATION_NAME);
}

/* What is at the offset @at of their names. */
static void put_range(struct out_strings *s, struct pb_buf *b, const struct fxt_arg *args, size_t cnt, size_t at,
		      unsigned int field)
{
	size_t i, len, begun;
	struct part p;

	for (i = 0; i < cnt; i += len) {
		if (!read_part(args[i].name, at, &p))
			return;
		len = 1;
		begun = pb_begin(b, field);
		if (!p.is_index)
			put_name(s, b, &args[i].name, at, p.len);
		if (p.next == args[i].name.len) {
			out_args_put_value(s, b, &args[i]);
		} else {
			len = run_len(args + i, cnt - i, &p);
			put_range(s, b, args + i, len, p.next,
				  args[i].name.data[p.next] == '[' ? PF_ANNOTATION_ARRAY : PF_ANNOTATION_DICT);
		}
		pb_end(b, begun);
	}
}

/* Arguments whose names are paths. */
static void put_paths(struct out_strings *s, struct pb_buf *b, const struct fxt_arg *args, size_t cnt, unsigned int field)
{
	size_t i, len, k, begun;
	struct part p;

	for (i = 0; i < cnt; i += len) {
		if (!read_part(args[i].name, 0, &p))
			return;
		len = run_len(args + i, cnt - i, &p);
		if (is_dense(args + i, len, 0)) {
			put_range(s, b, args + i, len, 0, field);
			continue;
		}
		for (k = 0; k < len; k++) {
			begun = pb_begin(b, field);
			put_name(s, b, &args[i + k].name, 0, args[i + k].name.len);
			out_args_put_value(s, b, &args[i + k]);
			pb_end(b, begun);
		}
	}
}

/* What a record had no space for; what is no such object is an argument as others. */
static bool is_folded(struct out_strings *s, const struct fxt_arg *arg)
{
	return arg->type == FXT_ARG_STRING && arg->name.len == 4 && !memcmp(arg->name.data, "more", 4) &&
	       !out_more_read(&s->more, arg->str);
}

static void put_all(struct out_strings *s, struct pb_buf *b, const struct fxt_arg *args, size_t cnt)
{
	size_t i = 0, paths, begun;

	while (i < cnt) {
		for (paths = 0; i + paths < cnt && is_path(args[i + paths].name); paths++)
			;
		put_paths(s, b, args + i, paths, PF_EVENT_ANNOTATIONS);
		i += paths;
		if (i == cnt)
			break;
		begun = pb_begin(b, PF_EVENT_ANNOTATIONS);
		out_strings_put(s, b, OUT_ARG_NAMES, args[i].name, PF_ANNOTATION_NAME_IID, PF_ANNOTATION_NAME);
		out_args_put_value(s, b, &args[i++]);
		pb_end(b, begun);
	}
}

/* All as one list: what is nested may begin before "more" and go on in it. */
static int append(struct out_more *more, const struct fxt_arg *args, unsigned int cnt)
{
	if (!cnt)
		return 0;
	if (array_reserve(more->args, more->cnt, more->cap, cnt))
		return -ENOMEM;
	memmove(more->args + cnt, more->args, more->cnt * sizeof(*args));
	memcpy(more->args, args, cnt * sizeof(*args));
	more->cnt += cnt;
	return 0;
}

void out_args_put(struct out_strings *s, struct pb_buf *b, const struct fxt_arg *args, unsigned int cnt)
{
	if (!cnt || !is_folded(s, &args[cnt - 1]))
		put_all(s, b, args, cnt);
	else if (append(&s->more, args, cnt - 1))
		b->failed = true;
	else
		put_all(s, b, s->more.args, s->more.cnt);
}
