// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer entry for FXT that becomes packets. Whatever the records are, the packets are whole: no field ends
 * beyond its message. The first byte says how records come, and which of the outputs fail.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/perfetto/decode.h"
#include "format/perfetto_out/writer.h"
#include "io/records.h"

#define PIECE_BYTES	512U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

/* How many fields of a message there are; all of it must be fields. */
static unsigned int walk(struct pf_cursor c, unsigned int depth)
{
	unsigned int cnt = 0;
	struct pf_field f;
	int got;

	while ((got = pf_next(&c, &f)) > 0) {
		cnt++;
		if (!depth)
			check(f.number == PF_TRACE_PACKET && f.wire == PF_BYTES, "not a packet");
		/* What is in the fields of a packet may be a BLOB's. */
		if (!depth)
			walk(pf_inner(&f), depth + 1);
	}
	check(!got, "bytes that are no field");
	return cnt;
}

static int put(void *ctx, const void *data, size_t len)
{
	unsigned int *packets = ctx;

	*packets += walk(pf_message(data, len), 0);
	return 0;
}

static void count_lost(void *ctx, const void *records, size_t len)
{
	size_t *lost = ctx;

	check(records_whole_bytes(records, len) == len, "lost records that are not whole");
	*lost += len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t left_out = 0;
	int kind;
	unsigned int packets = 0, i, how;
	size_t lost = 0, len, at;
	struct pf_out_cfg cfg = { .write = put, .ctx = &packets };
	struct pf_out *o;
	int err = 0;

	if (!size)
		return 0;
	how = data[0];
	cfg.keep = how & 1;
	if (pf_out_open(&o, &cfg))
		return 0;
	for (at = 1, i = 0; at < size && !err; at += len, i++) {
		len = size - at < PIECE_BYTES ? size - at : PIECE_BYTES;
		err = pf_out_record(o, data + at, len);
		if (err || !cfg.keep)
			continue;
		err = pf_out_flush(o, false);
		if (how >> (1 + i % 7) & 1)
			pf_out_lost(o, count_lost, &lost);
		else
			pf_out_written(o);
	}
	for (kind = 0; kind < PF_LEFT_CNT; kind++)
		left_out += pf_out_left_out(o, (enum pf_left_out)kind);
	check(left_out <= size, "more records than bytes");
	pf_out_close(o);
	return 0;
}
