// SPDX-License-Identifier: GPL-2.0
/*
 * The first pass: every event is judged, names are handed on, all else gets its place in time.
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "reader_p.h"
#include "value.h"

#define EVENTS_A_READ	1000	/* handed on by one call */
#define NS_PER_S	1000000000LL
#define PLAY_BYTES	(64U << 10)	/* of the input, before it is looked at what can be played */

static const char *const fate_names[CHROME_FATES] = {
	[CHROME_NO_PHASE] = "no phase", [CHROME_NO_TIME] = "no time", [CHROME_BAD_TIME] = "bad time",
	[CHROME_BAD_DURATION] = "bad duration", [CHROME_NEGATIVE_DURATION] = "negative duration",
	[CHROME_NO_ID] = "no id", [CHROME_NO_NUMBER] = "counter without a number",
	[CHROME_BEGUN_TWICE] = "async begun twice",
};

const char *chrome_fate_name(enum chrome_fate fate)
{
	return fate_names[fate];
}

/* ---- judging an event ---------------------------------------------------------- */

static int time_of(const struct chrome_event *e, const struct chrome_field *f, int64_t *ns)
{
	if (f->type != CHROME_NUMBER && f->type != CHROME_STRING)
		return -EINVAL;
	return reader_time_ns(e, f, ns);
}

/* What a phase becomes if nothing is wrong with it, by its first letter. */
static enum chrome_fate fate_of(const struct chrome_event *e, char phase)
{
	switch (phase) {
	case 0:
		return CHROME_NO_PHASE;
	case 'B': case 'E': case 'X':
		return CHROME_AS_SLICE;
	case 'i': case 'I': case 'R':
		return CHROME_AS_INSTANT;
	case 'C':
		return CHROME_AS_COUNTER;
	case 'T':
		return reader_is_state(e) ? CHROME_AS_STATE : CHROME_AS_ASYNC;
	case 'b': case 'n': case 'e': case 'S': case 'p': case 'F': case 'N': case 'O': case 'D':
		return CHROME_AS_ASYNC;
	case 's': case 't': case 'f':
		return CHROME_AS_FLOW;
	case 'P':
		return CHROME_AS_SAMPLE;
	case 'V': case 'v': case 'c': case '(': case ')':
		return CHROME_AS_MARK;
	case 'M':
		return CHROME_AS_NAME;
	default:
		return CHROME_NOT_CONVERTED;
	}
}

/* Sets what there is of time, duration; a worse fate if something is wrong with them. */
static enum chrome_fate check_times(const struct chrome_event *e, enum chrome_fate fate, int64_t *ts, int64_t *duration)
{
	const struct chrome_field *f = chrome_field(e, CHROME_TS), *dur = chrome_field(e, CHROME_DUR);

	if (fate == CHROME_AS_NAME || fate == CHROME_NO_PHASE)
		return fate;
	if (!f)
		return CHROME_NO_TIME;
	if (time_of(e, f, ts))
		return CHROME_BAD_TIME;
	if (!dur || (fate != CHROME_AS_STATE && reader_phase(e) != 'X'))
		return fate;
	if (time_of(e, dur, duration))
		return CHROME_BAD_DURATION;
	return *duration < 0 ? CHROME_NEGATIVE_DURATION : fate;
}

static enum chrome_fate check_id(struct chrome_reader *r, const struct chrome_event *e, enum chrome_fate fate)
{
	if (fate != CHROME_AS_ASYNC && fate != CHROME_AS_FLOW)
		return fate;
	return reader_has_usable_id(r, e) ? fate : CHROME_NO_ID;
}

/* ---- the first pass ------------------------------------------------------------ */

void reader_note_time(struct chrome_reader *r, int64_t ts)
{
	if (!r->has_time || ts < r->first_ns)
		r->first_ns = ts;
	r->has_time = true;
}

/* A thread state ends with the next one, or, if there is none then, by itself. */
static int add_state(struct chrome_reader *r, struct chrome_record *record, int64_t duration)
{
	const struct chrome_event *e = &r->event;
	bool runs = reader_is_text(e, CHROME_NAME, "Running");
	struct chrome_record end = { .rank = RANK_BEGIN(0), .track = record->track, .kind = RECORD_STATE_END };
	int err;

	record->rank = runs ? RANK_OTHER : RANK_FIRST;
	err = stream_add(r, record, e, -1);
	if (err || !runs || __builtin_add_overflow(record->ts_ns, duration, &end.ts_ns))
		return err;
	return stream_add(r, &end, NULL, -1);
}

/* Of what is no slice: what goes on comes after what has begun, whichever is first in the file. */
static uint64_t rank_of(char phase)
{
	switch (phase) {
	case 'n':
		return RANK_INSIDE;
	case 's':
		return RANK_FLOW_BEGIN;
	case 't':
		return RANK_FLOW_STEP;
	case 'f':
		return RANK_FLOW_END;
	default:
		return RANK_OTHER;
	}
}

static int add_event(struct chrome_reader *r, enum chrome_fate fate, int64_t ts, int64_t duration)
{
	const struct chrome_event *e = &r->event;
	struct chrome_record record = { .ts_ns = ts, .kind = RECORD_EVENT, .text = e->text, .len = e->len };
	char phase = reader_phase(e);
	int err = reader_track(r, e, &record.track, NULL);

	if (err)
		return err;
	reader_note_time(r, ts);
	if (fate == CHROME_AS_STATE)
		return add_state(r, &record, duration);
	/* Begins and ends of one time are paired in the order of the file. */
	if (phase == 'B' || phase == 'E')
		record.kind = phase == 'B' ? RECORD_BEGIN : RECORD_END;
	else if (phase == 'b' || phase == 'e')
		record.kind = phase == 'b' ? RECORD_ASYNC_BEGIN : RECORD_ASYNC_END;
	if (phase != 'B' && phase != 'E')
		record.rank = phase == 'X' ? RANK_BEGIN(duration < 0 ? INT64_MAX : duration) : rank_of(phase);
	return stream_add(r, &record, e, duration);
}

static void note_unused(struct chrome_reader *r, enum chrome_fate fate)
{
	uint64_t sum = 0;
	int i;

	for (i = CHROME_UNUSABLE; i < CHROME_FATES; i++)
		sum += r->counts.fates[i];
	if (sum > CHROME_UNUSED_KEPT)
		return;
	r->counts.first_unused[sum - 1].event = r->event.number;
	r->counts.first_unused[sum - 1].reason = fate_names[fate];
}

/* Metadata that is no name is shown where the trace begins. */
static int take_metadata(struct chrome_reader *r)
{
	struct chrome_record record = {
		.ts_ns = INT64_MAX, .rank = UINT64_MAX, .kind = RECORD_METADATA, .text = r->event.text, .len = r->event.len,
	};
	bool is_name;
	int err = reader_metadata(r, &r->event, &is_name);

	if (err || is_name)
		return err;
	r->counts.overflows += reader_is_text(&r->event, CHROME_NAME, "trace_buffer_overflowed");
	err = reader_track(r, &r->event, &record.track, NULL);
	return err ? err : stream_add(r, &record, &r->event, -1);
}

/* Of a counter only numbers in args are kept. */
static uint64_t count_dropped(const struct chrome_event *e)
{
	static const enum chrome_key without_meaning[] = {
		CHROME_TTS, CHROME_TDUR, CHROME_SF, CHROME_ESF, CHROME_STACK, CHROME_ESTACK,
		CHROME_BIND_ID, CHROME_FLOW_IN, CHROME_FLOW_OUT,
	};
	uint64_t cnt = 0;
	uint32_t i;

	for (i = 0; i < sizeof(without_meaning) / sizeof(without_meaning[0]); i++)
		cnt += chrome_field(e, without_meaning[i]) != NULL;
	for (i = 0; e->has_unknown && i < e->fields_cnt; i++)
		cnt += e->fields[i].key == CHROME_UNKNOWN;
	return cnt;
}

static int take_event(struct chrome_reader *r)
{
	const struct chrome_event *e = &r->event;
	char phase = reader_phase(e);
	unsigned int letter = (unsigned char)phase < 127 ? (unsigned char)phase : 127;	/* not all chars have a sign */
	enum chrome_fate fate = fate_of(e, phase);
	int64_t ts = 0, duration = -1;

	r->counts.by_phase[letter]++;
	r->counts.duplicate_members += e->duplicates;
	r->counts.dropped_members += e->dropped + (phase == 'C' ? count_dropped(e) : 0);
	if (fate == CHROME_NOT_CONVERTED)
		r->counts.not_converted[letter]++;
	else
		fate = check_id(r, e, check_times(e, fate, &ts, &duration));
	r->counts.fates[fate]++;
	r->counts.unmatched_begins += phase == 'X' && fate == CHROME_AS_SLICE && duration < 0;
	if (phase == 'c' && fate == CHROME_AS_MARK)
		reader_note_sync(r, ts);
	if (fate >= CHROME_UNUSABLE)
		note_unused(r, fate);
	if (fate >= CHROME_NOT_CONVERTED)
		return 0;
	return fate == CHROME_AS_NAME ? take_metadata(r) : add_event(r, fate, ts, duration);
}

/* The clock is that of the text, unless events are before its beginning. */
static void choose_clock(struct chrome_reader *r)
{
	int64_t offset, first;

	if (!reader_clock_offset(r, &offset) || __builtin_add_overflow(r->first_ns, offset, &first) || first < 0)
		return;
	r->shift_ns = r->counts.clock_offset_ns = offset;
}

/* Times of FXT are not negative: all are shown later, unless some were played already. */
static void choose_shift(struct chrome_reader *r)
{
	if (!r->has_time || r->stream.played_ns > INT64_MIN)
		return;
	choose_clock(r);
	if (r->first_ns >= 0 || r->shift_ns)
		return;
	r->counts.shifted_s = (uint64_t)((-(r->first_ns + 1)) / NS_PER_S) + 1;
	if (r->counts.shifted_s > INT64_MAX / NS_PER_S)
		r->counts.shifted_s = INT64_MAX / NS_PER_S;
	r->shift_ns = (int64_t)(r->counts.shifted_s * NS_PER_S);
}

/* The input is at its end. 1, 0: nothing is left to do, or is to be done yet; or -errno. */
static int begin_playing(struct chrome_reader *r)
{
	int err;

	r->pass = PASS_READ;
	if (r->is_held)
		return 0;
	choose_shift(r);
	if (r->by_time) {
		r->pass = PASS_PAIRS;
		return 1;
	}
	r->pass = PASS_ENDED;
	err = stream_play(r, QUEUE_ALL);
	return err ? err : reader_play_rest(r);
}

/* After an event: plays what nothing that follows comes before. */
static int play_known(struct chrome_reader *r)
{
	uint64_t at = r->event.offset + r->event.len;

	if (!r->ahead || at < r->play_at)
		return 0;
	r->play_at = at + PLAY_BYTES;
	return stream_play(r, ahead_least(r->ahead, at));
}

/* An event, or a sample. */
static inline int take_listed(struct chrome_reader *r, int item)
{
	int err = r->event.escaped ? reader_plain(r) : 0;

	if (!err)
		err = item == CHROME_EVENT ? take_event(r) : reader_take_sample(r);
	return err ? err : play_known(r);
}

static int take_member(struct chrome_reader *r, int item, const struct chrome_member *m)
{
	if (item == CHROME_MEMBER)
		return reader_take_member(r, m);
	if (!r->has_frames)
		reader_take_frame(r, m);
	return 0;
}

static int read_input(struct chrome_reader *r)
{
	struct chrome_member member;
	int item, i, err;

	for (i = 0; i < EVENTS_A_READ; i++) {
		item = chrome_scan_next(r->scan, &r->event, &member);
		if (item < 0)
			return item;
		if (item == CHROME_END) {
			chrome_scan_counts(r->scan, &r->counts.scan);
			return begin_playing(r);
		}
		err = item == CHROME_EVENT || item == CHROME_SAMPLE ? take_listed(r, item) : take_member(r, item, &member);
		if (err)
			return err;
	}
	return 1;
}

static int read_order(struct chrome_reader *r)
{
	struct chrome_record record;
	int got = 1, i, err;

	for (i = 0; i < EVENTS_A_READ && got > 0; i++) {
		got = chrome_order_next(r->order, &record);
		err = got > 0 ? reader_play_record(r, &record) : got ? got : reader_play_rest(r);
		if (err)
			return err;
	}
	return got;
}

static int read_pairs(struct chrome_reader *r)
{
	int got = reader_pair(r);

	if (got)
		return got;
	r->counts.runs = chrome_order_runs(r->by_time);
	chrome_order_close(r->by_time);
	r->by_time = NULL;
	r->pass = PASS_ORDER;
	return 1;
}

int chrome_reader_read(struct chrome_reader *r)
{
	switch (r->pass) {
	case PASS_INPUT:
		return read_input(r);
	case PASS_READ:
		return begin_playing(r);
	case PASS_PAIRS:
		return read_pairs(r);
	case PASS_ORDER:
		return read_order(r);
	default:
		return 0;
	}
}

void chrome_reader_hold(struct chrome_reader *r, bool is_held)
{
	r->is_held = is_held;
}

void chrome_reader_set_text(struct chrome_reader *r, chrome_text_fn fn, void *text_ctx)
{
	chrome_scan_set_text(r->scan, fn, text_ctx);
}

/* The input from an offset on. */
struct from {
	chrome_read_at_fn read_at;
	void *ctx;
	uint64_t offset;
};

/* A chrome_read_fn. */
static long read_from(void *ctx, void *buf, size_t len)
{
	struct from *from = ctx;
	long got = from->read_at(from->ctx, buf, len, from->offset);

	from->offset += got > 0 ? (uint64_t)got : 0;
	return got;
}

/* Takes the frames that begin at @offset. 0; -EDOM: they do not; -ENOMEM, or an error of @read_at. */
static int take_frames_at(struct chrome_reader *r, chrome_read_at_fn read_at, void *ctx, uint64_t offset)
{
	struct from from = { read_at, ctx, offset };
	int err = chrome_scan_frames(read_from, &from, reader_take_frame, r);

	r->has_frames = !err;
	if (err) {
		chrome_frames_fini(&r->frames);
		r->counts.dropped_frames = 0;
	}
	return err;
}

int chrome_reader_look_ahead(struct chrome_reader *r, chrome_read_at_fn read_at, void *ctx)
{
	int err = ahead_open(&r->ahead, read_at, ctx), frames;
	uint64_t offset;

	frames = err ? err : ahead_frames(r->ahead, &offset);
	if (frames > 0)
		frames = take_frames_at(r, read_at, ctx, offset);
	if (frames < 0) {
		ahead_close(r->ahead);
		r->ahead = NULL;
	}
	/* Without it events wait for the end of the input. */
	return frames == -EDOM ? 0 : frames;
}

void chrome_reader_set_memory(struct chrome_reader *r, size_t bytes)
{
	r->stream.bytes_max = bytes;
}

void chrome_reader_counts(const struct chrome_reader *r, struct chrome_counts *counts)
{
	*counts = r->counts;
	chrome_scan_counts(r->scan, &counts->scan);
	counts->bad_samples += counts->scan.bad_samples;
	chrome_args_counts(r->args, &counts->args);
}

/* Runs of counts. */
static void add_all(uint64_t *sum, const uint64_t *c, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		sum[i] += c[i];
}

static void add_scan_counts(struct chrome_scan_counts *sum, const struct chrome_scan_counts *c)
{
	uint64_t i;

	for (i = 0; i < c->damaged && i < CHROME_DAMAGE_KEPT && sum->damaged + i < CHROME_DAMAGE_KEPT; i++)
		sum->first[sum->damaged + i] = c->first[i];
	sum->bytes += c->bytes;
	sum->events += c->events;
	sum->empty += c->empty;
	sum->not_objects += c->not_objects;
	sum->damaged += c->damaged;
	sum->stray_commas += c->stray_commas;
	sum->missing_commas += c->missing_commas;
	sum->stray_bytes += c->stray_bytes;
	sum->members += c->members;
	sum->bad_samples += c->bad_samples;
}

static void add_args_counts(struct chrome_args_counts *sum, const struct chrome_args_counts *c)
{
	sum->not_json += c->not_json;
	sum->damaged += c->damaged;
	sum->bad_escapes += c->bad_escapes;
	sum->duplicates += c->duplicates;
	sum->cut += c->cut;
}

static void add_skipped(struct chrome_skipped *sum, const struct chrome_skipped *c)
{
	unsigned int i = 0;

	while (i < CHROME_SKIPPED_KEPT && sum[i].name[0])
		i++;
	for (; i < CHROME_SKIPPED_KEPT && c->name[0]; i++, c++)
		sum[i] = *c;
}

void chrome_counts_add(struct chrome_counts *sum, const struct chrome_counts *c)
{
	add_scan_counts(&sum->scan, &c->scan);
	add_args_counts(&sum->args, &c->args);
	add_all(sum->fates, c->fates, CHROME_FATES);
	add_all(sum->by_phase, c->by_phase, 128);
	add_all(sum->not_converted, c->not_converted, 128);
	add_skipped(sum->skipped, c->skipped);
	sum->handed_on += c->handed_on;
	sum->unmatched_begins += c->unmatched_begins;
	sum->unmatched_ends += c->unmatched_ends;
	sum->duplicate_members += c->duplicate_members;
	sum->dropped_members += c->dropped_members;
	sum->not_numbers += c->not_numbers;
	sum->empty_names += c->empty_names;
	sum->members_used += c->members_used;
	sum->listed_samples += c->listed_samples;
	sum->bad_samples += c->bad_samples;
	sum->profile_samples += c->profile_samples;
	sum->overflows += c->overflows;
	sum->dropped_frames += c->dropped_frames;
	sum->early_flow_ends += c->early_flow_ends;
	sum->cut_lists += c->cut_lists;
	sum->runs += c->runs;
	sum->shifted_s = sum->shifted_s ? sum->shifted_s : c->shifted_s;
	sum->clock_offset_ns = sum->clock_offset_ns ? sum->clock_offset_ns : c->clock_offset_ns;
}

int chrome_reader_open(struct chrome_reader **out, chrome_read_fn read, void *ctx, struct builder *b)
{
	struct chrome_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->builder = b;
	r->stream.bytes_max = STREAM_BYTES;
	r->stream.played_ns = INT64_MIN;
	err = chrome_scan_open(&r->scan, read, ctx);
	err = err ? err : chrome_args_open(&r->args);
	if (err) {
		chrome_reader_close(r);
		return err;
	}
	*out = r;
	return 0;
}

void chrome_reader_close(struct chrome_reader *r)
{
	if (!r)
		return;
	chrome_scan_close(r->scan);
	chrome_order_close(r->by_time);
	chrome_order_close(r->order);
	stream_fini(&r->stream);
	ahead_close(r->ahead);
	reader_free_pairs(r);
	chrome_args_close(r->args);
	free(r->times);
	reader_free_held(r);
	reader_free_bound(r);
	id_table_fini(&r->begun);
	chrome_frames_fini(&r->frames);
	free(r->profiles);
	free(r->plain);
	free(r);
}
