// SPDX-License-Identifier: GPL-2.0
/*
 * A dump as its thread sees it: first records, blocks, last records, as they are, compressed, or through a stage.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "window_p.h"

#define PIECE_BYTES	(1U << 20)	/* that are compressed at once, of what a stage makes */
#define WAIT_MS		500		/* between two looks whether the dump was given up */

struct out {
	struct dump *d;
	uint64_t bytes, raw_bytes;
	struct unpacker *unpacker;
	/* If blocks are written as they are. */
	bool is_joined;
	struct packer *packer;		/* of the first and last records */
	struct packed_stream stream;
	/* If not. */
	struct stage stage;
	struct compressor *compressor;
};

/* ---- bytes ---------------------------------------------------------------------------------- */

static int wait_writable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };

	return poll(&pfd, 1, WAIT_MS) < 0 && errno != EINTR ? -errno : 0;
}

static int is_given_up(const struct dump *d)
{
	return __atomic_load_n(&d->given_up, __ATOMIC_RELAXED);
}

static int put_bytes(struct out *o, const void *data, size_t len)
{
	const char *at = data;
	ssize_t n;
	int err = 0;

	while (!err && len && !(err = is_given_up(o->d))) {
		n = write(o->d->fd, at, len);
		if (n < 0 && errno == EAGAIN) {
			err = wait_writable(o->d->fd);
		} else if (n < 0 && errno != EINTR) {
			err = -errno;
		} else if (n > 0) {
			at += n;
			len -= n;
			o->bytes += n;
			window_dump_move(o->d);
		}
	}
	return err;
}

static int put_packed(struct out *o, const struct packed *b)
{
	unsigned char before[PACKED_BEFORE_MAX];
	struct iovec data;
	const size_t cnt = packed_stream_add(&o->stream, b, before, &data);
	int err = put_bytes(o, before, cnt);

	return err ? err : put_bytes(o, data.iov_base, data.iov_len);
}

static int put_compressed(struct out *o, const unsigned char *data, size_t len)
{
	struct iovec piece;
	size_t n;
	int err = 0;

	if (!o->compressor)
		return put_bytes(o, data, len);
	for (; !err && len; data += n, len -= n) {
		n = len < PIECE_BYTES ? len : PIECE_BYTES;
		err = compressor_add(o->compressor, data, n, &piece);
		err = err ? err : put_bytes(o, piece.iov_base, piece.iov_len);
	}
	return err;
}

/* ---- records -------------------------------------------------------------------------------- */

static int put_staged(struct out *o)
{
	int err = put_compressed(o, o->stage.bytes, o->stage.len);

	if (!err)
		o->stage.ops->written(o->stage.s);
	return err;
}

static int put_records(void *out, const void *records, size_t len)
{
	struct packed packed;
	struct out *o = out;
	int err;

	if (!len)
		return 0;
	o->raw_bytes += len;
	if (o->stage.ops) {
		err = stage_take(&o->stage, records, len);
		return err ? err : put_staged(o);
	}
	if (!o->is_joined)
		return put_bytes(o, records, len);
	err = packer_pack(o->packer, records, len, &packed);
	if (err)
		return err;
	err = put_packed(o, &packed);
	packed_free(&packed);
	return err;
}

/*
 * The one at @i, once it is compressed; it stays until the next one is used, or until it is forgotten. NULL: the dump was
 * given up, and so were its blocks.
 */
static const struct block *use_block(struct out *o, size_t i)
{
	struct window *w = o->d->window;
	struct dump *d = o->d;
	struct block *b;

	window_dump_move(d);
	pthread_mutex_lock(&w->lock);
	d->at = i;
	b = d->given_up ? NULL : d->blocks[i];
	while (b && !b->is_packed)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
	return b;
}

/* What could not be compressed before may be now. */
static int put_block(struct out *o, const struct block *b)
{
	if (!o->is_joined || b->raw)
		return window_block_each(b, o->unpacker, put_records, o);
	o->raw_bytes += b->raw_len;
	return put_packed(o, &b->packed);
}

static void forget_block(struct out *o, size_t i)
{
	struct window *w = o->d->window;
	struct dump *d = o->d;

	pthread_mutex_lock(&w->lock);
	if (d->blocks[i])
		window_block_put(w, d->blocks[i]);
	d->blocks[i] = NULL;
	d->at = SIZE_MAX;
	pthread_mutex_unlock(&w->lock);
}

/* ---- a file that begins later --------------------------------------------------------------- */

static int feed_state(void *s, const void *records, size_t len)
{
	return piece_state_add(s, records, len);
}

static int feed(struct out *o, struct piece_state *s)
{
	struct dump *d = o->d;
	int err = d->head.len ? piece_state_add(s, d->head.data, d->head.len) : 0;
	const struct block *b;
	size_t i;

	for (i = 0; !err && i < d->skipped; i++) {
		b = use_block(o, i);
		err = b ? window_block_each(b, o->unpacker, feed_state, s) : is_given_up(d);
		forget_block(o, i);
	}
	return err;
}

/* What a file needs first that begins with the first block that is not skipped, and its counts. */
static int begin_with(struct out *o, const struct piece_state *s)
{
	struct dump *d = o->d;
	const struct block *first = use_block(o, d->skipped);
	int err = first ? piece_counts_begin(d->counts, s, &first->begin) : is_given_up(d);

	return err ? err : window_write_head(d->window, d, s, first, &d->head);
}

static int skip(struct out *o)
{
	struct piece_state *s;
	int err = piece_state_open(&s);

	if (err)
		return err;
	err = feed(o, s);
	err = err ? err : begin_with(o, s);
	piece_state_close(s);
	return err;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int open_out(struct out *o, struct dump *d)
{
	const struct window *w = d->window;
	const struct compress_cfg *compress = &w->cfg.compress;
	const uint64_t ticks = piece_counts_session(d->counts).ticks_per_second;
	int err = unpacker_open(&o->unpacker, w->packing.method);

	o->d = d;
	o->is_joined = compress->method != COMPRESS_NONE && !w->cfg.stage && ticks && ticks <= UINT32_MAX;
	o->stream = (struct packed_stream){ .method = compress->method, .ticks = ticks };
	if (!err && w->cfg.stage)
		err = stage_open(&o->stage, w->cfg.stage);
	if (err || compress->method == COMPRESS_NONE)
		return err;
	return o->is_joined ? packer_open(&o->packer, compress) : compressor_open(&o->compressor, compress, PIECE_BYTES);
}

static int end_out(struct out *o)
{
	unsigned char end[COMPRESS_END_BYTES_MAX];
	int err = 0;

	if (o->stage.ops) {
		err = stage_end(&o->stage);
		err = err ? err : put_staged(o);
	}
	if (err)
		return err;
	if (o->is_joined)
		return put_bytes(o, end, packed_stream_end(&o->stream, end));
	return o->compressor ? put_bytes(o, end, compressor_end(o->compressor, end)) : 0;
}

/* What the stage has and could not be written is nowhere: the whole file is not. */
static void close_out(struct out *o)
{
	if (o->stage.ops)
		o->stage.ops->lost(o->stage.s, NULL, NULL);
	stage_close(&o->stage);
	compressor_close(o->compressor);
	packer_close(o->packer);
	unpacker_close(o->unpacker);
}

static int write_all(struct out *o)
{
	struct dump *d = o->d;
	int err = d->skipped ? skip(o) : 0;
	const struct block *b;
	size_t i;

	err = err ? err : window_write_ledger(d->counts, &d->tail);
	err = err ? err : put_records(o, d->head.data, d->head.len);
	for (i = d->skipped; !err && i < d->blocks_cnt; i++) {
		b = use_block(o, i);
		err = b ? put_block(o, b) : is_given_up(d);
		forget_block(o, i);
	}
	err = err ? err : put_records(o, d->tail.data, d->tail.len);
	return err ? err : end_out(o);
}

int window_dump_write(struct dump *d)
{
	struct out o = { 0 };
	int err = d->check ? d->check(d->fd) : 0;

	if (err)
		return err;
	err = open_out(&o, d);
	err = err ? err : write_all(&o);
	d->result.bytes = o.bytes;
	d->result.raw_bytes = o.raw_bytes;
	d->result.from_ns = piece_counts_session(d->counts).from_ns;
	d->result.to_ns = piece_counts_session(d->counts).to_ns;
	close_out(&o);
	return err;
}
