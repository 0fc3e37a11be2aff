// SPDX-License-Identifier: GPL-2.0
/*
 * Stack samples: the bytes that are written, worked out by hand from the schema, and what is read of them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/perfetto/encode.h"
#include "fxt/fxt_mem.h"
#include "profile/profile.h"

#define LINE_BYTES	4096U

struct profile {
	struct fxt_mem mem;
	struct fxt_writer *fxt;
	struct profile_writer *w;
	struct profile_stats stats;
	char (*lines)[LINE_BYTES];	/* samples as they were read */
	unsigned int cnt, cap;
	unsigned int blobs;
	size_t blob_bytes, longest;
	unsigned char first[512];	/* of the first BLOB */
	size_t first_len;
};

static void open_cfg(struct profile *p, const struct profile_config *cfg)
{
	memset(p, 0, sizeof(*p));
	assert_int_equal(fxt_writer_open(&p->fxt, fxt_mem_write, &p->mem), 0);
	assert_int_equal(fxt_write_magic(p->fxt), 0);
	assert_int_equal(profile_writer_open(&p->w, p->fxt, cfg), 0);
}

/* ---- samples to write -------------------------------------------------------- */

static const struct profile_frame plain[] = {
	{ .name = { .data = "main", .len = 4 }, .mapping = { .data = "prog", .len = 4 }, .rel_pc = 0x10,
	  .kind = PROFILE_NATIVE },
	{ .name = { .data = "work", .len = 4 }, .mapping = { .data = "prog", .len = 4 }, .rel_pc = 0x20,
	  .kind = PROFILE_NATIVE },
};

static struct profile_sample sample_of(uint64_t ts, enum profile_source source, const struct profile_frame *frames,
				       unsigned int cnt)
{
	return (struct profile_sample){
		.ts = ts, .process = 100, .thread = 101, .cpu = 2, .source = source, .user_mode = true,
		.weight = source == PROFILE_CPU ? 0 : 4000,
		.frames = frames, .frames_cnt = cnt,
	};
}

static void add(struct profile *p, const struct profile_sample *s)
{
	assert_int_equal(profile_writer_add(p->w, s), 0);
}

static void add_plain(struct profile *p, uint64_t ts, enum profile_source source)
{
	struct profile_sample s = sample_of(ts, source, plain, 2);

	add(p, &s);
}

/* A stack of @depth frames that no other number has. */
static void add_distinct(struct profile *p, uint64_t ts, unsigned int number, unsigned int depth)
{
	struct profile_frame *frames = calloc(depth, sizeof(*frames));
	struct profile_sample s = sample_of(ts, PROFILE_CPU, frames, depth);
	char name[32];
	unsigned int i;

	snprintf(name, sizeof(name), "leaf%u", number);
	for (i = 0; i < depth; i++)
		frames[i] = i + 1 == depth ? (struct profile_frame){ .name = fxt_str(name) } : plain[i % 2];
	add(p, &s);
	free(frames);
}

/* ---- samples that are read ----------------------------------------------------- */

static void print_frame(FILE *to, const struct profile_frame *f)
{
	static const char kinds[] = "?nkij";

	fprintf(to, ";%.*s", (int)f->name.len, f->name.data);
	if (f->mapping.len)
		fprintf(to, "@%.*s", (int)f->mapping.len, f->mapping.data);
	if (f->build_id.len)
		fprintf(to, "#%.*s", (int)f->build_id.len, f->build_id.data);
	if (f->rel_pc)
		fprintf(to, "+%#llx", (unsigned long long)f->rel_pc);
	if (f->source_file.len)
		fprintf(to, "(%.*s:%u)", (int)f->source_file.len, f->source_file.data, f->line);
	fprintf(to, "%c", kinds[f->kind]);
}

static int keep(void *ctx, const struct profile_sample *s)
{
	struct profile *p = ctx;
	unsigned int i;
	FILE *to;

	if (p->cnt == p->cap) {
		p->cap = p->cap ? 2 * p->cap : 64;
		p->lines = realloc(p->lines, p->cap * sizeof(*p->lines));
		assert_non_null(p->lines);
	}
	to = fmemopen(p->lines[p->cnt++], LINE_BYTES, "w");
	assert_non_null(to);
	fprintf(to, "%llu %.*s %llu/%llu cpu%d %s %llu ", (unsigned long long)s->ts, (int)s->source_name.len,
		s->source_name.data, (unsigned long long)s->process, (unsigned long long)s->thread, s->cpu,
		s->user_mode ? "user" : "kernel", (unsigned long long)s->weight);
	for (i = 0; i < s->frames_cnt && i < 20; i++)
		print_frame(to, &s->frames[i]);
	fclose(to);
	return 0;
}

static void read_blobs(struct profile *p)
{
	struct fxt_mem_source source = { .data = p->mem.data, .len = p->mem.len };
	struct profile_reader *r;
	struct fxt_reader *fxt;
	struct fxt_record *rec = malloc(sizeof(*rec));

	assert_int_equal(fxt_reader_open(&fxt, fxt_mem_read, &source), 0);
	assert_int_equal(profile_reader_open(&r, keep, p), 0);
	while (fxt_reader_next(fxt, rec) > 0) {
		assert_int_not_equal(rec->kind, FXT_KIND_DAMAGED);
		if (rec->kind != FXT_KIND_BLOB)
			continue;
		assert_int_equal(rec->blob.type, FXT_BLOB_PERFETTO);
		assert_int_equal(profile_reader_blob(r, rec->blob.data, rec->blob.len), 0);
		if (!p->blobs++) {
			p->first_len = rec->blob.len < sizeof(p->first) ? rec->blob.len : sizeof(p->first);
			memcpy(p->first, rec->blob.data, p->first_len);
		}
		p->blob_bytes += rec->blob.len;
		p->longest = rec->blob.len > p->longest ? rec->blob.len : p->longest;
	}
	profile_reader_stats(r, &p->stats);
	profile_reader_close(r);
	fxt_reader_close(fxt);
	free(rec);
}

/* What was written is read. */
static void turn_around(struct profile *p)
{
	assert_int_equal(profile_writer_flush(p->w), 0);
	profile_writer_close(p->w);
	assert_int_equal(fxt_writer_close(p->fxt), 0);
	read_blobs(p);
	assert_int_equal(p->stats.damaged + p->stats.skipped + p->stats.dropped + p->stats.unknown_stack +
			 p->stats.unknown_frames, 0);
}

static void done(struct profile *p)
{
	fxt_mem_free(&p->mem);
	free(p->lines);
}

static void expect(const struct profile *p, unsigned int i, const char *line)
{
	assert_true(i < p->cnt);
	assert_string_equal(p->lines[i], line);
}

/* ---- tests ------------------------------------------------------------------- */

static int count(void *ctx, const struct profile_sample *s)
{
	unsigned int *cnt = ctx;

	(void)s;
	return ++*cnt == 100 ? -EPIPE : 0;
}

/* A packet may be in several BLOBs, as one that is too long for a record is. */
static void in_pieces(const unsigned char *data, size_t len, size_t piece, unsigned int expected)
{
	struct profile_stats stats;
	struct profile_reader *r;
	unsigned int cnt = 0;
	size_t at;

	assert_int_equal(profile_reader_open(&r, count, &cnt), 0);
	for (at = 0; at < len; at += piece)
		assert_int_equal(profile_reader_blob(r, data + at, len - at < piece ? len - at : piece), 0);
	profile_reader_stats(r, &stats);
	assert_int_equal(stats.damaged, 0);
	assert_int_equal(cnt, expected);
	/* A packet that never ends; what is no packet costs the rest of its BLOB. */
	assert_int_equal(profile_reader_blob(r, data, 5), 0);
	profile_reader_stats(r, &stats);
	assert_int_equal(stats.damaged, 1);
	assert_int_equal(profile_reader_blob(r, "\x0b\x0b", 2), 0);
	profile_reader_close(r);
}

static void test_errors_of_the_callback(void **state)
{
	struct profile_reader *r;
	unsigned int i, cnt = 0;
	struct profile p;

	(void)state;
	open_cfg(&p, &(struct profile_config){ 0 });
	for (i = 0; i < 200; i++)
		add_plain(&p, i, PROFILE_CPU);
	turn_around(&p);
	assert_int_equal(profile_reader_open(&r, count, &cnt), 0);
	assert_int_equal(profile_reader_blob(r, p.mem.data + p.mem.len - p.blob_bytes - (8 - p.blob_bytes % 8) % 8,
					     p.blob_bytes), -EPIPE);
	assert_int_equal(cnt, 100);
	profile_reader_close(r);
	done(&p);
}

static void test_bytes(void **state)
{
	static const unsigned char expected[] = {
		/* packet of 93 bytes: timestamp 5000, sequence 2, cleared and needs state, cleared */
		0x0a, 93, 0x40, 0x88, 0x27, 0x50, 2, 0x68, 3, 0xc8, 0x02, 1,
		/* defaults (59): 12 { 1 { frequency 99, counter cpu-clock } } */
		0xda, 0x03, 8, 0x62, 6, 0x0a, 4, 0x10, 99, 0x20, 1,
		/* interned data (12): functions, paths, mapping, frames in the order of their first use */
		0x62, 70, 0x2a, 8, 8, 1, 0x12, 4, 'm', 'a', 'i', 'n',
		0x8a, 0x01, 8, 8, 1, 0x12, 4, 'p', 'r', 'o', 'g', 0x9a, 0x01, 4, 8, 1, 0x38, 1,
		0x32, 10, 8, 1, 0x10, 1, 0x18, 1, 0x20, 0x10, 0x38, 1,
		0x2a, 8, 8, 2, 0x12, 4, 'w', 'o', 'r', 'k', 0x32, 10, 8, 2, 0x10, 2, 0x18, 1, 0x20, 0x20, 0x38, 1,
		/* callstack (7) */
		0x3a, 6, 8, 1, 0x10, 1, 0x10, 2,
		/* PerfSample (66): CPU, pid, tid, callstack, user mode */
		0x0a, 20, 0x40, 0xd0, 0x0f, 0x50, 2, 0x68, 2, 0x92, 0x04, 10, 8, 2, 0x10, 100, 0x18, 101, 0x20, 1, 0x28, 2,
		/* StackSample (135), with its defaults, which repeat those of PerfSamples */
		0x0a, 65, 0x40, 0x88, 0x27, 0x50, 2, 0x68, 2,
		0xda, 0x03, 35, 0x62, 6, 0x0a, 4, 0x10, 99, 0x20, 1,
		0xa2, 0x06, 24, 0x0a, 7, 'o', 'f', 'f', '-', 'c', 'p', 'u',
		0x12, 13, 0x12, 7, 'b', 'l', 'o', 'c', 'k', 'e', 'd', 0x18, 1, 0x38, 1,
		/* task, execution, callstack, weight */
		0xba, 0x08, 17, 0x0a, 4, 0x10, 100, 0x18, 101, 0x1a, 4, 0x10, 2, 0x18, 1, 0x30, 1, 0x58, 0xa0, 0x1f,
	};
	struct profile p;

	(void)state;
	open_cfg(&p, &(struct profile_config){ .period_ns = 10101010 });
	add_plain(&p, 5000, PROFILE_OFF_CPU);
	add_plain(&p, 2000, PROFILE_CPU);
	turn_around(&p);
	assert_int_equal(p.blob_bytes, sizeof(expected));
	assert_memory_equal(p.first, expected, sizeof(expected));
	expect(&p, 0, "2000 cpu 100/101 cpu2 user 10101010 ;main@prog+0x10n;work@prog+0x20n");
	expect(&p, 1, "5000 off-cpu 100/101 cpu2 user 4000 ;main@prog+0x10n;work@prog+0x20n");
	assert_int_equal(p.cnt, 2);
	in_pieces(p.first, p.first_len, 1, 2);
	in_pieces(p.first, p.first_len, 100, 2);
	done(&p);
}

static void test_fields(void **state)
{
	static const struct profile_frame frames[] = {
		{ .name = { .data = "entry", .len = 5 }, .mapping = { .data = "[kernel]", .len = 8 }, .kind = PROFILE_KERNEL },
		{ .name = { .data = "f", .len = 1 }, .mapping = { .data = "/bin/x", .len = 6 }, .rel_pc = UINT64_MAX,
		  .build_id = { .data = "00ffA1", .len = 6 }, .source_file = { .data = "x.c", .len = 3 }, .line = 7,
		  .kind = PROFILE_JIT },
		{ .name = { .data = "g", .len = 1 }, .build_id = { .data = "no hex", .len = 6 }, .kind = PROFILE_INTERPRETED },
		{ .name = { .data = "", .len = 0 } },
	};
	struct profile_sample s = sample_of(INT64_MAX, PROFILE_WAKER, frames, 4);
	struct profile p;

	(void)state;
	open_cfg(&p, &(struct profile_config){ 0 });
	s.process = 0;
	s.thread = 4199999999;
	s.cpu = -1;
	s.user_mode = false;
	s.weight = UINT64_MAX;
	add(&p, &s);
	s.source = PROFILE_CPU;
	s.weight = 0;
	s.frames_cnt = 0;
	add(&p, &s);
	turn_around(&p);
	expect(&p, 0, "9223372036854775807 cpu 0/4199999999 cpu-1 kernel 0 ");
	expect(&p, 1, "9223372036854775807 waker 0/4199999999 cpu-1 kernel 18446744073709551615 "
		      ";entry@[kernel]k;f@/bin/x#00ffa1+0xffffffffffffffff(x.c:7)j;gi;?");
	assert_int_equal(p.stats.without_stack, 1);
	done(&p);
}

static void test_periods(void **state)
{
	static const uint64_t periods[] = { 0, 1000000, 0, 250000, 250000, 7 };
	struct profile_sample s = sample_of(1, PROFILE_CPU, plain, 1);
	char line[200];
	struct profile p;
	unsigned int i;

	(void)state;
	open_cfg(&p, &(struct profile_config){ .period_ns = 10101010, .clock = "cycles" });
	for (i = 0; i < 6; i++) {
		s.weight = periods[i];
		add(&p, &s);
	}
	turn_around(&p);
	for (i = 0; i < 6; i++) {
		snprintf(line, sizeof(line), "1 cpu 100/101 cpu2 user %u ;main@prog+0x10n",
			 i == 0 ? 10101010U : i < 3 ? 1000000U : i < 5 ? 250000U : 7U);
		expect(&p, i, line);
	}
	done(&p);
}

/* They come in any order; in the file those of a source are together. */
static void test_sources(void **state)
{
	struct profile_sample s = sample_of(0, PROFILE_OTHER, plain, 1);
	unsigned int i, changes = 0;
	struct profile p;

	(void)state;
	open_cfg(&p, &(struct profile_config){ 0 });
	for (i = 0; i < 40; i++) {
		s.ts = i;
		s.source = i % 5 > 2 ? PROFILE_OTHER : i % 5;
		s.source_name = fxt_str(i % 5 == 3 ? "heap" : "locks");
		add(&p, &s);
	}
	turn_around(&p);
	assert_int_equal(p.cnt, 40);
	assert_int_equal(p.stats.samples[PROFILE_CPU], 8);
	assert_int_equal(p.stats.samples[PROFILE_OFF_CPU], 8);
	assert_int_equal(p.stats.samples[PROFILE_WAKER], 8);
	assert_int_equal(p.stats.samples[PROFILE_OTHER], 16);
	expect(&p, 24, "3 heap 100/101 cpu2 user 4000 ;main@prog+0x10n");
	expect(&p, 39, "39 locks 100/101 cpu2 user 4000 ;main@prog+0x10n");
	for (i = 1; i < p.cnt; i++)
		changes += !strcmp(strchr(p.lines[i], ' '), strchr(p.lines[i - 1], ' '));
	assert_int_equal(changes, 40 - 5);
	done(&p);
}

static void test_many_sources(void **state)
{
	struct profile_sample s = sample_of(1, PROFILE_OTHER, plain, 1);
	unsigned int i;
	char name[16];
	struct profile p;

	(void)state;
	open_cfg(&p, &(struct profile_config){ 0 });
	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "source%u", i);
		s.source_name = fxt_str(name);
		add(&p, &s);
	}
	turn_around(&p);
	assert_int_equal(p.stats.samples[PROFILE_OTHER], 100);
	expect(&p, 0, "1 other 100/101 cpu2 user 4000 ;main@prog+0x10n");
	expect(&p, 35, "1 other 100/101 cpu2 user 4000 ;main@prog+0x10n");
	expect(&p, 36, "1 source0 100/101 cpu2 user 4000 ;main@prog+0x10n");
	expect(&p, 99, "1 source63 100/101 cpu2 user 4000 ;main@prog+0x10n");
	done(&p);
}

/* With few distinct stacks the numbers begin anew again and again, and nothing is lost. */
static void test_bound(void **state)
{
	unsigned int i, j;
	char line[200];
	struct profile p;

	(void)state;
	open_cfg(&p, &(struct profile_config){ .stacks_max = 7 });
	for (i = 0; i < 1000; i++)
		add_distinct(&p, i, i % 13, 3);
	turn_around(&p);
	assert_int_equal(p.cnt, 1000);
	for (i = 0; i < 1000; i++) {
		j = (unsigned int)strtoul(p.lines[i], NULL, 10);
		assert_int_equal(j, i);
		snprintf(line, sizeof(line), "%u cpu 100/101 cpu2 user 0 ;main@prog+0x10n;work@prog+0x20n;leaf%u?", i, i % 13);
		expect(&p, i, line);
	}
	done(&p);
}

static void test_repeated_stacks_are_small(void **state)
{
	static const enum profile_source sources[] = { PROFILE_CPU, PROFILE_OFF_CPU, PROFILE_WAKER };
	struct profile_sample s = sample_of(0, PROFILE_CPU, NULL, 30);
	struct profile_frame frames[30];
	char names[30][16];
	struct profile p;
	unsigned int i;

	(void)state;
	for (i = 0; i < 30; i++) {
		snprintf(names[i], sizeof(names[i]), "function%u", i);
		frames[i] = (struct profile_frame){ .name = fxt_str(names[i]), .mapping = fxt_str("/usr/lib/libx.so"), .rel_pc = i };
	}
	open_cfg(&p, &(struct profile_config){ .period_ns = 10101010 });
	for (i = 0; i < 30000; i++) {
		s = sample_of(1000000000000000ULL + i * 1000000ULL, sources[i % 3], frames, 20 + i % 11);
		s.thread = s.process = 4000000 + i % 50;
		s.weight = 12345678;
		add(&p, &s);
	}
	turn_around(&p);
	assert_int_equal(p.cnt, 30000);
	/* With the records around them; the schema alone allows no less than some 35. */
	assert_in_range(p.mem.len / 30000, 30, 50);
	assert_in_range(p.longest, 32600, 32752);
	assert_true(p.blobs <= p.blob_bytes / 32600 + 30000 / 4096 + 1);
	done(&p);
}

/* Each BLOB has whole packets only, also where interned data is long. */
static void test_long_names(void **state)
{
	char *name = malloc(10000);
	struct profile_frame frame = { .kind = PROFILE_NATIVE };
	struct profile_sample s = sample_of(1, PROFILE_CPU, &frame, 1);
	struct profile p;
	unsigned int i;

	(void)state;
	memset(name, 'x', 10000);
	open_cfg(&p, &(struct profile_config){ 0 });
	for (i = 0; i < 500; i++) {
		memcpy(name, &i, sizeof(i));
		frame.name = fxt_str_n(name, 10000);
		add(&p, &s);
	}
	/* Not cut within a character: e2 82 ac at 4095. */
	memcpy(name + 4095, "\xe2\x82\xac", 3);
	frame.name.len = 5000;
	add(&p, &s);
	turn_around(&p);
	assert_int_equal(p.cnt, 501);
	assert_true(p.longest <= 32752);
	assert_true(p.blob_bytes > 501 * 4095 && p.blob_bytes < 501 * 4200);
	free(name);
	done(&p);
}

static void test_deep(void **state)
{
	struct profile p;

	(void)state;
	open_cfg(&p, &(struct profile_config){ 0 });
	add_distinct(&p, 1, 1, PROFILE_FRAMES_MAX);
	add_distinct(&p, 2, 2, PROFILE_FRAMES_MAX + 1);
	turn_around(&p);
	assert_non_null(strstr(p.lines[0], " 0 ;main@prog+0x10n;work@prog"));
	assert_non_null(strstr(p.lines[1], " 0 ;[cut]?;main@prog+0x10n;work@prog"));
	done(&p);
}

static void test_errors(void **state)
{
	struct profile_sample s = sample_of(1, PROFILE_SOURCE_CNT, plain, 2);
	struct profile p;
	unsigned int i;

	(void)state;
	open_cfg(&p, &(struct profile_config){ 0 });
	assert_int_equal(profile_writer_add(p.w, &s), -EINVAL);
	s.source = PROFILE_CPU;
	p.mem.fail = -ENOSPC;
	for (i = 0; i < 100000 && !profile_writer_add(p.w, &s); i++)
		;
	assert_in_range(i, 1000, 50000);
	profile_writer_close(p.w);
	profile_writer_close(NULL);
	profile_reader_close(NULL);
	assert_int_equal(fxt_writer_close(p.fxt), -ENOSPC);
	done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes), cmocka_unit_test(test_errors_of_the_callback),
		cmocka_unit_test(test_fields), cmocka_unit_test(test_periods),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_many_sources), cmocka_unit_test(test_bound),
		cmocka_unit_test(test_repeated_stacks_are_small), cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_deep), cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
