/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside the writer: its state, the sink, and the draft of a record.
 * Private to libfxt.
 *
 * A record is written in three steps. Its draft takes its strings, threads and
 * arguments, and by that knows its size. fxt_draft_place() refuses what does
 * not fit, writes the string and thread records that are missing and yields
 * the place for the words. Then they are put there; nothing can fail any more.
 */
#ifndef FXT_WRITER_H
#define FXT_WRITER_H

#include "fxt.h"
#include "wire.h"

#define FXT_BUF_WORDS		8192U	/* 64 KiB: two of the largest records */
#define FXT_DRAFT_TEXTS		(2 + 2 * FXT_ARGS_MAX)
#define FXT_DRAFT_THREADS	2

/* Types of arguments whose value is one word after the header and the name, a bit each. */
#define FXT_WORD_TYPES		(1U << FXT_ARG_INT64 | 1U << FXT_ARG_UINT64 | 1U << FXT_ARG_DOUBLE | \
				 1U << FXT_ARG_POINTER | 1U << FXT_ARG_KOID)

#pragma GCC visibility push(hidden)

struct fxt_table;

struct fxt_writer {
	fxt_write_fn write;
	void *ctx;
	int err;			/* the sink's first error */
	uint32_t provider;
	struct fxt_table *strings, *threads;
	struct fxt_writer_stats stats;
	uint64_t rest_words;	/* of a record that began in what was handed on already */
	size_t used;			/* words of buf */
	uint64_t *buf;
	char *scratch;			/* repaired strings of the record being drafted */
};

struct fxt_text {
	const char *data;
	size_t len;
	uint16_t ref;
	bool in_place;			/* its bytes are in the record */
	bool pending;			/* to be registered */
};

struct fxt_draft_thread {
	uint64_t key[2];		/* process, thread: the table's key */
	uint8_t ref;
	bool pending;
};

struct fxt_draft {
	struct fxt_writer *w;
	int err;			/* the first one; later steps then do nothing */
	bool missing;			/* a string or thread is to be registered */
	size_t words;			/* of the record so far */
	size_t scratch_used;
	uint64_t cut, repaired;
	unsigned int texts_cnt, threads_cnt;
	struct fxt_draft_thread threads[FXT_DRAFT_THREADS];
	struct fxt_text texts[FXT_DRAFT_TEXTS];
};

/* The sink: space for that many words, at most FXT_RECORD_WORDS_MAX; NULL is w->err. */
uint64_t *fxt_writer_reserve(struct fxt_writer *w, size_t words);
/* Whole words made elsewhere, in order with the buffer but not copied when they are many. */
int fxt_writer_pass(struct fxt_writer *w, const void *data, size_t len);

/* Begins a record of so many words plus what is added. */
void fxt_draft_begin(struct fxt_draft *d, struct fxt_writer *w, size_t words);
/* Strings and arguments are put into the record in the order they are added. */
struct fxt_text *fxt_draft_string(struct fxt_draft *d, struct fxt_str s);
/* A string the record holds by length alone, of at most @max bytes. */
struct fxt_text *fxt_draft_plain(struct fxt_draft *d, struct fxt_str s, size_t max);
struct fxt_draft_thread *fxt_draft_thread(struct fxt_draft *d, struct fxt_thread t);
void fxt_draft_args(struct fxt_draft *d, const struct fxt_arg *args, unsigned int nargs);
/* Notes an error unless there was one. */
void fxt_draft_require(struct fxt_draft *d, bool good);
/* The place for d->words words, or NULL with d->err set. */
uint64_t *fxt_draft_place(struct fxt_draft *d);

/*
 * An event, if it can be written without a draft: its thread and strings are registered, or in the record and
 * UTF-8, and the buffer has space for it. False: nothing was written.
 */
bool fxt_put_event(struct fxt_writer *w, const struct fxt_event *e, const struct fxt_arg *args, unsigned int nargs);

/* Whole records of the tables; @key is process and thread. 0 or w->err. */
int fxt_put_string_record(struct fxt_writer *w, unsigned int index, const void *data, size_t len);
int fxt_put_thread_record(struct fxt_writer *w, unsigned int index, const void *key);

/* The upper half of an argument's header, by "Argument types"; @ref: of its string. */
static inline uint64_t fxt_value_bits(const struct fxt_arg *arg, unsigned int ref)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
		return FXT_PUT(arg->i32, FXT_F_ARG_VALUE32);
	case FXT_ARG_UINT32:
		return FXT_PUT(arg->u32, FXT_F_ARG_VALUE32);
	case FXT_ARG_STRING:
		return FXT_PUT(ref, FXT_F_ARG_STRING);
	case FXT_ARG_BOOL:
		return FXT_PUT(arg->b, FXT_F_ARG_BOOL);
	case FXT_ARG_BLOB:
		return FXT_PUT(arg->blob.len, FXT_F_ARG_VALUE32);
	default:
		return 0;
	}
}

uint64_t *fxt_put_bytes(uint64_t *at, const void *data, size_t len);
uint64_t *fxt_put_text(uint64_t *at, const struct fxt_text *text);
uint64_t *fxt_put_thread(uint64_t *at, const struct fxt_draft_thread *t);
/* @texts: those fxt_draft_args() added. */
uint64_t *fxt_put_args(uint64_t *at, const struct fxt_text *texts, const struct fxt_arg *args,
		       unsigned int nargs);

#pragma GCC visibility pop

#endif
