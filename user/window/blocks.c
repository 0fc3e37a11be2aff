// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks: from being filled to being given up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "window_p.h"

uint64_t window_block_bytes(const struct block *b)
{
	const size_t bounds = b->bounds ? b->begin.cpus_cnt * sizeof(*b->bounds) : 0;

	return sizeof(*b) + (b->raw ? b->raw_len : 0) + b->packed.len + bounds;
}

static void free_block(struct block *b)
{
	free(b->bounds);
	free(b->raw);
	packed_free(&b->packed);
	free(b);
}

static struct block *make_block(const struct piece_cut *cut)
{
	struct block *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->begin = *cut;
	b->begin.online = NULL;
	b->begin.cpu_bound_ns = NULL;
	b->refs = 1;
	if (!cut->cpu_bound_ns || !cut->cpus_cnt)
		return b;
	b->bounds = malloc(cut->cpus_cnt * sizeof(*b->bounds));
	if (!b->bounds) {
		free(b);
		return NULL;
	}
	memcpy(b->bounds, cut->cpu_bound_ns, cut->cpus_cnt * sizeof(*b->bounds));
	b->begin.cpu_bound_ns = b->bounds;
	return b;
}

int window_block_begin(struct window *w, const struct piece_cut *cut)
{
	struct block *b = make_block(cut);

	if (!b)
		return -ENOMEM;
	b->from_ns = w->now_ns;
	pthread_mutex_lock(&w->lock);
	if (w->filling) {
		w->held_bytes -= window_block_bytes(w->filling);
		free_block(w->filling);
	}
	w->filling = b;
	w->held_bytes += window_block_bytes(b);
	pthread_mutex_unlock(&w->lock);
	return 0;
}

/* With the lock. */
static void hand_over(struct window *w, struct block *b)
{
	b->to_ns = w->now_ns;
	if (w->newest)
		w->newest->next = b;
	else
		w->oldest = b;
	w->newest = b;
	if (!w->to_pack)
		w->to_pack = b;
	w->blocks++;
	w->waiting_bytes += b->raw_len;
	pthread_cond_broadcast(&w->changed);
}

int window_block_end(struct window *w, const struct piece_cut *cut)
{
	struct block *ended = w->filling;
	int err;

	if (!ended->raw_len)
		return window_block_begin(w, cut);
	w->filling = NULL;
	err = window_block_begin(w, cut);
	if (err) {
		w->filling = ended;
		return err;
	}
	pthread_mutex_lock(&w->lock);
	hand_over(w, ended);
	while (w->waiting_bytes > w->waiting_max)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
	return 0;
}

int window_block_each(const struct block *b, struct unpacker *u, int (*take)(void *ctx, const void *records, size_t len),
		      void *ctx)
{
	return b->raw ? take(ctx, b->raw, b->raw_len) : unpacker_each(u, &b->packed, take, ctx);
}

void window_block_put(struct window *w, struct block *b)
{
	if (--b->refs)
		return;
	if (b->given_up)
		w->given_up_bytes -= window_block_bytes(b);
	free_block(b);
}

/* With the lock. */
static void take_oldest(struct window *w)
{
	struct block *b = w->oldest;

	w->oldest = b->next;
	if (!w->oldest)
		w->newest = NULL;
	w->blocks--;
	w->held_bytes -= window_block_bytes(b);
	w->raw_bytes -= b->raw_len;
	w->given_up_bytes += window_block_bytes(b);
	b->given_up = true;
	window_block_put(w, b);
}

/* Of a part of a block. */
static int feed_front(void *ctx, const void *records, size_t len)
{
	struct window *w = ctx;

	w->front_in_block = true;
	return piece_state_add(w->front, records, len);
}

int window_give_up(struct window *w)
{
	struct block *b = w->oldest;
	int err;

	pthread_mutex_lock(&w->lock);
	while (!b->is_packed)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
	w->front_in_block = false;
	err = window_block_each(b, w->unpacker, feed_front, w);
	if (err && w->front_in_block)
		w->err = err;	/* else it can be tried again */
	if (err)
		return err;
	w->has_given_up = true;
	pthread_mutex_lock(&w->lock);
	take_oldest(w);
	pthread_mutex_unlock(&w->lock);
	return 0;
}
