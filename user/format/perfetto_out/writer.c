// SPDX-License-Identifier: GPL-2.0
/*
 * FXT records become packets of a Perfetto trace.
 */
#include "writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/perfetto/fields.h"
#include "model/track_ids.h"
#include "writer_p.h"

#define OUT_BYTES	(64U << 10)

/* ---- output ----------------------------------------------------------------------- */

static int hand_on(struct pf_out *o, bool all)
{
	int err;

	if (o->out.failed)
		return -ENOMEM;
	if (!o->out.len || (!all && o->out.len < OUT_BYTES))
		return 0;
	err = o->cfg.write(o->cfg.ctx, o->out.data, o->out.len);
	o->out.len = 0;
	return err;
}

/* Scheduling that is in order, then the names of who appeared in it. */
static int put_sched(struct pf_out *o, bool all)
{
	const size_t before = o->out.len;
	int err = out_sched_put(&o->sched, &o->out, all);

	if (err || (!all && o->out.len == before))
		return err;
	err = out_tasks_put(&o->tasks, &o->out, all, o->sched.begin_ns);
	return err ? err : hand_on(o, false);
}

/* ---- records ---------------------------------------------------------------------- */

/* The record as it is, beside its item. */
static int keep(struct pf_out *o)
{
	uint64_t words[OUT_RECORD_WORDS];
	const long got = fxt_reader_raw(o->reader, words, sizeof(words));

	return got < 0 ? (int)got : out_queue_keep(&o->sched.queue, words, (size_t)got / sizeof(words[0]));
}

static int take_sched(struct pf_out *o, const struct fxt_record *rec, uint64_t ts_ns)
{
	int err = out_sched_add(&o->sched, rec, ts_ns);

	if (err == -ERANGE) {
		o->left_out[PF_LEFT_CPU]++;
		return 0;
	}
	if (!err && o->cfg.keep)
		err = keep(o);
	return err || rec->kind != FXT_KIND_SWITCH ? err : put_sched(o, false);
}

static bool is_named(struct fxt_str name, const char *text)
{
	return name.len == strlen(text) && !memcmp(name.data, text, name.len);
}

/* The number of an ftrace event that viewers know as a state of a CPU, 0 if the record is none. */
static unsigned int power_number(const struct fxt_record *rec)
{
	const struct fxt_arg *state = fxt_record_arg(rec, "state");

	if (rec->event.type != FXT_COUNTER || rec->event.thread.process != PROCESS_COUNTERS || rec->nargs != 1 || !state ||
	    state->type != FXT_ARG_INT32 || rec->event.id >= OUT_CPUS_MAX)
		return 0;
	if (is_named(rec->event.name, "cpu_idle"))
		return PF_FTRACE_CPU_IDLE;
	return is_named(rec->event.name, "cpu_frequency") ? PF_FTRACE_CPU_FREQUENCY : 0;
}

/* Of a recording. */
static bool is_ledger(const struct fxt_record *rec)
{
	return rec->event.type == FXT_INSTANT && is_named(rec->event.name, "ledger") && is_named(rec->event.category, "kfxt");
}

/*
 * The ledger counts what is before it. While a recording is written, no scheduling waits any longer then: one that is cut
 * has no ledger of what it has not.
 */
static int take_event(struct pf_out *o, const struct fxt_record *rec, uint64_t ts_ns)
{
	const unsigned int power = power_number(rec);
	int err = o->cfg.keep && is_ledger(rec) ? put_sched(o, true) : 0;

	if (err)
		return err;
	err = power ? out_sched_power(&o->sched, &o->out, power, rec, ts_ns) :
		  out_events_take(&o->events, rec, ts_ns, fxt_reader_ticks_per_second(o->reader));

	return err ? err : hand_on(o, false);
}

/* Those with a time. */
static int take_timed(struct pf_out *o, const struct fxt_record *rec)
{
	uint64_t ts_ns;

	if (!out_ns_of(rec->ts, fxt_reader_ticks_per_second(o->reader), &ts_ns)) {
		o->left_out[PF_LEFT_TIME]++;
		return 0;
	}
	if (!o->begun)
		out_packets_begin(o, rec, ts_ns);
	if (o->newest_ns < ts_ns)
		o->newest_ns = ts_ns;
	if (rec->kind == FXT_KIND_EVENT)
		return take_event(o, rec, ts_ns);
	if (rec->kind == FXT_KIND_LOG)
		return out_events_log(&o->events, rec, ts_ns);
	return take_sched(o, rec, ts_ns);
}

static int take_object(struct pf_out *o, const struct fxt_record *rec)
{
	int err;

	if (rec->kind == FXT_KIND_KERNEL_OBJECT &&
	    (rec->object.kind == FXT_KOBJ_PROCESS || rec->object.kind == FXT_KOBJ_THREAD)) {
		err = out_tasks_object(&o->tasks, rec);
		return err ? err : out_tracks_rename(&o->events.tracks, rec, o->newest_ns);
	}
	o->left_out[PF_LEFT_OBJECT]++;
	return 0;
}

static const enum pf_left_out left_out[FXT_KIND_CNT] = {
	[FXT_KIND_BLOB] = PF_LEFT_BLOB, [FXT_KIND_LARGE_BLOB] = PF_LEFT_BLOB,
	[FXT_KIND_MODULE] = PF_LEFT_MODULE, [FXT_KIND_MMAP] = PF_LEFT_MAPPING, [FXT_KIND_BACKTRACE] = PF_LEFT_BACKTRACE,
	[FXT_KIND_UNKNOWN] = PF_LEFT_UNKNOWN, [FXT_KIND_DAMAGED] = PF_LEFT_DAMAGED,
};

static int take_provider(struct pf_out *o, struct fxt_str name)
{
	if (o->provider.data || !name.len)
		return 0;
	o->provider.data = malloc(name.len);
	if (!o->provider.data)
		return -ENOMEM;
	memcpy(o->provider.data, name.data, name.len);
	o->provider.len = name.len;
	return 0;
}

static int take_record(struct pf_out *o, const struct fxt_record *rec)
{
	switch (rec->kind) {
	case FXT_KIND_EVENT:
	case FXT_KIND_LOG:
	case FXT_KIND_SWITCH:
	case FXT_KIND_WAKEUP:
	case FXT_KIND_LEGACY_SWITCH:
		return take_timed(o, rec);
	case FXT_KIND_USERSPACE_OBJECT:
	case FXT_KIND_KERNEL_OBJECT:
		return take_object(o, rec);
	case FXT_KIND_PROVIDER_INFO:
		return take_provider(o, rec->provider.name);
	case FXT_KIND_BLOB:
		if (rec->blob.type == FXT_BLOB_PERFETTO)
			return out_packets_take(o, rec->blob.data, rec->blob.len);
		break;
	default:
		break;
	}
	if (left_out[rec->kind])
		o->left_out[left_out[rec->kind]]++;
	return 0;
}

static int take_all(struct pf_out *o)
{
	struct fxt_record rec;
	int got = 0;

	while (!o->err && (got = fxt_reader_next(o->reader, &rec)) > 0)
		o->err = take_record(o, &rec);
	if (!o->err && got < 0 && got != -EAGAIN)
		o->err = got;
	if (!o->err)
		o->err = hand_on(o, false);
	return o->err;
}

int pf_out_record(void *writer, const void *records, size_t len)
{
	struct pf_out *o = writer;

	o->input.data = records;
	o->input.len = len;
	return take_all(o);
}

static uint64_t count_replaced(const struct pf_out *o)
{
	return o->out.replaced + o->events.body.replaced + o->events.strings.news.replaced + out_sched_replaced(&o->sched);
}

uint64_t pf_out_left_out(const struct pf_out *o, enum pf_left_out kind)
{
	if (kind == PF_LEFT_TEXT)
		return count_replaced(o);
	return o->left_out[kind] + (kind == PF_LEFT_PACKET && o->blob.len);
}

int pf_out_flush(struct pf_out *o, bool end)
{
	if (end) {
		o->input.ended = true;
		take_all(o);
	}
	if (!o->err)
		o->err = out_events_put(&o->events);
	if (!o->err)
		o->err = end ? put_sched(o, true) : out_sched_put_bundles(&o->sched, &o->out);
	if (!o->err)
		o->err = hand_on(o, true);
	return o->err;
}

void pf_out_written(struct pf_out *o)
{
	o->written = true;
	if (!o->err)
		o->err = out_queue_written(&o->sched.queue);
}

void pf_out_lost(struct pf_out *o, void (*lost)(void *ctx, const void *records, size_t len), void *ctx)
{
	const struct out_queue *q = &o->sched.queue;

	if (lost && q->waited_cnt)
		lost(ctx, q->records, q->waited_cnt * sizeof(*q->records));
	out_queue_clear(&o->sched.queue);
	out_events_forget(&o->events);
	o->out.len = o->blob.len = 0;
	o->err = 0;
	if (!o->written)
		o->begun = o->has_system = o->has_clocks = false;
}

/* ---- opening and closing ---------------------------------------------------------- */

static void release(struct pf_out *o)
{
	fxt_reader_close(o->reader);
	pb_buf_fini(&o->blob);
	pb_buf_fini(&o->out);
	out_events_fini(&o->events);
	out_sched_fini(&o->sched);
	out_tasks_fini(&o->tasks);
	free(o->provider.data);
	free(o);
}

int pf_out_open(struct pf_out **out, const struct pf_out_cfg *cfg)
{
	struct pf_out *o = calloc(1, sizeof(*o));
	int err;

	if (!o)
		return -ENOMEM;
	o->cfg = *cfg;
	out_sched_init(&o->sched, &o->tasks);
	out_events_init(&o->events, &o->tasks, &o->out);
	o->events.left_out = o->left_out;
	err = out_tasks_init(&o->tasks);
	err = err ? err : fxt_reader_open(&o->reader, pieces_read, &o->input);
	if (err) {
		release(o);
		return err;
	}
	*out = o;
	return 0;
}

int pf_out_close(struct pf_out *o)
{
	int err;

	if (!o)
		return 0;
	err = o->err ? o->err : pf_out_flush(o, true);
	release(o);
	return err;
}
