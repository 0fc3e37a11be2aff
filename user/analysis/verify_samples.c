// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of stack samples, which are Perfetto packets in BLOB records: what they refer to, their times and
 * threads. Of each thread, and of the earliest and the latest sample, one place is kept.
 */
#include "findings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "profile/profile.h"

struct sampled {
	uint64_t koid, offset;
	bool has_object;
};

struct verify_samples {
	struct profile_reader *reader;
	struct profile_stats stats;	/* after the last BLOB */
	uint64_t offset;		/* of the BLOB that is read */
	struct map by_koid;
	struct sampled *threads;
	size_t cnt, cap;
	bool has_time;
	uint64_t first_ns, last_ns, first_offset, last_offset;
};

static int take_sample(void *ctx, const struct profile_sample *sample)
{
	struct verify_samples *s = ctx;

	if (!s->has_time || sample->ts < s->first_ns) {
		s->first_ns = sample->ts;
		s->first_offset = s->offset;
	}
	if (!s->has_time || sample->ts > s->last_ns) {
		s->last_ns = sample->ts;
		s->last_offset = s->offset;
	}
	s->has_time = true;
	if (map_get(&s->by_koid, sample->thread) != MAP_NONE)
		return 0;
	if (array_reserve(s->threads, s->cnt, s->cap, 1) || map_add(&s->by_koid, sample->thread, (uint32_t)s->cnt))
		return -ENOMEM;
	s->threads[s->cnt++] = (struct sampled){ .koid = sample->thread, .offset = s->offset };
	return 0;
}

int verify_samples_open(struct verify_samples **out)
{
	struct verify_samples *s = calloc(1, sizeof(*s));

	if (!s || profile_reader_open(&s->reader, take_sample, s)) {
		free(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

int verify_samples_record(struct verify_samples *s, struct verify *v, const struct fxt_record *rec)
{
	const struct profile_stats before = s->stats;
	uint64_t unknown, unusable;
	int err;

	if (rec->kind != FXT_KIND_BLOB || rec->blob.type != FXT_BLOB_PERFETTO)
		return 0;
	s->offset = rec->offset;
	err = profile_reader_blob(s->reader, rec->blob.data, rec->blob.len);
	profile_reader_stats(s->reader, &s->stats);
	unknown = s->stats.unknown_stack + s->stats.unknown_frames - before.unknown_stack - before.unknown_frames;
	unusable = s->stats.skipped - before.skipped;
	if (unknown)
		verify_found(v, VERIFY_SAMPLE_UNKNOWN, rec->offset, "%" PRIu64 " stacks, frames or names", unknown);
	if (unusable)
		verify_found(v, VERIFY_SAMPLE_UNUSABLE, rec->offset, "%" PRIu64 " samples", unusable);
	return err;
}

/* A recording's samples are between its start and its stop; a piece of one has sleeps that began before it. */
static void check_times(const struct verify_samples *s, struct verify *v)
{
	const struct timeline_session *session = &v->tl->session;

	if (!s->has_time || !session->start_ns)
		return;
	if (s->first_ns < session->start_ns && !session->is_piece)
		verify_found(v, VERIFY_SAMPLE_TIME, s->first_offset, "%" PRIu64 " ns before the start",
			     session->start_ns - s->first_ns);
	if (session->stop_ns && s->last_ns > session->stop_ns)
		verify_found(v, VERIFY_SAMPLE_TIME, s->last_offset, "%" PRIu64 " ns after the stop",
			     s->last_ns - session->stop_ns);
}

void verify_samples_finish(struct verify_samples *s, struct verify *v)
{
	const struct timeline *tl = v->tl;
	uint32_t at;
	size_t i;

	check_times(s, v);
	/* What a repair left out may have had what samples refer to. */
	if (tl->session.repaired)
		v->findings[VERIFY_SAMPLE_UNKNOWN] = v->findings[VERIFY_SAMPLE_UNUSABLE] = (struct verify_finding){ 0 };
	/* Names may come late, but not later than the end; the ledger counts those that were lost. */
	if (timeline_is_cut(tl) || tl->session.repaired || tl->session.lost_names || timeline_write_failed(tl))
		return;
	for (i = 0; i < tl->threads_cnt; i++) {
		at = map_get(&s->by_koid, tl->threads[i].koid);
		if (at != MAP_NONE)
			s->threads[at].has_object |= tl->threads[i].has_object;
	}
	/* Thread 0 is idle. */
	for (i = 0; i < s->cnt; i++)
		if (!s->threads[i].has_object && s->threads[i].koid)
			verify_found(v, VERIFY_SAMPLE_THREAD, s->threads[i].offset, "thread %" PRIu64, s->threads[i].koid);
}

void verify_samples_close(struct verify_samples *s)
{
	if (!s)
		return;
	profile_reader_close(s->reader);
	map_fini(&s->by_koid);
	free(s->threads);
	free(s);
}
