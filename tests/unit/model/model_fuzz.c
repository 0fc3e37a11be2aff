// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer over builder_add(): events of any kind on any tracks, in any order. What must hold:
 * only what has no track is refused, every event is in exactly one count, and what was written is
 * a trace without contradictions.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/findings.h"
#include "fxt/fxt.h"
#include "model/arg_list.h"
#include "model/builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct bytes {
	const uint8_t *at, *end;
};

struct memory {
	char *data;
	size_t len, at;
};

static int write_memory(void *ctx, const void *data, size_t len)
{
	struct memory *m = ctx;
	char *bigger = realloc(m->data, m->len + len);

	if (!bigger)
		return -ENOMEM;
	memcpy(bigger + m->len, data, len);
	m->data = bigger;
	m->len += len;
	return 0;
}

static long read_memory(void *ctx, void *buf, size_t len)
{
	struct memory *m = ctx;

	len = len < m->len - m->at ? len : m->len - m->at;
	memcpy(buf, m->data + m->at, len);
	m->at += len;
	return (long)len;
}

static void must(int holds, const char *what, const char *why)
{
	if (holds)
		return;
	fprintf(stderr, "%s: %s\n", what, why);
	abort();
}

static unsigned int byte(struct bytes *b)
{
	return b->at < b->end ? *b->at++ : 0;
}

/* A string of the input, with whatever bytes. */
static struct fxt_str string(struct bytes *b)
{
	size_t len = byte(b) % 12;
	const char *data = (const char *)b->at;

	len = len < (size_t)(b->end - b->at) ? len : (size_t)(b->end - b->at);
	b->at += len;
	return len % 2 ? fxt_str_n(data, len) : fxt_str_inline(data, len);
}

/* Mostly small steps forward; also back, and far. */
static uint64_t next_ts(struct bytes *b, uint64_t *now)
{
	unsigned int step = byte(b);

	if (step == 255)
		return UINT64_MAX - byte(b);
	if (step >= 240)
		return *now > 8 * step ? *now - 8 * step : 0;
	if (step >= 230)
		*now += (uint64_t)step << 20;
	*now += step / 8;
	return *now;
}

static struct model_id make_id(struct bytes *b)
{
	unsigned int v = byte(b);

	if (v >= 250)
		return (struct model_id){ .text = string(b) };
	return (struct model_id){ .number = v >= 240 ? ((int64_t)v - 245) * (1LL << 32) : v % 8 };
}

static uint32_t make_track(struct bytes *b, struct builder *builder)
{
	struct model_track spec = { .kind = (enum model_track_kind)(byte(b) % 40) };
	uint32_t nr = 0;
	int err;

	if (spec.kind > MODEL_TRACK_NAMED)
		spec.kind = MODEL_TRACK_THREAD;
	spec.cpu = (uint16_t)(byte(b) % 4);
	spec.no_process = spec.cpu == 3;
	spec.process = make_id(b);
	spec.thread = make_id(b);
	err = builder_track(builder, &spec, &nr);
	must(!err && nr, "builder_track", strerror(-err));
	return nr;
}

static void put_args(struct bytes *b, struct arg_list *l)
{
	unsigned int i, n = byte(b) % 24;

	arg_list_clear(l);
	for (i = 0; i < n && b->at < b->end; i++) {
		struct fxt_str key = string(b);

		switch (byte(b) % 8) {
		case 0:
			arg_list_member(l, key.data, key.len);
			break;
		case 1:
			arg_list_element(l, byte(b));
			break;
		case 2:
			arg_list_leave(l);
			break;
		case 3:
			arg_list_put(l, fxt_arg_str("", key));
			break;
		case 4:
			arg_list_put(l, fxt_arg_f64("", byte(b)));
			break;
		case 5:
			arg_list_put(l, fxt_arg_bool("", true));
			break;
		case 6:
			arg_list_put(l, fxt_arg_null(""));
			break;
		default:
			arg_list_put(l, fxt_arg_u64("", byte(b)));
		}
	}
}

static void put_stack(struct bytes *b, struct model_stack *s)
{
	static struct profile_frame frames[4];
	unsigned int i;

	*s = (struct model_stack){
		.source = (enum profile_source)(byte(b) % PROFILE_SOURCE_CNT), .source_name = string(b), .cpu = (int)byte(b) - 1,
		.weight = byte(b), .frames = frames, .frames_cnt = byte(b) % 5,
	};
	for (i = 0; i < s->frames_cnt; i++)
		frames[i] = (struct profile_frame){ .name = string(b), .mapping = string(b), .rel_pc = byte(b) };
}

static void put_event(struct bytes *b, struct builder *builder, struct arg_list *l, uint64_t *now)
{
	struct model_event ev = { .kind = (enum model_kind)(byte(b) % MODEL_KIND_CNT) };
	int err;

	ev.track = make_track(b, builder);
	ev.ts_ns = next_ts(b, now);
	ev.name = string(b);
	ev.category = byte(b) % 2 ? string(b) : fxt_str("c");
	put_args(b, l);
	ev.args = arg_list_get(l, &ev.args_cnt);
	ev.id = byte(b) % 4;
	if (ev.kind >= MODEL_SWITCH && ev.kind <= MODEL_STATE) {
		ev.sched = (struct model_sched){
			.cpu = (uint16_t)(byte(b) % 4), .priority = (int32_t)byte(b) - 1, .other_priority = 120,
			.state = (enum model_state)(byte(b) % (MODEL_DEAD + 1)), .linux_state = string(b),
		};
		ev.sched.other = make_track(b, builder);
	} else if (ev.kind == MODEL_STACK) {
		put_stack(b, &ev.stack);
	} else if (ev.kind == MODEL_LOG || ev.kind == MODEL_LOG_LINE) {
		ev.text = string(b);
	} else {
		ev.duration_ns = byte(b);
	}
	err = builder_add(builder, &ev);
	must(!err || err == -EINVAL, "builder_add", strerror(-err));
}

static void check_counts(const struct builder *b)
{
	struct builder_stats s;

	builder_stats(b, &s);
	must(s.records == s.switches + s.wakeups + s.names + s.slices + s.counters + s.instants + s.logs + s.stacks +
	     s.no_op_wakes + s.duplicate_wakes + s.incomplete + s.flows + s.states + s.samples, "counts", "do not add up");
}

static void check_trace(struct memory *m)
{
	struct fxt_reader *reader = NULL;
	struct fxt_record rec;
	struct verify v;
	int err = verify_init(&v), i;

	err = err ? err : fxt_reader_open(&reader, read_memory, m);
	while (!err && fxt_reader_next(reader, &rec) > 0)
		err = verify_format_record(&v, &rec, fxt_reader_ticks_per_second(reader));
	err = err ? err : verify_finish(&v, reader);
	must(!err, "verify", strerror(-err));
	for (i = 0; i < VERIFY_PROBLEM_CNT; i++)
		must(!v.findings[i].count, verify_problem_name(i), v.findings[i].first);
	fxt_reader_close(reader);
	verify_fini(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct builder_cfg cfg = { .source = "fuzz" };
	struct bytes b = { data, data + len };
	struct memory m = { 0 };
	struct builder *builder;
	struct arg_list *l;
	struct fxt_writer *w;
	uint64_t now = 1000000;

	must(!arg_list_open(&l) && !fxt_writer_open(&w, write_memory, &m) && !builder_open(&builder, w, &cfg),
	     "open", "no memory");
	while (b.at < b.end)
		put_event(&b, builder, l, &now);
	must(!builder_end(builder), "builder_end", "failed");
	must(!fxt_writer_flush(w), "flush", "failed");
	check_counts(builder);
	check_trace(&m);
	builder_close(builder);
	fxt_writer_close(w);
	arg_list_close(l);
	free(m.data);
	return 0;
}
