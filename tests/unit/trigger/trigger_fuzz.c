// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer entry for triggers: any words, and any records. What fires is above its threshold and as long as its
 * ends say, and records one by one give the same as all at once.
 *
 * The input: words, each in a line, up to an empty line; records follow.
 */
#include <stdlib.h>
#include <string.h>

#include "fxt/format.h"
#include "trigger/trigger.h"

#define WORDS_MAX	8U
#define RECORD_WORDS	2048U
#define ROUNDS		12U
#define ROUND_NS	(1ULL << 34)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
	if (!holds)
		abort();
}

struct run {
	struct triggers *t;
	uint64_t fired, sum;	/* what came out */
	uint64_t now_ns;
};

/* The first line of @data into @line; how many bytes it takes. */
static size_t take_line(const uint8_t *data, size_t size, char line[128])
{
	const uint8_t *end = memchr(data, '\n', size);
	const size_t len = end ? (size_t)(end - data) : size, kept = len < 127 ? len : 127;

	memcpy(line, data, kept);
	line[kept] = 0;
	return len + (end != NULL);
}

static void add(struct run *r, const char *line)
{
	char why[TRIGGER_WHY_BYTES] = "";
	const int err = triggers_add(r->t, line, why, sizeof(why));

	check(!err || (err == -22 && why[0] && strlen(why) < sizeof(why) && !strchr(why, '\n')));
}

/* Most threads do the same all the time. */
static int answer(void *ctx, uint32_t tid, struct trigger_answer *out)
{
	const struct run *r = ctx;

	*out = (struct trigger_answer){
		.before_ns = r->now_ns + 1, .after_ns = r->now_ns + 2, .state = "RSDTZ"[tid / 4 % 5],
		.switches = tid % 4 ? tid : r->now_ns,
	};
	return tid % 16 == 1 ? -3 : 0;
}

static void look(struct run *r)
{
	const struct trigger_fired *f;

	while ((f = triggers_next(r->t))) {
		check(f->value >= f->threshold && f->from_ns <= f->to_ns);
		check(memchr(f->comm, 0, sizeof(f->comm)) && memchr(f->text, 0, sizeof(f->text)));
		if (!strcmp(f->name, "runq") || !strcmp(f->name, "offcpu") || !strcmp(f->name, "slice"))
			check(f->value == f->to_ns - f->from_ns && f->value > f->threshold);
		r->fired++;
		r->sum += f->value * 3 + f->from_ns * 5 + f->thread * 7;
	}
}

/* All at once, or record by record. */
static void run(struct run *r, const uint8_t *words, size_t words_size, const uint64_t *rec, size_t cnt, bool single)
{
	char line[128];
	unsigned int i;
	size_t used, at;

	check(!triggers_open(&r->t));
	triggers_ask(r->t, answer, r);
	for (i = 0; i < WORDS_MAX && words_size; i++) {
		used = take_line(words, words_size, line);
		add(r, line);
		words += used;
		words_size -= used;
	}
	for (at = 0; at < cnt;) {
		const size_t len = FXT_GET(rec[at], FXT_F_TYPE) == FXT_LARGE ? 0 : FXT_GET(rec[at], FXT_F_SIZE);
		const size_t step = single && len && len <= cnt - at ? len : cnt - at;

		if (triggers_take(r->t, rec + at, step * 8) == -22)
			break;
		at += step;
	}
	for (i = 0; i < ROUNDS; i++) {
		r->now_ns = i * ROUND_NS;
		check(!triggers_round(r->t, r->now_ns));
		look(r);
	}
	check(!triggers_round(r->t, (uint64_t)INT64_MAX));
	look(r);
	triggers_close(r->t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *empty = memmem(data, size, "\n\n", 2);
	const size_t words_size = empty ? (size_t)(empty - data) : 0, skip = empty ? words_size + 2 : 0;
	struct run whole = { .t = NULL }, single = { .t = NULL };
	uint64_t *rec;
	size_t cnt;

	cnt = (size - skip) / 8 < RECORD_WORDS ? (size - skip) / 8 : RECORD_WORDS;
	rec = malloc(cnt * 8 + 8);
	check(rec != NULL);
	memcpy(rec, data + skip, cnt * 8);
	run(&whole, data, words_size, rec, cnt, false);
	run(&single, data, words_size, rec, cnt, true);
	check(whole.fired == single.fired && whole.sum == single.sum);
	free(rec);
	return 0;
}
