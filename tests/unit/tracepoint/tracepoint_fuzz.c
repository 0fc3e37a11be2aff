// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzer of tracepoints: any format file, any filter, any record, which are the input's parts
 * between NULs. What comes out must be arguments that the writer takes, and text that is inside
 * of what was given.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi/tracepoint.h"
#include "fxt/fxt.h"
#include "tracepoint/filter.h"
#include "tracepoint/tracepoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* The library forgets some of what it cannot make sense of. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

static int swallow(void *ctx, const void *data, size_t len)
{
	(void)ctx, (void)data, (void)len;
	return 0;
}

static const char *literal(void *ctx, uint64_t addr)
{
	(void)ctx;
	return addr & 1 ? "literal" : NULL;
}

static bool value_of(void *ctx, const char *name, int64_t *value)
{
	(void)ctx;
	*value = (int64_t)strlen(name);
	return *value & 1;
}

static void match(const struct tracepoint_info *info, const uint8_t *data, size_t len)
{
	uint8_t *record = malloc(len + !len);	/* of its own, for the sanitizer to know its end */

	if (record) {
		memcpy(record, data, len);
		tracepoint_filter_matches(info, record, len);
	}
	free(record);
}

static void check_filter(const struct tracepoint_format *format, const uint8_t *text, size_t len)
{
	struct tracepoint_info info = { 0 };
	char *copy = malloc(len + 1), why[64];
	unsigned int i;

	if (!copy)
		return;
	memcpy(copy, text, len);
	copy[len] = 0;
	if (!tracepoint_filter_compile(&info, format, copy, why, sizeof(why))) {
		if (!info.tests || info.tests > FIELD_TESTS_MAX)
			abort();
		/* Each continues after itself, so every way through them ends. */
		for (i = 0; i < info.tests; i++)
			if ((info.test[i].yes <= i || info.test[i].no <= i) ||
			    (info.test[i].yes >= info.tests && info.test[i].yes < FIELD_NO) ||
			    (info.test[i].no >= info.tests && info.test[i].no < FIELD_NO))
				abort();
		match(&info, text, len);
	} else if (!why[0]) {
		abort();
	}
	free(copy);
}

static void check_record(const struct tracepoint_format *format, const uint8_t *data, size_t len)
{
	const struct tracepoint_names names = { .literal = literal };
	const struct fxt_event event = { .type = FXT_INSTANT, .category = fxt_str("c"), .name = fxt_str("n") };
	char *text = malloc(TRACEPOINT_TEXT_BYTES);
	uint8_t *record = malloc(len + !len);	/* of its own, for the sanitizer to know its end */
	struct fxt_arg args[FXT_ARGS_MAX];
	struct fxt_writer *w;
	unsigned int n;

	if (text && record && !fxt_writer_open(&w, swallow, NULL)) {
		memcpy(record, data, len);
		n = tracepoint_format_decode(format, &names, record, len, args, text);
		if (n > FXT_ARGS_MAX || fxt_write_event(w, &event, args, n))
			abort();
		fxt_writer_close(w);
	}
	free(text);
	free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *filter = memchr(data, 0, size), *record;
	struct tracepoint_format *format;
	size_t len = filter ? (size_t)(filter - data) : size;

	if (tracepoint_format_open(&format, "system", (const char *)data, len, value_of, NULL))
		return 0;
	if (filter) {
		filter++;
		record = memchr(filter, 0, size - len - 1);
		check_filter(format, filter, record ? (size_t)(record - filter) : size - len - 1);
		if (record)
			check_record(format, record + 1, (size_t)(data + size - record - 1));
	}
	check_record(format, data, len);
	tracepoint_format_close(format);
	return 0;
}
