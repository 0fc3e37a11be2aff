// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer entry for unwrapping. The first byte chooses the format asked for
 * and the size of the pieces the input comes in and goes out in, which must
 * make no difference; a source that fails at the end must make none to the text.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/unwrap/unwrap.h"

/* More comes only out of compressed data, of which this is enough. */
#define OUT_MAX		(4U << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct source {
	const uint8_t *data;
	size_t len, chunk;
	int err;
};

struct result {
	uint64_t digest, bytes, pieces;
	struct unwrap_info info;
	char wrapper[256];
	long end;
};

static long read_source(void *ctx, void *buf, size_t len)
{
	struct source *s = ctx;
	size_t n = s->len;

	if (!n)
		return s->err;
	n = n < len ? n : len;
	n = n < s->chunk ? n : s->chunk;
	memcpy(buf, s->data, n);
	s->data += n;
	s->len -= n;
	return (long)n;
}

static uint64_t add_byte(uint64_t digest, unsigned int byte)
{
	return (digest ^ byte) * 0x100000001b3ULL;
}

static struct result walk(struct source s, size_t len, enum unwrap_format format)
{
	struct result r = { .digest = 0xcbf29ce484222325ULL };
	uint8_t *buf = malloc(len);
	struct unwrap *p;
	bool begins;
	long i;

	if (!buf || unwrap_open(&p, format, read_source, &s))
		abort();
	while (r.bytes < OUT_MAX && (r.end = unwrap_read(p, buf, len, &begins)) > 0) {
		if ((size_t)r.end > len || (!r.pieces && !begins))
			abort();
		if (begins)
			r.digest = add_byte(r.digest, 256);
		for (i = 0; i < r.end && r.bytes < OUT_MAX; i++, r.bytes++)
			r.digest = add_byte(r.digest, buf[i]);
		r.pieces += begins;
	}
	unwrap_info(p, &r.info);
	snprintf(r.wrapper, sizeof(r.wrapper), "%s", r.info.wrapper);
	unwrap_close(p);
	free(buf);
	return r;
}

static bool is_same(const struct result *a, const struct result *b)
{
	if (a->bytes != b->bytes || a->digest != b->digest)
		return false;
	if (a->bytes >= OUT_MAX)
		return true;
	/* Of several problems, the one met first depends on how far ahead is read. */
	return a->pieces == b->pieces && a->info.format == b->info.format &&
	       a->info.texts == b->info.texts && a->info.trace_events == b->info.trace_events &&
	       a->info.skipped_blocks == b->info.skipped_blocks &&
	       !a->info.problem == !b->info.problem && !strcmp(a->wrapper, b->wrapper);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t chunks[] = { 1, 7, 100, 4096 };
	struct source s = { .data = data + 1, .len = size - 1, .chunk = SIZE_MAX };
	struct result whole, pieces, failing;
	enum unwrap_format format;

	if (!size)
		return 0;
	format = (enum unwrap_format)(data[0] % UNWRAP_FORMAT_CNT);
	whole = walk(s, 1 << 18, format);
	s.err = -EIO;
	failing = walk(s, 1 << 18, format);
	s.err = 0;
	s.chunk = chunks[data[0] >> 2 & 3];
	pieces = walk(s, data[0] & 0x10 ? 13 : 1000, format);
	if (!is_same(&whole, &pieces)) {
		fprintf(stderr, "%s, %s: %s, %s\n", whole.wrapper, pieces.wrapper,
			whole.info.problem, pieces.info.problem);
		abort();
	}
	if (whole.bytes != failing.bytes || whole.digest != failing.digest)
		abort();
	if (whole.info.problem && whole.info.problem_offset > size - 1)
		abort();
	return 0;
}
