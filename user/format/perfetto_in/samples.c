// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of stacks. The frames of each are put together in the first pass, since what is interned may be
 * cleared; frames and lists of them are in the pool, where each is once.
 */
#include <errno.h>

#include "reader_p.h"
#include "model/core.h"
#include "model/threads.h"

#define BUILD_ID_MAX	64U	/* bytes */

static uint32_t pooled(struct pf_reader *r, const void *data, size_t len)
{
	uint32_t number = pf_pool_add_below(&r->pool, data, len, PF_STACK_BYTES);

	r->sequences.entries_dropped += number == PF_POOL_FULL;
	return number == PF_POOL_FULL ? PF_NO_STRING : number;
}

/* ---- frames ---------------------------------------------------------------- */

static uint32_t string_of(struct pf_reader *r, const struct pf_sequence *q, enum pf_interned table, uint64_t iid)
{
	const struct pf_entry_data *e = iid ? pf_sequence_find(q, table, iid) : NULL;

	r->counts.unknown_ids += iid && !e;
	return e ? e->string : PF_NO_STRING;
}

/* A path is in pieces; what matters is the last one. */
static void add_mapping(struct pf_reader *r, const struct pf_sequence *q, uint64_t iid, struct pf_stack_frame *frame)
{
	const struct pf_entry_data *e = iid ? pf_sequence_find(q, PF_INTERNED_MAPPINGS, iid) : NULL;
	struct pf_cursor m = e ? pf_entry_message(e) : pf_message(NULL, 0);
	struct pf_field f;

	r->counts.unknown_ids += iid && !e;
	while (pf_next(&m, &f) > 0) {
		if (pf_is(&f, PF_MAPPING_BUILD_ID, PF_VARINT))
			frame->build_id = string_of(r, q, PF_INTERNED_BUILD_IDS, f.value);
		else if (pf_is(&f, PF_MAPPING_PATH_IDS, PF_VARINT))
			frame->mapping = string_of(r, q, PF_INTERNED_MAPPING_PATHS, f.value);
	}
}

static uint32_t frame_of(struct pf_reader *r, const struct pf_sequence *q, uint64_t iid)
{
	const struct pf_entry_data *e = pf_sequence_find(q, PF_INTERNED_FRAMES, iid);
	struct pf_cursor m = e ? pf_entry_message(e) : pf_message(NULL, 0);
	struct pf_stack_frame frame = { 0 };
	struct pf_field f;

	r->counts.unknown_ids += !e;
	while (pf_next(&m, &f) > 0) {
		if (f.wire != PF_VARINT)
			continue;
		if (f.number == PF_FRAME_FUNCTION)
			frame.name = string_of(r, q, PF_INTERNED_FUNCTIONS, f.value);
		else if (f.number == PF_FRAME_MAPPING)
			add_mapping(r, q, f.value, &frame);
		else if (f.number == PF_FRAME_REL_PC)
			frame.rel_pc = f.value;
		else if (f.number == PF_FRAME_SOURCE_PATH)
			frame.source_path = string_of(r, q, PF_INTERNED_SOURCE_PATHS, f.value);
		else if (f.number == PF_FRAME_LINE)
			frame.line = f.value <= UINT32_MAX ? (uint32_t)f.value : 0;
		else if (f.number == PF_FRAME_KIND)
			frame.kind = f.value < PROFILE_FRAME_KIND_CNT ? (uint32_t)f.value : 0;
	}
	return pooled(r, &frame, sizeof(frame));
}

/* Of more frames than a sample may have, the outermost ones. */
static uint32_t interned_frames(struct pf_reader *r, const struct pf_sequence *q, uint64_t iid)
{
	const struct pf_entry_data *e = pf_sequence_find(q, PF_INTERNED_CALLSTACKS, iid);
	struct pf_cursor m = e ? pf_entry_message(e) : pf_message(NULL, 0);
	uint64_t iids[PROFILE_FRAMES_MAX];
	uint32_t frames[PROFILE_FRAMES_MAX];
	size_t cnt = 0, i;
	struct pf_field f;

	r->counts.unknown_ids += !e;
	while (pf_next(&m, &f) > 0)
		if (f.number == PF_CALLSTACK_FRAMES)
			cnt = pf_numbers(&f, PF_VARINT, iids, cnt, PROFILE_FRAMES_MAX);
	for (i = 0; i < cnt; i++)
		frames[i] = frame_of(r, q, iids[i]);
	return pooled(r, frames, cnt * sizeof(frames[0]));
}

/* Those of a stack that is in the sample itself. */
static uint32_t inline_frames(struct pf_reader *r, struct pf_cursor m)
{
	uint32_t frames[PROFILE_FRAMES_MAX];
	struct pf_stack_frame frame;
	struct pf_field f, inner;
	size_t cnt = 0;

	while (pf_next(&m, &f) > 0) {
		if (!pf_is(&f, PF_INLINE_FRAMES, PF_BYTES) || cnt == PROFILE_FRAMES_MAX)
			continue;
		frame = (struct pf_stack_frame){ 0 };
		if (pf_find(pf_inner(&f), PF_INLINE_FUNCTION, PF_BYTES, &inner))
			frame.name = pooled(r, inner.data, inner.len);
		if (pf_find(pf_inner(&f), PF_INLINE_FILE, PF_BYTES, &inner))
			frame.source_path = pooled(r, inner.data, inner.len);
		if (pf_find(pf_inner(&f), PF_INLINE_LINE, PF_VARINT, &inner) && inner.value <= UINT32_MAX)
			frame.line = (uint32_t)inner.value;
		frames[cnt++] = pooled(r, &frame, sizeof(frame));
	}
	return pooled(r, frames, cnt * sizeof(frames[0]));
}

/* ---- the first pass -------------------------------------------------------- */

static int emit(struct pf_reader *r, const struct pf_packet_info *p, const struct pf_stack *s)
{
	int err = pf_record_begin(r, s, sizeof(*s)), fate;

	if (err)
		return err;
	fate = pf_emit_packet(r, p, PF_RANK_OTHER);
	r->counts.samples += fate == PF_USED;
	return fate;
}

/* A packet that only says how many samples were lost. */
static int emit_loss(struct pf_reader *r, const struct pf_packet_info *p, const struct pf_stack *s, uint64_t lost)
{
	struct pf_record head = {
		.kind = PF_RECORD_INSTANT, .category = pf_word(r, "perf"), .name = pf_word(r, "lost samples"),
		.pid = s->pid, .tid = s->tid,
	};
	int err = pf_record_begin(r, &head, sizeof(head));

	r->counts.lost_samples += lost;
	if (!err && s->cpu >= 0)
		err = pf_record_put(r, PF_PIECE_UINT, pf_word(r, "cpu"), (uint64_t)s->cpu);
	if (!err)
		err = pf_record_put(r, PF_PIECE_UINT, pf_word(r, "lost"), lost);
	return err ? err : pf_emit_packet(r, p, PF_RANK_OTHER);
}

/* No sample, but of the sampler: whether it stopped by itself. */
static int take_sampler_event(struct pf_reader *r, const struct pf_packet_info *p, struct pf_cursor m)
{
	const struct pf_record head = {
		.kind = PF_RECORD_INSTANT, .category = pf_word(r, "perf"), .name = pf_word(r, "sampling stopped"),
	};
	struct pf_field f;
	int err;

	if (!pf_find(m, PF_SAMPLER_STOP_REASON, PF_VARINT, &f) || f.value != PF_SAMPLER_GUARDRAIL)
		return PF_SKIPPED;
	err = pf_record_begin(r, &head, sizeof(head));
	if (!err)
		err = pf_record_put(r, PF_PIECE_STRING, pf_word(r, "reason"), pf_word(r, "guardrail"));
	return err ? err : pf_emit_packet(r, p, PF_RANK_OTHER);
}

/* Modes: 1 and 4 are of a kernel, 3 is of a hypervisor. */
static bool is_user(uint64_t mode)
{
	return mode == PF_SAMPLE_USER || mode == 5;
}

int pf_perf_sample(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	struct pf_stack s = { .kind = PF_RECORD_STACK, .source = PROFILE_CPU, .cpu = -1, .weight = p->q->sample_period_ns };
	const struct pf_cursor all = message;
	bool is_of_task = false, has_counts = false;
	uint64_t lost = 0;
	struct pf_field f, event = { 0 };
	int got, fate = PF_USED;

	while ((got = pf_next(&message, &f)) > 0) {
		if (pf_is(&f, PF_SAMPLE_EVENT, PF_BYTES))
			event = f;
		has_counts |= f.number == PF_SAMPLE_COUNT || f.number == PF_SAMPLE_FOLLOWERS;
		is_of_task |= f.number >= PF_SAMPLE_PID && f.number <= PF_SAMPLE_CALLSTACK_IID;
		if (f.wire != PF_VARINT)
			continue;
		if (f.number == PF_SAMPLE_CPU)
			s.cpu = f.value <= INT32_MAX ? (int32_t)f.value : -1;
		else if (f.number == PF_SAMPLE_PID)
			s.pid = (int32_t)f.value;
		else if (f.number == PF_SAMPLE_TID)
			s.tid = (int32_t)f.value;
		else if (f.number == PF_SAMPLE_MODE)
			s.user_mode = is_user(f.value);
		else if (f.number == PF_SAMPLE_LOST)
			lost = f.value;
		else if (f.number == PF_SAMPLE_CALLSTACK_IID)
			s.frames = interned_frames(r, p->q, f.value);
	}
	if (got < 0)
		return got;
	if (lost)
		return emit_loss(r, p, &s, lost);
	if (event.number)
		return take_sampler_event(r, p, pf_inner(&event));
	if (has_counts)
		fate = pf_perf_counts(r, p, all, s.cpu);
	/* Counters that are read at a rate are not of what runs. */
	return fate != PF_USED || (has_counts && !is_of_task) ? fate : emit(r, p, &s);
}

static void take_stack_field(struct pf_reader *r, const struct pf_sequence *q, const struct pf_field *f,
			     struct pf_stack *s)
{
	struct pf_field inner;

	if (pf_is(f, PF_STACK_WEIGHT, PF_VARINT)) {
		s->weight = f->value;
	} else if (pf_is(f, PF_STACK_CALLSTACK_IID, PF_VARINT)) {
		s->frames = interned_frames(r, q, f->value);
	} else if (pf_is(f, PF_STACK_INLINE, PF_BYTES)) {
		s->frames = inline_frames(r, pf_inner(f));
	} else if (pf_is(f, PF_STACK_TASK, PF_BYTES)) {
		s->pid = pf_find(pf_inner(f), PF_STACK_PID, PF_VARINT, &inner) ? (int32_t)inner.value : 0;
		s->tid = pf_find(pf_inner(f), PF_STACK_TID, PF_VARINT, &inner) ? (int32_t)inner.value : 0;
	} else if (pf_is(f, PF_STACK_EXECUTION, PF_BYTES)) {
		if (pf_find(pf_inner(f), PF_STACK_CPU, PF_VARINT, &inner) && inner.value <= INT32_MAX)
			s->cpu = (int32_t)inner.value;
		s->user_mode = pf_find(pf_inner(f), PF_STACK_MODE, PF_VARINT, &inner) && inner.value == PF_STACK_USER;
	}
}

static enum profile_source source_of(struct fxt_str name)
{
	enum profile_source i;

	for (i = PROFILE_OFF_CPU; i < PROFILE_OTHER; i++)
		if (name.len == strlen(profile_source_name(i)) && !memcmp(name.data, profile_source_name(i), name.len))
			break;
	return i;
}

int pf_stack_sample(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	struct pf_stack s = { .kind = PF_RECORD_STACK, .cpu = -1, .source_name = p->q->stack_source };
	struct pf_field f, name;
	int got;

	while ((got = pf_next(&message, &f)) > 0) {
		take_stack_field(r, p->q, &f, &s);
		/* One that names no source has a counter of its own. */
		if (!s.source_name && pf_is(&f, PF_STACK_DESCRIPTOR, PF_BYTES) &&
		    pf_find(pf_inner(&f), PF_STACK_COUNTER_NAME, PF_BYTES, &name))
			s.source_name = pooled(r, name.data, name.len);
	}
	s.source = (uint8_t)source_of(pf_pool_str(&r->pool, s.source_name));
	return got < 0 ? got : emit(r, p, &s);
}

/* ---- the second pass ------------------------------------------------------- */

/* Bytes as hexadecimal text, put together in r->text. */
static struct fxt_str hex_of(struct pf_reader *r, struct fxt_str bytes)
{
	size_t at = r->text_len, i;

	for (i = 0; i < bytes.len && i < BUILD_ID_MAX; i++)
		pf_text_print(r, "%02x", (unsigned char)bytes.data[i]);
	return fxt_str_n(r->text + at, r->text_len - at);
}

static unsigned int frames_of(struct pf_reader *r, uint32_t frames)
{
	struct fxt_str list = pf_pool_str(&r->pool, frames), text;
	unsigned int i, cnt = (unsigned int)(list.len / sizeof(uint32_t));
	struct pf_stack_frame frame;
	uint32_t number, build_id = 0;
	struct fxt_str hex = fxt_str("");

	pf_text_clear(r);
	for (i = 0; i < cnt && i < PROFILE_FRAMES_MAX; i++) {
		memcpy(&number, list.data + i * sizeof(number), sizeof(number));
		text = pf_pool_str(&r->pool, number);
		frame = (struct pf_stack_frame){ 0 };
		if (text.len == sizeof(frame))
			memcpy(&frame, text.data, sizeof(frame));
		if (frame.build_id != build_id)
			hex = hex_of(r, pf_pool_str(&r->pool, frame.build_id));
		build_id = frame.build_id;
		r->frames[i] = (struct profile_frame){
			.name = pf_pool_str(&r->pool, frame.name), .mapping = pf_pool_str(&r->pool, frame.mapping),
			.build_id = hex, .source_file = pf_pool_str(&r->pool, frame.source_path), .line = frame.line,
			.rel_pc = frame.rel_pc, .kind = (enum profile_frame_kind)frame.kind,
		};
	}
	return i;
}

/* Without a process: whichever it is that has the thread. */
static int play_of_thread(struct pf_reader *r, int32_t tid, const struct model_event *ev)
{
	struct thread *t = thread_get(r->builder, tid);
	int err = r->builder->clock == MODEL_CLOCK_NS ? 0 : build_set_clock(r->builder, MODEL_CLOCK_NS);
	int out = !t ? -ENOMEM : err ? err : build_sample(r->builder, t, ev->ts_ns, &ev->stack);

	if (out < 0)
		return out;
	r->counts.handed_on++;
	build_count(r->builder, out, 1);
	return 0;
}

int pf_play_stack(struct pf_reader *r, uint64_t ts_ns)
{
	struct model_track spec = { .kind = MODEL_TRACK_GLOBAL };
	struct model_event ev = { .kind = MODEL_STACK, .ts_ns = ts_ns };
	struct pf_stack s;
	int err;

	memcpy(&s, r->at, sizeof(s));
	ev.stack = (struct model_stack){
		.source = (enum profile_source)s.source, .source_name = pf_pool_str(&r->pool, s.source_name), .cpu = s.cpu,
		.user_mode = s.user_mode, .weight = s.weight, .frames = r->frames, .frames_cnt = frames_of(r, s.frames),
	};
	if (s.tid > 0 && s.pid <= 0)
		return play_of_thread(r, s.tid, &ev);
	spec.process.number = s.pid;
	spec.thread.number = s.tid;
	if (s.pid > 0)
		spec.kind = s.tid > 0 ? MODEL_TRACK_THREAD : MODEL_TRACK_PROCESS;
	err = builder_track(r->builder, &spec, &ev.track);
	return err ? err : pf_add(r, &ev);
}
