// SPDX-License-Identifier: GPL-2.0
/* See kept.h. */
#include "kept.h"

#include <stdlib.h>
#include <string.h>

static size_t arg_bytes(const struct fxt_arg *arg)
{
	size_t bytes = arg->name.len;

	if (arg->type == FXT_ARG_STRING)
		bytes += arg->str.len;
	else if (arg->type == FXT_ARG_BLOB)
		bytes += arg->blob.len;
	return bytes;
}

static const char *copy_bytes(char **at, const void *data, size_t len)
{
	char *copy = *at;

	if (len)
		memcpy(copy, data, len);
	*at += len;
	return copy;
}

static void copy_str(char **at, struct fxt_str *str)
{
	str->data = copy_bytes(at, str->data, str->len);
}

static void copy_arg(char **at, struct fxt_arg *arg)
{
	copy_str(at, &arg->name);
	if (arg->type == FXT_ARG_STRING)
		copy_str(at, &arg->str);
	else if (arg->type == FXT_ARG_BLOB)
		arg->blob.data = copy_bytes(at, arg->blob.data, arg->blob.len);
}

struct kept *kept_copy(const struct fxt_record *rec)
{
	const bool event = rec->kind == FXT_KIND_EVENT;
	size_t bytes = sizeof(struct kept) + rec->nargs * sizeof(rec->args[0]);
	struct kept *k;
	unsigned int i;
	char *at;

	bytes += event ? rec->event.category.len + rec->event.name.len : rec->object.name.len;
	for (i = 0; i < rec->nargs; i++)
		bytes += arg_bytes(&rec->args[i]);
	k = malloc(bytes);
	if (!k)
		return NULL;
	at = (char *)&k->args[rec->nargs];
	if (event) {
		k->event = rec->event;
		copy_str(&at, &k->event.category);
		copy_str(&at, &k->event.name);
	} else {
		k->object = rec->object;
		copy_str(&at, &k->object.name);
		k->object.name.inlined = true;
	}
	k->nargs = 0;
	for (i = 0; i < rec->nargs; i++) {
		if (rec->args[i].type > FXT_ARG_BLOB)
			continue;
		k->args[k->nargs] = rec->args[i];
		copy_arg(&at, &k->args[k->nargs++]);
	}
	return k;
}

const struct fxt_arg *kept_arg(const struct kept *k, const char *name)
{
	unsigned int i;

	for (i = 0; i < k->nargs; i++)
		if (k->args[i].name.len == strlen(name) && !memcmp(k->args[i].name.data, name, strlen(name)))
			return &k->args[i];
	return NULL;
}
