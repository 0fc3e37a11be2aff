// SPDX-License-Identifier: GPL-2.0
/*
 * trace_marker: the forms of atrace, which are a letter and fields between bars,
 * and the lines by which tools tie clocks together. All other text is text.
 */
#include "import_p.h"

#include <errno.h>
#include <string.h>

#define FIELDS_MAX	4
#define NS_PER_SECOND	1000000000U

struct marker {
	const struct record *r;
	int32_t tgid;
	struct model_text rest;	/* after the tgid and its bar */
};

/* Live, a marker of another process is on its main thread. */
static struct fxt_thread place_of_marker(struct builder *b, const struct marker *m)
{
	struct fxt_thread at = place_of(b, m->r);
	uint64_t koid;

	if (m->r->im->live && m->r->im->live->find_process(m->r->im->live->ctx, (uint32_t)m->tgid, &koid) && koid != at.process)
		at = (struct fxt_thread){ .process = koid, .thread = koid };
	return at;
}

static struct fxt_event event_of(struct builder *b, const struct marker *m, struct model_text name)
{
	return (struct fxt_event){
		.type = FXT_INSTANT, .ts = m->r->ts, .thread = place_of_marker(b, m),
		.category = fxt_str("atrace"), .name = build_str(b, name),
	};
}

/* Splits at bars from the right into @cnt pieces; the first one keeps what bars are left over. */
static bool split(struct model_text text, unsigned int cnt, struct model_text *pieces)
{
	const char *bar;

	while (--cnt) {
		bar = text.len ? memrchr(text.data, '|', text.len) : NULL;
		if (!bar)
			return false;
		pieces[cnt] = (struct model_text){
			bar + 1, (size_t)(text.data + text.len - bar - 1) };
		text.len = (size_t)(bar - text.data);
	}
	pieces[0] = text;
	return true;
}

static uint64_t key_of(int32_t tgid, struct model_text name, struct model_text cookie, char type)
{
	uint64_t key = (uint64_t)text_hash(name.data, name.len) << 32 |
		       text_hash(cookie.data, cookie.len);

	return (key ^ ((uint64_t)(uint32_t)tgid << 8 | (unsigned char)type)) *
	       0x9e3779b97f4a7c15ULL;
}

/* ---- slices ---------------------------------------------------------------- */

static int on_begin(struct builder *b, const struct marker *m)
{
	struct slice s = {
		.family = FAMILY_USER, .category = fxt_str("atrace"), .name = build_str(b, m->rest),
	};

	return slice_begin(b, track_of_marker(b, m->r, true), m->r->ts, &s, NULL, 0);
}

static int on_end(struct builder *b, const struct record *r)
{
	struct slice s = { .family = FAMILY_USER, .category = fxt_str("atrace"),
			   .name = fxt_str("E") };

	return slice_end(b, track_of_marker(b, r, false), r->ts, &s, NULL, 0);
}

/* "S|77|name|cookie", "F|77|name|cookie". Who begins again holds the same thing: of wakelocks the first counts. */
static int on_async(struct builder *b, const struct marker *m, bool begins)
{
	struct model_text f[FIELDS_MAX];
	struct fxt_event e;
	struct fxt_arg arg;
	uint64_t key;
	int err;

	if (!split(m->rest, 2, f))
		return OUT_OTHER;
	key = key_of(m->tgid, f[0], f[1], 'S');
	e = event_of(b, m, f[0]);
	arg = fxt_arg_str("cookie", fxt_str_inline(f[1].data, f[1].len));
	if (!begins)
		return async_end(b, &e, key, &arg, 1);
	if (!async_is_open(b, key))
		return async_begin(b, &e, key, &arg, 1);
	err = build_event(b, &e, &arg, 1);
	return err ? err : OUT_INSTANT;
}

/* "G|77|track|name|cookie" */
static int on_track_begin(struct builder *b, const struct marker *m)
{
	struct model_text f[FIELDS_MAX], t[FIELDS_MAX];
	struct fxt_event e;
	struct fxt_arg args[2];

	if (!split(m->rest, 2, f) || !split(f[0], 2, t))
		return OUT_OTHER;
	e = event_of(b, m, t[1]);
	args[0] = fxt_arg_str("track", fxt_str_inline(t[0].data, t[0].len));
	args[1] = fxt_arg_str("cookie", fxt_str_inline(f[1].data, f[1].len));
	return async_begin(b, &e, key_of(m->tgid, t[0], f[1], 'G'), args, 2);
}

/* "H|77|track|cookie" or "H|77|track|name|cookie" */
static int on_track_end(struct builder *b, const struct marker *m)
{
	struct model_text f[FIELDS_MAX], track;
	const char *bar;
	struct fxt_event e;
	struct fxt_arg args[2];

	if (!split(m->rest, 2, f))
		return OUT_OTHER;
	track = f[0];
	bar = track.len ? memchr(track.data, '|', track.len) : NULL;
	if (bar)
		track.len = (size_t)(bar - track.data);
	e = event_of(b, m, f[0]);
	args[0] = fxt_arg_str("track", fxt_str_inline(track.data, track.len));
	args[1] = fxt_arg_str("cookie", fxt_str_inline(f[1].data, f[1].len));
	return async_end(b, &e, key_of(m->tgid, track, f[1], 'G'), args, 2);
}

/* ---- counters and instants ------------------------------------------------- */

/* Its process counts; the thread is who wrote it. */
static int count_in_process(struct builder *b, const struct marker *m, struct fxt_event *e)
{
	e->thread.process = thread_koid_of(b, m->tgid);
	if (m->r->t && m->r->t->tid == m->tgid)
		e->thread.process = m->r->t->process;
	return e->thread.process ? process_use(b, e->thread.process, m->tgid) : 0;
}

/* "C|77|name|-5" or, as catapult has it, "C|77|name|12|category" */
static int on_count(struct builder *b, const struct marker *m)
{
	struct model_text f[FIELDS_MAX], t[FIELDS_MAX], value = { "value", 5 };
	struct fxt_event e;
	struct fxt_arg arg;
	int err = 0;

	if (!split(m->rest, 2, f))
		return OUT_OTHER;
	arg = arg_typed(value, f[1]);
	e = event_of(b, m, f[0]);
	if (arg.type == FXT_ARG_STRING && split(f[0], 2, t)) {
		arg = arg_typed(value, t[1]);
		e.name = build_str(b, t[0]);
		if (!m->r->im->live)	/* or it could be one of the recorder's own */
			e.category = build_str(b, f[1]);
	}
	if (arg.type == FXT_ARG_STRING || arg.type == FXT_ARG_BOOL || arg.type == FXT_ARG_POINTER)
		return OUT_OTHER;
	e.type = FXT_COUNTER;
	if (!m->r->im->live)
		err = count_in_process(b, m, &e);
	if (!err)
		err = build_event(b, &e, &arg, 1);
	return err ? err : OUT_COUNTER;
}

static int on_named_instant(struct builder *b, const struct marker *m)
{
	struct fxt_event e = event_of(b, m, m->rest);
	int err = build_event(b, &e, NULL, 0);

	return err ? err : OUT_INSTANT;
}

/* "N|77|track|name" */
static int on_track_instant(struct builder *b, const struct marker *m)
{
	const char *bar = m->rest.len ? memchr(m->rest.data, '|', m->rest.len) : NULL;
	struct model_text track = m->rest, name;
	struct fxt_event e;
	struct fxt_arg arg;
	int err;

	if (!bar)
		return OUT_OTHER;
	track.len = (size_t)(bar - track.data);
	name = (struct model_text){ bar + 1, m->rest.len - track.len - 1 };
	e = event_of(b, m, name);
	arg = fxt_arg_str("track", fxt_str_inline(track.data, track.len));
	err = build_event(b, &e, &arg, 1);
	return err ? err : OUT_INSTANT;
}

/* ---- clocks ---------------------------------------------------------------- */

/* "12.345678" */
static bool parse_seconds(struct model_text text, uint64_t *ns)
{
	const char *p = text.data, *end = text.data + text.len;
	uint64_t unit = NS_PER_SECOND;

	for (*ns = 0; p < end && *p >= '0' && *p <= '9' && *ns < UINT32_MAX; p++)
		*ns = *ns * 10 + (uint64_t)(*p - '0');
	if (p == text.data || (p < end && *p != '.'))
		return false;
	*ns *= NS_PER_SECOND;
	for (p++; p < end && *p >= '0' && *p <= '9'; p++)
		*ns += (unit /= 10) * (uint64_t)(*p - '0');
	return p >= end;
}

/* What the clock of the line is to another one. */
static void keep_sync(const struct record *r, struct model_text args)
{
	struct ftrace_import *im = r->im;
	struct ftrace_sync *s = &im->syncs[im->syncs_cnt];
	struct model_text text;

	if (im->syncs_cnt == FTRACE_SYNCS_MAX || r->ev->clock != MODEL_CLOCK_NS || !r->ev->complete)
		return;
	*s = (struct ftrace_sync){ .ns = r->ns };
	if (text_find(args, "parent_ts", &text)) {
		s->has_parent = parse_seconds(text, &s->parent_ns);
	} else if (text_find(args, "name", &text) && text.len <= sizeof(s->id)) {
		memcpy(s->id, text.data, text.len);
		s->id_len = (uint8_t)text.len;
	}
	im->syncs_cnt += s->has_parent || s->id_len;
}

/* "trace_event_clock_sync: parent_ts=12.345678" or "... name=ID" */
static int on_clock_sync(struct builder *b, const struct record *r, size_t skip)
{
	struct ftrace_event ev = *r->ev;
	struct fxt_arg args[ARGS_TYPED + 1];
	struct fxt_event e = {
		.type = FXT_INSTANT, .ts = r->ts, .thread = place_of(b, r),
		.category = fxt_str("clock_sync"), .name = fxt_str("trace_event_clock_sync"),
	};
	unsigned int n, i;
	int err;

	ev.args.data += skip;
	ev.args.len -= skip;
	keep_sync(r, ev.args);
	n = args_of(&ev, args);
	/* Seconds with a fraction stay as they were printed: a double would round them. */
	for (i = 0; i < n; i++) {
		struct model_text text;

		if (args[i].type == FXT_ARG_DOUBLE && text_find(ev.args, "parent_ts", &text))
			args[i] = fxt_arg_str("parent_ts", fxt_str_inline(text.data, text.len));
	}
	err = build_event(b, &e, args, n);
	return err ? err : OUT_INSTANT;
}

/* ---- the forms ------------------------------------------------------------- */

/* "77|rest" after the letter and its bar; a tgid of zero or none is no process. */
static bool parse_tgid(struct marker *m)
{
	const char *bar = memchr(m->rest.data, '|', m->rest.len);
	struct model_text number = m->rest;
	int64_t v;

	if (!bar)
		return false;
	number.len = (size_t)(bar - number.data);
	if (!text_int(number, &v) || v < 0 || v > INT32_MAX)
		return false;
	m->tgid = (int32_t)v;
	m->rest = (struct model_text){ bar + 1, m->rest.len - number.len - 1 };
	return true;
}

static int on_atrace(struct builder *b, const struct marker *m, char letter)
{
	switch (letter) {
	case 'B':
		return on_begin(b, m);
	case 'S':
	case 'F':
		return on_async(b, m, letter == 'S');
	case 'C':
		return on_count(b, m);
	case 'I':
		return on_named_instant(b, m);
	case 'N':
		return on_track_instant(b, m);
	case 'G':
		return on_track_begin(b, m);
	case 'H':
		return on_track_end(b, m);
	default:
		return OUT_OTHER;
	}
}

static int parse(struct builder *b, const struct record *r)
{
	static const char sync[] = "trace_event_clock_sync:";
	struct model_text text = r->ev->args;
	struct marker m = { .r = r };

	while (text.len && (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == '\r'))
		text.len--;
	if (text.len >= sizeof(sync) - 1 && !memcmp(text.data, sync, sizeof(sync) - 1))
		return on_clock_sync(b, r, sizeof(sync) - 1);
	if (text.len && *text.data == 'E' && (text.len == 1 || text.data[1] == '|'))
		return on_end(b, r);
	if (text.len < 3 || text.data[1] != '|')
		return OUT_OTHER;
	m.rest = (struct model_text){ text.data + 2, text.len - 2 };
	if (!parse_tgid(&m))
		return OUT_OTHER;
	if (r->t && !r->t->user) {
		r->t->user = true;
		thread_classify(b, r->t);
	}
	/* All but the names of slices and instants end in a number. */
	if (!r->ev->complete && memchr("CSFGH", *text.data, 5))
		return OUT_INCOMPLETE;
	return on_atrace(b, &m, *text.data);
}

int on_marker(struct builder *b, const struct record *r)
{
	int out = parse(b, r);

	if (out == OUT_OTHER)
		return on_text(b, r);
	if (out == OUT_UNMATCHED && r->ev->args.len && *r->ev->args.data == 'E')
		return on_text(b, r) < 0 ? -ENOMEM : OUT_UNMATCHED;
	return out;
}
