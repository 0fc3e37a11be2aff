/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writer's life and its sink: a buffer of whole records in front of the
 * caller's function. What is in the records is not known here.
 */
#include "writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

#define STRINGS_BYTES	(16U << 20)		/* of the string table, so that it stays bounded */
#define THREADS_BYTES	(FXT_THREAD_INDEX_MAX * 16U)
#define SCRATCH_BYTES	65536U			/* a record's worth and one more string */

int fxt_writer_open(struct fxt_writer **out, fxt_write_fn write, void *ctx)
{
	struct fxt_writer *w = calloc(1, sizeof(*w));
	int err = -ENOMEM;

	if (!w)
		return -ENOMEM;
	w->write = write;
	w->ctx = ctx;
	w->buf = malloc(FXT_BUF_WORDS * FXT_WORD);
	w->scratch = malloc(SCRATCH_BYTES);
	if (!w->buf || !w->scratch)
		goto err_free;
	err = fxt_table_open(&w->strings, FXT_STRING_INDEX_MAX, STRINGS_BYTES);
	if (err)
		goto err_free;
	err = fxt_table_open(&w->threads, FXT_THREAD_INDEX_MAX, THREADS_BYTES);
	if (err)
		goto err_strings;
	*out = w;
	return 0;

err_strings:
	fxt_table_close(w->strings);
err_free:
	free(w->scratch);
	free(w->buf);
	free(w);
	return err;
}

/* Counts the records that begin in these words; a large one may continue after them. */
static void count_types(struct fxt_writer *w, const char *at, uint64_t words)
{
	uint64_t header, size;

	while (w->rest_words < words) {
		at += w->rest_words * FXT_WORD;
		words -= w->rest_words;
		memcpy(&header, at, sizeof(header));
		size = FXT_RECORD_WORDS(header);
		w->stats.by_type[FXT_GET(header, FXT_F_TYPE)]++;
		w->rest_words = size;
	}
	w->rest_words -= words;
}

/* The only place from which bytes leave. */
static int hand_on(struct fxt_writer *w, const void *data, size_t words)
{
	if (w->err || !words)
		return w->err;
	w->err = w->write(w->ctx, data, words * FXT_WORD);
	if (!w->err)
		count_types(w, data, words);
	return w->err;
}

int fxt_writer_flush(struct fxt_writer *w)
{
	hand_on(w, w->buf, w->used);
	w->used = 0;
	return w->err;
}

int fxt_writer_close(struct fxt_writer *w)
{
	int err;

	if (!w)
		return 0;
	err = fxt_writer_flush(w);
	fxt_table_close(w->threads);
	fxt_table_close(w->strings);
	free(w->scratch);
	free(w->buf);
	free(w);
	return err;
}

void fxt_writer_stats(const struct fxt_writer *w, struct fxt_writer_stats *stats)
{
	*stats = w->stats;
	stats->strings_replaced = fxt_table_replaced(w->strings);
	stats->threads_replaced = fxt_table_replaced(w->threads);
}

uint64_t *fxt_writer_reserve(struct fxt_writer *w, size_t words)
{
	uint64_t *at;

	if (words > FXT_BUF_WORDS - w->used)
		fxt_writer_flush(w);
	if (w->err)
		return NULL;
	at = w->buf + w->used;
	w->used += words;
	w->stats.records++;
	w->stats.bytes += words * FXT_WORD;
	return at;
}

int fxt_writer_pass(struct fxt_writer *w, const void *data, size_t len)
{
	if (len > (FXT_BUF_WORDS - w->used) * FXT_WORD) {
		fxt_writer_flush(w);
		hand_on(w, data, len / FXT_WORD);
	} else if (len) {
		memcpy(w->buf + w->used, data, len);
		w->used += len / FXT_WORD;
	}
	if (!w->err)
		w->stats.bytes += len;
	return w->err;
}

/* How many whole records these bytes are, or -EINVAL. */
static long count_records(const char *at, size_t len)
{
	uint64_t word, words;
	long cnt;

	for (cnt = 0; len; cnt++) {
		if (len < FXT_WORD)
			return -EINVAL;
		memcpy(&word, at, FXT_WORD);
		words = FXT_RECORD_WORDS(word);
		if (!words || words > len / FXT_WORD)
			return -EINVAL;
		at += words * FXT_WORD;
		len -= words * FXT_WORD;
	}
	return cnt;
}

/* One record that the buffer has space for, as most are; false: nothing was done. */
static inline bool put_record(struct fxt_writer *w, const void *record, size_t len)
{
	uint64_t header;

	if (len < FXT_WORD || len > (FXT_BUF_WORDS - w->used) * FXT_WORD)
		return false;
	memcpy(&header, record, FXT_WORD);
	if (FXT_RECORD_WORDS(header) * FXT_WORD != len)
		return false;
	memcpy(w->buf + w->used, record, len);
	w->used += len / FXT_WORD;
	w->stats.records++;
	w->stats.bytes += len;
	return true;
}

int fxt_write_raw(struct fxt_writer *w, const void *records, size_t len)
{
	long cnt;
	int err;

	if (w->err)
		return w->err;
	if (put_record(w, records, len))
		return 0;
	cnt = count_records(records, len);
	if (cnt < 0)
		return cnt;
	err = fxt_writer_pass(w, records, len);
	if (!err)
		w->stats.records += cnt;
	return err;
}
