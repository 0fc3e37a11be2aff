// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks in a circle. The one after those handed over is being filled, without the lock.
 * Its memory is what was given back last, so that no more is touched than is needed at once.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sink_queue.h"

#define BLOCKS		64
#define WAIT_NS		100000000ULL	/* a reader lags by this and by the drain's sleep */

struct block {
	char *data;
	size_t len;
};

struct sink_queue {
	struct sink_queue_cfg cfg;
	char *memory;
	struct block blocks[BLOCKS];
	unsigned int filling;
	size_t used;			/* bytes of that; 0: it may be one that is handed over */
	uint64_t since_ns;		/* when it got its first record */
	struct output_time waited;	/* of the feeder, for one to be filled */
	bool running;
	pthread_t thread;
	pthread_mutex_t lock;		/* of what follows */
	pthread_cond_t changed;
	unsigned int first, cnt;	/* those handed over; the first is being written */
	char *spare[BLOCKS];		/* memory that no block has */
	unsigned int spare_cnt;
	bool ending;
	int err;
};

/* ---- the thread ------------------------------------------------------------- */

/* The one to be written, or NULL: there will be none. */
static const struct block *next_block(struct sink_queue *q)
{
	const struct block *b;

	pthread_mutex_lock(&q->lock);
	while (!q->cnt && !q->ending)
		pthread_cond_wait(&q->changed, &q->lock);
	b = q->cnt ? &q->blocks[q->first] : NULL;
	pthread_mutex_unlock(&q->lock);
	return b;
}

static void end_block(struct sink_queue *q, int err)
{
	pthread_mutex_lock(&q->lock);
	q->err = err;
	if (!err) {
		q->spare[q->spare_cnt++] = q->blocks[q->first].data;
		q->blocks[q->first].data = NULL;
		q->first = (q->first + 1) % BLOCKS;
		q->cnt--;
	}
	pthread_cond_signal(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

static void *work(void *arg)
{
	struct sink_queue *q = arg;
	const struct block *b;
	int err;

	pthread_setname_np(pthread_self(), "kfxt-compress");
	err = thread_hooks_begin(&q->cfg.thread);
	if (err)
		end_block(q, err);
	while (!err && (b = next_block(q))) {
		err = q->cfg.write(q->cfg.ctx, b->data, b->len);
		end_block(q, err);
	}
	thread_hooks_end(&q->cfg.thread);
	return NULL;
}

static int start(struct sink_queue *q)
{
	int err = thread_begin(&q->thread, work, q);

	q->running = !err;
	return err;
}

/* ---- its feeder --------------------------------------------------------------- */

int sink_queue_open(struct sink_queue **out, const struct sink_queue_cfg *cfg)
{
	struct sink_queue *q = calloc(1, sizeof(*q));
	unsigned int i;
	int err = -ENOMEM;

	if (!q)
		return err;
	q->cfg = *cfg;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, NULL);
	q->memory = malloc((size_t)BLOCKS * SINK_BLOCK_BYTES);
	if (q->memory) {
		for (i = BLOCKS - 1; i > 0; i--)
			q->spare[q->spare_cnt++] = q->memory + (size_t)i * SINK_BLOCK_BYTES;
		q->blocks[0].data = q->memory;
		err = start(q);
	}
	if (err) {
		sink_queue_close(q);
		return err;
	}
	*out = q;
	return 0;
}

static void wait_for_block(struct sink_queue *q)
{
	struct output_call call;

	output_call_begin(&call);
	while (q->cnt == BLOCKS && !q->err)
		pthread_cond_wait(&q->changed, &q->lock);
	output_call_end(&call, &q->waited);
}

/* On to the next block, once there is one to be filled. */
static int hand_over(struct sink_queue *q, bool last)
{
	int err;

	pthread_mutex_lock(&q->lock);
	if (q->used) {
		q->blocks[q->filling].len = q->used;
		q->filling = (q->filling + 1) % BLOCKS;
		q->used = 0;
		q->cnt++;
	}
	q->ending = last;
	pthread_cond_signal(&q->changed);
	if (q->cnt == BLOCKS && !q->err && !last)
		wait_for_block(q);
	if (!q->blocks[q->filling].data && q->spare_cnt)
		q->blocks[q->filling].data = q->spare[--q->spare_cnt];
	err = q->err;
	pthread_mutex_unlock(&q->lock);
	return err;
}

static int error_so_far(struct sink_queue *q)
{
	int err;

	pthread_mutex_lock(&q->lock);
	err = q->err;
	pthread_mutex_unlock(&q->lock);
	return err;
}

/* How much of what follows, which is more than the block has space for, goes into it. */
static size_t fitting(const struct sink_queue *q, const void *data)
{
	const size_t space = SINK_BLOCK_BYTES - q->used;

	return q->cfg.any_bytes ? space : records_whole_bytes(data, space);
}

int sink_queue_add(struct sink_queue *q, const void *data, size_t len, size_t *added)
{
	int err = error_so_far(q);
	size_t n;

	*added = 0;
	while (!err && *added < len) {
		n = len - *added;
		if (n > SINK_BLOCK_BYTES - q->used)
			n = fitting(q, (const char *)data + *added);
		if (!n) {
			err = q->used ? hand_over(q, false) : -EMSGSIZE;
			continue;
		}
		if (!q->used)
			q->since_ns = clock_ns(CLOCK_MONOTONIC);
		memcpy(q->blocks[q->filling].data + q->used, (const char *)data + *added, n);
		q->used += n;
		*added += n;
	}
	return err;
}

int sink_queue_flush(struct sink_queue *q)
{
	if (q->used && clock_ns(CLOCK_MONOTONIC) - q->since_ns >= WAIT_NS)
		return hand_over(q, false);
	return error_so_far(q);
}

int sink_queue_finish(struct sink_queue *q)
{
	if (q->running) {
		hand_over(q, true);
		pthread_join(q->thread, NULL);
		q->running = false;
	}
	return q->err;
}

void sink_queue_left(const struct sink_queue *q, records_lost_fn lost, void *ctx)
{
	const struct block *b;
	unsigned int i;

	for (i = 0; i < q->cnt; i++) {
		b = &q->blocks[(q->first + i) % BLOCKS];
		lost(ctx, b->data, b->len);
	}
}

struct output_time sink_queue_waited(const struct sink_queue *q)
{
	return q->waited;
}

void sink_queue_close(struct sink_queue *q)
{
	if (!q)
		return;
	sink_queue_finish(q);
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
	free(q->memory);
	free(q);
}
