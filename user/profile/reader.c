// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of BLOBs: what they say of their sequence, then their sample.
 */
#include "profile.h"

#include <errno.h>
#include <stdlib.h>

#include "bpf/abi/ids.h"
#include "format/perfetto/encode.h"
#include "tables.h"

#define PACKET_BYTES_MAX	(16U << 20)
#define SEQUENCES_MAX	8U	/* the recorder writes one; samples of further ones are skipped */

struct profile_reader {
	int (*sample)(void *ctx, const struct profile_sample *s);
	void *ctx;
	struct profile_stats stats;
	struct profile_tables *sequences[SEQUENCES_MAX];
	uint32_t ids[SEQUENCES_MAX], sequences_cnt;
	struct pb_buf rest;		/* the beginning of a packet that goes on in the next BLOB */
	struct profile_frame frames[PROFILE_FRAMES_MAX];
};

/* What of a packet counts here; fields without data are not in it. */
struct packet {
	uint64_t ts;
	uint32_t sequence, flags, clock_id;
	bool has_ts, was_dropped, has_clock;
	struct pf_field interned, defaults, sample;
};

/* ---- sequences ------------------------------------------------------------- */

/* NULL: too many, or no memory. */
static struct profile_tables *tables_of(struct profile_reader *r, uint32_t sequence)
{
	struct profile_tables *t;
	uint32_t i;

	for (i = 0; i < r->sequences_cnt; i++)
		if (r->ids[i] == sequence)
			return r->sequences[i];
	if (!sequence || i == SEQUENCES_MAX)
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->source = PROFILE_OTHER;
	r->ids[i] = sequence;
	r->sequences[i] = t;
	r->sequences_cnt++;
	return t;
}

/* In the order that importers keep to: loss, clearing, defaults, interned data. 0, -EBADMSG or -ENOMEM. */
static int take_state(struct profile_reader *r, struct profile_tables *t, const struct packet *p)
{
	int err = 0;

	if (p->was_dropped)
		t->is_valid = false;
	if (p->flags & PF_FLAG_CLEARED) {
		profile_tables_clear(t);
		t->is_valid = true;
	}
	if (p->defaults.data)
		err = profile_tables_defaults(t, pf_inner(&p->defaults));
	if (!err && p->interned.data && t->is_valid)
		err = profile_tables_intern(t, pf_inner(&p->interned), &r->stats);
	return err;
}

/* ---- samples --------------------------------------------------------------- */

/* The fields of a sample that both kinds have. */
struct raw_sample {
	struct profile_sample s;
	bool has_thread, has_stack;
	uint64_t stack;
};

static int read_perf_sample(struct raw_sample *raw, struct pf_cursor m)
{
	struct pf_field f;
	int got;

	raw->s.source = PROFILE_CPU;
	while ((got = pf_next(&m, &f)) > 0) {
		switch (f.wire == PF_VARINT ? f.number : 0) {
		case PF_SAMPLE_CPU:
			raw->s.cpu = f.value <= INT32_MAX ? (int)f.value : -1;
			break;
		case PF_SAMPLE_PID:
			raw->s.process = (uint32_t)f.value;
			break;
		case PF_SAMPLE_TID:
			raw->s.thread = (uint32_t)f.value;
			raw->has_thread = true;
			break;
		case PF_SAMPLE_CALLSTACK_IID:
			raw->stack = f.value;
			raw->has_stack = true;
			break;
		case PF_SAMPLE_MODE:
			raw->s.user_mode = f.value == PF_SAMPLE_USER;
			break;
		}
	}
	return got;
}

static void read_execution(struct raw_sample *raw, struct pf_cursor m)
{
	struct pf_field f;

	if (pf_find(m, PF_STACK_CPU, PF_VARINT, &f) && f.value <= INT32_MAX)
		raw->s.cpu = (int)f.value;
	raw->s.user_mode = pf_find(m, PF_STACK_MODE, PF_VARINT, &f) && f.value == PF_STACK_USER;
}

static void read_task(struct raw_sample *raw, struct pf_cursor m)
{
	struct pf_field f;

	if (pf_find(m, PF_STACK_PID, PF_VARINT, &f))
		raw->s.process = (uint32_t)f.value;
	raw->has_thread = pf_find(m, PF_STACK_TID, PF_VARINT, &f);
	if (raw->has_thread)
		raw->s.thread = (uint32_t)f.value;
}

static int read_stack_sample(struct raw_sample *raw, struct pf_cursor m)
{
	struct pf_field f;
	int got;

	raw->s.source = PROFILE_OTHER;
	while ((got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, PF_STACK_TASK, PF_BYTES)) {
			read_task(raw, pf_inner(&f));
		} else if (pf_is(&f, PF_STACK_EXECUTION, PF_BYTES)) {
			read_execution(raw, pf_inner(&f));
		} else if (pf_is(&f, PF_STACK_CALLSTACK_IID, PF_VARINT)) {
			raw->stack = f.value;
			raw->has_stack = true;
		} else if (pf_is(&f, PF_STACK_WEIGHT, PF_VARINT)) {
			raw->s.weight = f.value;
		}
	}
	return got;
}

static uint32_t linux_id(uint64_t koid)
{
	return koid < PSEUDO_BASE ? (uint32_t)(koid % ID_GENERATION_STEP) : 0;
}

static void complete(struct profile_reader *r, struct profile_tables *t, struct raw_sample *raw)
{
	struct profile_sample *s = &raw->s;

	s->pid = linux_id(s->process);
	s->tid = linux_id(s->thread);
	s->frames = r->frames;
	if (s->source == PROFILE_CPU) {
		s->source_name = fxt_str(profile_source_name(PROFILE_CPU));
		s->weight = t->period_ns;
	} else {
		s->source = t->source;
		s->source_name = t->source_name ? pf_pool_str(&t->source_names, t->source_name) :
						  fxt_str(profile_source_name(PROFILE_OTHER));
	}
	if (!raw->has_stack)
		r->stats.without_stack++;
	else if (!profile_tables_stack(t, raw->stack, r->frames, &s->frames_cnt, &r->stats))
		r->stats.unknown_stack++;
	r->stats.samples[s->source]++;
}

static bool is_usable(const struct profile_tables *t, const struct packet *p)
{
	uint32_t clock_id = p->has_clock ? p->clock_id : t ? t->clock_id : 0;

	return t && t->is_valid && p->has_ts && (!clock_id || clock_id == PF_CLOCK_BOOTTIME);
}

static int take_sample(struct profile_reader *r, struct profile_tables *t, const struct packet *p)
{
	struct raw_sample raw = { .s = { .ts = p->ts, .cpu = -1 } };
	struct pf_cursor m = pf_inner(&p->sample);
	struct pf_field f;
	int got;

	/* A packet that only counts losses. */
	if (p->sample.number == PF_PACKET_PERF_SAMPLE && pf_find(m, PF_SAMPLE_LOST, PF_VARINT, &f) && f.value)
		return 0;
	got = p->sample.number == PF_PACKET_PERF_SAMPLE ? read_perf_sample(&raw, m) : read_stack_sample(&raw, m);
	if (got < 0) {
		r->stats.damaged++;
		return 0;
	}
	if (!is_usable(t, p) || !raw.has_thread) {
		r->stats.skipped++;
		return 0;
	}
	complete(r, t, &raw);
	return r->sample(r->ctx, &raw.s);
}

/* ---- packets --------------------------------------------------------------- */

static void read_field(struct packet *p, const struct pf_field *f)
{
	if (pf_is(f, PF_PACKET_TIMESTAMP, PF_VARINT)) {
		p->ts = f->value;
		p->has_ts = f->value <= INT64_MAX;
	} else if (pf_is(f, PF_PACKET_SEQUENCE_ID, PF_VARINT)) {
		p->sequence = (uint32_t)f->value;
	} else if (pf_is(f, PF_PACKET_SEQUENCE_FLAGS, PF_VARINT)) {
		p->flags |= (uint32_t)f->value;
	} else if (pf_is(f, PF_PACKET_STATE_CLEARED, PF_VARINT)) {
		p->flags |= f->value ? PF_FLAG_CLEARED : 0;
	} else if (pf_is(f, PF_PACKET_PREVIOUS_DROPPED, PF_VARINT)) {
		p->was_dropped = f->value != 0;
	} else if (pf_is(f, PF_PACKET_CLOCK_ID, PF_VARINT)) {
		p->clock_id = (uint32_t)f->value;
		p->has_clock = true;
	} else if (pf_is(f, PF_PACKET_INTERNED_DATA, PF_BYTES)) {
		p->interned = *f;
	} else if (pf_is(f, PF_PACKET_DEFAULTS, PF_BYTES)) {
		p->defaults = *f;
	} else if (pf_is(f, PF_PACKET_PERF_SAMPLE, PF_BYTES) || pf_is(f, PF_PACKET_STACK_SAMPLE, PF_BYTES)) {
		p->sample = *f;
	}
}

/* A damaged one costs only itself. 0, -ENOMEM or what @r->sample returned. */
static int take_packet(struct profile_reader *r, struct pf_cursor m)
{
	struct packet p = { 0 };
	struct profile_tables *t = NULL;
	struct pf_field f;
	int got;

	while ((got = pf_next(&m, &f)) > 0)
		read_field(&p, &f);
	if (got < 0) {
		r->stats.damaged++;
		return 0;
	}
	if (p.interned.data || p.defaults.data || p.sample.data || p.flags & PF_FLAG_CLEARED || p.was_dropped)
		t = tables_of(r, p.sequence);
	r->stats.packets += p.interned.data || p.defaults.data || p.sample.data;
	got = t ? take_state(r, t, &p) : 0;
	if (got == -EBADMSG) {
		r->stats.damaged++;
		return 0;
	}
	return got || !p.sample.data ? got : take_sample(r, t, &p);
}

/* The packet that begins at @*at: 1, 0 if it is not all there, -EBADMSG if it is none. */
static int next_packet(struct pf_cursor *at, struct pf_cursor *packet)
{
	struct pf_cursor c = *at;
	uint64_t len;

	if (c.at == c.end)
		return 0;
	if (*c.at++ != PF_TRACE_TAG)
		return -EBADMSG;
	if (!pf_varint(&c, &len))
		return c.end - c.at < PB_VARINT_BYTES_MAX ? 0 : -EBADMSG;
	if (len > PACKET_BYTES_MAX)
		return -EBADMSG;
	if (len > (uint64_t)(c.end - c.at))
		return 0;
	*packet = pf_message(c.at, (size_t)len);
	at->at = c.at + len;
	return 1;
}

/* The beginning of a packet is kept for the next BLOB; @r->rest may be where it is. */
static int keep_rest(struct profile_reader *r, struct pf_cursor left)
{
	size_t len = (size_t)(left.end - left.at);

	if (r->rest.len) {
		memmove(r->rest.data, left.at, len);
		r->rest.len = len;
		return 0;
	}
	pb_put_raw(&r->rest, left.at, len);
	return r->rest.failed ? -ENOMEM : 0;
}

int profile_reader_blob(struct profile_reader *r, const void *data, size_t bytes)
{
	struct pf_cursor m = pf_message(data, bytes), packet;
	int got, err = 0;

	if (r->rest.len) {
		pb_put_raw(&r->rest, data, bytes);
		if (r->rest.failed)
			return -ENOMEM;
		m = pf_message(r->rest.data, r->rest.len);
	}
	while ((got = next_packet(&m, &packet)) > 0 && !err)
		err = take_packet(r, packet);
	if (got < 0) {
		r->stats.damaged++;
		m.at = m.end;
	}
	return err ? err : keep_rest(r, m);
}

/* ---- life ------------------------------------------------------------------ */

int profile_reader_open(struct profile_reader **out, int (*sample)(void *ctx, const struct profile_sample *s),
			void *ctx)
{
	struct profile_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->sample = sample;
	r->ctx = ctx;
	*out = r;
	return 0;
}

void profile_reader_stats(const struct profile_reader *r, struct profile_stats *stats)
{
	*stats = r->stats;
	stats->damaged += r->rest.len != 0;
}

void profile_reader_close(struct profile_reader *r)
{
	uint32_t i;

	if (!r)
		return;
	for (i = 0; i < r->sequences_cnt; i++) {
		profile_tables_clear(r->sequences[i]);
		free(r->sequences[i]);
	}
	pb_buf_fini(&r->rest);
	free(r);
}
