// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer over packets and their fields: the size of the pieces that the input comes in makes no
 * difference, fields never leave their message, and what a compressed packet holds ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/perfetto_in/input.h"

#define DEPTH_MAX	6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct bytes {
	const uint8_t *data;
	size_t len, chunk;
};

static long read_bytes(void *ctx, void *buf, size_t len)
{
	struct bytes *b = ctx;

	len = len < b->len ? len : b->len;
	len = len < b->chunk ? len : b->chunk;
	memcpy(buf, b->data, len);
	b->data += len;
	b->len -= len;
	return (long)len;
}

static uint64_t mix(uint64_t digest, uint64_t value)
{
	return (digest ^ value) * 0x100000001b3ULL;
}

static void must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

/* Bytes may be a message, too. */
static uint64_t walk(struct pf_cursor m, int depth, uint64_t digest)
{
	const uint8_t *begin = m.at;
	struct pf_field f;
	int got;

	while ((got = pf_next(&m, &f)) > 0) {
		must(m.at > begin && m.at <= m.end, "a field is in its message");
		must(!f.data || (f.data >= begin && f.data + f.len <= m.at), "data is in its field");
		digest = mix(digest, f.number ^ f.value ^ f.len);
		if (f.wire == PF_BYTES && depth < DEPTH_MAX)
			digest = walk(pf_inner(&f), depth + 1, digest);
	}
	return mix(digest, (uint64_t)got);
}

static uint64_t inflate_all(uint32_t number, struct pf_cursor m, uint64_t digest)
{
	struct pf_input in = { .read = pf_inflate_read };
	struct pf_cursor packet;
	struct pf_inflate *z;
	uint64_t offset;
	int item;

	if (pf_inflate_open(&z, number, m))
		return digest;
	in.ctx = z;
	while ((item = pf_input_next(&in, &packet, &offset)) > PF_INPUT_END)
		digest = item == PF_INPUT_PACKET ? walk(packet, 0, digest) : mix(digest, (uint64_t)item);
	pf_input_fini(&in);
	pf_inflate_close(z);
	return digest;
}

static uint64_t walk_all(const uint8_t *data, size_t len, size_t chunk)
{
	struct bytes b = { data, len, chunk };
	struct pf_input in = { .read = read_bytes, .ctx = &b };
	struct pf_cursor packet;
	struct pf_field f;
	uint64_t offset, last = 0, digest = 0;
	int item;

	while ((item = pf_input_next(&in, &packet, &offset)) > PF_INPUT_END) {
		must(offset >= last && offset < len, "packets are in order, and in the input");
		last = offset;
		digest = mix(digest, offset ^ (uint64_t)item);
		if (item != PF_INPUT_PACKET)
			continue;
		digest = walk(packet, 0, digest);
		if (pf_find(packet, PF_PACKET_COMPRESSED, PF_BYTES, &f) || pf_find(packet, PF_PACKET_COMPRESSED_ZSTD, PF_BYTES, &f))
			digest = inflate_all(f.number, pf_inner(&f), digest);
	}
	must(item == PF_INPUT_END, "the input ends");
	pf_input_fini(&in);
	return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const size_t chunks[] = { 1, 7, 100, 4096 };

	must(walk_all(data, len, SIZE_MAX) == walk_all(data, len, chunks[len % 4]), "pieces make no difference");
	return 0;
}
