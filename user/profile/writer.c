// SPDX-License-Identifier: GPL-2.0
/*
 * Samples are kept as numbers until they are written: what is new of their stacks first, then the samples
 * source by source, since packets name a source only where it changes.
 */
#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/perfetto/decode.h"
#include "intern.h"

#define SEQUENCE_ID	2		/* packets.c has 1 */
#define BLOB_BYTES_MAX	32752U		/* a record with a registered name: 4095 words and the header */
#define ADDED_BYTES_MAX	(1U << 20)	/* interned data that waits */
#define PENDING_MAX	4096U		/* samples that wait */
#define INTERNED_PACKET	16384U		/* bytes of interned data after which another packet begins */
#define SOURCES_MAX	64U		/* further ones are all PROFILE_OTHER without a name of their own */
#define NO_SOURCE	UINT32_MAX
#define NS_PER_S	1000000000ULL

struct pending {
	uint64_t ts, weight;
	uint32_t process, thread, stack, source;
	int cpu;
	bool user_mode;
};

struct profile_writer {
	struct fxt_writer *w;
	uint64_t period_ns;
	uint32_t counter, stacks_max;
	struct profile_intern intern;
	struct pf_pool sources;		/* names; PROFILE_SOURCE_CNT + number - 1 is the source */
	struct pending *pending;
	uint32_t pending_cnt, pending_cap;
	uint32_t counts[PROFILE_SOURCE_CNT + SOURCES_MAX];	/* of @pending, by source */
	struct pb_buf packet, blob;
	bool has_begun;			/* the sequence has state */
	uint32_t source;		/* of StackSamples, as the last packet said */
};

const char *profile_source_name(enum profile_source source)
{
	static const char *const names[PROFILE_SOURCE_CNT] = {
		[PROFILE_CPU] = "cpu", [PROFILE_OFF_CPU] = "off-cpu", [PROFILE_WAKER] = "waker", [PROFILE_OTHER] = "other",
	};

	return (unsigned int)source < PROFILE_SOURCE_CNT ? names[source] : "";
}

/* ---- packets --------------------------------------------------------------- */

static int write_blob(struct profile_writer *p)
{
	int err = 0;

	if (p->blob.failed || p->packet.failed)
		return -ENOMEM;
	if (p->blob.len)
		err = fxt_write_blob(p->w, FXT_BLOB_PERFETTO, fxt_str("perfetto"), p->blob.data, p->blob.len);
	p->blob.len = 0;
	return err;
}

/* The packet goes into the BLOB, which is written first if it has no space. */
static int end_packet(struct profile_writer *p)
{
	int err = 0;

	/* A tag and a length of at most three bytes. */
	if (p->blob.len + p->packet.len + 4 > BLOB_BYTES_MAX)
		err = write_blob(p);
	pb_put_bytes(&p->blob, PF_TRACE_PACKET, p->packet.data, p->packet.len);
	return err;
}

static void put_timebase(struct profile_writer *p)
{
	size_t defaults = pb_begin(&p->packet, PF_DEFAULTS_PERF_SAMPLE);
	size_t timebase = pb_begin(&p->packet, PF_SAMPLE_DEFAULTS_TIMEBASE);
	uint64_t hz = p->period_ns ? (NS_PER_S + p->period_ns / 2) / p->period_ns : 0;

	if (hz)
		pb_put_u64(&p->packet, PF_TIMEBASE_FREQUENCY, hz);
	pb_put_u64(&p->packet, PF_TIMEBASE_COUNTER, p->counter);
	pb_end(&p->packet, timebase);
	pb_end(&p->packet, defaults);
}

static struct fxt_str source_text(const struct profile_writer *p, uint32_t source)
{
	if (source < PROFILE_SOURCE_CNT)
		return fxt_str(profile_source_name((enum profile_source)source));
	return pf_pool_str(&p->sources, source - PROFILE_SOURCE_CNT + 1);
}

/* What the weight of a sample of that source is of, as viewers name its track. */
static const char *counter_name(uint32_t source)
{
	return source == PROFILE_OFF_CPU ? "blocked" : source == PROFILE_WAKER ? "ended sleep" : "weight";
}

static void put_stack_defaults(struct profile_writer *p, uint32_t source)
{
	struct fxt_str name = source_text(p, source);
	size_t defaults = pb_begin(&p->packet, PF_DEFAULTS_STACK_SAMPLE), descriptor;

	pb_put_bytes(&p->packet, PF_STACK_DEFAULTS_SOURCE, name.data, name.len);
	descriptor = pb_begin(&p->packet, PF_STACK_DEFAULTS_DESCRIPTOR);
	pb_put_text(&p->packet, PF_STACK_COUNTER_NAME, counter_name(source));
	pb_put_u64(&p->packet, PF_STACK_COUNTER_UNIT, 1);	/* ns */
	pb_put_u64(&p->packet, PF_STACK_COUNTER_SCOPE, 1);	/* global */
	pb_end(&p->packet, descriptor);
	pb_end(&p->packet, defaults);
}

/* Defaults replace all earlier ones. */
static void put_defaults(struct profile_writer *p)
{
	size_t begun = pb_begin(&p->packet, PF_PACKET_DEFAULTS);

	put_timebase(p);
	if (p->source != NO_SOURCE)
		put_stack_defaults(p, p->source);
	pb_end(&p->packet, begun);
}

/* @changed: the defaults, since the last packet. */
static void begin_packet(struct profile_writer *p, uint64_t ts, bool changed)
{
	bool is_first = !p->has_begun;

	p->packet.len = 0;
	pb_put_u64(&p->packet, PF_PACKET_TIMESTAMP, ts);
	pb_put_u64(&p->packet, PF_PACKET_SEQUENCE_ID, SEQUENCE_ID);
	pb_put_u64(&p->packet, PF_PACKET_SEQUENCE_FLAGS, PF_FLAG_NEEDS_STATE | (is_first ? PF_FLAG_CLEARED : 0));
	if (is_first)
		pb_put_u64(&p->packet, PF_PACKET_STATE_CLEARED, 1);
	if (is_first || changed)
		put_defaults(p);
	p->has_begun = true;
}

static int put_interned(struct profile_writer *p, const uint8_t *data, size_t len)
{
	begin_packet(p, p->pending[0].ts, false);
	pb_put_bytes(&p->packet, PF_PACKET_INTERNED_DATA, data, len);
	return end_packet(p);
}

/* All that was added, a packet for some KiB of it. */
static int write_interned(struct profile_writer *p)
{
	struct pf_cursor at = pf_message(p->intern.added.data, p->intern.added.len);
	const uint8_t *from = at.at;
	struct pf_field f;
	int err = 0;

	while (!err && pf_next(&at, &f) > 0) {
		if (at.at < at.end && (size_t)(at.at - from) < INTERNED_PACKET)
			continue;
		err = put_interned(p, from, (size_t)(at.at - from));
		from = at.at;
	}
	p->intern.added.len = 0;
	return err;
}

/* ---- samples --------------------------------------------------------------- */

static void put_perf_sample(struct pb_buf *b, const struct pending *s)
{
	size_t begun = pb_begin(b, PF_PACKET_PERF_SAMPLE);

	if (s->cpu >= 0)
		pb_put_u64(b, PF_SAMPLE_CPU, (uint64_t)s->cpu);
	pb_put_u64(b, PF_SAMPLE_PID, s->process);
	pb_put_u64(b, PF_SAMPLE_TID, s->thread);
	if (s->stack)
		pb_put_u64(b, PF_SAMPLE_CALLSTACK_IID, s->stack);
	pb_put_u64(b, PF_SAMPLE_MODE, s->user_mode ? PF_SAMPLE_USER : PF_SAMPLE_KERNEL);
	pb_end(b, begun);
}

static void put_stack_sample(struct pb_buf *b, const struct pending *s)
{
	size_t begun = pb_begin(b, PF_PACKET_STACK_SAMPLE), inner = pb_begin(b, PF_STACK_TASK);

	pb_put_u64(b, PF_STACK_PID, s->process);
	pb_put_u64(b, PF_STACK_TID, s->thread);
	pb_end(b, inner);
	inner = pb_begin(b, PF_STACK_EXECUTION);
	if (s->cpu >= 0)
		pb_put_u64(b, PF_STACK_CPU, (uint64_t)s->cpu);
	pb_put_u64(b, PF_STACK_MODE, s->user_mode ? PF_STACK_USER : PF_STACK_KERNEL);
	pb_end(b, inner);
	if (s->stack)
		pb_put_u64(b, PF_STACK_CALLSTACK_IID, s->stack);
	pb_put_u64(b, PF_STACK_WEIGHT, s->weight);
	pb_end(b, begun);
}

static int write_sample(struct profile_writer *p, const struct pending *s)
{
	bool is_perf = s->source == PROFILE_CPU, changed;

	if (is_perf) {
		changed = s->weight && s->weight != p->period_ns;
		p->period_ns = changed ? s->weight : p->period_ns;
	} else {
		changed = s->source != p->source;
		p->source = s->source;
	}
	begin_packet(p, s->ts, changed);
	if (is_perf)
		put_perf_sample(&p->packet, s);
	else
		put_stack_sample(&p->packet, s);
	return end_packet(p);
}

static int write_source(struct profile_writer *p, uint32_t source)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < p->pending_cnt && p->counts[source] && !err; i++) {
		if (p->pending[i].source != source)
			continue;
		err = write_sample(p, &p->pending[i]);
		p->counts[source]--;
	}
	return err;
}

int profile_writer_flush(struct profile_writer *p)
{
	uint32_t i;
	int err;

	if (!p->pending_cnt)
		return 0;
	err = write_interned(p);
	/* The source that the last packet named comes first. */
	if (!err && p->source != NO_SOURCE)
		err = write_source(p, p->source);
	for (i = 0; i < PROFILE_SOURCE_CNT + SOURCES_MAX && !err; i++)
		err = write_source(p, i);
	memset(p->counts, 0, sizeof(p->counts));
	p->pending_cnt = 0;
	return err ? err : write_blob(p);
}

/* The numbers begin anew with the next sample; what has them is written. */
static int begin_anew(struct profile_writer *p)
{
	int err = profile_writer_flush(p);

	profile_intern_fini(&p->intern);
	p->has_begun = false;
	p->source = NO_SOURCE;
	return err;
}

static uint32_t source_of(struct profile_writer *p, const struct profile_sample *s)
{
	struct fxt_str name = s->source_name, known;
	uint32_t number;

	if (s->source != PROFILE_OTHER || !name.len || name.len > PROFILE_STRING_MAX)
		return s->source;
	for (number = 1; number <= p->sources.cnt; number++) {
		known = pf_pool_str(&p->sources, number);
		if (known.len == name.len && !memcmp(known.data, name.data, name.len))
			break;
	}
	if (number > p->sources.cnt && number <= SOURCES_MAX)
		number = pf_pool_add(&p->sources, name.data, name.len);
	return number <= SOURCES_MAX ? PROFILE_SOURCE_CNT + number - 1 : PROFILE_OTHER;
}

static int intern_stack(struct profile_writer *p, const struct profile_sample *s, uint32_t *stack)
{
	int err = profile_intern_stack(&p->intern, s->frames, s->frames_cnt, stack);

	if (err != -ENOSPC)
		return err;
	err = begin_anew(p);
	err = err ? err : profile_intern_stack(&p->intern, s->frames, s->frames_cnt, stack);
	return err == -ENOSPC ? -ENOMEM : err;
}

int profile_writer_add(struct profile_writer *p, const struct profile_sample *s)
{
	struct pending *to;
	uint32_t stack;
	int err;

	if ((unsigned int)s->source >= PROFILE_SOURCE_CNT)
		return -EINVAL;
	err = intern_stack(p, s, &stack);
	if (err)
		return err;
	if (array_reserve(p->pending, p->pending_cnt, p->pending_cap, 1))
		return -ENOMEM;
	to = &p->pending[p->pending_cnt++];
	*to = (struct pending){
		.ts = s->ts, .weight = s->weight, .process = (uint32_t)s->process, .thread = (uint32_t)s->thread,
		.stack = stack, .source = source_of(p, s), .cpu = s->cpu, .user_mode = s->user_mode,
	};
	p->counts[to->source]++;
	if (p->intern.stacks.cnt >= p->stacks_max)
		return begin_anew(p);
	return p->pending_cnt >= PENDING_MAX || p->intern.added.len >= ADDED_BYTES_MAX ? profile_writer_flush(p) : 0;
}

/* ---- life ------------------------------------------------------------------ */

int profile_writer_open(struct profile_writer **out, struct fxt_writer *w, const struct profile_config *cfg)
{
	struct profile_writer *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->w = w;
	p->period_ns = cfg->period_ns;
	p->counter = cfg->clock && !strcmp(cfg->clock, "cycles") ? PF_TIMEBASE_CYCLES : PF_TIMEBASE_CPU_CLOCK;
	p->stacks_max = cfg->stacks_max ? cfg->stacks_max : PROFILE_STACKS_MAX;
	p->source = NO_SOURCE;
	*out = p;
	return 0;
}

void profile_writer_close(struct profile_writer *p)
{
	if (!p)
		return;
	profile_intern_fini(&p->intern);
	pf_pool_fini(&p->sources);
	pb_buf_fini(&p->packet);
	pb_buf_fini(&p->blob);
	free(p->pending);
	free(p);
}
