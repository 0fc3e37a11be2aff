// SPDX-License-Identifier: GPL-2.0
/*
 * Phases that viewers have no record of their own for, as instants: memory dumps, clock
 * synchronisation, contexts. The totals of a memory dump are counters, too.
 */
#include "model/text.h"
#include "reader_p.h"
#include "value.h"

/* Bytes as Chrome writes them: a string of hexadecimal digits. */
static bool parse_bytes(const struct chrome_value *v, int64_t *bytes)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < v->len; i++) {
		const char *digits = "0123456789abcdef", *at = memchr(digits, v->data[i] | 0x20, 16);

		if (!at || value >> 59)
			return false;
		value = value << 4 | (uint64_t)(at - digits);
	}
	*bytes = (int64_t)value;
	return v->len && v->type == CHROME_STRING;
}

/* args.dumps.process_totals, each a series. */
static int play_totals(struct chrome_reader *r, const struct chrome_event *e, const struct model_event *at)
{
	struct model_event ev = { .kind = MODEL_COUNTER, .ts_ns = at->ts_ns, .category = at->category };
	struct chrome_value args = chrome_value_of(e, chrome_field(e, CHROME_ARGS)), dumps, totals, v;
	struct fxt_arg series[ARG_LIST_MAX];
	struct chrome_each each;
	uint32_t thread;
	int64_t bytes;
	int err;

	if (!chrome_member_find(&args, "dumps", &dumps) || !chrome_member_find(&dumps, "process_totals", &totals))
		return 0;
	chrome_each_begin(&each, totals.data, totals.len);
	while (ev.args_cnt < ARG_LIST_MAX && chrome_each_next(&each, &v)) {
		if (!parse_bytes(&v, &bytes))
			continue;
		series[ev.args_cnt] = fxt_arg_i64("", bytes);
		series[ev.args_cnt++].name = fxt_str_inline(v.name, text_cut(v.name, v.name_len, 200));
	}
	ev.args = series;
	ev.name = fxt_str("process_totals");
	err = reader_track(r, e, &thread, &ev.track);
	return err || !ev.args_cnt ? err : reader_add(r, &ev);
}

int reader_play_mark(struct chrome_reader *r, const struct chrome_event *e, struct model_event *ev)
{
	const struct chrome_field *id = chrome_field(e, CHROME_ID);
	int err = reader_phase(e) == 'v' ? play_totals(r, e, ev) : 0;

	if (err)
		return err;
	if (id)
		chrome_args_value(r->args, "id", 2, e, id);
	ev->args = chrome_args_get(r->args, &ev->args_cnt);
	ev->kind = MODEL_INSTANT;
	return reader_add(r, ev);
}

/* ---- two clocks in a file: that of the events and that of the ftrace text beside them ---------- */

#define SCOPE	2	/* of names of moments, which no frame has */

static void keep(struct named_moment *moments, unsigned int *cnt, uint64_t id, int64_t ns)
{
	if (*cnt < MOMENTS_MAX)
		moments[(*cnt)++] = (struct named_moment){ id, ns };
}

/* It was in force at some time since it was asked for: halfway, if that is known. */
void reader_note_sync(struct chrome_reader *r, int64_t ts)
{
	struct chrome_value args = chrome_value_of(&r->event, chrome_field(&r->event, CHROME_ARGS)), id, issued;
	int64_t issued_ns;

	if (!chrome_member_find(&args, "sync_id", &id) || id.type != CHROME_STRING)
		return;
	if (chrome_member_find(&args, "issue_ts", &issued) && !chrome_time_ns(issued.data, issued.len, &issued_ns) &&
	    issued_ns >= 0 && issued_ns <= ts)
		ts = issued_ns + (ts - issued_ns) / 2;
	keep(r->syncs.events, &r->syncs.events_cnt, reader_frame_key(SCOPE, id.data, id.len), ts);
}

void chrome_reader_add_sync(struct chrome_reader *r, const struct chrome_sync *sync)
{
	struct clock_syncs *s = &r->syncs;

	if (sync->id)
		keep(s->text, &s->text_cnt, reader_frame_key(SCOPE, sync->id, sync->id_len), sync->text_ns);
	else if (!s->has_offset)
		s->has_offset = !__builtin_sub_overflow(sync->text_ns, sync->events_ns, &s->offset_ns);
}

bool reader_clock_offset(const struct chrome_reader *r, int64_t *ns)
{
	const struct clock_syncs *s = &r->syncs;
	unsigned int i, j;

	for (i = 0; i < s->events_cnt; i++)
		for (j = 0; j < s->text_cnt; j++)
			if (s->events[i].id == s->text[j].id &&
			    !__builtin_sub_overflow(s->text[j].ns, s->events[i].ns, ns))
				return true;
	*ns = s->offset_ns;
	return s->has_offset;
}
