// SPDX-License-Identifier: GPL-2.0
/*
 * Stack samples refer to frames and stacks that packets of their sequence have written once. These packets are kept, as
 * they are, until the sequence is cleared.
 */
#include "state_p.h"

#include <errno.h>

#include "format/perfetto/decode.h"

#define BLOB_BYTES_MAX	32752U		/* a record with a registered name */
#define REST_MAX	(1U << 20)	/* of a packet that is in several BLOBs */

/* What of a packet decides where it goes. */
struct packet {
	uint64_t ts, sequence;
	bool cleared, interned, sample;
	struct pf_field defaults;
	bool has_defaults;
};

static struct packet look_at(const struct pf_field *f)
{
	struct pf_cursor at = pf_inner(f);
	struct packet p = { 0 };
	struct pf_field field;

	while (pf_next(&at, &field) > 0) {
		if (pf_is(&field, PF_PACKET_TIMESTAMP, PF_VARINT))
			p.ts = field.value;
		else if (pf_is(&field, PF_PACKET_SEQUENCE_ID, PF_VARINT))
			p.sequence = field.value;
		else if (pf_is(&field, PF_PACKET_SEQUENCE_FLAGS, PF_VARINT))
			p.cleared |= field.value & PF_FLAG_CLEARED;
		else if (pf_is(&field, PF_PACKET_STATE_CLEARED, PF_VARINT))
			p.cleared |= field.value != 0;
		else if (pf_is(&field, PF_PACKET_INTERNED_DATA, PF_BYTES))
			p.interned = true;
		else if (pf_is(&field, PF_PACKET_PERF_SAMPLE, PF_BYTES) || pf_is(&field, PF_PACKET_STACK_SAMPLE, PF_BYTES))
			p.sample = true;
		if (!pf_is(&field, PF_PACKET_DEFAULTS, PF_BYTES))
			continue;
		p.defaults = field;
		p.has_defaults = true;
	}
	return p;
}

/* A packet of the sequence that has nothing but state: that it is cleared, or new defaults. */
static void put_state(struct pb_buf *to, uint64_t sequence, bool cleared, const struct pb_buf *defaults)
{
	size_t packet = pb_begin(to, PF_TRACE_PACKET);

	pb_put_u64(to, PF_PACKET_SEQUENCE_ID, sequence);
	pb_put_u64(to, PF_PACKET_SEQUENCE_FLAGS, PF_FLAG_NEEDS_STATE | (cleared ? PF_FLAG_CLEARED : 0));
	if (cleared)
		pb_put_u64(to, PF_PACKET_STATE_CLEARED, 1);
	if (defaults->len)
		pb_put_bytes(to, PF_PACKET_DEFAULTS, defaults->data, defaults->len);
	pb_end(to, packet);
}

static void take_packet(struct piece_state *s, const struct pf_field *f)
{
	const struct packet p = look_at(f);

	if (!p.interned && !p.sample && !p.cleared)
		return;
	s->sequence = p.sequence;
	if (p.sample && p.ts > s->sampled_ns)
		s->sampled_ns = p.ts;
	if (p.cleared) {
		s->interned.len = 0;
		s->defaults.len = 0;
	}
	if (p.has_defaults) {
		s->defaults.len = 0;
		pb_put_raw(&s->defaults, p.defaults.data, p.defaults.len);
	}
	if (p.interned && !p.sample)
		pb_put_bytes(&s->interned, PF_TRACE_PACKET, f->data, f->len);
	else if (p.cleared)
		put_state(&s->interned, p.sequence, true, &s->defaults);
}

/* Whole packets; how many bytes they are. */
static size_t take_packets(struct piece_state *s, const uint8_t *data, size_t len)
{
	struct pf_cursor at = pf_message(data, len);
	const uint8_t *end = data;
	struct pf_field f;

	while (pf_next(&at, &f) > 0) {
		if (pf_is(&f, PF_TRACE_PACKET, PF_BYTES))
			take_packet(s, &f);
		end = at.at;
	}
	return (size_t)(end - data);
}

int piece_take_blob(struct piece_state *s, const uint64_t *rec, size_t words)
{
	const size_t at = 1 + piece_ref_words(FXT_GET(*rec, FXT_F_BLOB_NAME)), len = FXT_GET(*rec, FXT_F_BLOB_BYTES);
	const uint8_t *data = (const uint8_t *)(rec + at);
	size_t taken;

	if (FXT_GET(*rec, FXT_F_BLOB_TYPE) != FXT_BLOB_PERFETTO)
		return 0;
	if (at > words || len > (words - at) * 8)
		return -EINVAL;
	if (!s->rest.len) {
		taken = take_packets(s, data, len);
		pb_put_raw(&s->rest, data + taken, len - taken);
	} else {
		pb_put_raw(&s->rest, data, len);
		if (take_packets(s, s->rest.data, s->rest.len) == s->rest.len || s->rest.len > REST_MAX)
			s->rest.len = 0;
	}
	return s->rest.failed || s->interned.failed || s->defaults.failed ? -ENOMEM : 0;
}

static int write_blob(struct fxt_writer *w, const uint8_t *data, size_t len)
{
	return len ? fxt_write_blob(w, FXT_BLOB_PERFETTO, fxt_str("perfetto"), data, len) : 0;
}

static int write_packets(struct fxt_writer *w, const struct pb_buf *packets)
{
	struct pf_cursor at = pf_message(packets->data, packets->len);
	const uint8_t *from = at.at, *end = from;
	struct pf_field f;
	int err = 0;

	while (!err && pf_next(&at, &f) > 0) {
		if ((size_t)(at.at - from) > BLOB_BYTES_MAX) {
			err = write_blob(w, from, (size_t)(end - from));
			from = end;
		}
		end = at.at;
	}
	return err ? err : write_blob(w, from, (size_t)(end - from));
}

int piece_interned_write(const struct piece_state *s, struct fxt_writer *w)
{
	struct pb_buf last = { 0 };
	int err;

	if (!s->interned.len)
		return 0;
	err = write_packets(w, &s->interned);
	put_state(&last, s->sequence, false, &s->defaults);
	if (!err)
		err = last.failed ? -ENOMEM : write_packets(w, &last);
	pb_buf_fini(&last);
	return err;
}

void piece_interned_close(struct piece_state *s)
{
	pb_buf_fini(&s->interned);
	pb_buf_fini(&s->defaults);
	pb_buf_fini(&s->rest);
}
