// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer over BLOBs of stack samples: what is read is bounded, and written again it is read as the same
 * samples; packets may be cut into BLOBs anywhere. The first byte says how many distinct stacks the writer keeps, the second how long a BLOB is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fxt/fxt_mem.h"
#include "profile/profile.h"

#define TEXT_MAX	(PROFILE_STRING_MAX - 3)	/* bytes that are there even if a character is cut */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct samples {
	uint64_t digest, cnt;		/* the digest does not depend on the order */
	struct profile_writer *w;	/* NULL: not written */
};

static void must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static uint64_t mix(uint64_t digest, uint64_t value)
{
	return (digest ^ value) * 0x100000001b3ULL;
}

static uint64_t mix_text(uint64_t digest, struct fxt_str s)
{
	size_t i;

	for (i = 0; i < s.len && i < TEXT_MAX; i++)
		digest = mix(digest, (unsigned char)s.data[i]);
	return mix(digest, i);
}

static uint64_t digest_of(const struct profile_sample *s)
{
	uint64_t d = mix(mix(mix(s->ts, s->process), s->thread), (uint64_t)s->cpu);
	unsigned int i;

	d = mix(mix(mix(d, s->source), s->user_mode), s->frames_cnt);
	d = s->source == PROFILE_CPU ? d : mix(d, s->weight);
	for (i = 0; i < s->frames_cnt; i++) {
		d = mix_text(mix_text(d, s->frames[i].name), s->frames[i].mapping);
		d = mix_text(mix_text(d, s->frames[i].build_id), s->frames[i].source_file);
		d = mix(mix(mix(d, s->frames[i].rel_pc), s->frames[i].line), s->frames[i].kind);
	}
	return d;
}

static int take(void *ctx, const struct profile_sample *s)
{
	struct samples *all = ctx;

	must(s->frames_cnt <= PROFILE_FRAMES_MAX, "frames are bounded");
	must(s->source < PROFILE_SOURCE_CNT && s->source_name.len, "a sample has a source");
	all->digest += digest_of(s);
	all->cnt++;
	return all->w ? profile_writer_add(all->w, s) : 0;
}

static void read_pieces(struct samples *all, const uint8_t *data, size_t size, size_t piece)
{
	struct profile_stats stats;
	struct profile_reader *r;
	uint64_t cnt = 0;
	size_t len, at;
	unsigned int i;

	must(!profile_reader_open(&r, take, all), "memory");
	for (at = 0; at < size; at += len) {
		len = size - at < piece ? size - at : piece;
		must(!profile_reader_blob(r, data + at, len), "a BLOB has no error of its own");
	}
	profile_reader_stats(r, &stats);
	for (i = 0; i < PROFILE_SOURCE_CNT; i++)
		cnt += stats.samples[i];
	must(cnt == all->cnt, "samples are counted");
	profile_reader_close(r);
}

static void read_trace(struct samples *all, const struct fxt_mem *mem)
{
	struct fxt_mem_source source = { .data = mem->data, .len = mem->len };
	struct fxt_record *rec = malloc(sizeof(*rec));
	struct profile_stats stats;
	struct profile_reader *r;
	struct fxt_reader *fxt = NULL;

	must(rec && !fxt_reader_open(&fxt, fxt_mem_read, &source) && !profile_reader_open(&r, take, all), "memory");
	while (fxt_reader_next(fxt, rec) > 0) {
		must(rec->kind != FXT_KIND_DAMAGED, "records are whole");
		must(rec->kind != FXT_KIND_BLOB || !profile_reader_blob(r, rec->blob.data, rec->blob.len), "it is read");
	}
	profile_reader_stats(r, &stats);
	must(!stats.damaged && !stats.skipped && !stats.dropped && !stats.unknown_stack && !stats.unknown_frames,
	     "what was written is read");
	profile_reader_close(r);
	fxt_reader_close(fxt);
	free(rec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile_config cfg = { .period_ns = 10101010 };
	struct samples in = { 0 }, out = { 0 };
	struct fxt_mem mem = { 0 };
	struct fxt_writer *w;

	if (size < 2)
		return 0;
	cfg.stacks_max = data[0];
	must(!fxt_writer_open(&w, fxt_mem_write, &mem) && !fxt_write_magic(w), "memory");
	must(!profile_writer_open(&in.w, w, &cfg), "memory");
	read_pieces(&in, data + 2, size - 2, data[1] ? 64U * data[1] : size);
	must(!profile_writer_flush(in.w), "it is written");
	profile_writer_close(in.w);
	must(!fxt_writer_close(w), "it is written");
	read_trace(&out, &mem);
	must(in.cnt == out.cnt && in.digest == out.digest, "the samples are the same");
	fxt_mem_free(&mem);
	return 0;
}
