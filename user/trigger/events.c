// SPDX-License-Identifier: GPL-2.0
/* See events.h. */
#include "events.h"

#include <string.h>

#include "base/glob.h"

#define GLOB_BYTES	256	/* of one of a list */
#define TEXT_BYTES	(FXT_STRING_BYTES_MAX + 1)
/* What expressions may take of the time, one in so many, and how much at once: for most there are texts that take long. */
#define SHARE		10
#define BURST_NS	100000000ULL
#define SKIPPED_NS	60000000000ULL

void events_set_triggers(struct events *e)
{
	e->irq = firing_mask(e->firing, TRIGGER_IRQ);
	e->syscall = firing_mask(e->firing, TRIGGER_SYSCALL);
	e->func = firing_mask(e->firing, TRIGGER_FUNC);
	e->log = firing_mask(e->firing, TRIGGER_LOG);
	e->mark = firing_mask(e->firing, TRIGGER_MARK);
	e->event = firing_mask(e->firing, TRIGGER_EVENT);
	e->any = e->irq | e->syscall | e->func | e->log | e->mark;
	e->least_irq_ns = firing_least(e->firing, TRIGGER_IRQ);
	e->least_syscall_ns = firing_least(e->firing, TRIGGER_SYSCALL);
	e->least_func_ns = firing_least(e->firing, TRIGGER_FUNC);
}

/* Of a slice that is one record; its end is the last word. 0: it is none. */
static uint64_t length_of(const uint64_t *rec, size_t words)
{
	if (words < 3 || FXT_GET(rec[0], FXT_F_EVENT_TYPE) != FXT_DURATION_COMPLETE || rec[words - 1] < rec[1])
		return 0;
	return rec[words - 1] - rec[1];
}

bool events_may_fire(const struct events *e, const struct texts *texts, const uint64_t *rec, size_t words)
{
	const uint64_t category = FXT_GET(rec[0], FXT_F_EVENT_CATEGORY);

	if (!e->any)
		return false;
	if (category & FXT_STR_INLINE)
		return true;
	switch (texts_of(texts, category)) {
	case TEXT_IRQ:
	case TEXT_IRQ_VECTORS:
		return length_of(rec, words) > e->least_irq_ns;
	case TEXT_SYSCALLS:
		return length_of(rec, words) > e->least_syscall_ns;
	case TEXT_FUNCTION:
		return length_of(rec, words) > e->least_func_ns;
	case TEXT_LOG:
		return e->log;
	case TEXT_ATRACE:
	case TEXT_FTRACE:
		return e->mark;
	default:
		return false;
	}
}

/* False: it does not fit. */
static bool copy_text(char *out, size_t size, struct fxt_str s)
{
	if (s.len >= size)
		return false;
	memcpy(out, s.data, s.len);
	out[s.len] = 0;
	return true;
}

/* What is printed of it: cut between two characters. */
static void set_text(struct trigger_fired *what, struct fxt_str s)
{
	size_t len = s.len;

	if (len >= TRIGGER_TEXT_BYTES) {
		len = TRIGGER_TEXT_BYTES - 1;
		while (len && ((unsigned char)s.data[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(what->text, s.data, len);
	what->text[len] = 0;
}

/* One of a list of globs, as of kfxt record -e syscalls:LIST; "!" before one excludes. */
static bool matches_one(const char *glob, size_t len, const char *name)
{
	char copy[GLOB_BYTES];

	return copy_text(copy, sizeof(copy), fxt_str_inline(glob, len)) && glob_match(copy, name);
}

static bool is_in_list(const char *list, const char *name)
{
	bool in = *list == '!', except;
	const char *end;

	for (;; list = end + 1) {
		end = strchrnul(list, ',');
		except = *list == '!';
		if (matches_one(list + except, (size_t)(end - list) - except, name))
			in = !except;
		if (!*end)
			return in;
	}
}

/* The triggers of @mask whose glob or list @matches @name. */
static uint32_t of_name(const struct events *e, uint32_t mask, struct fxt_str name,
			bool (*matches)(const char *text, const char *name))
{
	char text[TEXT_BYTES];
	uint32_t left, out = 0;

	if (!copy_text(text, sizeof(text), name))
		return 0;
	for (left = mask; left; left &= left - 1) {
		const unsigned int i = (unsigned int)__builtin_ctz(left);

		if (matches(e->firing->list[i].w.text, text))
			out |= 1U << i;
	}
	return out;
}

bool events_skip_lines(const struct events *e)
{
	return e->is_skipping || (e->skipped_ns && e->now_ns < e->skipped_ns + SKIPPED_NS);
}

void events_round(struct events *e, uint64_t now_ns)
{
	if (now_ns > e->now_ns)
		e->now_ns = now_ns;
	if (e->is_skipping)
		e->skipped_ns = e->now_ns;
	e->is_skipping = false;
}

static uint32_t of_line(struct events *e, uint32_t mask, struct fxt_str line)
{
	uint64_t begin_ns;
	char text[TEXT_BYTES];
	uint32_t left, out = 0;

	if (!copy_text(text, sizeof(text), line))
		return 0;
	if (!time_share_is_left(&e->taken, SHARE, BURST_NS)) {
		e->is_skipping = true;
		return 0;
	}
	begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (left = mask; left; left &= left - 1) {
		const unsigned int i = (unsigned int)__builtin_ctz(left);

		if (!regexec(e->firing->list[i].w.regex, text, 0, NULL, 0))
			out |= 1U << i;
	}
	time_share_take(&e->taken, clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
	return out;
}

static int take_slice(struct events *e, const struct fxt_record *rec, uint32_t mask)
{
	const struct fxt_event *ev = &rec->event;
	struct trigger_fired what = {
		.value = ev->id - ev->ts, .thread = ev->thread.thread, .from_ns = ev->ts, .to_ns = ev->id, .cpu = -1,
		.is_partial = fxt_record_arg(rec, "unfinished"),
	};

	/* Whether it goes on, as at the end of the recording, or its thread has ended is known later. */
	what.is_ongoing = what.is_partial;
	if (!mask || ev->id < ev->ts)
		return 0;
	set_text(&what, ev->name);
	return firing_defer(e->firing, mask, &what);
}

/* One that has no length: its value is 1, and the threshold 0. */
static int add_moment(struct events *e, uint64_t ts_ns, uint64_t thread, uint32_t mask, struct fxt_str text)
{
	struct trigger_fired what = { .value = 1, .thread = thread, .from_ns = ts_ns, .to_ns = ts_ns, .cpu = -1 };

	if (!mask)
		return 0;
	set_text(&what, text);
	return firing_defer(e->firing, mask, &what);
}

static int take_moment(struct events *e, const struct fxt_record *rec, uint32_t mask, struct fxt_str text)
{
	return add_moment(e, rec->event.ts, rec->event.thread.thread, mask, text);
}

void events_found(struct events *e, const char *source, uint64_t ts_ns, uint64_t thread)
{
	uint32_t left;

	for (left = e->event; left; left &= left - 1) {
		struct firing_trigger *trigger = &e->firing->list[__builtin_ctz(left)];

		if (strcmp(trigger->w.source, source) != 0)
			continue;
		if (add_moment(e, ts_ns, thread, left & -left, fxt_str(strchr(trigger->w.text, ':') + 1)))
			trigger->suppressed++;
	}
}

static int take_log(struct events *e, const struct fxt_record *rec)
{
	const struct fxt_arg *line = fxt_record_arg(rec, "text");

	if (rec->event.type != FXT_INSTANT || !line || line->type != FXT_ARG_STRING)
		return 0;
	return take_moment(e, rec, of_line(e, e->log, line->str), line->str);
}

/* What begins by a marker, and those that are one moment. The text of one of no known form is an argument. */
static int take_mark(struct events *e, const struct fxt_record *rec)
{
	const enum fxt_event_type type = rec->event.type;
	const struct fxt_arg *arg = texts_equal(rec->event.category, "ftrace") ? fxt_record_arg(rec, "text") : NULL;
	const struct fxt_str text = arg && arg->type == FXT_ARG_STRING ? arg->str : rec->event.name;

	if (type != FXT_INSTANT && type != FXT_DURATION_BEGIN && type != FXT_ASYNC_BEGIN)
		return 0;
	return take_moment(e, rec, of_name(e, e->mark, text, glob_match), text);
}

int events_take(struct events *e, const struct fxt_record *rec)
{
	const struct fxt_event *ev = &rec->event;

	if (texts_equal(ev->category, "log"))
		return take_log(e, rec);
	if (texts_equal(ev->category, "atrace") || texts_equal(ev->category, "ftrace"))
		return take_mark(e, rec);
	if (ev->type != FXT_DURATION_COMPLETE)
		return 0;
	if (texts_equal(ev->category, "irq") || texts_equal(ev->category, "irq_vectors"))
		return take_slice(e, rec, e->irq);
	if (texts_equal(ev->category, "syscalls"))
		return take_slice(e, rec, of_name(e, e->syscall, ev->name, is_in_list));
	if (texts_equal(ev->category, "function"))
		return take_slice(e, rec, of_name(e, e->func, ev->name, glob_match));
	return 0;
}
