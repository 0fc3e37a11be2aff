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

struct out {
	struct window *w;
	struct dump *d;
	uint64_t bytes, raw_bytes;
	struct unpacker *unpacker;
	struct bytes unpacked;
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

	return poll(&pfd, 1, -1) < 0 && errno != EINTR ? -errno : 0;
}

static int put(struct out *o, const void *data, size_t len)
{
	const char *at = data;
	ssize_t n;
	int err = 0;

	while (!err && len) {
		n = write(o->d->fd, at, len);
		if (n < 0 && errno == EAGAIN) {
			err = wait_writable(o->d->fd);
		} else if (n < 0 && errno != EINTR) {
			err = -errno;
		} else if (n > 0) {
			at += n;
			len -= n;
			o->bytes += n;
		}
	}
	return err;
}

static int put_packed(struct out *o, const struct packed *b)
{
	unsigned char before[PACKED_BEFORE_MAX];
	struct iovec data;
	const size_t cnt = packed_stream_add(&o->stream, b, before, &data);
	int err = put(o, before, cnt);

	return err ? err : put(o, data.iov_base, data.iov_len);
}

static int put_compressed(struct out *o, const unsigned char *data, size_t len)
{
	struct iovec piece;
	size_t n;
	int err = 0;

	if (!o->compressor)
		return put(o, data, len);
	for (; !err && len; data += n, len -= n) {
		n = len < PIECE_BYTES ? len : PIECE_BYTES;
		err = compressor_add(o->compressor, data, n, &piece);
		err = err ? err : put(o, piece.iov_base, piece.iov_len);
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

static int put_records(struct out *o, const void *records, size_t len)
{
	struct packed packed;
	int err;

	if (!len)
		return 0;
	o->raw_bytes += len;
	if (o->stage.ops) {
		err = stage_take(&o->stage, records, len);
		return err ? err : put_staged(o);
	}
	if (!o->is_joined)
		return put(o, records, len);
	err = packer_pack(o->packer, records, len, &packed);
	if (err)
		return err;
	err = put_packed(o, &packed);
	packed_free(&packed);
	return err;
}

static void wait_for_block(struct window *w, const struct block *b)
{
	pthread_mutex_lock(&w->lock);
	while (!b->is_packed)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

/* What could not be compressed before may be now. */
static int put_block(struct out *o, const struct block *b)
{
	int err;

	wait_for_block(o->w, b);
	if (o->is_joined && !b->raw) {
		o->raw_bytes += b->raw_len;
		return put_packed(o, &b->packed);
	}
	err = window_block_read(b, o->unpacker, &o->unpacked);
	return err ? err : put_records(o, o->unpacked.data, o->unpacked.len);
}

static void forget_block(struct out *o, size_t i)
{
	pthread_mutex_lock(&o->w->lock);
	window_block_put(o->w, o->d->blocks[i]);
	o->d->blocks[i] = NULL;
	pthread_mutex_unlock(&o->w->lock);
}

/* ---- a file that begins later --------------------------------------------------------------- */

/* How many blocks are not to be in the file. */
static size_t count_skipped(const struct dump *d)
{
	size_t i = 0;

	while (i < d->blocks_cnt && d->blocks[i]->to_ns < d->kept_ns)
		i++;
	return i == d->blocks_cnt && i ? i - 1 : i;
}

static int feed(struct out *o, struct piece_state *s, size_t cnt)
{
	const struct dump *d = o->d;
	int err = d->head.len ? piece_state_add(s, d->head.data, d->head.len) : 0;
	size_t i;

	for (i = 0; !err && i < cnt; i++) {
		wait_for_block(o->w, d->blocks[i]);
		err = window_block_read(d->blocks[i], o->unpacker, &o->unpacked);
		err = err ? err : piece_state_add(s, o->unpacked.data, o->unpacked.len);
	}
	return err;
}

/* What a file needs first that begins with @first, and its counts. */
static int begin_with(struct out *o, const struct piece_state *s, const struct block *first)
{
	int err = piece_counts_begin(o->d->counts, s, &first->begin);

	return err ? err : window_write_head(o->w, o->d, s, first, &o->d->head);
}

static int skip(struct out *o, size_t cnt)
{
	struct piece_state *s;
	size_t i;
	int err = piece_state_open(&s);

	if (err)
		return err;
	err = feed(o, s, cnt);
	err = err ? err : begin_with(o, s, o->d->blocks[cnt]);
	piece_state_close(s);
	for (i = 0; i < cnt; i++)
		forget_block(o, i);
	return err;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int open_out(struct out *o, struct window *w, struct dump *d)
{
	const struct compress_cfg *compress = &w->cfg.compress;
	const uint64_t ticks = piece_counts_session(d->counts).ticks_per_second;
	int err = unpacker_open(&o->unpacker, w->packing.method);

	o->w = w;
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
		return put(o, end, packed_stream_end(&o->stream, end));
	return o->compressor ? put(o, end, compressor_end(o->compressor, end)) : 0;
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
	free(o->unpacked.data);
}

static int write_all(struct out *o)
{
	struct dump *d = o->d;
	const size_t skipped = count_skipped(d);
	int err = skipped ? skip(o, skipped) : 0;
	size_t i;

	err = err ? err : window_write_ledger(d->counts, &d->tail);
	err = err ? err : put_records(o, d->head.data, d->head.len);
	for (i = skipped; !err && i < d->blocks_cnt; i++) {
		err = put_block(o, d->blocks[i]);
		forget_block(o, i);
	}
	err = err ? err : put_records(o, d->tail.data, d->tail.len);
	return err ? err : end_out(o);
}

int window_dump_write(struct window *w, struct dump *d)
{
	struct out o = { 0 };
	int err = open_out(&o, w, d);

	err = err ? err : write_all(&o);
	d->result.bytes = o.bytes;
	d->result.raw_bytes = o.raw_bytes;
	d->result.from_ns = piece_counts_session(d->counts).from_ns;
	d->result.to_ns = piece_counts_session(d->counts).to_ns;
	close_out(&o);
	return err;
}
