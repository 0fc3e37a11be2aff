// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of names, and metadata events made of them.
 */
#include "names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/track_ids.h"
#include "args.h"

#define ORDER_LAST	1000000	/* viewers put what is no process below those that are */

void write_names_fini(struct write_names *n)
{
	size_t i;

	for (i = 0; i < n->cnt; i++) {
		free(n->names[i].name);
		free(n->names[i].args);
	}
	free(n->names);
	map_fini(&n->by_koid);
	*n = (struct write_names){ 0 };
}

static int add_koid(struct write_names *n, uint64_t koid)
{
	int err = array_reserve(n->names, n->cnt, n->cap, 1);

	err = err ? err : map_add(&n->by_koid, koid, (uint32_t)n->cnt);
	if (err)
		return err;
	n->names[n->cnt++] = (struct write_name){ .koid = koid };
	return 0;
}

int write_names_get(struct write_names *n, uint64_t koid, size_t *at)
{
	uint32_t found = map_get(&n->by_koid, koid);
	int err;

	*at = found;
	if (found != MAP_NONE)
		return 0;
	*at = n->cnt;
	if (n->cnt >= MAP_NONE)
		return -ENOMEM;
	err = add_koid(n, koid);
	return err;
}

static int copy(char **to, size_t *to_len, const char *data, size_t len)
{
	char *p = malloc(len + 1);

	if (!p)
		return -ENOMEM;
	if (len)
		memcpy(p, data, len);
	free(*to);
	*to = p;
	*to_len = len;
	return 0;
}

/* Importers keep the order of tracks so. */
static bool take_order(struct write_name *name, const struct fxt_arg *arg)
{
	if (arg->type != FXT_ARG_INT64 || arg->name.len != 10 || memcmp(arg->name.data, "sort_index", 10) != 0)
		return false;
	name->has_order = true;
	name->order = arg->i64;
	return true;
}

/* All arguments but the process of a thread and the order, which have places of their own. */
static int keep_args(struct write_name *name, const struct fxt_record *rec, const struct fxt_arg *process)
{
	struct write_buf b = { 0 };
	unsigned int i;
	int err;

	for (i = 0; i < rec->nargs; i++)
		if (&rec->args[i] != process && !take_order(name, &rec->args[i]))
			write_args_put(&b, &rec->args[i], 1);
	err = b.failed ? -ENOMEM : copy(&name->args, &name->args_len, b.data, b.len);
	write_buf_fini(&b);
	return err;
}

int write_names_object(struct write_names *n, const struct fxt_record *rec)
{
	const bool is_thread = rec->object.kind == FXT_KOBJ_THREAD;
	const struct fxt_arg *process = is_thread ? fxt_record_arg(rec, "process") : NULL;
	struct write_name *name;
	size_t at;
	int err = write_names_get(n, rec->object.id, &at);

	if (err)
		return err;
	name = &n->names[at];
	if (process && process->type != FXT_ARG_KOID)
		process = NULL;
	if (process) {
		name->process = process->u64;
		name->has_process = name->from_object = true;
	}
	name->named = true;
	err = copy(&name->name, &name->len, rec->object.name.data, rec->object.name.len);
	return err ? err : keep_args(name, rec, process);
}

int write_names_thread(struct write_names *n, struct fxt_thread t)
{
	size_t at;
	int err = write_names_get(n, t.thread, &at);

	if (err)
		return err;
	n->names[at].has_events = true;
	if (n->names[at].from_object)
		return 0;
	n->names[at].process = t.process;
	n->names[at].has_process = true;
	return 0;
}

static void put_head(struct write_buf *b, const char *what, uint64_t pid, uint64_t tid)
{
	write_buf_text(b, "{\"ph\":\"M\",\"name\":\"");
	write_buf_text(b, what);
	write_buf_text(b, "\",\"pid\":");
	write_buf_u64(b, pid);
	write_buf_text(b, ",\"tid\":");
	write_buf_u64(b, tid);
	write_buf_text(b, ",\"args\":{");
}

bool write_names_has_idle(const struct write_names *threads)
{
	uint32_t at = map_get(&threads->by_koid, 0);

	return at != MAP_NONE && threads->names[at].has_events;
}

bool write_names_has_kernel(const struct write_names *threads)
{
	const struct write_name *name = threads->names, *end = name + threads->cnt;

	while (name < end && (!name->has_process || name->process || (!name->koid && !name->has_events)))
		name++;
	return name < end;
}

static void put_order(struct write_buf *b, const struct write_name *name, const char *what, uint64_t pid)
{
	put_head(b, what, pid, name->koid);
	write_buf_text(b, "\"sort_index\":");
	write_buf_i64(b, name->has_order ? name->order : ORDER_LAST);
	write_buf_text(b, "}}");
}

void write_names_put(struct write_buf *b, const struct write_name *name, bool is_process)
{
	const uint64_t pid = is_process || !name->has_process ? name->koid : name->process;
	const bool has_order = name->has_order || (is_process && name->koid >= PSEUDO_BASE);

	if (!name->named)
		return;
	/* Viewers have names of their own for what has none. */
	if (name->len || name->args_len) {
		put_head(b, is_process ? "process_name" : "thread_name", pid, name->koid);
		write_buf_text(b, "\"name\":");
		write_buf_string(b, name->name, name->len);
		if (name->args_len) {
			write_buf_char(b, ',');
			write_buf_bytes(b, name->args, name->args_len);
		}
		write_buf_text(b, "}}");
		if (has_order)
			write_buf_text(b, ",\n");
	}
	if (has_order)
		put_order(b, name, is_process ? "process_sort_index" : "thread_sort_index", pid);
}
