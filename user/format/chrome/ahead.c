// SPDX-License-Identifier: GPL-2.0
/*
 * Every "ts" is taken for the time of an event, also one in arguments: a time that is too early only
 * makes events wait for longer. Kept is the least time of each block of the input.
 */
#include "ahead.h"

#include <errno.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bytes.h"
#include "value.h"

#define BLOCK_SHIFT	16U		/* 64 KiB to begin with */
#define BLOCKS_MAX	65536U		/* more are joined in pairs */
#define READ_BYTES	(256U << 10)
#define AROUND_BYTES	512U		/* of a time, that may be looked at */
#define NUMBER_MAX	64U
#define SEARCHES	4U		/* a block, for what says that a time is that of metadata */

struct ahead {
	int64_t *least;		/* of each block; in the end, of it and all that follow */
	size_t cnt, cap;
	unsigned int shift;
	uint64_t searches;	/* for metadata, in vain */
	uint64_t frames_at, frames_cnt;	/* "stackFrames": the last one, and how many */
};

/* ---- blocks ---------------------------------------------------------------------- */

static int64_t min_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void join_pairs(struct ahead *a)
{
	size_t i;

	for (i = 0; i < a->cnt; i += 2)
		a->least[i / 2] = i + 1 < a->cnt ? min_of(a->least[i], a->least[i + 1]) : a->least[i];
	a->cnt = (a->cnt + 1) / 2;
	a->shift++;
}

static int note(struct ahead *a, uint64_t offset, int64_t ts)
{
	while (offset >> a->shift >= BLOCKS_MAX)
		join_pairs(a);
	while (a->cnt <= offset >> a->shift) {
		if (array_reserve(a->least, a->cnt, a->cap, 1))
			return -ENOMEM;
		a->least[a->cnt++] = INT64_MAX - 1;
	}
	a->least[offset >> a->shift] = min_of(a->least[offset >> a->shift], ts);
	return 0;
}

/* ---- times ----------------------------------------------------------------------- */

/*
 * What makes times that are found unreliable: s or t as \u0073 or \u0074; ftrace text, which the builder
 * takes before the events.
 */
static bool is_obstacle(const char *p)
{
	if (*p == '\\')
		return !memcmp(p, "\\u007", 5) && (p[5] == '3' || p[5] == '4');
	return !memcmp(p, "\"systemTraceEvents\"", 19);
}

static bool is_frames(const char *p)
{
	return !memcmp(p, "\"stackFrames\"", 13);
}

static bool is_time(const char *p)
{
	return !memcmp(p, "\"ts\"", 4);
}

/* Whether something to be looked at begins at @p. */
static inline bool is_hit(const char *p)
{
	return is_time(p) || is_frames(p) || is_obstacle(p);
}

/* Whole vectors are compared with the beginnings "t?" "s?s "s?a and \u, which few other things have. */
#ifdef __x86_64__

__attribute__((target("avx2")))
static const char *find_avx2(const char *p, const char *end)
{
	const __m256i quote = _mm256_set1_epi8('"'), t = _mm256_set1_epi8('t'), s = _mm256_set1_epi8('s');
	const __m256i escape = _mm256_set1_epi8('\\'), u = _mm256_set1_epi8('u'), a = _mm256_set1_epi8('a');

	for (; p < end; p += 32) {
		__m256i at0 = _mm256_loadu_si256((const __m256i *)p), at1 = _mm256_loadu_si256((const __m256i *)(p + 1));
		__m256i at3 = _mm256_loadu_si256((const __m256i *)(p + 3));
		__m256i s_or_a = _mm256_or_si256(_mm256_cmpeq_epi8(at3, s), _mm256_cmpeq_epi8(at3, a));
		__m256i ends = _mm256_or_si256(_mm256_and_si256(_mm256_cmpeq_epi8(at1, t), _mm256_cmpeq_epi8(at3, quote)),
					       _mm256_and_si256(_mm256_cmpeq_epi8(at1, s), s_or_a));
		__m256i hits = _mm256_or_si256(_mm256_and_si256(_mm256_cmpeq_epi8(at0, quote), ends),
					       _mm256_and_si256(_mm256_cmpeq_epi8(at0, escape), _mm256_cmpeq_epi8(at1, u)));
		unsigned int mask = (unsigned int)_mm256_movemask_epi8(hits);

		for (; mask; mask &= mask - 1)
			if (is_hit(p + __builtin_ctz(mask)))
				return p + __builtin_ctz(mask) < end ? p + __builtin_ctz(mask) : end;
	}
	return end;
}

const char *ahead_find_plain(const char *p, const char *end)
{
	const __m128i quote = _mm_set1_epi8('"'), t = _mm_set1_epi8('t'), s = _mm_set1_epi8('s');
	const __m128i escape = _mm_set1_epi8('\\'), u = _mm_set1_epi8('u'), a = _mm_set1_epi8('a');

	for (; p < end; p += 16) {
		__m128i at0 = _mm_loadu_si128((const __m128i *)p), at1 = _mm_loadu_si128((const __m128i *)(p + 1));
		__m128i at3 = _mm_loadu_si128((const __m128i *)(p + 3));
		__m128i s_or_a = _mm_or_si128(_mm_cmpeq_epi8(at3, s), _mm_cmpeq_epi8(at3, a));
		__m128i ends = _mm_or_si128(_mm_and_si128(_mm_cmpeq_epi8(at1, t), _mm_cmpeq_epi8(at3, quote)),
					    _mm_and_si128(_mm_cmpeq_epi8(at1, s), s_or_a));
		__m128i hits = _mm_or_si128(_mm_and_si128(_mm_cmpeq_epi8(at0, quote), ends),
					    _mm_and_si128(_mm_cmpeq_epi8(at0, escape), _mm_cmpeq_epi8(at1, u)));
		unsigned int mask = (unsigned int)_mm_movemask_epi8(hits);

		for (; mask; mask &= mask - 1)
			if (is_hit(p + __builtin_ctz(mask)))
				return p + __builtin_ctz(mask) < end ? p + __builtin_ctz(mask) : end;
	}
	return end;
}

#else

const char *ahead_find_plain(const char *p, const char *end)
{
	while (p < end && ((*p != '"' && *p != '\\') || !is_hit(p)))
		p++;
	return p;
}

#endif

const char *ahead_find(const char *p, const char *end)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2"))
		return find_avx2(p, end);
#endif
	return ahead_find_plain(p, end);
}

static bool is_of_number(char c)
{
	return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || (c | 0x20) == 'e';
}

/* The value of the member "ts" at @p. 0; -EDOM: it cannot be relied on; -ENOENT: it is no time. */
static int time_at(const char *p, const char *end, int64_t *ts)
{
	const char *number;

	p = chrome_skip_blanks(p + 4);
	if (p >= end || *p != ':')
		return p >= end ? -EDOM : -ENOENT;
	p = chrome_skip_blanks(p + 1);
	p += *p == '"';
	number = chrome_usual_time(p, ts);
	if (number && number < end && !is_of_number(*number))
		return 0;
	number = p;
	while (p < end && is_of_number(*p))
		p++;
	if (p >= end || p - number > (long)NUMBER_MAX)
		return -EDOM;
	return chrome_time_ns(number, (size_t)(p - number), ts) ? -ENOENT : 0;
}

static const char *skip_blanks_back(const char *p, const char *begin)
{
	while (p > begin && chrome_is_blank(p[-1]))
		p--;
	return p;
}

/* Whether the M at @p is the value of the member "ph". */
static bool is_phase(const char *p, const char *begin)
{
	if (p == begin || p[-1] != '"' || p[1] != '"')
		return false;
	p = skip_blanks_back(p - 1, begin);
	if (p == begin || p[-1] != ':')
		return false;
	p = skip_blanks_back(p - 1, begin);
	return p - begin >= 4 && !memcmp(p - 4, "\"ph\"", 4);
}

static bool has_bracket(const char *p, const char *end)
{
	while (p < end && (*p | 0x20) != '{' && (*p | 0x20) != '}')
		p++;
	return p < end;
}

/* Whether what is around @p, without any bracket between, says that it is metadata. */
static bool is_metadata(const char *p, const char *begin, const char *end)
{
	const char *m = begin;

	for (; (m = memchr(m, 'M', (size_t)(end - m))); m++)
		if (is_phase(m, begin) && !has_bracket(m < p ? m : p, m < p ? p : m))
			return true;
	return false;
}

/* ---- the input ------------------------------------------------------------------- */

/* What was read: @data is at @base of the input, and its bytes from @from to @to are looked at now. */
struct window {
	char *data;
	uint64_t base;
	size_t from, to, len;
};

/*
 * Whether the time at @p is that of metadata. Only the least of a block makes events wait, and is worth the
 * search; of a file in no order there are many, and events wait anyway.
 */
static bool is_ignored(struct ahead *a, uint64_t offset, int64_t ts, const char *p, const char *begin, const char *end)
{
	bool is_least = offset >> a->shift >= a->cnt || ts < a->least[offset >> a->shift];

	if (!is_least || a->searches > SEARCHES * (a->cnt + 1))
		return false;
	if (is_metadata(p, begin, end))
		return true;
	a->searches++;
	return false;
}

static int look(struct ahead *a, const struct window *w)
{
	const char *p = w->data + w->from, *end = w->data + w->to, *limit = w->data + w->len;
	int64_t ts;
	int err = 0;

	for (; !err && (p = ahead_find(p, end)) < end; p++) {
		const char *after = limit - p < (long)AROUND_BYTES ? limit : p + AROUND_BYTES;
		const char *before = p - w->data < (long)AROUND_BYTES ? w->data : p - AROUND_BYTES;
		uint64_t offset = w->base + (uint64_t)(p - w->data);

		if (is_frames(p)) {
			a->frames_at = offset;
			a->frames_cnt++;
			continue;
		}
		err = is_time(p) ? time_at(p, after, &ts) : -EDOM;
		if (err == -ENOENT || (!err && is_ignored(a, offset, ts, p, before, after)))
			err = 0;
		else if (!err)
			err = ts < 0 ? -EDOM : note(a, offset, ts);
	}
	return err;
}

/* Keeps AROUND_BYTES before what was looked at, and what was not. */
static void shift_window(struct window *w)
{
	size_t drop = w->to > AROUND_BYTES ? w->to - AROUND_BYTES : 0;

	memmove(w->data, w->data + drop, w->len - drop);
	w->base += drop;
	w->len -= drop;
	w->from = w->to - drop;
}

static int look_through(struct ahead *a, struct window *w, chrome_read_at_fn read_at, void *ctx)
{
	long got = 1;
	int err = 0;

	while (!err && got) {
		got = read_at(ctx, w->data + w->len, READ_BYTES, w->base + w->len);
		if (got < 0)
			return (int)got;
		w->len += (size_t)got;
		memset(w->data + w->len, '"', AHEAD_PAD_BYTES);
		w->to = !got ? w->len : w->len > AROUND_BYTES ? w->len - AROUND_BYTES : 0;
		w->to = w->to > w->from ? w->to : w->from;
		err = look(a, w);
		shift_window(w);
	}
	return err;
}

static int read_times(struct ahead *a, chrome_read_at_fn read_at, void *ctx)
{
	struct window w = { .data = malloc(READ_BYTES + 3 * AROUND_BYTES + AHEAD_PAD_BYTES) };
	size_t i;
	int err = w.data ? look_through(a, &w, read_at, ctx) : -ENOMEM;

	free(w.data);
	for (i = a->cnt; i-- > 1;)
		a->least[i - 1] = min_of(a->least[i - 1], a->least[i]);
	return err;
}

int ahead_open(struct ahead **out, chrome_read_at_fn read_at, void *ctx)
{
	struct ahead *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->shift = BLOCK_SHIFT;
	err = read_times(a, read_at, ctx);
	if (err)
		ahead_close(a);
	else
		*out = a;
	return err;
}

int64_t ahead_least(const struct ahead *a, uint64_t offset)
{
	return offset >> a->shift < a->cnt ? a->least[offset >> a->shift] : INT64_MAX - 1;
}

int ahead_frames(const struct ahead *a, uint64_t *offset)
{
	*offset = a->frames_at;
	return a->frames_cnt > 1 ? -EDOM : (int)a->frames_cnt;
}

void ahead_close(struct ahead *a)
{
	if (!a)
		return;
	free(a->least);
	free(a);
}
