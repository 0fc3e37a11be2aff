// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a window, and its bounds.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/num.h"
#include "window_p.h"

#define BLOCK_BYTES	(1U << 20)
#define BLOCK_BYTES_MIN	4096U
#define BLOCKS		64U		/* that an age is divided into, at least */
#define BLOCK_NS_MIN	200000000ULL
#define WAITING_MAX	(64ULL << 20)
#define STALL_NS	30000000000ULL
#define JOIN_NS		100000000L

/* ---- opening and closing -------------------------------------------------------------------- */

static void set_bounds(struct window *w, const struct window_cfg *cfg)
{
	const bool is_packed = cfg->compress.method != COMPRESS_NONE && !cfg->stage;

	w->cfg = *cfg;
	w->cfg.stall_ns = cfg->stall_ns ? cfg->stall_ns : STALL_NS;
	w->packing = is_packed ? cfg->compress : (struct compress_cfg){ COMPRESS_ZSTD, WINDOW_LEVEL };
	w->block_bytes = cfg->bytes && cfg->bytes / BLOCKS < BLOCK_BYTES ? cfg->bytes / BLOCKS : BLOCK_BYTES;
	if (w->block_bytes < BLOCK_BYTES_MIN)
		w->block_bytes = BLOCK_BYTES_MIN;
	w->block_ns = cfg->age_ns / BLOCKS > BLOCK_NS_MIN ? cfg->age_ns / BLOCKS : BLOCK_NS_MIN;
	w->waiting_max = cfg->bytes && cfg->bytes / 4 < WAITING_MAX ? cfg->bytes / 4 : WAITING_MAX;
}

static int start(struct window *w, pthread_t *thread, void *(*run)(void *), void *arg)
{
	int err = thread_begin(thread, run, arg);

	w->threads += !err;
	return err;
}

static int start_threads(struct window *w)
{
	int err = start(w, &w->pack_thread, window_pack_thread, w);
	struct dump *d;

	for (d = w->dumps; !err && d < w->dumps + WINDOW_DUMPS; d++) {
		d->window = w;
		err = start(w, &d->thread, window_dump_thread, d);
	}
	pthread_mutex_lock(&w->lock);
	while (w->inits < w->threads)
		pthread_cond_wait(&w->changed, &w->lock);
	err = err ? err : w->init_err;
	pthread_mutex_unlock(&w->lock);
	return err;
}

static int check_level(const struct compress_cfg *cfg)
{
	if (cfg->method == COMPRESS_NONE)
		return 0;
	return cfg->level < 1 || cfg->level > compress_level_max(cfg->method) ? -EINVAL : 0;
}

static int init(struct window *w, const struct window_cfg *cfg)
{
	int err = check_level(&cfg->compress);

	if (err)
		return err;
	set_bounds(w, cfg);
	err = piece_state_open(&w->live);
	err = err ? err : piece_state_open(&w->front);
	err = err ? err : unpacker_open(&w->unpacker, w->packing.method);
	err = err ? err : window_block_begin(w, &(struct piece_cut){ 0 });
	if (err)
		return err;
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	return w->fd < 0 ? -errno : start_threads(w);
}

int window_open(struct window **out, const struct window_cfg *cfg)
{
	struct window *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->fd = -1;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	err = init(w, cfg);
	if (err) {
		window_close(w);
		return err;
	}
	*out = w;
	return 0;
}

/* Whether it ends within JOIN_NS. */
static bool join(pthread_t thread)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += JOIN_NS;
	if (end.tv_nsec >= 1000000000L) {
		end.tv_nsec -= 1000000000L;
		end.tv_sec++;
	}
	return !pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &end);
}

static bool end_dump_thread(struct dump *d)
{
	bool joined = false, stalls = false;

	while (!(joined = join(d->thread)) && !stalls) {
		pthread_mutex_lock(&d->window->lock);
		stalls = d->given_up || window_dump_stalls(d);
		if (stalls)
			window_dump_give_up(d, -ETIMEDOUT);
		pthread_mutex_unlock(&d->window->lock);
	}
	return joined || join(d->thread);
}

/* Whether all have ended. */
static bool end_threads(struct window *w)
{
	unsigned int i;
	bool all = true;

	pthread_mutex_lock(&w->lock);
	w->ending = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	for (i = 1; i < w->threads; i++)
		all &= end_dump_thread(&w->dumps[i - 1]);
	if (w->threads)
		pthread_join(w->pack_thread, NULL);
	return all;
}

/* Of dumps that were not reported. */
static int free_dumps(struct window *w)
{
	struct dump *d;
	int err = 0;

	for (d = w->dumps; d < w->dumps + WINDOW_DUMPS; d++) {
		if (d->state == DUMP_ENDED && !err)
			err = d->given_up ? d->given_up : d->result.err;
		window_dump_free(d);
	}
	return err;
}

int window_close(struct window *w)
{
	struct block *b;
	int err;

	if (!w)
		return 0;
	if (!end_threads(w))
		return -ETIMEDOUT;
	err = free_dumps(w);
	while ((b = w->oldest)) {
		w->oldest = b->next;
		window_block_put(w, b);
	}
	if (w->filling)
		window_block_put(w, w->filling);
	if (w->fd >= 0)
		close(w->fd);
	piece_state_close(w->live);
	piece_state_close(w->front);
	unpacker_close(w->unpacker);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return err;
}

/* ---- records -------------------------------------------------------------------------------- */

static int reserve(struct window *w, size_t len)
{
	struct block *b = w->filling;
	const size_t first = w->block_bytes / 8;
	int err = array_reserve(b->raw, b->raw_len, b->raw_cap, b->raw_len || len > first ? len : first);

	pthread_mutex_lock(&w->lock);
	w->held_bytes += err ? 0 : len;
	w->raw_bytes += err ? 0 : len;
	w->added_bytes += err ? 0 : len;
	pthread_mutex_unlock(&w->lock);
	return err;
}

int window_add(struct window *w, const void *records, size_t len)
{
	if (w->err || !len)
		return w->err;
	w->err = reserve(w, len);
	w->err = w->err ? w->err : piece_state_add(w->live, records, len);
	if (w->err)
		return w->err;
	memcpy(w->filling->raw + w->filling->raw_len, records, len);
	w->filling->raw_len += len;
	w->has_records = true;
	return 0;
}

static bool is_due(const struct window *w)
{
	const struct block *b = w->filling;

	return b->raw_len >= w->block_bytes || w->now_ns - b->from_ns >= w->block_ns;
}

static uint64_t held_bytes(struct window *w)
{
	uint64_t bytes;

	pthread_mutex_lock(&w->lock);
	bytes = w->held_bytes;
	pthread_mutex_unlock(&w->lock);
	return bytes;
}

static bool is_too_old(const struct window *w, const struct block *b)
{
	return w->cfg.age_ns && b->to_ns < w->now_ns && w->now_ns - b->to_ns > w->cfg.age_ns;
}

/* The block being filled is the last one to go. */
static int keep_bounds(struct window *w, const struct piece_cut *cut)
{
	int err = 0;

	while (!err) {
		if (w->oldest && is_too_old(w, w->oldest))
			err = window_give_up(w);
		else if (!w->cfg.bytes || held_bytes(w) <= w->cfg.bytes)
			break;
		else if (w->oldest)
			err = window_give_up(w);
		else if (w->filling->raw_len)
			err = window_block_end(w, cut);
		else
			break;
	}
	return err;
}

int window_round(struct window *w, const struct piece_cut *cut, uint64_t now_ns)
{
	int err = w->err;

	w->now_ns = now_ns;
	if (!w->filling->from_ns)
		w->filling->from_ns = now_ns;
	if (!err && w->has_records && (!w->filling->raw_len || is_due(w)))
		err = window_block_end(w, cut);
	return err ? err : keep_bounds(w, cut);
}

void window_limit(struct window *w, uint64_t bytes)
{
	w->cfg.bytes = bytes;
	if (w->waiting_max > bytes / 4)
		w->waiting_max = bytes / 4;
}

bool window_can_cut(const struct window *w, const struct piece_cut *cut)
{
	struct piece_cpu cpu;
	unsigned int i;

	for (i = 0; i < NUM_CPUS_MAX; i++)
		if (piece_state_cpu(w->live, cut, i, &cpu) && cpu.in_gap)
			return false;
	return true;
}

void window_totals(struct window *w, struct window_totals *out)
{
	const struct block *first = w->oldest ? w->oldest : w->filling;

	*out = (struct window_totals){ .held_ns = w->now_ns - first->from_ns };
	piece_state_sums(w->front, &out->overwritten);
	pthread_mutex_lock(&w->lock);
	out->bytes = w->held_bytes;
	out->raw_bytes = w->raw_bytes;
	out->given_up_bytes = w->given_up_bytes;
	out->added_bytes = w->added_bytes;
	out->packed_from_bytes = w->packed_from_bytes;
	out->packed_bytes = w->packed_bytes;
	out->blocks = w->blocks + (w->filling->raw_len > 0);
	pthread_mutex_unlock(&w->lock);
}

/* Of records, as they are in a file. */
static uint64_t bytes_in_file(const struct window *w, const struct block *b)
{
	const bool is_packed = w->cfg.compress.method != COMPRESS_NONE && b->packed.len;

	return is_packed ? b->packed.len : b->raw_len;
}

uint64_t window_file_bytes(struct window *w, uint64_t last_ns)
{
	const uint64_t kept_ns = last_ns && last_ns < w->now_ns ? w->now_ns - last_ns : 0;
	const struct block *b;
	uint64_t bytes;

	pthread_mutex_lock(&w->lock);
	bytes = bytes_in_file(w, w->filling);
	for (b = w->oldest; b; b = b->next)
		bytes += b->to_ns < kept_ns ? 0 : bytes_in_file(w, b);
	pthread_mutex_unlock(&w->lock);
	return bytes;
}

int window_fd(const struct window *w)
{
	return w->fd;
}
