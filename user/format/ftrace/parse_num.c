/* SPDX-License-Identifier: GPL-2.0 */
/* The numbers in lines of ftrace text: integers in, integers out, all bounded. */
#include "parse_p.h"

#define NSEC_PER_SEC 1000000000ULL

const char parse_unknown[] = "no known form of line";

static const char cpu_too_large[] = "number of the CPU above 4095";
static const char tid_too_large[] = "thread id above 2147483647";
const char parse_too_late[] = "time stamp too large";

const unsigned char parse_classes[256] = {
	['$'] = PARSE_NAME,
	['_'] = PARSE_NAME,
	['.'] = PARSE_NAME | PARSE_FLAG | PARSE_DEPTH,
	['0' ... '9'] = PARSE_NAME | PARSE_DEPTH,
	['a' ... 'f'] = PARSE_NAME | PARSE_FLAG | PARSE_DEPTH,
	['g' ... 'z'] = PARSE_NAME | PARSE_FLAG,
	['A' ... 'Z'] = PARSE_NAME | PARSE_FLAG,
};

unsigned int parse_digits(const char **s, const char *e, uint64_t *v)
{
	const char *q = *s;
	uint64_t sum = 0;
	unsigned int cnt;

	for (; q < e && is_digit(*q); q++) {
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, *q - '0', &sum))
			return 0;
	}
	cnt = q - *s;
	if (cnt) {
		*v = sum;
		*s = q;
	}
	return cnt;
}

unsigned int parse_hex(const char **s, const char *e, uint64_t *v)
{
	const char *q = *s;
	uint64_t sum = 0;
	unsigned int cnt;

	for (; q < e && is_hex(*q); q++) {
		if (sum >> 60)
			return 0;
		sum = sum << 4 | (is_digit(*q) ? *q - '0' : (*q | 0x20) - 'a' + 10);
	}
	cnt = q - *s;
	if (cnt) {
		*v = sum;
		*s = q;
	}
	return cnt;
}

/* The digits after a point, as if there were @digits of them; what is finer is cut. */
bool parse_fraction(const char **s, const char *e, unsigned int digits, uint64_t *v)
{
	const char *q = *s;
	uint64_t sum = 0;

	if (q >= e || !is_digit(*q))
		return false;
	for (; q < e && is_digit(*q); q++) {
		if (!digits)
			continue;
		sum = sum * 10 + (*q - '0');
		digits--;
	}
	while (digits--)
		sum *= 10;
	*v = sum;
	*s = q;
	return true;
}

static const char *skip_digits(const char *s, const char *e)
{
	while (s < e && is_digit(*s))
		s++;
	return s;
}

/* An integer of at most @max: NULL, parse_unknown, or @reason if it is larger. */
static const char *parse_id(const char **s, const char *e, uint64_t max, const char *reason,
			    int32_t *id)
{
	const char *end = skip_digits(*s, e);
	uint64_t v;

	if (end == *s)
		return parse_unknown;
	if (parse_digits(s, e, &v) && v <= max) {
		*id = v;
		return NULL;
	}
	*s = end;
	return reason;
}

const char *parse_cpu(const char **s, const char *e, int32_t *cpu)
{
	return parse_id(s, e, PARSE_CPU_MAX, cpu_too_large, cpu);
}

const char *parse_tid(const char **s, const char *e, int32_t *tid)
{
	return parse_id(s, e, INT32_MAX, tid_too_large, tid);
}

const char *parse_time(const char **s, const char *e, struct ftrace_event *ev)
{
	const char *q = skip_digits(*s, e), *reason = NULL;
	uint64_t v = 0, ns;

	if (q == *s)
		return parse_unknown;
	if (!parse_digits(s, e, &v) || v > INT64_MAX)
		reason = parse_too_late;
	ev->clock = MODEL_CLOCK_TICKS;
	ev->ts = v;
	if (q < e && *q == '.') {
		q++;
		if (!parse_fraction(&q, e, 9, &ns))
			return parse_unknown;
		if (v >= INT64_MAX / NSEC_PER_SEC)
			reason = parse_too_late;
		ev->clock = MODEL_CLOCK_NS;
		ev->ts = v * NSEC_PER_SEC + ns;
	}
	*s = q;
	return reason;
}
