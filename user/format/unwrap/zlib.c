// SPDX-License-Identifier: GPL-2.0
/*
 * Levels that are gzip, of any number of members, or zlib as atrace -z writes it.
 * All that can be inflated comes out, also in front of damage.
 */
#include "unwrap_p.h"

#include <errno.h>

static int open_stream(struct unwrap_level *l, int window_bits)
{
	return inflateInit2(&l->zlib.z, window_bits) == Z_OK ? 0 : -ENOMEM;
}

static int open_gzip(struct unwrap_level *l)
{
	return open_stream(l, 16 + MAX_WBITS);
}

static int open_zlib(struct unwrap_level *l)
{
	return open_stream(l, MAX_WBITS);
}

static void close_stream(struct unwrap_level *l)
{
	inflateEnd(&l->zlib.z);
}

/* There is one part. */
static bool next_stream(struct unwrap_level *l)
{
	bool first = !l->zlib.begun;

	l->zlib.begun = true;
	return first;
}

/* The end of a member: another one, padding of zeros or blanks, or what does not belong there. */
static void end_member(struct unwrap_level *l)
{
	int c;

	if (l->kind == &unwrap_gzip && unwrap_need(l, 2) >= 2 &&
	    unwrap_match(unwrap_data(l), 2, "\x1f\x8b") == UNWRAP_YES) {
		inflateReset(&l->zlib.z);
		return;
	}
	l->zlib.ended = true;
	for (c = unwrap_peek(l); c == 0 || unwrap_is_blank(c); c = unwrap_peek(l))
		l->pos++;
	if (c >= 0)
		unwrap_problem(l, "something follows the compressed data");
}

static void stop(struct unwrap_level *l, const char *problem)
{
	l->zlib.ended = true;
	unwrap_problem(l, problem);
}

/* One call of zlib: the number of bytes it wrote. */
static size_t inflate_some(struct unwrap_level *l, unsigned char *buf, size_t len)
{
	z_stream *z = &l->zlib.z;
	size_t have = unwrap_need(l, 1), n;
	int ret;

	z->next_in = l->window + l->pos;
	z->avail_in = (uInt)have;
	z->next_out = buf;
	z->avail_out = (uInt)len;
	ret = inflate(z, Z_NO_FLUSH);
	n = len - z->avail_out;
	l->pos += have - z->avail_in;
	switch (ret) {
	case Z_OK:
		break;
	case Z_STREAM_END:
		end_member(l);
		break;
	case Z_BUF_ERROR:
		if (!have)
			stop(l, "the compressed data end early");
		break;
	case Z_MEM_ERROR:
		l->zlib.ended = true;
		unwrap_fail(l, -ENOMEM);
		break;
	default:
		stop(l, "the compressed data are damaged");
		break;
	}
	return n;
}

static size_t read_stream(struct unwrap_level *l, unsigned char *buf, size_t len)
{
	size_t n = 0;

	if (len > UINT32_MAX)
		len = UINT32_MAX;
	while (!n && !l->zlib.ended)
		n = inflate_some(l, buf, len);
	return n;
}

const struct unwrap_kind unwrap_gzip = {
	.name = "gzip",
	.open = open_gzip,
	.close = close_stream,
	.next = next_stream,
	.read = read_stream,
};

const struct unwrap_kind unwrap_zlib = {
	.name = "zlib",
	.open = open_zlib,
	.close = close_stream,
	.next = next_stream,
	.read = read_stream,
};
