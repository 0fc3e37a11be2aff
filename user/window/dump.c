// SPDX-License-Identifier: GPL-2.0
/*
 * A dump as the drain sees it: what must be written of the states is, and the blocks are noted; a thread does the rest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "fxt/fxt.h"
#include "window_p.h"

/* ---- the ends of a file --------------------------------------------------------------------- */

int window_bytes_write(void *ctx, const void *data, size_t len)
{
	struct bytes *b = ctx;

	if (array_reserve(b->data, b->len, b->cap, len))
		return -ENOMEM;
	memcpy(b->data + b->len, data, len);
	b->len += len;
	return 0;
}

/* The cut where @b begins, as a file that is dumped has it. */
static struct piece_cut begin_of(const struct dump *d, const struct block *b)
{
	struct piece_cut cut = b->begin;

	cut.number = d->number;
	if (!cut.realtime_offset_ns)
		cut.realtime_offset_ns = d->realtime_offset_ns;
	return cut;
}

int window_write_head(const struct window *w, const struct dump *d, const struct piece_state *s, const struct block *b,
		      struct bytes *to)
{
	const struct piece_cut cut = begin_of(d, b);
	struct fxt_writer *writer;
	int err;

	to->len = 0;
	err = fxt_writer_open(&writer, window_bytes_write, to);
	if (err)
		return err;
	err = piece_state_write_head(s, writer, &cut);
	if (!err && w->cfg.write_more)
		err = w->cfg.write_more(w->cfg.ctx, writer, s);
	return fxt_writer_close(writer) ?: err;
}

int window_write_ledger(const struct piece_counts *counts, struct bytes *to)
{
	struct fxt_writer *writer;
	int err = fxt_writer_open(&writer, window_bytes_write, to);

	if (err)
		return err;
	err = piece_counts_write_ledger(counts, writer);
	return fxt_writer_close(writer) ?: err;
}

static int write_tail(const struct window *w, struct dump *d, const struct piece_cut *cut)
{
	struct fxt_writer *writer;
	int err = fxt_writer_open(&writer, window_bytes_write, &d->tail);

	if (err)
		return err;
	err = piece_state_write_tail(w->live, writer, cut);
	return fxt_writer_close(writer) ?: err;
}

/* ---- what the drain does -------------------------------------------------------------------- */

/* Of all that is in the window: the thread may have the file begin later. */
static int count(const struct window *w, struct dump *d, const struct piece_cut *cut, const struct block *first)
{
	d->counts = piece_counts_take(w->live, cut);
	if (!d->counts)
		return -ENOMEM;
	return w->has_given_up ? piece_counts_begin(d->counts, w->front, &first->begin) : 0;
}

/* With the lock. */
static int note_blocks(struct window *w, struct dump *d)
{
	struct block *b;

	d->blocks = calloc(w->blocks + 1, sizeof(*d->blocks));
	if (!d->blocks)
		return -ENOMEM;
	for (b = w->oldest; b; b = b->next) {
		d->blocks[d->blocks_cnt++] = b;
		b->refs++;
	}
	return 0;
}

static int prepare(struct window *w, struct dump *d, const struct piece_cut *cut)
{
	const struct block *first = w->oldest ? w->oldest : w->filling;
	int err = count(w, d, cut, first);

	if (!err && w->has_given_up)
		err = window_write_head(w, d, w->front, first, &d->head);
	err = err ? err : write_tail(w, d, cut);
	if (err)
		return err;
	pthread_mutex_lock(&w->lock);
	err = note_blocks(w, d);
	pthread_mutex_unlock(&w->lock);
	return err;
}

int window_dump(struct window *w, const struct window_dump *dump, const struct piece_cut *cut)
{
	struct dump *d = &w->dump;
	enum dump_state state;
	int err = w->err;

	pthread_mutex_lock(&w->lock);
	state = d->state;
	pthread_mutex_unlock(&w->lock);
	if (state != DUMP_NONE)
		return -EBUSY;
	err = err ? err : !w->has_records ? -ENODATA : window_block_end(w, cut);
	if (err)
		return err;
	d->fd = dump->fd;
	d->kept_ns = dump->last_ns && dump->last_ns < w->now_ns ? w->now_ns - dump->last_ns : 0;
	d->number = cut->number;
	d->realtime_offset_ns = cut->realtime_offset_ns;
	err = prepare(w, d, cut);
	pthread_mutex_lock(&w->lock);
	if (err)
		window_dump_free(w);
	else
		d->state = DUMP_READY;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	return err;
}

void window_dump_free(struct window *w)
{
	struct dump *d = &w->dump;
	size_t i;

	for (i = 0; i < d->blocks_cnt; i++)
		if (d->blocks[i])
			window_block_put(w, d->blocks[i]);
	free(d->blocks);
	free(d->head.data);
	free(d->tail.data);
	piece_counts_free(d->counts);
	*d = (struct dump){ 0 };
}

bool window_dumped(struct window *w, struct window_dumped *out)
{
	uint64_t cnt;
	bool ended;

	pthread_mutex_lock(&w->lock);
	ended = w->dump.state == DUMP_ENDED;
	if (ended) {
		*out = w->dump.result;
		window_dump_free(w);
		if (read(w->fd, &cnt, sizeof(cnt)) < 0)
			cnt = 0;	/* nothing to be done */
	}
	pthread_mutex_unlock(&w->lock);
	return ended;
}

/* ---- the thread ----------------------------------------------------------------------------- */

/* Also one that is there when the window ends. */
static bool wait_for_dump(struct window *w)
{
	bool is_ready;

	pthread_mutex_lock(&w->lock);
	while (w->dump.state != DUMP_READY && !w->ending)
		pthread_cond_wait(&w->changed, &w->lock);
	is_ready = w->dump.state == DUMP_READY;
	pthread_mutex_unlock(&w->lock);
	return is_ready;
}

static void end_dump(struct window *w, int err)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&w->lock);
	w->dump.result.err = err;
	w->dump.state = DUMP_ENDED;
	if (write(w->fd, &one, sizeof(one)) < 0)
		w->dump.result.err = err ?: -errno;	/* cannot be: the count is 0 */
	pthread_mutex_unlock(&w->lock);
}

void *window_dump_thread(void *arg)
{
	struct window *w = arg;
	const bool begun = window_thread_begin(w, "kfxt-dump");

	while (begun && wait_for_dump(w))
		end_dump(w, window_dump_write(w, &w->dump));
	thread_hooks_end(&w->cfg.thread);
	return NULL;
}
