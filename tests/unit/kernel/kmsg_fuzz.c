// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer entry for records of /dev/kmsg: the input as one, and the input as a text that is
 * escaped, put into one and read back.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fxt/utf8.h"
#include "kernel/kmsg.h"

static const char head[] = "6,1,2,-;";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
	if (!holds)
		abort();
}

static void parse_any(const uint8_t *data, size_t size)
{
	char *record = malloc(size + 1);
	struct kmsg k;
	unsigned int i;

	check(record != NULL);
	memcpy(record, data, size);
	if (kmsg_parse(record, size, &k)) {
		check(k.text >= record && k.text + k.len <= record + size && !k.text[k.len]);
		check(k.pairs_cnt <= KMSG_PAIRS_MAX);
		for (i = 0; i < k.pairs_cnt; i++)
			check(strlen(k.pairs[i].key) + strlen(k.pairs[i].value) < size);
	}
	free(record);
}

static void escape_and_back(const uint8_t *data, size_t size)
{
	const size_t head_len = strlen(head);
	char *record = malloc(head_len + 4 * size + 1);
	struct kmsg k;
	size_t len;

	check(record != NULL);
	memcpy(record, head, head_len);
	len = kmsg_escape(record + head_len, (const char *)data, size);
	check(len <= 4 * size && fxt_utf8_valid(record + head_len, len));
	/* A newline would end the text of a record. */
	if (!memchr(data, '\n', size)) {
		check(kmsg_parse(record, head_len + len, &k));
		check(k.len == size && !memcmp(k.text, data, size));
	}
	free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t nothing[1];

	/* An empty input may have no address. */
	parse_any(size ? data : nothing, size);
	escape_and_back(size ? data : nothing, size);
	return 0;
}
