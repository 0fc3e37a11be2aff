// SPDX-License-Identifier: GPL-2.0
/*
 * Events in order of time, each phase as what it means.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bytes.h"
#include "reader_p.h"
#include "value.h"

/* ---- what all phases have ------------------------------------------------------- */

/* Of a member, to be registered. */
static struct fxt_str text_of(struct chrome_reader *r, const struct chrome_event *e, const struct chrome_field *f, size_t max)
{
	struct fxt_str s;

	if (f && f->type == CHROME_STRING && !f->escaped && f->value.len <= max)
		return (struct fxt_str){ .data = chrome_text(e, f->value), .len = f->value.len };
	s = chrome_args_text(r->args, e, f, max);
	s.inlined = false;
	return s;
}

/* A list of categories as it is in a string: "a,b". */
static struct fxt_str category_of(struct chrome_reader *r, const struct chrome_event *e)
{
	const struct chrome_field *f = chrome_field(e, CHROME_CAT);
	const struct chrome_value list = chrome_value_of(e, f);
	bool cut = false;
	size_t len;

	if (list.type != CHROME_ARRAY)
		return text_of(r, e, f, CATEGORY_BYTES);
	len = chrome_list_join(&list, ',', r->category, CATEGORY_BYTES, &cut);
	r->counts.cut_lists += cut;
	return fxt_str_n(r->category, len);
}

static struct fxt_str name_of(struct chrome_reader *r, const struct chrome_event *e)
{
	return text_of(r, e, chrome_field(e, CHROME_NAME), NAME_MAX_BYTES);
}

/* CPU time of the thread, in ns as all our times. */
static void add_thread_time(struct chrome_reader *r, const struct chrome_event *e, enum chrome_key key, const char *name)
{
	const struct chrome_field *f = chrome_field(e, key);
	int64_t ns;

	if (!f)
		return;
	if (reader_time_ns(e, f, &ns))
		chrome_args_value(r->args, name, strlen(name), e, f);
	else
		chrome_args_int64(r->args, name, ns);
}

static void add_known(struct chrome_reader *r, const struct chrome_event *e, enum chrome_key key, const char *name)
{
	if (e->at[key])
		chrome_args_value(r->args, name, strlen(name), e, chrome_field(e, key));
}

static void add_rare(struct chrome_reader *r, const struct chrome_event *e, bool is_end)
{
	reader_add_stacks(r, e, is_end);
	if (reader_is_bound(e))
		return;
	add_known(r, e, CHROME_BIND_ID, "bind_id");
	add_known(r, e, CHROME_FLOW_IN, "flow_in");
	add_known(r, e, CHROME_FLOW_OUT, "flow_out");
}

static void add_ids(struct chrome_reader *r, const struct chrome_event *e)
{
	add_known(r, e, CHROME_ID, "id");
	add_known(r, e, CHROME_ID2, "id2");
	add_known(r, e, CHROME_SCOPE, "scope");
	add_known(r, e, CHROME_BP, "bp");
}

/* Whether a later member has the name of member @i, an unknown one: the last counts. */
static bool comes_again(struct chrome_reader *r, const struct chrome_event *e, uint32_t i)
{
	const struct chrome_span name = e->fields[i].name;
	uint32_t j;

	for (j = i + 1; j < e->fields_cnt; j++)
		if (e->fields[j].key == CHROME_UNKNOWN && e->fields[j].name.len == name.len &&
		    !memcmp(chrome_text(e, e->fields[j].name), chrome_text(e, name), name.len))
			break;
	r->counts.duplicate_members += j < e->fields_cnt;
	return j < e->fields_cnt;
}

/* Members without a meaning of their own. */
static inline void add_members(struct chrome_reader *r, const struct chrome_event *e, bool is_end)
{
	uint32_t i;

	if (chrome_has_rare(e))
		add_rare(r, e, is_end);
	if (reader_has_spare_ids(e))
		add_ids(r, e);
	for (i = 0; e->has_unknown && i < e->fields_cnt; i++)
		if (e->fields[i].key == CHROME_UNKNOWN && !comes_again(r, e, i))
			chrome_args_value(r->args, chrome_text(e, e->fields[i].name), e->fields[i].name.len, e, &e->fields[i]);
}

/* Those of the event and of its end, of which the last of a name counts. */
static void merge_args(struct chrome_reader *r, struct model_event *ev)
{
	unsigned int i, j, n = 0;

	for (i = 0; i < ev->args_cnt; i++) {
		const struct fxt_str *name = &ev->args[i].name;

		for (j = i + 1; j < ev->args_cnt; j++)
			if (ev->args[j].name.len == name->len && !memcmp(ev->args[j].name.data, name->data, name->len))
				break;
		if (j == ev->args_cnt)
			r->merged[n++] = ev->args[i];
	}
	ev->args = r->merged;
	ev->args_cnt = n;
}

/* Name, category and arguments, for as long as the event is at hand; @end may be NULL. */
static inline __attribute__((always_inline)) void fill(struct chrome_reader *r, const struct chrome_event *e,
						       const struct chrome_event *end, struct model_event *ev)
{
	chrome_args_clear(r->args);
	chrome_args_object(r->args, e, chrome_field(e, CHROME_ARGS), false);
	if (end)
		chrome_args_replace(r->args, end, chrome_field(end, CHROME_ARGS));
	add_thread_time(r, e, CHROME_TTS, "thread_time_ns");
	add_thread_time(r, e, CHROME_TDUR, "thread_duration_ns");
	add_members(r, e, false);
	if (end) {
		add_thread_time(r, end, CHROME_TTS, "thread_end_time_ns");
		add_thread_time(r, end, CHROME_TDUR, "thread_duration_ns");
		add_members(r, end, true);
	}
	ev->args = chrome_args_get(r->args, &ev->args_cnt);
	if (end)
		merge_args(r, ev);
	ev->name = name_of(r, e);
	ev->category = category_of(r, e);
}

/* ---- flows --------------------------------------------------------------------- */

static void free_held(struct chrome_reader *r, struct held_flow *h)
{
	r->held_bytes -= h->len;
	free(h->text);
}

static int play_held(struct chrome_reader *r, const struct held_flow *h, int64_t ts)
{
	struct model_event ev = { .kind = MODEL_FLOW_END, .track = h->track, .ts_ns = (uint64_t)ts, .id = h->id };
	const char *reason;
	size_t bad_at;

	if (chrome_event_parse(&r->held_event, h->text, h->len, &bad_at, &reason))
		return -EINVAL;
	fill(r, &r->held_event, NULL, &ev);
	return reader_add(r, &ev);
}

/* Those that waited for this slice. */
static int release_flows(struct chrome_reader *r, const struct model_event *slice)
{
	unsigned int i, kept = 0;
	int err = 0;

	for (i = 0; i < r->held_cnt; i++) {
		if (r->held[i].track != slice->track || err) {
			r->held[kept++] = r->held[i];
			continue;
		}
		err = play_held(r, &r->held[i], (int64_t)slice->ts_ns);
		free_held(r, &r->held[i]);
	}
	r->held_cnt = kept;
	return err;
}

int reader_play_rest(struct chrome_reader *r)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < r->held_cnt && !err; i++)
		err = play_held(r, &r->held[i], r->held[i].ts_ns);
	reader_free_held(r);
	return err ? err : reader_end_bound(r);
}

void reader_free_held(struct chrome_reader *r)
{
	while (r->held_cnt)
		free_held(r, &r->held[--r->held_cnt]);
}

/* f binds to the slice around it if bp says so, or its category; else to the next one. */
static bool binds_to_next(const struct chrome_event *e, const struct model_event *ev)
{
	return !reader_is_text(e, CHROME_BP, "e") && !memmem(ev->category.data, ev->category.len, "input", 5) &&
	       !memmem(ev->category.data, ev->category.len, "ipc.flow", 8);
}

/* Of the track; NULL: no memory. */
static struct track_times *times_of(struct chrome_reader *r, uint32_t track)
{
	size_t cap = r->times_cap;

	if (track >= cap) {
		if (array_reserve(r->times, cap, r->times_cap, track + 1 - cap))
			return NULL;
		memset(r->times + cap, 0xff, (r->times_cap - cap) * sizeof(*r->times));
	}
	return &r->times[track];
}

/* Until the next slice of its track. 1, 0: one began at this very time, or there are too many; or -ENOMEM. */
static int hold_flow(struct chrome_reader *r, const struct chrome_event *e, const struct model_event *ev)
{
	const struct track_times *times = times_of(r, ev->track);
	struct held_flow *h = &r->held[r->held_cnt];

	if (!times)
		return -ENOMEM;
	if (times->slice_ns == (int64_t)ev->ts_ns)
		return 0;
	if (r->held_cnt == HELD_MAX || e->len > HELD_BYTES_MAX - r->held_bytes) {
		r->counts.early_flow_ends++;
		return 0;
	}
	*h = (struct held_flow){
		.track = ev->track, .id = reader_held_id(++r->held_ids), .ts_ns = (int64_t)ev->ts_ns, .len = e->len,
		.text = malloc(e->len + CHROME_PAD_BYTES),
	};
	if (!h->text)
		return -ENOMEM;
	memcpy(h->text, e->text, e->len);
	memset(h->text + e->len, '"', CHROME_PAD_BYTES);
	r->held_bytes += e->len;
	r->held_cnt++;
	return builder_move_flow(r->builder, ev->id, h->id) ?: 1;
}

static int play_flow(struct chrome_reader *r, const struct chrome_event *e, struct model_event *ev)
{
	char phase = reader_phase(e);
	int held = 0;

	if (!reader_async_id(r, e, 's', &ev->id))
		return -EINVAL;
	ev->kind = phase == 's' ? MODEL_FLOW_BEGIN : phase == 't' ? MODEL_FLOW_STEP : MODEL_FLOW_END;
	if (phase == 'f' && binds_to_next(e, ev))
		held = hold_flow(r, e, ev);
	return held ? held < 0 ? held : 0 : reader_add(r, ev);
}

/* ---- slices -------------------------------------------------------------------- */

/* Flows that end there look for it. */
static int note_slice(struct chrome_reader *r, const struct model_event *ev)
{
	struct track_times *times = times_of(r, ev->track);

	if (!times)
		return -ENOMEM;
	times->slice_ns = (int64_t)ev->ts_ns;
	return r->held_cnt ? release_flows(r, ev) : 0;
}

/* @duration_ns below 0: it had not ended. */
static int play_slice(struct chrome_reader *r, const struct chrome_event *e, struct model_event *ev, int64_t duration_ns)
{
	int err;

	ev->kind = duration_ns < 0 ? MODEL_SLICE_OPEN : MODEL_SLICE;
	if (duration_ns >= 0)
		ev->duration_ns = (uint64_t)duration_ns;
	err = reader_add(r, ev);
	if (!err && chrome_has_rare(e) && reader_is_bound(e))
		err = reader_play_bound(r, e, ev);
	/* All of the same time have been read. */
	return err || !r->counts.fates[CHROME_AS_FLOW] ? err : note_slice(r, ev);
}

static int play_async(struct chrome_reader *r, const struct chrome_event *e, struct model_event *ev)
{
	char phase = reader_phase(e);
	char what = strchr("ben", phase) ? 'b' : strchr("NOD", phase) ? 'N' : 'S';

	if (!reader_async_id(r, e, what, &ev->id))
		return -EINVAL;
	ev->kind = strchr("bSN", phase) ? MODEL_ASYNC_BEGIN : strchr("eFD", phase) ? MODEL_ASYNC_END : MODEL_ASYNC_INSTANT;
	if (phase == 'S' && !reader_begin_id(r, ev->id)) {
		r->counts.fates[CHROME_AS_ASYNC]--;
		r->counts.fates[CHROME_BEGUN_TWICE]++;
		return 0;
	}
	if (phase == 'F')
		reader_end_id(r, ev->id);
	if (ev->kind == MODEL_ASYNC_INSTANT && !builder_has_async(r->builder, ev->id, ev->ts_ns)) {
		add_ids(r, e);
		ev->args = chrome_args_get(r->args, &ev->args_cnt);
	}
	return reader_add(r, ev);
}

/* ---- instants, counters -------------------------------------------------------- */

static int play_instant(struct chrome_reader *r, const struct chrome_event *e, struct model_event *ev)
{
	uint32_t thread;
	int err = 0;

	ev->kind = MODEL_INSTANT;
	if (reader_is_text(e, CHROME_S, "g"))
		err = reader_global_track(r, &ev->track);
	else if (reader_is_text(e, CHROME_S, "p"))
		err = reader_track(r, e, &thread, &ev->track);
	return err ? err : reader_add(r, ev);
}

bool reader_number(const struct fxt_arg *arg, struct fxt_arg *number)
{
	char text[64 + CHROME_PAD_BYTES] = { 0 }, *end;
	const char *number_end;
	double value;

	*number = *arg;
	if (arg->type == FXT_ARG_INT64 || arg->type == FXT_ARG_DOUBLE)
		return true;
	if (arg->type != FXT_ARG_STRING || !arg->str.len || arg->str.len >= 64)
		return false;
	memcpy(text, arg->str.data, arg->str.len);
	text[arg->str.len] = '"';
	if (chrome_scalar(text, &number_end) != CHROME_NUMBER || number_end != text + arg->str.len)
		return false;
	text[arg->str.len] = '\0';
	number->type = FXT_ARG_INT64;
	if (!chrome_int64(arg->str.data, arg->str.len, &number->i64))
		return true;
	value = strtod(text, &end);
	number->type = FXT_ARG_DOUBLE;
	number->f64 = value;
	return value - value == 0;
}

static int play_counter(struct chrome_reader *r, const struct chrome_event *e, struct model_event *ev)
{
	struct fxt_arg numbers[ARG_LIST_MAX];
	unsigned int i, n = 0;
	uint32_t thread;
	int err;

	/* Its series are the members of args themselves, nothing in them and nothing else. */
	chrome_args_clear(r->args);
	chrome_args_object(r->args, e, chrome_field(e, CHROME_ARGS), true);
	ev->args = chrome_args_get(r->args, &ev->args_cnt);
	ev->name = name_of(r, e);
	ev->category = category_of(r, e);
	for (i = 0; i < ev->args_cnt; i++)
		n += reader_number(&ev->args[i], &numbers[n]);
	if (!n) {
		r->counts.fates[CHROME_AS_COUNTER]--;
		r->counts.fates[CHROME_NO_NUMBER]++;
		return 0;
	}
	r->counts.not_numbers += ev->args_cnt - n;
	ev->kind = MODEL_COUNTER;
	ev->args = numbers;
	ev->args_cnt = n;
	ev->id = reader_counter_id(r, e);
	err = reader_track(r, e, &thread, &ev->track);
	return err ? err : reader_add(r, ev);
}

/* ---- thread states ------------------------------------------------------------- */

static enum model_state state_of(struct fxt_str name)
{
	switch (name.len ? name.data[0] : 0) {
	case 'R':
		return name.len == 7 && !memcmp(name.data, "Running", 7) ? MODEL_RUNNING : MODEL_RUNNABLE;
	case 'D':
		return MODEL_BLOCKED;
	case 'T':
	case 't':
		return MODEL_STOPPED;
	case 'Z':
		return MODEL_DYING;
	case 'X':
	case 'x':
		return MODEL_DEAD;
	default:
		return MODEL_SLEEPING;
	}
}

/* Running needs a CPU; without one a thread that runs is one that could. */
static int play_state(struct chrome_reader *r, struct model_event *ev)
{
	const struct fxt_arg *cpu = chrome_args_find(r->args, "cpu");
	struct track_times *times = times_of(r, ev->track);
	struct fxt_str name = ev->name;

	if (!times)
		return -ENOMEM;
	/* Why it waits, and on what: records of scheduling do not say. */
	r->counts.dropped_members += ev->args_cnt - (cpu != NULL);
	times->state_ns = (int64_t)ev->ts_ns;
	ev->kind = MODEL_STATE;
	ev->sched = (struct model_sched){ .state = state_of(name), .priority = 120 };
	if (ev->sched.state != MODEL_RUNNING && name.len <= 16)
		ev->sched.linux_state = name;
	if (ev->sched.state == MODEL_RUNNING) {
		if (cpu && cpu->type == FXT_ARG_INT64 && cpu->i64 >= 0 && cpu->i64 < 4096)
			ev->sched.cpu = (uint16_t)cpu->i64;
		else
			ev->sched.state = MODEL_RUNNABLE;
	}
	return reader_add(r, ev);
}

/* Nothing is known of the thread after its last state. */
static int end_state(struct chrome_reader *r, uint32_t track, uint64_t ts)
{
	const struct track_times *times = times_of(r, track);

	if (!times)
		return -ENOMEM;
	if (times->state_ns == (int64_t)ts)
		return 0;
	return reader_add(r, &(struct model_event){
		.kind = MODEL_STATE, .track = track, .ts_ns = ts,
		.sched = { .state = MODEL_RUNNABLE, .priority = 120 },
	});
}

/* ---- metadata ------------------------------------------------------------------ */

static int play_metadata(struct chrome_reader *r, const struct chrome_event *e, struct model_event *ev)
{
	uint32_t thread;
	int err = reader_track(r, e, &thread, &ev->track);

	ev->kind = MODEL_INSTANT;
	if (!ev->category.len)
		ev->category = fxt_str("metadata");
	return err ? err : reader_add(r, ev);
}

/* 1: it was samples of a profile, which have been handed on. */
static int play_sample(struct chrome_reader *r, const struct chrome_event *e, struct model_event *ev)
{
	chrome_args_clear(r->args);
	ev->category = category_of(r, e);
	return reader_play_profile(r, e, ev);
}

/* ---- dispatch ------------------------------------------------------------------ */

static int play_event(struct chrome_reader *r, const struct chrome_event *e, struct model_event *ev)
{
	int err;

	switch (reader_phase(e)) {
	case 'T':
		return reader_is_state(e) ? play_state(r, ev) : play_async(r, e, ev);
	case 'b': case 'n': case 'e': case 'S': case 'p': case 'F': case 'N': case 'O': case 'D':
		return play_async(r, e, ev);
	case 's': case 't': case 'f':
		return play_flow(r, e, ev);
	case 'V': case 'v': case 'c': case '(': case ')':
		return reader_play_mark(r, e, ev);
	case 0:
		return (err = reader_play_listed(r, e, ev)) > 0 ? play_instant(r, e, ev) : err;
	default:
		return play_instant(r, e, ev);
	}
}

/* Its begin and its end. */
static int play_async_slice(struct chrome_reader *r, const struct chrome_event *e, struct model_event *ev,
			    int64_t duration_ns)
{
	ev->kind = MODEL_ASYNC;
	ev->duration_ns = (uint64_t)duration_ns;
	return reader_async_id(r, e, 'b', &ev->id) ? reader_add(r, ev) : -EINVAL;
}

/* An end without a begin is shown as an instant. */
static int play_unmatched(struct chrome_reader *r, struct model_event *ev)
{
	ev->kind = MODEL_INSTANT;
	if (!ev->name.len)
		ev->name = fxt_str("end");
	return reader_add(r, ev);
}

/* Times of FXT are not negative. */
static uint64_t shown_ns(const struct chrome_reader *r, int64_t ts)
{
	int64_t shown;

	if (__builtin_add_overflow(ts, r->shift_ns, &shown))
		shown = INT64_MAX;
	return shown > 0 ? (uint64_t)shown : 0;
}

int reader_play(struct chrome_reader *r, const struct play_item *item)
{
	const struct chrome_event *e = item->event;
	struct model_event ev;
	int ret;

	/* The rest belongs to some kinds, which set it. */
	memset(&ev, 0, offsetof(struct model_event, duration_ns));
	ev.track = item->track;
	ev.ts_ns = shown_ns(r, item->ts_ns);
	ev.duration_ns = 0;
	if (item->kind == RECORD_STATE_END)
		return end_state(r, item->track, ev.ts_ns);
	if (item->kind == RECORD_EVENT && reader_phase(e) == 'C')
		return play_counter(r, e, &ev);
	if (item->kind == RECORD_EVENT && reader_phase(e) == 'P' && (ret = play_sample(r, e, &ev)))
		return ret < 0 ? ret : 0;
	fill(r, e, item->end, &ev);
	switch (item->kind) {
	case RECORD_METADATA:
		ev.ts_ns = shown_ns(r, r->has_time ? r->first_ns : 0);
		return play_metadata(r, e, &ev);
	case RECORD_MEMBER:
		ev.ts_ns = shown_ns(r, r->first_ns);
		ev.kind = MODEL_INSTANT;
		return r->has_time ? reader_add(r, &ev) : 0;
	case RECORD_UNMATCHED:
		return play_unmatched(r, &ev);
	case RECORD_PAIR:
		if (reader_phase(e) == 'b')
			return play_async_slice(r, e, &ev, item->duration_ns);
		return play_slice(r, e, &ev, item->duration_ns);
	case RECORD_OPEN:
		return play_slice(r, e, &ev, item->duration_ns);
	default:
		return reader_phase(e) == 'X' ? play_slice(r, e, &ev, item->duration_ns) : play_event(r, e, &ev);
	}
}

/* ---- records of the third pass --------------------------------------------------- */

/* Below 0: none. */
static int64_t duration_of(const struct chrome_event *e)
{
	const struct chrome_field *f = chrome_field(e, CHROME_DUR);
	int64_t duration;

	return f && !reader_time_ns(e, f, &duration) ? duration : -1;
}

/* Of a pair the begin, with the end after it. */
static int split_pair(struct chrome_reader *r, const struct chrome_record *record, struct play_item *item)
{
	const char *begin = record->text + sizeof(struct pair_head), *reason;
	struct pair_head head;
	size_t bad_at;

	memcpy(&head, record->text, sizeof(head));
	item->duration_ns = head.duration_ns;
	if (chrome_event_parse(&r->event, begin, head.begin_len, &bad_at, &reason))
		return -EINVAL;
	if (!head.end_len)
		return 0;
	item->end = &r->end;
	return chrome_event_parse(&r->end, begin + head.begin_len + 1, head.end_len, &bad_at, &reason) ? -EINVAL : 0;
}

int reader_play_record(struct chrome_reader *r, const struct chrome_record *record)
{
	struct play_item item = {
		.kind = record->kind, .track = record->track, .ts_ns = record->ts_ns, .duration_ns = -1, .event = &r->event,
	};
	const char *reason;
	size_t bad_at;
	int err = 0;

	if (record->kind == RECORD_PAIR)
		err = split_pair(r, record, &item);
	else if (record->kind != RECORD_STATE_END)
		err = chrome_event_parse(&r->event, record->text, record->len, &bad_at, &reason) ? -EINVAL : 0;
	if (!err && record->kind == RECORD_EVENT)
		item.duration_ns = duration_of(&r->event);
	return err ? err : reader_play(r, &item);
}
