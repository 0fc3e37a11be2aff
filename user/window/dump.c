// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps as the drain sees them: what must be written of the states is, and the blocks are noted; a thread does the rest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
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

/* Adds to @cut. */
static int write_tail(const struct window *w, struct dump *d, struct piece_cut *cut)
{
	struct fxt_writer *writer;
	int err = fxt_writer_open(&writer, window_bytes_write, &d->tail);

	if (err)
		return err;
	if (w->cfg.write_open)
		w->cfg.write_open(w->cfg.ctx, writer, cut);
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
	if (!w->has_given_up)
		return 0;
	piece_counts_overwritten(d->counts, w->front);
	return piece_counts_begin(d->counts, w->front, &first->begin);
}

/* With the lock. Blocks that ended before @kept_ns are not to be in the file; one is in any case. */
static int note_blocks(struct window *w, struct dump *d, uint64_t kept_ns)
{
	struct block *b;

	d->blocks = calloc(w->blocks + 1, sizeof(*d->blocks));
	if (!d->blocks)
		return -ENOMEM;
	for (b = w->oldest; b; b = b->next) {
		d->blocks[d->blocks_cnt++] = b;
		b->refs++;
	}
	while (d->skipped + 1 < d->blocks_cnt && d->blocks[d->skipped]->to_ns < kept_ns)
		d->skipped++;
	return 0;
}

static int prepare(struct window *w, struct dump *d, const struct piece_cut *cut, uint64_t kept_ns)
{
	const struct block *first = w->oldest ? w->oldest : w->filling;
	struct piece_cut end = *cut;
	int err = write_tail(w, d, &end);

	err = err ? err : count(w, d, &end, first);
	if (!err && w->has_given_up)
		err = window_write_head(w, d, w->front, first, &d->head);
	if (err)
		return err;
	pthread_mutex_lock(&w->lock);
	err = note_blocks(w, d, kept_ns);
	pthread_mutex_unlock(&w->lock);
	return err;
}

static bool is_taken(struct window *w, const struct dump *d)
{
	bool is_taken;

	pthread_mutex_lock(&w->lock);
	is_taken = d->state != DUMP_NONE;
	pthread_mutex_unlock(&w->lock);
	return is_taken;
}

int window_dump(struct window *w, const struct window_dump *dump, const struct piece_cut *cut)
{
	const uint64_t kept_ns = dump->last_ns && dump->last_ns < w->now_ns ? w->now_ns - dump->last_ns : 0;
	struct dump *d = &w->dumps[dump->place];
	int err = w->err;

	if (is_taken(w, d))
		return -EBUSY;
	err = err ? err : !w->has_records ? -ENODATA : window_block_end(w, cut);
	if (err)
		return err;
	d->fd = dump->fd;
	d->check = dump->check;
	d->at = SIZE_MAX;
	d->number = cut->number;
	d->realtime_offset_ns = cut->realtime_offset_ns;
	err = prepare(w, d, cut, kept_ns);
	window_dump_move(d);
	pthread_mutex_lock(&w->lock);
	if (err)
		window_dump_free(d);
	else
		d->state = DUMP_READY;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	return err;
}

/* But for the one that the thread uses. */
static void put_blocks(struct dump *d)
{
	size_t i;

	for (i = 0; i < d->blocks_cnt; i++)
		if (d->blocks[i] && i != d->at) {
			window_block_put(d->window, d->blocks[i]);
			d->blocks[i] = NULL;
		}
}

void window_dump_free(struct dump *d)
{
	d->at = SIZE_MAX;
	put_blocks(d);
	free(d->blocks);
	free(d->head.data);
	free(d->tail.data);
	piece_counts_free(d->counts);
	*d = (struct dump){ .window = d->window, .thread = d->thread };
}

/* ---- their ends ----------------------------------------------------------------------------- */

/* One report is to be taken. */
static void announce(struct window *w)
{
	const uint64_t one = 1;

	if (write(w->fd, &one, sizeof(one)) < 0)
		return;		/* cannot be: the count is small */
}

void window_dump_move(struct dump *d)
{
	__atomic_store_n(&d->moved_ns, clock_ns(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
}

bool window_dump_stalls(const struct dump *d)
{
	const uint64_t moved_ns = __atomic_load_n(&d->moved_ns, __ATOMIC_RELAXED);

	return d->state == DUMP_READY && clock_ns(CLOCK_MONOTONIC) - moved_ns > d->window->cfg.stall_ns;
}

void window_dump_give_up(struct dump *d, int err)
{
	if (d->given_up)
		return;
	__atomic_store_n(&d->given_up, err, __ATOMIC_RELAXED);
	put_blocks(d);
	announce(d->window);
}

bool window_place_is_free(struct window *w, unsigned int place)
{
	bool is_free;

	pthread_mutex_lock(&w->lock);
	is_free = w->dumps[place].state == DUMP_NONE;
	pthread_mutex_unlock(&w->lock);
	return is_free;
}

void window_cancel(struct window *w, unsigned int place)
{
	pthread_mutex_lock(&w->lock);
	if (w->dumps[place].state == DUMP_READY)
		window_dump_give_up(&w->dumps[place], -ECANCELED);
	pthread_mutex_unlock(&w->lock);
}

/* With the lock. */
static bool take_result(struct dump *d, struct window_dumped *out)
{
	if (window_dump_stalls(d))
		window_dump_give_up(d, -ETIMEDOUT);
	if (d->reported || (d->state != DUMP_ENDED && !d->given_up))
		return false;
	*out = d->result;
	out->place = (unsigned int)(d - d->window->dumps);
	out->err = d->given_up ?: d->result.err;
	if (d->state == DUMP_ENDED)
		window_dump_free(d);
	else
		d->reported = true;
	return true;
}

bool window_dumped(struct window *w, struct window_dumped *out)
{
	bool any = false;
	struct dump *d;
	uint64_t one;

	pthread_mutex_lock(&w->lock);
	for (d = w->dumps; d < w->dumps + WINDOW_DUMPS && !any; d++)
		any = take_result(d, out);
	if (any && read(w->fd, &one, sizeof(one)) < 0)
		one = 0;	/* nothing to be done */
	pthread_mutex_unlock(&w->lock);
	return any;
}

/* ---- the thread ----------------------------------------------------------------------------- */

/* Also one that is there when the window ends. */
static bool wait_for_dump(struct dump *d)
{
	struct window *w = d->window;
	bool is_ready;

	pthread_mutex_lock(&w->lock);
	while (d->state != DUMP_READY && !w->ending)
		pthread_cond_wait(&w->changed, &w->lock);
	is_ready = d->state == DUMP_READY;
	pthread_mutex_unlock(&w->lock);
	return is_ready;
}

static void end_dump(struct dump *d, int err)
{
	struct window *w = d->window;

	if (close(d->fd) && !err && errno != EINTR)
		err = -errno;	/* of a file system that writes only now */
	pthread_mutex_lock(&w->lock);
	d->result.err = err;
	d->state = DUMP_ENDED;
	if (d->reported)
		window_dump_free(d);
	else if (!d->given_up)
		announce(w);
	pthread_mutex_unlock(&w->lock);
}

void *window_dump_thread(void *arg)
{
	struct dump *d = arg;
	const bool begun = window_thread_begin(d->window, "kfxt-dump");

	while (begun && wait_for_dump(d))
		end_dump(d, window_dump_write(d));
	thread_hooks_end(&d->window->cfg.thread);
	return NULL;
}
