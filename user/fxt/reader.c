/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader: input, framing, and the way out of damage.
 *
 * A record is decoded where it lies in the buffer; only what straddles the end
 * of one read is moved to the front before the next. A call that fails with the
 * source's error changes nothing that a repeated call would miss.
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The most words before the payload of a large BLOB: header, format header, two
 * inline strings, time, thread, fifteen arguments, payload size. As far ahead
 * as the reader ever looks.
 */
#define AHEAD_WORDS	(2 + 2 * 4096 + 1 + 2 + FXT_ARGS_MAX * FXT_RECORD_WORDS_MAX + 1)
#define AHEAD_BYTES	(AHEAD_WORDS * FXT_WORD)
#define FIRST_WORDS	8192U		/* what nearly all of them need */
#define CHUNK_BYTES	65536U		/* what one read asks for */
#define MOVE_BYTES	4096U		/* so little is moved to the front to keep the cache warm */
#define BUF_BYTES	(AHEAD_BYTES + 2 * FXT_WORD + CHUNK_BYTES)

/* A large record of unknown type above 1 GiB is rather a damaged header. */
#define UNKNOWN_WORDS_MAX	(1ULL << 27)
/* So many unknown records in a row are no accident. */
#define UNKNOWN_RUN_MAX		16U

/* After damage, so many words must look like records before they are taken for some. */
#define CONFIRM_WORDS		8U
#define CONFIRM_END_WORDS	3U	/* where the input ends first */

int fxt_reader_open(struct fxt_reader **out, fxt_read_fn read, void *ctx)
{
	struct fxt_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->read = read;
	r->ctx = ctx;
	r->buf = malloc(BUF_BYTES);
	err = fxt_tables_open(r);
	if (!r->buf || err) {
		fxt_reader_close(r);
		return -ENOMEM;
	}
	*out = r;
	return 0;
}

void fxt_reader_close(struct fxt_reader *r)
{
	if (!r)
		return;
	fxt_tables_close(r);
	free(r->buf);
	free(r);
}

uint64_t fxt_reader_ticks_per_second(const struct fxt_reader *r)
{
	return r->current->ticks_per_second;
}

void fxt_reader_stats(const struct fxt_reader *r, struct fxt_reader_stats *stats)
{
	*stats = r->stats;
	stats->bytes = r->offset;
}

static inline size_t buffered(const struct fxt_reader *r)
{
	return r->end - r->pos;
}

static inline const uint64_t *words_at(const struct fxt_reader *r)
{
	return (const uint64_t *)(const void *)(r->buf + r->pos);
}

static inline void advance(struct fxt_reader *r, size_t bytes)
{
	r->pos += bytes;
	r->offset += bytes;
}

/* The number of bytes read, 0 at the end for good, or -errno. */
static long read_source(struct fxt_reader *r, void *buf, size_t len)
{
	long n = r->ended ? 0 : r->read(r->ctx, buf, len);

	if (n > 0 && (size_t)n > len)
		return -EIO;
	if (!n)
		r->ended = true;
	return n;
}

/* Reads more, after making space for @need bytes. */
static int refill(struct fxt_reader *r, size_t need)
{
	size_t front = r->offset % FXT_WORD, held = buffered(r), space;
	long n;

	if (r->pos != front && (held <= MOVE_BYTES || BUF_BYTES - r->pos < need)) {
		memmove(r->buf + front, r->buf + r->pos, held);
		r->pos = front;
		r->end = front + held;
	}
	space = BUF_BYTES - r->end;
	n = read_source(r, r->buf + r->end, space < CHUNK_BYTES ? space : CHUNK_BYTES);
	if (n < 0)
		return n;
	r->end += n;
	return 0;
}

/* Tries to have that many bytes in the buffer: fewer only at the end of the input. */
static inline int want(struct fxt_reader *r, size_t need)
{
	int err = 0;

	while (buffered(r) < need && !r->ended && !err)
		err = refill(r, need);
	return err;
}

/* Hands out what lies between @from and here as damage. */
static int report(struct fxt_reader *r, struct fxt_record *rec, uint64_t from, const char *reason)
{
	rec->kind = FXT_KIND_DAMAGED;
	rec->offset = from;
	rec->len = r->offset - from;
	rec->content_len = 0;
	rec->provider_id = r->current->id;
	rec->has_ts = false;
	rec->ts = 0;
	rec->nargs = 0;
	rec->unresolved = 0;
	rec->damage.reason = reason;
	r->stats.skipped_bytes += rec->len;
	return 1;
}

/* Decodes the record here, of which @have words are at hand. */
static inline const char *decode(struct fxt_reader *r, struct fxt_record *rec, uint64_t words,
				 uint64_t have, struct fxt_decoder *d)
{
	d->tables = r->current;
	d->at = words_at(r);
	d->end = d->at + have;
	d->words = words;
	return fxt_decode(d, rec);
}

/* How many words the decoded fields account for. */
static inline uint64_t content_words(const struct fxt_reader *r, const struct fxt_decoder *d,
				     const struct fxt_record *rec)
{
	uint64_t words = d->at - words_at(r);

	return rec->kind == FXT_KIND_LARGE_BLOB ? words + d->payload_words : words;
}

/*
 * Whether a plausible header or the end follows if the record here has that
 * many words. Of unknown records only the size speaks, so they are stepped over
 * in the search for one that is known. May move the buffer.
 */
static int follows(struct fxt_reader *r, uint64_t words)
{
	unsigned int steps = UNKNOWN_RUN_MAX;
	uint64_t head, size;
	int err;

	if (!words || words >= AHEAD_WORDS)
		return false;
	for (;;) {
		err = want(r, (words + 1) * FXT_WORD);
		if (err)
			return err;
		if (buffered(r) < (words + 1) * FXT_WORD)
			return buffered(r) >= words * FXT_WORD;
		head = words_at(r)[words];
		if (fxt_header_plausible(head))
			return true;
		size = FXT_RECORD_WORDS(head);
		if (!size || size > UNKNOWN_WORDS_MAX || !fxt_header_unknown(head))
			return false;
		words += size;
		if (!--steps || words >= AHEAD_WORDS)
			return true;
	}
}

/*
 * Whether plausible headers follow the record here, one after another until
 * there is evidence enough; a pointer argument looks like a kernel object.
 */
static int confirmed(struct fxt_reader *r, uint64_t words)
{
	uint64_t head;
	int err;

	do {
		err = want(r, (words + 1) * FXT_WORD);
		if (err)
			return err;
		if (buffered(r) < (words + 1) * FXT_WORD)
			return words >= CONFIRM_END_WORDS;
		head = words_at(r)[words];
		if (!fxt_header_plausible(head))
			return false;
		words += FXT_RECORD_WORDS(head);
	} while (words < CONFIRM_WORDS);
	return true;
}

/* A one-word record of this kind is easily mistaken for another; its provider decides. */
static bool names_unknown_provider(const struct fxt_reader *r, const struct fxt_record *rec)
{
	return (rec->kind == FXT_KIND_PROVIDER_SECTION || rec->kind == FXT_KIND_PROVIDER_EVENT) &&
	       !fxt_tables_known(r, rec->provider.id);
}

/* Whether a record begins here, after damage. *@rec is overwritten. */
static int resumes(struct fxt_reader *r, struct fxt_record *rec)
{
	uint64_t head = *words_at(r), words = FXT_RECORD_WORDS(head), have;
	struct fxt_decoder d;
	int err;

	if (!fxt_header_plausible(head))
		return false;
	have = words < AHEAD_WORDS ? words : AHEAD_WORDS;
	err = want(r, have * FXT_WORD);
	if (err)
		return err;
	if (buffered(r) < have * FXT_WORD || decode(r, rec, words, have, &d) ||
	    rec->kind == FXT_KIND_UNKNOWN || names_unknown_provider(r, rec) ||
	    content_words(r, &d, rec) != words)
		return false;
	return words >= AHEAD_WORDS ? true : confirmed(r, words);
}

/* Looks word by word for the end of a damaged stretch. */
static int scan(struct fxt_reader *r, struct fxt_record *rec)
{
	int ret;

	for (;;) {
		ret = want(r, FXT_WORD);
		if (ret)
			return ret;
		if (buffered(r) < FXT_WORD) {
			advance(r, buffered(r));
			break;
		}
		ret = resumes(r, rec);
		if (ret < 0)
			return ret;
		if (ret)
			break;
		advance(r, FXT_WORD);
	}
	r->scanning = false;
	return report(r, rec, r->damage_offset, r->damage_reason);
}

/*
 * What begins here is no record. @words: its size, if that can be believed.
 * If a header follows there, the damage is inside; else the end must be found.
 */
static int damaged(struct fxt_reader *r, struct fxt_record *rec, uint64_t words,
		   const char *reason)
{
	uint64_t from = r->offset;
	int ret = follows(r, words);

	if (ret < 0)
		return ret;
	if (ret) {
		advance(r, words * FXT_WORD);
		return report(r, rec, from, reason);
	}
	r->scanning = true;
	r->damage_offset = from;
	r->damage_reason = reason;
	advance(r, FXT_WORD);
	return scan(r, rec);
}

/* What was passed just now is the beginning of the record that is handed out. */
static inline void keep_raw(struct fxt_reader *r, uint64_t words)
{
	r->raw_len = words * FXT_WORD;
	r->raw = r->buf + r->pos - r->raw_len;
}

/* Hands out the record here. */
static inline int accept(struct fxt_reader *r, struct fxt_record *rec, uint64_t words)
{
	const char *reason = NULL;
	uint64_t from = r->offset;
	int err;

	if (rec->kind <= FXT_KIND_THREAD) {
		err = fxt_tables_apply(r, rec, &reason);
		if (err)
			return err;
	} else if (rec->kind == FXT_KIND_LARGE_BLOB) {
		r->payload = rec->large_blob.len;
		r->payload_data = rec->large_blob.data;
	}
	advance(r, words * FXT_WORD);
	if (reason)
		return report(r, rec, from, reason);
	keep_raw(r, words);
	rec->offset = from;
	rec->len = words * FXT_WORD;
	rec->content_len = rec->len;
	rec->provider_id = r->current->id;
	return 1;
}

/*
 * A record of unknown type, or with words beyond its @content, may be of a
 * later format, or its header is wrong: what follows decides. Words that look
 * like records themselves were not meant to be part of this one.
 */
static int accept_doubtful(struct fxt_reader *r, struct fxt_record *rec, uint64_t words,
			   uint64_t content)
{
	bool unknown = rec->kind == FXT_KIND_UNKNOWN;
	struct fxt_decoder d;
	int ret;

	ret = unknown ? 0 : confirmed(r, content);
	if (ret >= 0)
		ret = ret ? 0 : follows(r, words);
	if (ret < 0)
		return ret;
	if (!ret)
		return damaged(r, rec, 0, unknown ? "unknown record, and none follows it" :
						    "size beyond the content");
	decode(r, rec, words, words, &d);
	ret = accept(r, rec, words);
	if (ret > 0 && !unknown && rec->kind != FXT_KIND_DAMAGED)
		rec->content_len = content * FXT_WORD;
	return ret;
}

/* A large record whose payload is not looked at before it is handed out. */
static int accept_large(struct fxt_reader *r, struct fxt_record *rec, uint64_t words,
			const struct fxt_decoder *d)
{
	uint64_t head_words = 1;

	if (rec->kind == FXT_KIND_LARGE_BLOB) {
		head_words = d->at - words_at(r);
		r->payload = rec->large_blob.len;
		r->payload_data = NULL;
	}
	rec->offset = r->offset;
	rec->len = words * FXT_WORD;
	rec->content_len = rec->len;
	rec->provider_id = r->current->id;
	r->left = (words - head_words) * FXT_WORD;
	advance(r, head_words * FXT_WORD);
	keep_raw(r, head_words);
	return 1;
}

/* "Large record header": one that is larger than others can be. */
static int read_large(struct fxt_reader *r, struct fxt_record *rec, uint64_t words)
{
	uint64_t have = words < FIRST_WORDS ? words : FIRST_WORDS, got;
	struct fxt_decoder d;
	const char *reason;
	int err;

	for (;;) {
		err = want(r, have * FXT_WORD);
		if (err)
			return err;
		got = buffered(r) / FXT_WORD;
		if (got > words)
			got = words;
		reason = decode(r, rec, words, got, &d);
		/* A head that did not end within the first words gets all it may need. */
		if (!reason || got < have || have == words || have == AHEAD_WORDS)
			break;
		have = words < AHEAD_WORDS ? words : AHEAD_WORDS;
	}
	if (reason)
		return damaged(r, rec, words, reason);
	if (rec->kind == FXT_KIND_UNKNOWN && words < AHEAD_WORDS)
		return accept_doubtful(r, rec, words, words);
	if (rec->kind == FXT_KIND_UNKNOWN && words > UNKNOWN_WORDS_MAX)
		return damaged(r, rec, 0, "unknown record of an unlikely size");
	return accept_large(r, rec, words, &d);
}

static int read_record(struct fxt_reader *r, struct fxt_record *rec)
{
	struct fxt_decoder d;
	uint64_t words, content;
	const char *reason;
	int err;

	err = want(r, FXT_WORD);
	if (err)
		return err;
	if (buffered(r) < FXT_WORD) {
		uint64_t from = r->offset;

		advance(r, buffered(r));
		return from == r->offset ? 0 : report(r, rec, from, "part of a word at the end");
	}
	words = FXT_RECORD_WORDS(*words_at(r));
	if (!words)
		return damaged(r, rec, 0, "record of size 0");
	if (words > FXT_RECORD_WORDS_MAX)
		return read_large(r, rec, words);
	err = want(r, words * FXT_WORD);
	if (err)
		return err;
	if (buffered(r) < words * FXT_WORD)
		return damaged(r, rec, 0, "record cut short by the end of the input");
	reason = decode(r, rec, words, words, &d);
	/* Of a wrong magic number the size is not known either. */
	if (reason)
		return damaged(r, rec, rec->kind == FXT_KIND_MAGIC ? 1 : words, reason);
	content = content_words(r, &d, rec);
	if (rec->kind == FXT_KIND_UNKNOWN || content != words)
		return accept_doubtful(r, rec, words, content);
	return accept(r, rec, words);
}

/* "Magic number record": the beginning of the input. */
static int check_magic(struct fxt_reader *r, struct fxt_record *rec)
{
	const char *reason = "no magic number at the beginning";
	int err = want(r, FXT_WORD);

	if (err)
		return err;
	r->started = true;
	if (buffered(r) >= FXT_WORD) {
		if (*words_at(r) == FXT_MAGIC)
			return 0;
		if (*words_at(r) == __builtin_bswap64(FXT_MAGIC))
			reason = "no magic number: written by a big-endian machine";
	}
	return report(r, rec, r->offset, reason);
}

/* Skips the rest of a large record that was not asked for. */
static int leave_large(struct fxt_reader *r, struct fxt_record *rec)
{
	int err;

	while (r->left) {
		size_t n = buffered(r) < r->left ? buffered(r) : r->left;

		advance(r, n);
		r->left -= n;
		if (r->left && r->ended) {
			r->left = 0;
			return report(r, rec, r->offset,
				      "large record cut short by the end of the input");
		}
		err = r->left ? refill(r, 1) : 0;
		if (err)
			return err;
	}
	return 0;
}

static void count(struct fxt_reader *r, const struct fxt_record *rec)
{
	r->stats.by_kind[rec->kind]++;
	r->stats.records += rec->kind != FXT_KIND_DAMAGED;
	r->stats.unresolved += rec->unresolved != 0;
}

int fxt_reader_next(struct fxt_reader *r, struct fxt_record *rec)
{
	int ret = 0;

	r->payload = 0;
	r->raw_len = 0;
	if (r->left)
		ret = leave_large(r, rec);
	if (!ret && !r->started)
		ret = check_magic(r, rec);
	if (!ret)
		ret = r->scanning ? scan(r, rec) : read_record(r, rec);
	if (ret == 1)
		count(r, rec);
	return ret;
}

/* Past the buffer, which holds the head of the record the caller looks at. */
static long read_left(struct fxt_reader *r, void *buf, size_t len)
{
	long n;

	if (buffered(r)) {
		n = buffered(r) < len ? buffered(r) : len;
		memcpy(buf, r->buf + r->pos, n);
		advance(r, n);
	} else {
		n = read_source(r, buf, len);
		if (n < 0)
			return n;
		if (!n)
			return -ENODATA;
		r->offset += n;
	}
	r->left -= n;
	return n;
}

long fxt_reader_payload(struct fxt_reader *r, void *buf, size_t len)
{
	long n;

	if (len > r->payload)
		len = r->payload;
	if (len > INT32_MAX)
		len = INT32_MAX;
	if (!len)
		return 0;
	if (r->payload_data) {
		memcpy(buf, r->payload_data, len);
		r->payload_data += len;
		n = len;
	} else {
		n = read_left(r, buf, len);
	}
	if (n > 0)
		r->payload -= n;
	return n;
}

long fxt_reader_raw(struct fxt_reader *r, void *buf, size_t len)
{
	if (len > INT32_MAX)
		len = INT32_MAX;
	if (!r->raw_len) {
		r->payload = 0;
		return r->left && len ? read_left(r, buf, len < r->left ? len : r->left) : 0;
	}
	if (len > r->raw_len)
		len = r->raw_len;
	memcpy(buf, r->raw, len);
	r->raw += len;
	r->raw_len -= len;
	return (long)len;
}
