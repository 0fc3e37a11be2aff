// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of Trace Event JSON cut at every byte: nothing crashes, no thread is invented, no count
 * exceeds that of the whole, and the trace is without contradictions. Of long samples the
 * beginning and the end are cut at every byte, and what is between in some hundred places.
 *
 * Short samples with each byte changed in turn, to one that means something: every event is in
 * one count and the trace without contradictions.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "chrome_pipe.h"
#include "cuts.h"
#include "fxt/fxt.h"

#define CORPUS		"tests/corpus/json/*.json*"
#define SAMPLE_BYTES	(1 << 20)
#define EVERY_BYTES	400U	/* at each end: each of them, or each CUT_STEP'th */
#define PLACES		100U	/* between them */
#define CHANGED_BYTES	2500U	/* of longer samples no byte is changed */
#define KOIDS_MAX	4096U
#define INVENTED	4200000000ULL	/* koids from here on are not the file's */

struct koids {
	uint64_t id[KOIDS_MAX];
	unsigned int cnt, invented;
};

struct memory {
	const char *data;
	size_t len;
};

static long read_memory(void *ctx, void *buf, size_t len)
{
	struct memory *m = ctx;

	len = len < m->len ? len : m->len;
	memcpy(buf, m->data, len);
	m->data += len;
	m->len -= len;
	return (long)len;
}

/* The threads that a trace has names of. */
static void find_koids(const struct chrome_pipe *p, struct koids *k)
{
	struct memory m = { p->out.fxt, p->out.fxt_len };
	struct fxt_reader *reader;
	struct fxt_record rec;

	k->cnt = k->invented = 0;
	assert_int_equal(fxt_reader_open(&reader, read_memory, &m), 0);
	while (fxt_reader_next(reader, &rec) > 0) {
		if (rec.kind != FXT_KIND_KERNEL_OBJECT || rec.object.kind != FXT_KOBJ_THREAD)
			continue;
		if (rec.object.id >= INVENTED)
			k->invented++;
		else if (k->cnt < KOIDS_MAX)
			k->id[k->cnt++] = rec.object.id;
	}
	fxt_reader_close(reader);
}

static bool has_koid(const struct koids *k, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < k->cnt && k->id[i] != id; i++)
		;
	return i < k->cnt;
}

/* What no cut may have more of. Not so what lacks its other half: it may be after the cut. */
static const char *more_than(const struct chrome_counts *part, const struct chrome_counts *whole)
{
	unsigned int i;

	if (part->scan.events > whole->scan.events || part->scan.empty > whole->scan.empty)
		return "events";
	if (part->scan.damaged > whole->scan.damaged || part->scan.not_objects > whole->scan.not_objects)
		return "damage";
	if (part->scan.stray_commas > whole->scan.stray_commas || part->scan.missing_commas > whole->scan.missing_commas)
		return "commas";
	for (i = 0; i < 128; i++)
		if (part->by_phase[i] > whole->by_phase[i])
			return "of a phase";
	for (i = 0; i < CHROME_FATES; i++)
		if (part->fates[i] > whole->fates[i])
			return "of a count";
	return part->handed_on > whole->handed_on ? "handed on" : NULL;
}

static void check_threads(const char *name, size_t len, const struct chrome_pipe *part, const struct koids *threads)
{
	static struct koids part_threads;
	unsigned int i;

	find_koids(part, &part_threads);
	for (i = 0; i < part_threads.cnt; i++)
		if (!has_koid(threads, part_threads.id[i]))
			fail_msg("%s cut at %zu: a thread %llu", name, len, (unsigned long long)part_threads.id[i]);
	if (part_threads.invented > threads->invented)
		fail_msg("%s cut at %zu: %u threads without an id of Linux, not %u", name, len, part_threads.invented,
			 threads->invented);
}

/* @part: the one before, and then this. */
static void check_cut(const char *name, const char *text, size_t len, const struct chrome_pipe *whole,
		      const struct koids *threads, struct chrome_pipe *part)
{
	struct chrome_pipe before = *part;
	const char *more;

	chrome_pipe_run(part, text, len, SIZE_MAX, &before);
	more = more_than(&part->counts, &whole->counts);
	if (part->broken || more)
		fail_msg("%s cut at %zu: %s%s", name, len, part->broken ? part->broken : "more than the whole has ",
			 more ? more : "");
	if (!part->is_same)
		check_threads(name, len, part, threads);
	chrome_pipe_free(&before);
}

static size_t next_cut(const struct cuts *places, size_t cut)
{
	const size_t len = places->len, step = len / PLACES | 1;
	const bool end = len < 2 * EVERY_BYTES || cut < EVERY_BYTES || cut + EVERY_BYTES + step > len;

	return cuts_next(places, cut + (end ? 1 : step));
}

/* Plain, or packed with gzip. */
static size_t read_sample(const char *path, char *data)
{
	gzFile f = gzopen(path, "rb");
	int len;

	assert_non_null(f);
	len = gzread(f, data, SAMPLE_BYTES);
	gzclose(f);
	assert_in_range(len, 1, SAMPLE_BYTES - 1);
	return (size_t)len;
}

static void cut_sample(const char *path, char *text)
{
	static struct koids threads;
	struct chrome_pipe whole, part = { 0 };
	size_t len = read_sample(path, text), cut;
	struct cuts places;

	cuts_init(&places, len);
	cuts_lines(&places, text);
	chrome_pipe_run(&whole, text, len, SIZE_MAX, NULL);
	if (whole.broken)
		fail_msg("%s: %s", path, whole.broken);
	find_koids(&whole, &threads);
	for (cut = 0; cut < len; cut = next_cut(&places, cut))
		check_cut(path, text, cut, &whole, &threads, &part);
	cuts_free(&places);
	chrome_pipe_free(&part);
	chrome_pipe_free(&whole);
}

/* With byte @at changed. */
static void check_change(const char *name, const char *text, size_t len, size_t at, struct chrome_pipe *part)
{
	struct chrome_pipe before = *part;

	chrome_pipe_run(part, text, len, SIZE_MAX, &before);
	if (part->broken)
		fail_msg("%s with another byte %zu: %s", name, at, part->broken);
	chrome_pipe_free(&before);
}

static void change_sample(const char *path, char *text)
{
	static const char others[] = "\"{}[]\\,: 0\xff";
	struct chrome_pipe part = { 0 };
	size_t len = read_sample(path, text), at;
	struct cuts places;

	cuts_init(&places, len);
	cuts_lines(&places, text);
	for (at = 0; at < len && len <= CHANGED_BYTES; at = cuts_next(&places, at + 1)) {
		char was = text[at];

		text[at] = others[at % (sizeof(others) - 1)];
		check_change(path, text, len, at, &part);
		text[at] = was;
	}
	cuts_free(&places);
	chrome_pipe_free(&part);
}

/* All of the corpus. */
static void each_sample(void (*fn)(const char *path, char *text))
{
	char *text = malloc(SAMPLE_BYTES);
	unsigned int samples = 0;
	glob_t found;
	size_t i;

	assert_non_null(text);
	if (glob(CORPUS, 0, NULL, &found))
		fail_msg("no %s (tests run from the top of the tree)", CORPUS);
	for (i = 0; i < found.gl_pathc; i++) {
		if (strstr(found.gl_pathv[i], ".facts.json"))
			continue;
		fn(found.gl_pathv[i], text);
		samples++;
	}
	globfree(&found);
	free(text);
	assert_in_range(samples, 30, 1000);
}

static void samples_cut_at_every_byte(void **state)
{
	(void)state;
	each_sample(cut_sample);
}

static void samples_with_any_byte_changed(void **state)
{
	(void)state;
	each_sample(change_sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_cut_at_every_byte),
		cmocka_unit_test(samples_with_any_byte_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
