// SPDX-License-Identifier: GPL-2.0
/*
 * The path is kept as one string, which each value copies as its name.
 */
#include "arg_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_BYTES	(ARG_LIST_MAX * 64U)	/* of all names; those beyond are left out */

#define SHORT_BYTES	32U		/* that are copied at once, whatever the length */

struct arg_list {
	struct fxt_arg args[ARG_LIST_MAX], deep[ARG_LIST_MAX];	/* deep: of a depth above 1 */
	unsigned int cnt, deep_cnt;	/* of both together at most ARG_LIST_MAX */
	char path[ARG_PATH_MAX], names[NAMES_BYTES + SHORT_BYTES];
	size_t path_len, names_len;
	unsigned int depth;		/* of the path */
	unsigned int too_long;		/* parts that did not fit in the path, the innermost ones */
	uint16_t part_len[ARG_PATH_MAX];
	uint64_t dropped;
};

int arg_list_open(struct arg_list **out)
{
	struct arg_list *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	*out = l;
	return 0;
}

void arg_list_clear(struct arg_list *l)
{
	l->cnt = l->deep_cnt = 0;
	l->names_len = 0;
	l->path_len = 0;
	l->depth = 0;
	l->too_long = 0;
}

/* Whether the path has no space for a part of that many bytes, its dot among them. */
static inline bool is_full(const struct arg_list *l, size_t len)
{
	return l->too_long || len > ARG_PATH_MAX - l->path_len || l->depth == ARG_PATH_MAX;
}

/* @dot: one is put before it. */
static inline void enter(struct arg_list *l, bool dot, const char *part, size_t len)
{
	if (is_full(l, dot + len)) {
		l->too_long++;
		return;
	}
	if (dot)
		l->path[l->path_len] = '.';
	if (len)
		memcpy(l->path + l->path_len + dot, part, len);
	l->path_len += dot + len;
	l->part_len[l->depth++] = (uint16_t)(dot + len);
}

void arg_list_member(struct arg_list *l, const char *key, size_t len)
{
	enter(l, l->depth > 0, key, len);
}

#define INDEX_BYTES	16U

/* "[0]" at the end of @buf: where it begins. */
static inline char *put_index(char buf[INDEX_BYTES], unsigned int index)
{
	char *p = buf + INDEX_BYTES;

	*--p = ']';
	for (; index >= 10; index /= 10)
		*--p = (char)('0' + index % 10);
	*--p = (char)('0' + index);
	*--p = '[';
	return p;
}

void arg_list_element(struct arg_list *l, unsigned int index)
{
	char buf[INDEX_BYTES], *part = put_index(buf, index);

	enter(l, false, part, (size_t)(buf + INDEX_BYTES - part));
}

void arg_list_leave(struct arg_list *l)
{
	if (l->too_long)
		l->too_long--;
	else if (l->depth)
		l->path_len -= l->part_len[--l->depth];
}

/* The place of a value whose name has @len bytes of its own in names; NULL: it is left out. */
static inline struct fxt_arg *next_arg(struct arg_list *l, bool is_deep, size_t len)
{
	if (l->cnt + l->deep_cnt == ARG_LIST_MAX || len > NAMES_BYTES - l->names_len) {
		l->dropped++;
		return NULL;
	}
	return is_deep ? &l->deep[l->deep_cnt++] : &l->args[l->cnt++];
}

/* There is always space for SHORT_BYTES after the names. */
static inline void copy_path(const struct arg_list *l, char *to)
{
	memcpy(to, l->path, SHORT_BYTES);
	if (l->path_len > SHORT_BYTES)
		memcpy(to + SHORT_BYTES, l->path + SHORT_BYTES, l->path_len - SHORT_BYTES);
}

/* Most are 4 to 16 bytes long: two loads that may overlap instead of a call. */
static inline void copy_part(char *to, const char *part, size_t len)
{
	uint64_t first, last;
	uint32_t low, high;

	if (len >= sizeof(first) && len <= 2 * sizeof(first)) {
		memcpy(&first, part, sizeof(first));
		memcpy(&last, part + len - sizeof(last), sizeof(last));
		memcpy(to, &first, sizeof(first));
		memcpy(to + len - sizeof(last), &last, sizeof(last));
	} else if (len >= sizeof(low) && len < sizeof(first)) {
		memcpy(&low, part, sizeof(low));
		memcpy(&high, part + len - sizeof(high), sizeof(high));
		memcpy(to, &low, sizeof(low));
		memcpy(to + len - sizeof(high), &high, sizeof(high));
	} else if (len) {
		memcpy(to, part, len);
	}
}

/* The same of one in what is open; its name is the path and @part. */
static inline struct fxt_arg *add_part(struct arg_list *l, bool dot, const char *part, size_t len)
{
	char *name = l->names + l->names_len;
	struct fxt_arg *arg;

	if (is_full(l, dot + len)) {
		l->dropped++;
		return NULL;
	}
	arg = next_arg(l, l->depth > 0, l->path_len + dot + len);
	if (!arg)
		return NULL;
	copy_path(l, name);
	if (dot)
		name[l->path_len] = '.';
	copy_part(name + l->path_len + dot, part, len);
	arg->name = (struct fxt_str){ .data = name, .len = l->path_len + dot + len };
	l->names_len += arg->name.len;
	return arg;
}

struct fxt_arg *arg_list_add(struct arg_list *l)
{
	struct fxt_arg *arg;

	if (l->too_long) {
		l->dropped++;
		return NULL;
	}
	arg = next_arg(l, l->depth > 1, l->path_len);
	if (!arg)
		return NULL;
	arg->name = (struct fxt_str){ .data = l->names + l->names_len, .len = l->path_len };
	copy_path(l, l->names + l->names_len);
	l->names_len += l->path_len;
	return arg;
}

struct fxt_arg *arg_list_add_in_member(struct arg_list *l, const char *key, size_t len)
{
	return add_part(l, l->depth > 0, key, len);
}

struct fxt_arg *arg_list_add_element(struct arg_list *l, unsigned int index)
{
	char buf[INDEX_BYTES], *part = put_index(buf, index);

	return add_part(l, false, part, (size_t)(buf + INDEX_BYTES - part));
}

struct fxt_arg *arg_list_add_member(struct arg_list *l, const char *key, size_t len)
{
	struct fxt_arg *arg;

	if (len > ARG_PATH_MAX) {
		l->dropped++;
		return NULL;
	}
	arg = next_arg(l, false, 0);
	if (arg)
		arg->name = (struct fxt_str){ .data = key, .len = len };
	return arg;
}

/* The length of the name of the member @key of what is open if @name is that, or of something in it; else 0. */
static inline size_t member_len(const struct arg_list *l, struct fxt_str name, const char *key, size_t len)
{
	bool dot = l->depth > 0;
	size_t total = l->path_len + dot + len;

	if (name.len < total || (name.len > total && name.data[total] != '.' && name.data[total] != '['))
		return 0;
	if (memcmp(name.data, l->path, l->path_len) || memcmp(name.data + l->path_len + dot, key, len) != 0)
		return 0;
	return total ? total : name.len;
}

/* @inside: values in it, too. */
static unsigned int forget_in(const struct arg_list *l, struct fxt_arg *args, unsigned int *cnt, const char *key,
			      size_t len, bool inside)
{
	unsigned int i, kept = 0, forgotten;
	size_t found;

	for (i = 0; i < *cnt; i++) {
		found = member_len(l, args[i].name, key, len);
		if (!found || (!inside && found < args[i].name.len))
			args[kept++] = args[i];
	}
	forgotten = *cnt - kept;
	*cnt = kept;
	return forgotten;
}

static bool has_member(const struct arg_list *l, const struct fxt_arg *args, unsigned int cnt, const char *key, size_t len)
{
	unsigned int i;

	for (i = 0; i < cnt && !member_len(l, args[i].name, key, len); i++)
		;
	return i < cnt;
}

/* One that was not nested has just that name. */
unsigned int arg_list_forget(struct arg_list *l, const char *key, size_t len)
{
	unsigned int cnt;

	if (!has_member(l, l->args, l->cnt, key, len) && !has_member(l, l->deep, l->deep_cnt, key, len))
		return 0;
	cnt = forget_in(l, l->args, &l->cnt, key, len, false);
	cnt += forget_in(l, l->deep, &l->deep_cnt, key, len, false);
	if (cnt)
		return cnt;
	cnt = forget_in(l, l->args, &l->cnt, key, len, true);
	return cnt + forget_in(l, l->deep, &l->deep_cnt, key, len, true);
}

void arg_list_put(struct arg_list *l, struct fxt_arg value)
{
	struct fxt_arg *arg = arg_list_add(l);

	if (!arg)
		return;
	value.name = arg->name;
	*arg = value;
}

const struct fxt_arg *arg_list_get(struct arg_list *l, unsigned int *cnt)
{
	*cnt = l->cnt + l->deep_cnt;
	if (!*cnt)
		return NULL;
	if (!l->cnt)
		return l->deep;
	if (l->deep_cnt)
		memcpy(&l->args[l->cnt], l->deep, l->deep_cnt * sizeof(*l->deep));
	return l->args;
}

uint64_t arg_list_dropped(const struct arg_list *l)
{
	return l->dropped;
}

void arg_list_close(struct arg_list *l)
{
	free(l);
}
