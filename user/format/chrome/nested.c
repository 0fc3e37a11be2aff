// SPDX-License-Identifier: GPL-2.0
/*
 * Passing over what is in brackets, 32 bytes at a time: which are quotes, which brackets, and by the
 * quotes which of the brackets are in strings.
 */
#include "bytes.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* Of 32 bytes a bit for each, the first one's is the lowest. */
struct masks {
	uint32_t quotes, backslashes, opening, closing;
};

struct nesting {
	const char *end;
	uint64_t depth;
	bool in_string;
};

/*
 * Which bytes are in strings, given the quotes, none of which is escaped; the quote that opens a string is
 * in it. *@in_string: before them, and after them.
 */
static inline uint32_t string_mask(uint32_t quotes, bool *in_string)
{
	uint32_t mask = quotes ^ quotes << 1;

	mask ^= mask << 2;
	mask ^= mask << 4;
	mask ^= mask << 8;
	mask ^= mask << 16;
	mask ^= -(uint32_t)*in_string;
	*in_string = mask >> 31;
	return mask;
}

/* Where to go on after the bytes at @p; *@done: it is after the closing bracket, NULL: the data end before it. */
static inline __attribute__((always_inline)) const char *step(struct nesting *n, const char *p, struct masks m, bool *done)
{
	bool was_in_string = n->in_string;
	uint32_t brackets = (m.opening | m.closing) & ~string_mask(m.quotes, &n->in_string), before;
	size_t bytes = 32;

	/* As far as no quote can be escaped; then from what is after the escaped one. */
	if (m.backslashes) {
		before = (m.backslashes & -m.backslashes) - 1;
		brackets &= before;
		n->in_string = was_in_string ^ (bool)__builtin_parity(m.quotes & before);
		bytes = (size_t)__builtin_ctz(m.backslashes) + 1 + n->in_string;
	}
	for (; brackets; brackets &= brackets - 1) {
		if (m.opening & brackets & -brackets) {
			n->depth++;
		} else if (!--n->depth) {
			p += __builtin_ctz(brackets);
			*done = true;
			return p < n->end ? p + 1 : NULL;
		}
	}
	p += bytes;
	*done = p >= n->end;
	return *done ? NULL : p;
}

#ifdef __x86_64__

/* In ASCII a square and a curly bracket differ in bit 5 only. */
__attribute__((target("avx2")))
static const char *nested_end_avx2(const char *p, const char *end)
{
	const __m256i quote = _mm256_set1_epi8('"'), backslash = _mm256_set1_epi8('\\'), bit5 = _mm256_set1_epi8(0x20);
	const __m256i opening = _mm256_set1_epi8('{'), closing = _mm256_set1_epi8('}');
	struct nesting n = { .end = end };
	bool done = false;

	while (!done) {
		__m256i v = _mm256_loadu_si256((const __m256i *)p), curly = _mm256_or_si256(v, bit5);
		struct masks m = {
			.quotes = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, quote)),
			.backslashes = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, backslash)),
			.opening = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(curly, opening)),
			.closing = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(curly, closing)),
		};

		p = step(&n, p, m, &done);
	}
	return p;
}

/* Of two halves. */
static inline uint32_t equal_mask(__m128i low, __m128i high, char c)
{
	const __m128i all = _mm_set1_epi8(c);

	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(low, all)) |
	       (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(high, all)) << 16;
}

static inline struct masks masks_at(const char *p)
{
	__m128i low = _mm_loadu_si128((const __m128i *)p), high = _mm_loadu_si128((const __m128i *)(p + 16));
	__m128i low_curly = _mm_or_si128(low, _mm_set1_epi8(0x20)), high_curly = _mm_or_si128(high, _mm_set1_epi8(0x20));

	return (struct masks){
		.quotes = equal_mask(low, high, '"'), .backslashes = equal_mask(low, high, '\\'),
		.opening = equal_mask(low_curly, high_curly, '{'), .closing = equal_mask(low_curly, high_curly, '}'),
	};
}

#else

static inline struct masks masks_at(const char *p)
{
	struct masks m = { 0 };
	unsigned int i;

	for (i = 0; i < 32; i++) {
		m.quotes |= (uint32_t)(p[i] == '"') << i;
		m.backslashes |= (uint32_t)(p[i] == '\\') << i;
		m.opening |= (uint32_t)((p[i] | 0x20) == '{') << i;
		m.closing |= (uint32_t)((p[i] | 0x20) == '}') << i;
	}
	return m;
}

#endif

const char *chrome_nested_end_plain(const char *p, const char *end)
{
	struct nesting n = { .end = end };
	bool done = false;

	while (!done)
		p = step(&n, p, masks_at(p), &done);
	return p;
}

const char *chrome_nested_end(const char *p, const char *end)
{
	if (p >= end)
		return NULL;
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2"))
		return nested_end_avx2(p, end);
#endif
	return chrome_nested_end_plain(p, end);
}
