/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The line parser and real traces that are damaged, or cut at any byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cuts.h"
#include "parse_samples.h"

#define MUTATIONS     300   /* of each sample */
#define CUT_BYTES     12000 /* of a sample that is cut at every byte */
#define PAIRS_MAX     256

/* ---- changed --------------------------------------------------------------- */

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed * 0x2545f4914f6cdd1dULL >> 16;
}

/* A byte becomes another, one that means something, or goes. */
static void mutate(struct sample *s, uint64_t *seed)
{
	static const char telling[] = " \n\r\t-:()[]0123456789.=#|<>+abdhs";
	size_t pos = next_random(seed) % s->len;

	switch (next_random(seed) % 3) {
	case 0:
		s->data[pos] = next_random(seed);
		break;
	case 1:
		s->data[pos] = telling[next_random(seed) % (sizeof(telling) - 1)];
		break;
	default:
		memmove(s->data + pos, s->data + pos + 1, --s->len - pos);
	}
}

static void check_mutations(const char *name, struct sample whole)
{
	uint64_t seed = 0x9e3779b97f4a7c15ULL;
	unsigned int i, k;

	for (i = 0; i < cuts_tries(MUTATIONS); i++) {
		size_t from = next_random(&seed) % whole.len;
		struct sample s = { whole.data + from, whole.len - from };
		char copy[3000];

		s.len = s.len < sizeof(copy) ? s.len : sizeof(copy);
		memcpy(copy, s.data, s.len);
		s.data = copy;
		for (k = next_random(&seed) % 60; k && s.len; k--)
			mutate(&s, &seed);
		same_walk(name, walk_whole(s), walk_general(s),
			  "damaged: other events without the fast path");
		same_walk(name, walk_whole(s), walk_pieces(s, 1 + i % 90),
			  "damaged: other events in pieces");
	}
}

static void test_mutations(void **state)
{
	(void)state;
	each_sample(check_mutations);
}

/* ---- cut anywhere ---------------------------------------------------------- */

struct pairs {
	struct {
		int32_t tid;
		size_t len;
		char comm[16];
	} pair[PAIRS_MAX];
	unsigned int cnt;
	const struct pairs *known; /* NULL: these are being collected */
};

static bool find_pair(const struct pairs *p, const struct ftrace_event *ev)
{
	unsigned int i;

	for (i = 0; i < p->cnt; i++) {
		if (p->pair[i].tid == ev->tid && p->pair[i].len == ev->comm.len &&
		    !memcmp(p->pair[i].comm, ev->comm.data, ev->comm.len))
			return true;
	}
	return false;
}

static int on_pair(void *ctx, const struct ftrace_event *ev)
{
	struct pairs *p = ctx;

	if (ev->tid == FTRACE_ID_UNKNOWN)
		return 0;
	assert_true(ev->comm.len <= 16);
	if (p->known) {
		if (!find_pair(p->known, ev))
			fail_msg("thread %d '%.*s' was invented", ev->tid, (int)ev->comm.len,
				 ev->comm.data);
	} else if (!find_pair(p, ev)) {
		assert_true(p->cnt < PAIRS_MAX);
		p->pair[p->cnt].tid = ev->tid;
		p->pair[p->cnt].len = ev->comm.len;
		memcpy(p->pair[p->cnt++].comm, ev->comm.data, ev->comm.len);
	}
	return 0;
}

static void cut_everywhere(const char *name)
{
	static struct pairs all, some;
	struct parse_walk_options how = { .each = on_pair, .ctx = &all };
	struct sample s = read_sample(name);
	struct parse_walk whole, part;
	struct cuts places;
	size_t len;

	if (!s.data)
		skip();
	if (s.len > CUT_BYTES)
		s.len = (char *)memrchr(s.data, '\n', CUT_BYTES) + 1 - s.data;
	all.cnt = 0;
	some.known = &all;
	whole = parse_walk(s.data, s.len, how);
	how.ctx = &some;
	cuts_init(&places, s.len);
	cuts_lines(&places, s.data);
	for (len = 0; len < s.len; len = cuts_next(&places, len + 1)) {
		part = parse_walk(s.data, len, how);
		if (part.broken)
			fail_msg("%s cut at %zu: %s", name, len, part.broken);
		assert_true(part.stats.records <= whole.stats.records);
		assert_true(part.stats.unparsed <= whole.stats.unparsed + 1);
		assert_true(part.stats.lost_events <= whole.stats.lost_events);
	}
	cuts_free(&places);
	free(s.data);
}

static void test_cut(void **state)
{
	static const char *const names[] = {
		"damaged-small.txt",
		"names-tgid-7.2.txt",
		"markers-misc-6.12.txt",
		"function-graph-opts-7.2.txt",
		"function-graph-switch-7.2.txt",
		"tracecmd-report-6.1.txt",
		"perf-script-6.18.txt",
		"latency-format-6.12.txt",
		"stacktrace-7.2.txt",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cut_everywhere(names[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
