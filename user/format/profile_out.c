// SPDX-License-Identifier: GPL-2.0
/*
 * Records of FXT on their way into a profile.
 */
#include "profile_out.h"

#include <errno.h>
#include <string.h>

const char *const profile_out_sources[] = { "cpu", "off-cpu", "waker", "other", NULL };

int profile_out_open(struct profile_out *o, const struct writer_cfg *cfg, const struct stacks_cfg *stacks_cfg)
{
	int err;

	*o = (struct profile_out){ .cfg = *cfg };
	err = stacks_open(&o->stacks, stacks_cfg);
	err = err ? err : fxt_reader_open(&o->reader, pieces_read, &o->input);
	if (err)
		profile_out_fini(o);
	return err;
}

void profile_out_fini(struct profile_out *o)
{
	fxt_reader_close(o->reader);
	stacks_close(o->stacks);
}

/* ---- records ----------------------------------------------------------------- */

static bool str_is(struct fxt_str s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.data, text, s.len);
}

/* The start of a recording of kfxt has the wall clock. */
static void take_event(struct profile_out *o, const struct fxt_record *rec)
{
	const struct fxt_arg *arg;

	if (!str_is(rec->event.category, "kfxt") || !str_is(rec->event.name, "start"))
		return;
	arg = fxt_record_arg(rec, "realtime_ns");
	if (arg && arg->type == FXT_ARG_UINT64 && fxt_reader_ticks_per_second(o->reader) == 1000000000)
		o->wall_ns = (int64_t)(arg->u64 - rec->ts);
}

static int take_record(struct profile_out *o, const struct fxt_record *rec)
{
	if (rec->kind == FXT_KIND_EVENT)
		take_event(o, rec);
	return stacks_read(o->stacks, rec);
}

static int take_all(struct profile_out *o)
{
	struct fxt_record rec;
	int got = 0;

	while (!o->err && (got = fxt_reader_next(o->reader, &rec)) > 0)
		o->err = take_record(o, &rec);
	if (!o->err && got < 0 && got != -EAGAIN)
		o->err = got;
	return o->err;
}

int profile_out_record(void *writer, const void *records, size_t len)
{
	struct profile_out *o = writer;

	o->input.data = records;
	o->input.len = len;
	return take_all(o);
}

int profile_out_end(struct profile_out *o)
{
	o->input.ended = true;
	return take_all(o);
}

/* ---- sources ----------------------------------------------------------------- */

enum profile_source profile_out_source(const struct profile_out *o)
{
	const enum profile_source only = stacks_only_source(o->stacks);

	if (o->cfg.stacks)
		return stacks_source_named(o->cfg.stacks);
	return only == PROFILE_SOURCE_CNT ? PROFILE_CPU : only;
}

const char *profile_out_source_name(const void *writer, bool *several)
{
	const struct profile_out *o = writer;
	const enum profile_source source = profile_out_source(o);
	unsigned int i;

	*several = false;
	for (i = 0; i < PROFILE_SOURCE_CNT; i++)
		*several |= i != source && o->stacks->counts[i].all.samples;
	return o->stacks->counts[source].all.samples ? profile_source_name(source) : NULL;
}

/* Of the sources that are not written, and those for whose stacks there was no space. */
uint64_t profile_out_left_out_kind(const void *writer, unsigned int i, const char **one, const char **many)
{
	static const struct {
		const char *one, *many;
	} names[PROFILE_SOURCE_CNT + 1] = {
		[PROFILE_CPU] = { "cpu sample", "cpu samples" },
		[PROFILE_OFF_CPU] = { "off-cpu sample", "off-cpu samples" },
		[PROFILE_WAKER] = { "waker sample", "waker samples" },
		[PROFILE_OTHER] = { "sample of another source", "samples of other sources" },
		[PROFILE_SOURCE_CNT] = { "sample with one distinct stack too many", "samples with distinct stacks beyond the limit" },
	};
	const struct profile_out *o = writer;

	*one = i <= PROFILE_SOURCE_CNT ? names[i].one : NULL;
	*many = i <= PROFILE_SOURCE_CNT ? names[i].many : NULL;
	if (i == PROFILE_SOURCE_CNT)
		return o->stacks->left_out;
	return i < PROFILE_SOURCE_CNT && i != profile_out_source(o) ? o->stacks->counts[i].all.samples : 0;
}

uint64_t profile_out_left_out(const void *writer)
{
	const char *one, *many;
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i <= PROFILE_SOURCE_CNT; i++)
		sum += profile_out_left_out_kind(writer, i, &one, &many);
	return sum;
}

/* ---- output ------------------------------------------------------------------ */

static ssize_t write_stream(void *ctx, const char *data, size_t len)
{
	struct profile_out *o = ctx;

	if (!o->err)
		o->err = o->cfg.write(o->cfg.ctx, data, len);
	return o->err ? 0 : (ssize_t)len;
}

FILE *profile_out_stream(struct profile_out *o)
{
	return fopencookie(o, "w", (cookie_io_functions_t){ .write = write_stream });
}

int profile_out_stream_close(struct profile_out *o, FILE *stream)
{
	bool failed = ferror(stream);

	failed |= fclose(stream) != 0;
	if (failed && !o->err)
		o->err = -EIO;
	return o->err;
}
