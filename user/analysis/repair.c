// SPDX-License-Identifier: GPL-2.0
/*
 * One way through a damaged trace: records are copied unchanged, damage is left out, and
 * what readers would conclude wrongly from its absence is put right by marks (kfxt.1), as the
 * recorder does it. All that is put in has its strings inside, so the file's tables stay as
 * they are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repair.h"
#include "timeline.h"

#define COPY_BYTES	65536
#define PROVIDERS_MAX	64	/* as many as libfxt keeps */

/* A CPU as its last switch left it. */
struct cpu {
	bool known, stopped;
	int32_t weight;
	uint64_t thread, last_ns;
	uint64_t losses;		/* there had been by then */
};

struct repair {
	struct fxt_reader *reader;
	FILE *out;
	struct fxt_writer *w;		/* for what is put in; empty while records are copied */
	struct timeline *session;	/* of the recorder's own events and marks alone */
	struct cpu *cpus;		/* TIMELINE_CPUS_MAX */
	uint32_t provider;		/* in force in the copy */
	uint32_t initialized[PROVIDERS_MAX];
	unsigned int initialized_cnt;
	struct fxt_thread recorder;
	uint32_t recorder_provider;	/* of its events */
	uint64_t switch_ns, any_ns;	/* the latest */
	uint64_t losses;		/* times that scheduling records may have been lost */
	unsigned int run, run_max;	/* records with a time, one right after the other */
	bool has_magic;			/* at the start */
	bool begun;
	bool ours;			/* the provider is kfxt */
	bool taken_back;		/* the last record, which was cut: the reader is to report that */
	bool at_damage;			/* nothing after it so far */
	/* The records of unknown type that were copied last: only what follows them says that they are records. */
	struct {
		off_t at;		/* in the copy */
		uint64_t offset, bytes, records;
	} doubtful;
	char buf[COPY_BYTES];
	struct repair_result *res;
};

bool repair_was_whole(const struct repair_result *res)
{
	return !res->damages && !res->cut;
}

static int write_out(void *ctx, const void *data, size_t len)
{
	struct repair *r = ctx;

	if (fwrite(data, 1, len, r->out) == len)
		return 0;
	r->res->output_failed = true;
	return errno ? -errno : -EIO;
}

/* ---- what is put in ----------------------------------------------------------------- */

static struct fxt_str in_place(const char *text)
{
	return fxt_str_inline(text, strlen(text));
}

static struct fxt_arg named(struct fxt_arg arg)
{
	arg.name.inlined = true;
	return arg;
}

/* Rounded up, so that it is not before the time it was made of. */
static uint64_t ticks_of(const struct repair *r, uint64_t ns)
{
	const unsigned __int128 per_second = fxt_reader_ticks_per_second(r->reader);
	const unsigned __int128 ticks = (ns * per_second + 999999999) / 1000000000;

	return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

/* To or from idle: @thread is the other one. */
static int put_mark(struct repair *r, uint16_t cpu, uint64_t ns, struct cpu thread, bool leaves, const char *mark)
{
	const struct fxt_switch s = {
		.ts = ticks_of(r, ns), .cpu = cpu, .state = FXT_STATE_RUNNING,
		.out = leaves ? thread.thread : 0, .in = leaves ? 0 : thread.thread,
	};
	const struct fxt_arg args[] = {
		named(fxt_arg_i32("outgoing_weight", leaves ? thread.weight : FXT_WEIGHT_IDLE)),
		named(fxt_arg_i32("incoming_weight", leaves ? FXT_WEIGHT_IDLE : thread.weight)),
		named(fxt_arg_str("mark", in_place(mark))),
	};

	return fxt_write_switch(r->w, &s, args, sizeof(args) / sizeof(args[0]));
}

/* Whether it is the first of the provider. */
static bool note_initialization(struct repair *r)
{
	unsigned int i;

	for (i = 0; i < r->initialized_cnt; i++)
		if (r->initialized[i] == r->provider)
			return false;
	if (i == PROVIDERS_MAX)
		return false;
	r->initialized[r->initialized_cnt++] = r->provider;
	return true;
}

/* Times of a provider that does not say how long a tick is are taken for nanoseconds, by us as by all readers. */
static int put_initialization(struct repair *r)
{
	return note_initialization(r) ? fxt_write_initialization(r->w, fxt_reader_ticks_per_second(r->reader)) : 0;
}

/* The recorder's own, as what others say of a recording is not believed; with ticks as they are now. */
static int put_recorder_provider(struct repair *r)
{
	int err = put_initialization(r);

	if (err || !r->session->session.has_start || r->provider == r->recorder_provider)
		return err;
	err = fxt_write_provider_info(r->w, r->recorder_provider, in_place(""));
	return err ?: fxt_write_initialization(r->w, fxt_reader_ticks_per_second(r->reader));
}

/* What was done, for whoever reads the copy. */
static int put_statement(struct repair *r)
{
	const struct repair_result *res = r->res;
	const struct fxt_event event = {
		.type = FXT_INSTANT, .ts = ticks_of(r, r->switch_ns ?: r->any_ns), .thread = r->recorder,
		.category = in_place("kfxt"), .name = in_place("repaired"),
	};
	const struct fxt_arg args[] = {
		named(fxt_arg_u64("kept_bytes", res->kept_bytes)),
		named(fxt_arg_u64("dropped_bytes", res->dropped_bytes)),
		named(fxt_arg_u64("damages", res->damages)),
		named(fxt_arg_bool("cut", res->cut)),
		named(fxt_arg_u64("first_damage", res->shown[0].offset)),
	};

	return fxt_write_event(r->w, &event, args, res->damages ? 5 : 4);
}

/* ---- damage ---------------------------------------------------------------------------- */

static void note_damage(struct repair *r, uint64_t offset, uint64_t len, const char *reason)
{
	struct repair_result *res = r->res;

	if (res->damages < REPAIR_SHOWN_MAX) {
		res->shown[res->damages].offset = offset;
		res->shown[res->damages].len = len;
		res->shown[res->damages].reason = reason;
	}
	res->damages++;
	res->dropped_bytes += len;
}

/* Takes back what was copied from @begin on. */
static int take_back(struct repair *r, off_t begin)
{
	if (!fflush(r->out) && !fseeko(r->out, begin, SEEK_SET) && !ftruncate(fileno(r->out), begin))
		return 0;
	r->res->output_failed = true;
	return -errno;
}

/* What followed is lost: in the copy they would be damage. */
static int take_back_doubtful(struct repair *r)
{
	const uint64_t bytes = r->doubtful.bytes;

	if (!bytes)
		return 0;
	r->doubtful.bytes = 0;
	r->res->records -= r->doubtful.records;
	r->res->kept_bytes -= bytes;
	note_damage(r, r->doubtful.offset, bytes, "unknown record, and what followed it is lost");
	return take_back(r, r->doubtful.at);
}

static void note_doubtful(struct repair *r, const struct fxt_record *rec, off_t at)
{
	if (rec->kind != FXT_KIND_UNKNOWN) {
		r->doubtful.bytes = 0;
		return;
	}
	if (!r->doubtful.bytes) {
		r->doubtful.at = at;
		r->doubtful.offset = rec->offset;
		r->doubtful.records = 0;
	}
	r->doubtful.bytes += rec->len;
	r->doubtful.records++;
}

/* It can be read, but not be right: drops it. */
static int drop(struct repair *r, const struct fxt_record *rec, const char *reason)
{
	uint64_t bytes = 0;
	long n;
	int err = take_back_doubtful(r);

	if (err)
		return err;
	/* A large one may be cut: as much as there is. */
	while ((n = fxt_reader_raw(r->reader, r->buf, sizeof(r->buf))) > 0)
		bytes += n;
	if (n < 0 && n != -ENODATA)
		return (int)n;
	r->res->dropped_records++;
	r->losses += rec->kind == FXT_KIND_SWITCH || rec->kind == FXT_KIND_LEGACY_SWITCH ||
		     rec->kind == FXT_KIND_WAKEUP;
	note_damage(r, rec->offset, bytes, reason);
	return 0;
}

/* ---- scheduling -------------------------------------------------------------------------- */

static int32_t weight_of(const struct fxt_record *rec, const char *name)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, name);

	return arg && arg->type == FXT_ARG_INT32 ? arg->i32 : 0;
}

static bool has_mark(const struct fxt_record *rec, const char *mark)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, "mark");

	return arg && arg->type == FXT_ARG_STRING && arg->str.len == strlen(mark) &&
	       !memcmp(arg->str.data, mark, arg->str.len);
}

/* Idle is marked by either. */
static void settle_idle(struct cpu *c)
{
	if (c->thread && c->weight != FXT_WEIGHT_IDLE)
		return;
	c->thread = 0;
	c->weight = FXT_WEIGHT_IDLE;
}

/* A switch of either kind as the state after it, and the thread switched out. */
static bool switch_of(const struct repair *r, const struct fxt_record *rec, uint16_t *cpu, struct cpu *out,
		      struct cpu *in)
{
	uint64_t ns;

	if (!rec->has_ts || !timeline_ns(rec->ts, fxt_reader_ticks_per_second(r->reader), &ns))
		return false;
	*in = (struct cpu){ .known = true, .last_ns = ns, .losses = r->losses };
	*out = *in;
	if (rec->kind == FXT_KIND_SWITCH) {
		*cpu = rec->context_switch.cpu;
		in->thread = rec->context_switch.in;
		in->weight = weight_of(rec, "incoming_weight");
		in->stopped = has_mark(rec, "stop");
		out->thread = rec->context_switch.out;
		out->weight = weight_of(rec, "outgoing_weight");
	} else if (rec->kind == FXT_KIND_LEGACY_SWITCH) {
		*cpu = rec->legacy_switch.cpu;
		in->thread = rec->legacy_switch.in.thread;
		in->weight = rec->legacy_switch.in_priority;
		out->thread = rec->legacy_switch.out.thread;
		out->weight = rec->legacy_switch.out_priority;
	} else {
		return false;
	}
	settle_idle(in);
	settle_idle(out);
	return *cpu < TIMELINE_CPUS_MAX;
}

/*
 * The first switch of a CPU after damage: which task ran meanwhile is unknown. Its records are in
 * order of time, so what was lost lies between its last switch and this one.
 */
static int bridge(struct repair *r, const struct fxt_record *rec, uint16_t cpu, struct cpu out)
{
	const struct cpu *before = &r->cpus[cpu];
	int err;

	if (!before->known)
		return has_mark(rec, "start") ? 0 : put_mark(r, cpu, out.last_ns, out, false, "start");
	r->res->gaps++;
	err = put_mark(r, cpu, before->last_ns, *before, true, "gap");
	/* It may be the end of a gap itself. */
	if (!err && (out.thread || !has_mark(rec, "gap")))
		err = put_mark(r, cpu, out.last_ns, out, false, "gap");
	return err;
}

/* Of any record that stays: 1; that is dropped: 0; or -errno. */
static int judge(struct repair *r, const struct fxt_record *rec)
{
	struct cpu out, in;
	uint16_t cpu;
	int err;

	if (r->res->damages && rec->unresolved)
		return drop(r, rec, "record that refers to a lost string or thread");
	/* A header that was damaged, and made one by chance: there may have been others under it. */
	if (r->ours && (rec->unresolved || rec->kind == FXT_KIND_UNKNOWN)) {
		r->losses++;
		return drop(r, rec, "record that kfxt does not write");
	}
	if (!switch_of(r, rec, &cpu, &out, &in))
		return 1;
	if (r->cpus[cpu].losses != r->losses) {
		/* What lay on the disk before, or a part of the damage itself. */
		if (r->cpus[cpu].known && in.last_ns < r->cpus[cpu].last_ns)
			return drop(r, rec, "switch after damage that goes back in time");
		err = bridge(r, rec, cpu, out);
		if (err)
			return err;
	}
	if (in.last_ns < r->cpus[cpu].last_ns)
		in.last_ns = r->cpus[cpu].last_ns;
	r->cpus[cpu] = in;
	if (in.last_ns > r->switch_ns)
		r->switch_ns = in.last_ns;
	return 1;
}

/* ---- the session -------------------------------------------------------------------------- */

/* Only what describes the recording itself is kept, so that this stays small. */
static int note_session(struct repair *r, const struct fxt_record *rec)
{
	const bool own = rec->kind == FXT_KIND_EVENT && rec->event.category.len == 4 &&
			 !memcmp(rec->event.category.data, "kfxt", 4) && !timeline_is_foreign(r->session, rec);

	if (own) {
		r->recorder = (struct fxt_thread){
			.process = rec->event.thread.process, .thread = rec->event.thread.thread, .inlined = true,
		};
		r->recorder_provider = rec->provider_id;
	}
	if (own || rec->kind == FXT_KIND_PROVIDER_INFO || (rec->kind == FXT_KIND_SWITCH && (has_mark(rec, "start") || has_mark(rec, "stop"))))
		return timeline_add(r->session, rec, fxt_reader_ticks_per_second(r->reader));
	return 0;
}

/* ---- evidence that it is a trace ----------------------------------------------------------- */

static void note_evidence(struct repair *r, const struct fxt_record *rec)
{
	if (rec->kind == FXT_KIND_MAGIC && !rec->offset)
		r->has_magic = true;
	if (rec->kind == FXT_KIND_DAMAGED || rec->kind == FXT_KIND_UNKNOWN)
		r->run = 0;
	else if (rec->has_ts && ++r->run > r->run_max)
		r->run_max = r->run;
}

/* Bytes of any file look like a record here and there; a small trace may lack its first word only. */
static bool is_trace(const struct repair *r)
{
	return r->has_magic || r->run_max >= REPAIR_RUN_MIN ||
	       (r->run_max && !r->res->dropped_bytes);
}

/* ---- the copy ------------------------------------------------------------------------------ */

/* What has to be in the copy before the first record, or one of another provider. */
static int put_before(struct repair *r, const struct fxt_record *rec)
{
	int err = 0;

	if (!r->begun && rec->kind != FXT_KIND_MAGIC)
		err = fxt_write_magic(r->w);
	r->begun = true;
	if (rec->kind == FXT_KIND_PROVIDER_INFO)
		r->ours = rec->provider.name.len == 4 && !memcmp(rec->provider.name.data, "kfxt", 4);
	if (rec->kind == FXT_KIND_PROVIDER_INFO || rec->kind == FXT_KIND_PROVIDER_SECTION) {
		r->provider = rec->provider_id;
	} else if (!err && r->provider != rec->provider_id) {
		/* Its announcement was lost: damage, but what followed was read with tables of its own. */
		r->provider = rec->provider_id;
		err = fxt_write_provider_info(r->w, r->provider, in_place(""));
	}
	if (rec->kind == FXT_KIND_INITIALIZATION)
		note_initialization(r);
	else if (!err && rec->has_ts && r->res->damages)
		err = put_initialization(r);
	return err;
}

/* The reader reports it as well, but only that there was something. */
static int note_cut(struct repair *r, const struct fxt_record *rec)
{
	struct fxt_reader_stats stats;

	fxt_reader_stats(r->reader, &stats);
	note_damage(r, rec->offset, stats.bytes - rec->offset, "large record cut short by the end of the input");
	return 0;
}

/* Leaves out of the record in the buffer what lies beyond its content. */
static void trim(struct repair *r, const struct fxt_record *rec)
{
	const uint64_t words = rec->content_len / 8;
	uint64_t head;

	memcpy(&head, r->buf, sizeof(head));
	if (FXT_GET(head, FXT_F_TYPE) == FXT_LARGE)
		head = (head & ~FXT_PUT(UINT64_MAX, FXT_F_LARGE_SIZE)) | FXT_PUT(words, FXT_F_LARGE_SIZE);
	else
		head = (head & ~FXT_PUT(UINT64_MAX, FXT_F_SIZE)) | FXT_PUT(words, FXT_F_SIZE);
	memcpy(r->buf, &head, sizeof(head));
	note_damage(r, rec->offset + rec->content_len, rec->len - rec->content_len, "words beyond a record's content");
}

/*
 * As it is, but for words beyond what is known of its kind: a reader takes them for part of it, or for
 * damage, by what follows, and that is other in the copy. Such a record is no large one: all of it is read at once.
 */
static int copy_record(struct repair *r, const struct fxt_record *rec)
{
	const off_t begin = ftello(r->out);
	int err = begin < 0 ? -errno : 0;
	long n = 0;

	while (!err && (n = fxt_reader_raw(r->reader, r->buf, sizeof(r->buf))) > 0) {
		if (rec->content_len < rec->len) {
			trim(r, rec);
			n = (long)rec->content_len;
		}
		err = write_out(r, r->buf, n);
	}
	if (!err && n == -ENODATA) {
		r->taken_back = true;
		return take_back(r, begin) ?: note_cut(r, rec);
	}
	if (err || n < 0)
		return err ?: (int)n;
	r->res->records++;
	r->res->kept_bytes += rec->content_len;
	note_doubtful(r, rec, begin);
	return 0;
}

static int take_record(struct repair *r, const struct fxt_record *rec)
{
	uint64_t ns;
	int ret;

	note_evidence(r, rec);
	r->at_damage = rec->kind == FXT_KIND_DAMAGED;
	if (r->at_damage) {
		ret = take_back_doubtful(r);
		if (ret)
			return ret;
		if (!r->taken_back)
			note_damage(r, rec->offset, rec->len, rec->damage.reason);
		r->losses++;
		return 0;
	}
	ret = put_before(r, rec);
	ret = ret ?: judge(r, rec);
	if (ret <= 0)
		return ret;
	if (rec->has_ts && timeline_ns(rec->ts, fxt_reader_ticks_per_second(r->reader), &ns) && ns > r->any_ns)
		r->any_ns = ns;
	ret = fxt_writer_flush(r->w);
	ret = ret ?: note_session(r, rec);
	return ret ?: copy_record(r, rec);
}

/* CPUs whose records have no end, get one where they end: how long the last thread ran is not known. */
static int end_cpus(struct repair *r)
{
	unsigned int cpu;
	int err = 0;

	for (cpu = 0; !err && cpu < TIMELINE_CPUS_MAX; cpu++) {
		struct cpu *c = &r->cpus[cpu];

		if (!c->known || c->stopped || (!r->res->cut && c->losses == r->losses))
			continue;
		err = put_initialization(r);
		err = err ?: put_mark(r, cpu, c->last_ns, *c, true, "stop");
		r->res->ended++;
	}
	return err;
}

static int finish(struct repair *r)
{
	int err;

	if (!r->res->records)
		return -ENODATA;
	if (!is_trace(r))
		return -EPROTO;
	/* A session says itself whether it is complete, of others only the damage shows it. */
	r->res->cut = r->session->session.has_start ? timeline_is_cut(r->session) : r->res->cut || r->at_damage;
	if (repair_was_whole(r->res))
		return 0;
	err = end_cpus(r);
	err = err ?: put_recorder_provider(r);
	err = err ?: put_statement(r);
	return err ?: fxt_writer_flush(r->w);
}

int repair_copy(fxt_read_fn read, void *ctx, const bool *cut, FILE *out, struct repair_result *result)
{
	struct repair *r = calloc(1, sizeof(*r));
	struct fxt_record rec;
	int err = r ? 0 : -ENOMEM, got = 0;

	*result = (struct repair_result){ 0 };
	if (err)
		return err;
	r->res = result;
	r->out = out;
	r->recorder.inlined = true;
	r->cpus = calloc(TIMELINE_CPUS_MAX, sizeof(*r->cpus));
	err = r->cpus ? timeline_open(&r->session) : -ENOMEM;
	err = err ?: fxt_reader_open(&r->reader, read, ctx);
	err = err ?: fxt_writer_open(&r->w, write_out, r);
	while (!err && (got = fxt_reader_next(r->reader, &rec)) > 0)
		err = take_record(r, &rec);
	err = err ?: got;
	result->cut = *cut;
	err = err ?: finish(r);
	fxt_writer_close(r->w);
	fxt_reader_close(r->reader);
	timeline_close(r->session);
	free(r->cpus);
	free(r);
	return err;
}
