// SPDX-License-Identifier: GPL-2.0
/*
 * Runs triggers over a recording, for tests/trigger/judge.py:
 *
 *	trigger_records FILE ROUND WORD...
 *
 * FILE is plain FXT. After each ROUND records triggers_round() is called with the earliest time of the
 * records that follow, which is what a drain knows at best; 0: at the end only. Prints what fired: word, value,
 * from, to, thread, cpu, whether it goes on, whether it is partial, comm.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fxt/format.h"
#include "trigger/trigger.h"

static size_t words_of(const uint64_t *rec)
{
	const size_t words = FXT_GET(*rec, FXT_F_SIZE);

	return words ? words : 1;
}

static uint64_t time_of(const uint64_t *rec)
{
	return FXT_GET(*rec, FXT_F_TYPE) == FXT_SCHEDULING && words_of(rec) > 1 ? rec[1] : UINT64_MAX;
}

/* For each record the earliest time from there on, by its first word. */
static uint64_t *earliest(const uint64_t *rec, size_t words)
{
	uint64_t *out = malloc((words + 1) * sizeof(*out)), least = UINT64_MAX;
	size_t i;

	if (!out)
		return NULL;
	for (i = 0; i < words; i++)
		out[i] = UINT64_MAX;
	for (i = 0; i < words; i += words_of(rec + i))
		out[i] = time_of(rec + i);
	for (i = words; i-- > 0;) {
		least = out[i] < least ? out[i] : least;
		out[i] = least;
	}
	out[words] = UINT64_MAX;
	return out;
}

static uint64_t latest(const uint64_t *rec, size_t words)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < words; i += words_of(rec + i))
		if (time_of(rec + i) != UINT64_MAX && time_of(rec + i) > most)
			most = time_of(rec + i);
	return most;
}

static void print_fired(struct triggers *t)
{
	const struct trigger_fired *f;

	while ((f = triggers_next(t)))
		printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%d\t%d\t%d\t%s\n", f->word, f->value,
		       f->from_ns, f->to_ns, f->thread, f->cpu, f->is_ongoing, f->is_partial, f->comm);
}

static int run(struct triggers *t, const uint64_t *rec, size_t words, unsigned long round)
{
	uint64_t *least = earliest(rec, words);
	unsigned long records = 0;
	size_t i, len;
	int err = least ? 0 : -1;

	for (i = 0; !err && i < words; i += len) {
		len = words_of(rec + i);
		err = triggers_take(t, rec + i, len * 8);
		if (!err && round && !(++records % round) && least[i + len] != UINT64_MAX)
			err = triggers_round(t, least[i + len] + TRIGGER_SETTLE_NS);
		print_fired(t);
	}
	if (!err)
		err = triggers_round(t, latest(rec, words) + 1 + TRIGGER_SETTLE_NS);
	print_fired(t);
	free(least);
	return err;
}

static void *read_all(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *data = NULL;
	long size = -1;

	if (f && !fseek(f, 0, SEEK_END) && (size = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET))
		data = malloc((size_t)size + 1);
	if (data && fread(data, 1, (size_t)size, f) != (size_t)size) {
		free(data);
		data = NULL;
	}
	if (f)
		fclose(f);
	*len = (size_t)size;
	return data;
}

int main(int argc, char **argv)
{
	char why[TRIGGER_WHY_BYTES];
	struct trigger_counts counts;
	struct triggers *t;
	uint64_t *data;
	size_t len;
	int i, err;

	data = argc < 4 ? NULL : read_all(argv[1], &len);
	if (!data || triggers_open(&t))
		return 2;
	for (i = 3; i < argc; i++)
		if (triggers_add(t, argv[i], why, sizeof(why))) {
			fprintf(stderr, "%s\n", why);
			return 2;
		}
	err = run(t, data, len / 8, strtoul(argv[2], NULL, 10));
	for (i = 0; triggers_counts(t, (unsigned int)i, &counts); i++)
		if (counts.suppressed)
			err = fprintf(stderr, "%s: %" PRIu64 " suppressed\n", counts.word, counts.suppressed);
	triggers_close(t);
	free(data);
	return err ? 1 : 0;
}
