// SPDX-License-Identifier: GPL-2.0
/*
 * Feeds events to the trace builder and reads what it wrote, a line a record.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "build_made.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- events ------------------------------------------------------------------ */

struct model_text trace_text(const char *s)
{
	return (struct model_text){ s, s ? strlen(s) : 0 };
}

void trace_begin_rate(struct build *t, uint64_t ticks_per_second)
{
	struct builder_cfg cfg = { .source = "ftrace", .ticks_per_second = ticks_per_second };

	*t = (struct build){
		.ev = { .clock = MODEL_CLOCK_NS, .tgid = FTRACE_ID_UNKNOWN, .complete = true, .stack_follows = true },
	};
	made_open(&t->m);
	assert_int_equal(builder_open(&t->b, t->m.w, &cfg), 0);
	assert_int_equal(ftrace_import_open(&t->im, t->b), 0);
}

void trace_begin(struct build *t)
{
	trace_begin_rate(t, 0);
}

/* Texts are on the stack of this call: what the builder keeps it has to copy. */
static void add(struct build *t, struct ftrace_event ev, const char *name, const char *args)
{
	char copy[2][4096];

	snprintf(copy[0], sizeof(copy[0]), "%s", name);
	snprintf(copy[1], sizeof(copy[1]), "%s", args);
	ev.name = trace_text(copy[0]);
	ev.args = trace_text(copy[1]);
	assert_int_equal(ftrace_import_add(t->im, &ev), 0);
	memset(copy, 'x', sizeof(copy));
}

void feed_event(struct build *t, uint64_t ts, int cpu, int tid, const char *name, const char *args)
{
	struct ftrace_event ev = t->ev;

	ev.ts = ts;
	ev.cpu = cpu;
	ev.tid = tid;
	add(t, ev, name, args);
}

void feed_kind(struct build *t, enum ftrace_kind k, uint64_t ts, int cpu, int tid,
		 const char *name, const char *args)
{
	enum ftrace_kind was = t->ev.kind;

	t->ev.kind = k;
	feed_event(t, ts, cpu, tid, name, args);
	t->ev.kind = was;
}

void feed_marker(struct build *t, uint64_t ts, int cpu, int tid, const char *text)
{
	feed_kind(t, FTRACE_MARKER, ts, cpu, tid, "tracing_mark_write", text);
}

/* Names are "t1", "t2", ... */
void feed_sched(struct build *t, uint64_t ts, int cpu, int out, const char *state, int in)
{
	char args[256];

	snprintf(args, sizeof(args),
		 "prev_comm=t%d prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=t%d next_pid=%d next_prio=%d",
		 out, out, state, in, in, in ? 110 : 120);
	feed_event(t, ts, cpu, out, "sched_switch", args);
}

void feed_wake(struct build *t, uint64_t ts, int cpu, int tid, const char *name, int woken)
{
	char args[128];

	snprintf(args, sizeof(args), "comm=t%d pid=%d prio=120 target_cpu=001", woken, woken);
	feed_event(t, ts, cpu, tid, name, args);
}

/* ---- what came out -------------------------------------------------------------- */

static void put(struct build *t, const char *fmt, ...)
{
	va_list ap;
	int len;

	if (t->cap - t->len < 40000) {
		t->cap = 2 * t->cap + 80000;
		t->text = realloc(t->text, t->cap);
		assert_non_null(t->text);
	}
	va_start(ap, fmt);
	len = vsnprintf(t->text + t->len, t->cap - t->len, fmt, ap);
	va_end(ap);
	t->len += (size_t)len;
}

static void put_arg(struct build *t, const struct fxt_arg *a)
{
	put(t, " %.*s=", (int)a->name.len, a->name.data);
	switch (a->type) {
	case FXT_ARG_INT32:
		put(t, "%" PRId32, a->i32);
		break;
	case FXT_ARG_UINT32:
		put(t, "%" PRIu32 "u", a->u32);
		break;
	case FXT_ARG_INT64:
		put(t, "%" PRId64 "l", a->i64);
		break;
	case FXT_ARG_UINT64:
		put(t, "%" PRIu64 "ul", a->u64);
		break;
	case FXT_ARG_DOUBLE:
		put(t, "%gd", a->f64);
		break;
	case FXT_ARG_STRING:
		put(t, "'%.*s'", (int)a->str.len, a->str.data);
		break;
	case FXT_ARG_POINTER:
		put(t, "%" PRIx64 "p", a->u64);
		break;
	case FXT_ARG_KOID:
		put(t, "#%" PRIu64, a->u64);
		break;
	case FXT_ARG_BOOL:
		put(t, "%s", a->b ? "true" : "false");
		break;
	default:
		put(t, "?");
	}
}

static void put_event(struct build *t, const struct fxt_event *e)
{
	put(t, "%s %" PRIu64 " %" PRIu64 "/%" PRIu64 " %.*s:%.*s", fxt_event_type_name(e->type),
	    e->ts, e->thread.process, e->thread.thread, (int)e->category.len, e->category.data,
	    (int)e->name.len, e->name.data);
	if (e->type == FXT_COUNTER || e->type >= FXT_DURATION_COMPLETE)
		put(t, " id=%" PRIu64, e->id);
}

static void put_record(struct build *t, const struct fxt_record *rec)
{
	unsigned int i;

	if (rec->kind == FXT_KIND_SWITCH)
		put(t, "switch %" PRIu64 " cpu%u %" PRIu64 ">%" PRIu64 " %s", rec->ts,
		    (unsigned int)rec->context_switch.cpu, rec->context_switch.out,
		    rec->context_switch.in, fxt_thread_state_name(rec->context_switch.state));
	else if (rec->kind == FXT_KIND_WAKEUP)
		put(t, "wakeup %" PRIu64 " cpu%u %" PRIu64, rec->ts, (unsigned int)rec->wakeup.cpu,
		    rec->wakeup.thread);
	else if (rec->kind == FXT_KIND_EVENT)
		put_event(t, &rec->event);
	else if (rec->kind == FXT_KIND_KERNEL_OBJECT)
		put(t, "object%u %" PRIu64 " '%.*s'", (unsigned int)rec->object.kind, rec->object.id,
		    (int)rec->object.name.len, rec->object.name.data);
	else if (rec->kind == FXT_KIND_LOG)
		put(t, "log %" PRIu64 " %" PRIu64 " %.*s", rec->ts, rec->log.thread.thread,
		    (int)rec->log.text.len, rec->log.text.data);
	else if (rec->kind == FXT_KIND_INITIALIZATION)
		put(t, "ticks %" PRIu64, rec->ticks_per_second);
	else
		put(t, "%s", fxt_kind_name(rec->kind));
	for (i = 0; i < rec->nargs; i++)
		put_arg(t, &rec->args[i]);
	put(t, "\n");
}

static int put_sample(void *ctx, const struct profile_sample *s)
{
	struct build *t = ctx;
	unsigned int i;

	put(t, "sample %" PRIu64 " %.*s %" PRIu64 "/%" PRIu64 " cpu%d %" PRIu64, s->ts, (int)s->source_name.len,
	    s->source_name.data, s->process, s->thread, s->cpu, s->weight);
	for (i = 0; i < s->frames_cnt; i++)
		put(t, "%c%.*s", i ? ';' : ' ', (int)s->frames[i].name.len, s->frames[i].name.data);
	put(t, "\n");
	return 0;
}

static void read_back(struct build *t)
{
	struct profile_reader *samples;
	struct fxt_reader *r;
	struct fxt_record rec;

	t->m.at = 0;
	assert_int_equal(fxt_reader_open(&r, made_read, &t->m), 0);
	assert_int_equal(profile_reader_open(&samples, put_sample, t), 0);
	put(t, "\n");
	while (fxt_reader_next(r, &rec) > 0) {
		put_record(t, &rec);
		if (rec.kind == FXT_KIND_BLOB && rec.blob.type == FXT_BLOB_PERFETTO)
			assert_int_equal(profile_reader_blob(samples, rec.blob.data, rec.blob.len), 0);
	}
	profile_reader_close(samples);
	fxt_reader_close(r);
}

/* No record may get lost on its way, whatever it was. */
static void assert_accounted(const struct builder_stats *s)
{
	assert_int_equal(s->records, s->switches + s->wakeups + s->names + s->slices +
				     s->counters + s->instants + s->logs + s->stacks +
				     s->no_op_wakes + s->duplicate_wakes + s->incomplete +
				     s->flows + s->states + s->samples);
}

/* Ends the trace, which must be clean. */
void trace_end(struct build *t)
{
	assert_int_equal(ftrace_import_end(t->im), 0);
	assert_int_equal(builder_end(t->b), 0);
	builder_stats(t->b, &t->stats);
	ftrace_import_close(t->im);
	builder_close(t->b);
	made_close(&t->m);
	assert_accounted(&t->stats);
	read_back(t);
	assert_found(&t->m, VERIFY_PROBLEM_CNT, 0);
}

void trace_done(struct build *t)
{
	free(t->text);
	made_free(&t->m);
}

/* A whole line, or the beginning of one if it ends in "...". */
void trace_has(const struct build *t, const char *line)
{
	char part[512];
	size_t len = strlen(line);

	if (len > 3 && !strcmp(line + len - 3, "..."))
		snprintf(part, sizeof(part), "\n%.*s", (int)len - 3, line);
	else
		snprintf(part, sizeof(part), "\n%s\n", line);
	assert_has(t->text, part);
}

void trace_has_no(const struct build *t, const char *part)
{
	if (!strstr(t->text, part))
		return;
	fprintf(stderr, "%s", t->text);
	fail_msg("'%s' is in the text above", part);
}
