/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside the reader: its state, and what its three parts offer each other:
 * the input and the way through it (reader.c), one record's meaning
 * (reader_decode.c), and what providers registered (reader_tables.c).
 * Private to libfxt.
 */
#ifndef FXT_READER_H
#define FXT_READER_H

#include "fxt.h"
#include "wire.h"

#define FXT_PROVIDERS_MAX	64U

#pragma GCC visibility push(hidden)

struct fxt_string_slot {
	char *data;			/* NULL: not registered */
	size_t len;
};

/* "Provider section metadata": what a reader keeps for each provider. */
struct fxt_provider {
	uint32_t id;
	uint64_t ticks_per_second;
	unsigned int strings_cnt;	/* slots there are */
	struct fxt_string_slot *strings;
	struct fxt_thread threads[FXT_THREAD_INDEX_MAX + 1];
	bool threads_known[FXT_THREAD_INDEX_MAX + 1];
	size_t name_len;
	char name[FXT_PROVIDER_NAME_MAX];
};

struct fxt_reader {
	fxt_read_fn read;
	void *ctx;
	/*
	 * Input not yet gone through is buf[pos..end), and buf[pos] is the
	 * input's byte @offset. Words are aligned in memory as in the input.
	 */
	unsigned char *buf;
	size_t pos, end;
	uint64_t offset;
	bool ended;			/* the source said so */
	bool started;

	/* The record handed out last, while some of it is still to be read. */
	uint64_t left;			/* bytes of it still to pass */
	uint64_t payload;		/* bytes of these that are payload */
	const unsigned char *payload_data;	/* payload that is in memory, else NULL */
	const unsigned char *raw;	/* its bytes that are in memory and were not asked for yet */
	size_t raw_len;

	/* A damaged stretch whose end is being looked for; survives the source's errors. */
	bool scanning;
	uint64_t damage_offset;
	const char *damage_reason;

	struct fxt_provider *current;
	struct fxt_provider *unnamed;	/* id 0 until one is announced */
	struct fxt_provider *spare;	/* for providers beyond the limit */
	struct fxt_provider *providers[FXT_PROVIDERS_MAX];
	unsigned int providers_cnt;
	struct fxt_reader_stats stats;
};

/* ---- reader_decode.c: reads words and tables, changes nothing ------------ */

struct fxt_decoder {
	const struct fxt_provider *tables;
	const uint64_t *at;		/* in: the header; out: what follows the content */
	const uint64_t *end;		/* of the words at hand */
	uint64_t words;			/* of the whole record, perhaps more than at hand */
	uint64_t payload_words;		/* out: large BLOB's payload, not part of [.. at) */
};

/* Fills in *@rec. NULL, or why this cannot be a record. */
const char *fxt_decode(struct fxt_decoder *d, struct fxt_record *rec);

/* ---- reader_header.c ------------------------------------------------------ */

/* Whether a header has a type or subtype the specification does not have. */
bool fxt_header_unknown(uint64_t head);
/* Whether a word is the header of a known record, of the size its fields ask for. */
bool fxt_header_plausible(uint64_t head);

/* ---- reader_tables.c ------------------------------------------------------ */

int fxt_tables_open(struct fxt_reader *r);
void fxt_tables_close(struct fxt_reader *r);
bool fxt_tables_known(const struct fxt_reader *r, uint32_t provider);
/*
 * Does what a record of the first kinds (up to FXT_KIND_THREAD) asks for. 0 or
 * -ENOMEM; *@reason is set if it was done but the record should not have been.
 */
int fxt_tables_apply(struct fxt_reader *r, struct fxt_record *rec, const char **reason);

#pragma GCC visibility pop

#endif
