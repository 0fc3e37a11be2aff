// SPDX-License-Identifier: GPL-2.0
/*
 * Slices that have begun and not ended: of threads, which end the innermost one, and asynchronous ones, which end by
 * their id.
 */
#include "state_p.h"

#include <errno.h>
#include <stdlib.h>

#include "bpf/abi/ids.h"

/* A slice that has begun: of a thread, or an async one. */
struct slice {
	struct slice *next;		/* in its chain: the innermost one first */
	uint64_t key;			/* koid of the thread, or id */
	uint64_t last_ns;		/* of what was begun or ended last with that key, in the innermost one */
	bool async;
	struct kept *event;
};

static struct slice **chain_of(const struct piece_state *s, uint64_t key)
{
	return (struct slice **)&s->slices[(key * 0x9e3779b97f4a7c15ULL >> 32) % SLICE_CHAINS];
}

/* Where the innermost one of that key is linked in, or the end of the chain. */
static struct slice **find(const struct piece_state *s, bool async, uint64_t key)
{
	struct slice **link = chain_of(s, key);

	while (*link && ((*link)->key != key || (*link)->async != async))
		link = &(*link)->next;
	return link;
}

static void drop(struct slice **link)
{
	struct slice *slice = *link;

	*link = slice->next;
	free(slice->event);
	free(slice);
}

static int begin(struct piece_state *s, const struct fxt_record *rec, bool async, uint64_t key)
{
	struct slice *slice = calloc(1, sizeof(*slice)), **link = chain_of(s, key);
	struct kept *k = slice ? kept_copy(rec) : NULL;

	if (!k) {
		free(slice);
		return -ENOMEM;
	}
	*slice = (struct slice){ .next = *link, .key = key, .async = async, .event = k, .last_ns = rec->ts };
	*link = slice;
	return 0;
}

int piece_slice_event(struct piece_state *s, const struct fxt_record *rec)
{
	const struct fxt_event *e = &rec->event;
	const bool async = e->type == FXT_ASYNC_BEGIN || e->type == FXT_ASYNC_END;
	const uint64_t key = async ? e->id : e->thread.thread;
	struct slice **link;

	if (e->type == FXT_DURATION_BEGIN || e->type == FXT_ASYNC_BEGIN)
		return begin(s, rec, async, key);
	if (e->type != FXT_DURATION_END && e->type != FXT_ASYNC_END)
		return 0;
	link = find(s, async, key);
	if (!*link)
		return 0;
	drop(link);
	link = find(s, async, key);
	if (*link && (*link)->last_ns < rec->ts)
		(*link)->last_ns = rec->ts;
	return 0;
}

void piece_slices_drop(struct piece_state *s, uint64_t thread)
{
	struct slice **link;

	while (*(link = find(s, false, thread)))
		drop(link);
}

/* Its thread has been forgotten: it is the first thread's from then on. Whether that one is known. */
static bool inherit(const struct piece_state *s, struct slice *slice)
{
	struct fxt_thread *at = &slice->event->event.thread;

	if (!slice->async || at->thread >= PSEUDO_BASE || map_get(&s->thread_map, at->thread) != MAP_NONE)
		return true;
	at->thread = at->process;
	return map_get(&s->thread_map, at->thread) != MAP_NONE;
}

void piece_slices_inherit(struct piece_state *s)
{
	struct slice **link;
	unsigned int i;

	for (i = 0; i < SLICE_CHAINS; i++) {
		link = &s->slices[i];
		while (*link) {
			if (inherit(s, *link))
				link = &(*link)->next;
			else
				drop(link);
		}
	}
}

/* When the slice is cut: not before the last begin or end of its thread. */
static uint64_t cut_ns(const struct piece_state *s, const struct slice *slice, uint64_t bound_ns)
{
	const struct slice *innermost = *find(s, slice->async, slice->key);

	return innermost->last_ns > bound_ns ? innermost->last_ns : bound_ns;
}

static int write_end(const struct slice *slice, struct fxt_writer *w, uint64_t ts)
{
	const struct fxt_arg arg = fxt_arg_bool("unfinished", true);
	struct fxt_event event = slice->event->event;

	event.type = slice->async ? FXT_ASYNC_END : FXT_DURATION_END;
	event.ts = ts;
	return fxt_write_event(w, &event, &arg, 1);
}

static int write_begin(const struct slice *slice, struct fxt_writer *w, uint64_t ts)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	struct fxt_event event = slice->event->event;
	unsigned int i;

	for (i = 0; i < slice->event->nargs && i < FXT_ARGS_MAX - 1; i++)
		args[i] = slice->event->args[i];
	args[i++] = fxt_arg_bool("continued", true);
	event.ts = ts;
	return fxt_write_event(w, &event, args, i);
}

static size_t count_all(const struct piece_state *s)
{
	const struct slice *slice;
	unsigned int i;
	size_t cnt = 0;

	for (i = 0; i < SLICE_CHAINS; i++)
		for (slice = s->slices[i]; slice; slice = slice->next)
			cnt++;
	return cnt;
}

/* Which the recorder writes at the time that they have. */
static bool is_own(const struct slice *slice)
{
	const struct fxt_str category = slice->event->event.category;

	return piece_text_of(category.data, category.len) == TEXT_KFXT;
}

/* The inner ones of a thread end first and begin last. */
int piece_slices_write(const struct piece_state *s, struct fxt_writer *w, uint64_t bound_ns, uint64_t own_ns, bool again)
{
	const size_t cnt = count_all(s);
	const struct slice **all = cnt ? malloc(cnt * sizeof(*all)) : NULL, *slice;
	size_t at = 0, i;
	uint64_t ts;
	int err = 0;

	if (!cnt)
		return 0;
	if (!all)
		return -ENOMEM;
	for (i = 0; i < SLICE_CHAINS; i++)
		for (slice = s->slices[i]; slice; slice = slice->next)
			all[at++] = slice;
	for (i = 0; !err && i < cnt; i++) {
		slice = all[again ? cnt - 1 - i : i];
		ts = cut_ns(s, slice, is_own(slice) ? own_ns : bound_ns);
		err = again ? write_begin(slice, w, ts) : write_end(slice, w, ts);
	}
	free(all);
	return err;
}

void piece_slices_count(const struct piece_state *s, uint64_t *calls, uint64_t *events)
{
	const struct slice *slice;
	struct fxt_str category;
	enum text text;
	unsigned int i;

	*calls = *events = 0;
	for (i = 0; i < SLICE_CHAINS; i++) {
		for (slice = s->slices[i]; slice; slice = slice->next) {
			category = slice->event->event.category;
			text = piece_text_of(category.data, category.len);
			*calls += text == TEXT_FUNCTION || text == TEXT_USDT;
			*events += text != TEXT_FUNCTION && text != TEXT_USDT && text != TEXT_KFXT && text != TEXT_LOG;
		}
	}
}

void piece_slices_close(struct piece_state *s)
{
	unsigned int i;

	for (i = 0; i < SLICE_CHAINS; i++)
		while (s->slices[i])
			drop(&s->slices[i]);
}
