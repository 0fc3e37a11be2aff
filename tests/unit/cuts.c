// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cuts.h"
#include "fxt/format.h"

#define AROUND	2

static size_t cut_step(void)
{
	const char *text = getenv("CUT_STEP");
	char *end;
	unsigned long step;

	if (!text || !*text)
		return CUT_STEP_USUAL;
	step = strtoul(text, &end, 10);
	if (*end || !step)
		fail_msg("CUT_STEP=%s is no number above 0", text);
	return step;
}

void cuts_init(struct cuts *c, size_t len)
{
	size_t at;

	*c = (struct cuts){ .at = calloc(len + 1, 1), .len = len, .step = cut_step() };
	assert_non_null(c->at);
	for (at = 0; at <= len; at += c->step)
		c->at[at] = 1;
}

void cuts_border(struct cuts *c, size_t at)
{
	const size_t every = c->step / CUT_STEP_USUAL ? c->step / CUT_STEP_USUAL : 1;
	size_t i;

	if (c->borders++ % every)
		return;
	for (i = at < AROUND ? 0 : at - AROUND; i <= at + AROUND && i <= c->len; i++)
		c->at[i] = 1;
}

void cuts_lines(struct cuts *c, const char *text)
{
	const char *line;

	for (line = text; line; line = memchr(line, '\n', c->len - (size_t)(line - text))) {
		line += line != text;
		cuts_border(c, (size_t)(line - text));
	}
}

static uint64_t record_bytes(const char *record)
{
	uint64_t word;

	memcpy(&word, record, sizeof(word));
	return 8 * FXT_RECORD_WORDS(word);
}

void cuts_records(struct cuts *c, const void *data)
{
	uint64_t bytes;
	size_t at;

	for (at = 0; c->len - at >= 8; at += bytes) {
		cuts_border(c, at);
		bytes = record_bytes((const char *)data + at);
		if (!bytes || bytes > c->len - at)
			fail_msg("no trace: the record at %zu has %llu bytes", at, (unsigned long long)bytes);
	}
	cuts_border(c, c->len);
}

size_t cuts_next(const struct cuts *c, size_t from)
{
	while (from <= c->len && !c->at[from])
		from++;
	return from;
}

void cuts_free(struct cuts *c)
{
	free(c->at);
}

size_t cuts_tries(size_t most)
{
	const size_t step = cut_step();

	return step == 1 ? most : step <= CUT_STEP_USUAL ? most / 4 : most / 50;
}
