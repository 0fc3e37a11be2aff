// SPDX-License-Identifier: GPL-2.0
/*
 * The thread that compresses blocks, one after the other.
 */
#include <stdlib.h>

#include "window_p.h"

bool window_thread_begin(struct window *w, const char *name)
{
	int err;

	pthread_setname_np(pthread_self(), name);
	err = thread_hooks_begin(&w->cfg.thread);
	pthread_mutex_lock(&w->lock);
	w->inits++;
	if (err)
		w->init_err = err;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	return !err;
}

/* The one to be compressed, or NULL: the window ends. */
static struct block *next_block(struct window *w)
{
	struct block *b;

	pthread_mutex_lock(&w->lock);
	while (!w->to_pack && !w->ending)
		pthread_cond_wait(&w->changed, &w->lock);
	b = w->to_pack;
	pthread_mutex_unlock(&w->lock);
	return b;
}

/* @packed is NULL if it could not be compressed: it is kept as it is. */
static void end_block(struct window *w, struct block *b, const struct packed *packed)
{
	unsigned char *raw = NULL;

	pthread_mutex_lock(&w->lock);
	if (packed) {
		raw = b->raw;
		b->raw = NULL;
		b->packed = *packed;
		w->packed_from_bytes += b->raw_len;
		w->held_bytes += packed->len;
		w->held_bytes -= b->raw_len;
		w->packed_bytes += window_block_bytes(b);
	}
	b->is_packed = true;
	w->waiting_bytes -= b->raw_len;
	w->to_pack = b->next;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	free(raw);
}

void *window_pack_thread(void *arg)
{
	struct window *w = arg;
	struct packer *p = NULL;
	struct packed packed;
	const bool begun = window_thread_begin(w, "kfxt-window");
	struct block *b;
	int err;

	while (begun && (b = next_block(w))) {
		err = p ? 0 : packer_open(&p, &w->packing);
		err = err ? err : packer_pack(p, b->raw, b->raw_len, &packed);
		end_block(w, b, err ? NULL : &packed);
	}
	packer_close(p);
	thread_hooks_end(&w->cfg.thread);
	return NULL;
}
