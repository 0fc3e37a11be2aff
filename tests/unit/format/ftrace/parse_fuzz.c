/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libFuzzer entry for the line parser. The first byte chooses the size of the
 * pieces the text arrives in. The promises of parse_walk() must hold for anything,
 * and neither the pieces nor the fast path may make a difference.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "parse_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct parse_walk_options pieces = { 0 }, general = { .general = true }, whole = { 0 };
	const char *text = (const char *)data + 1;
	struct parse_walk a, b, c;

	if (!size)
		return 0;
	pieces.chunk = 1 + data[0];
	a = parse_walk(text, size - 1, whole);
	b = parse_walk(text, size - 1, pieces);
	c = parse_walk(text, size - 1, general);
	ftrace_parser_knows(text, size - 1);
	if (a.broken || b.broken || c.broken || a.digest != b.digest || a.digest != c.digest) {
		fprintf(stderr, "%s, %s, %s\n", a.broken, b.broken, c.broken);
		fprintf(stderr, "digests %" PRIx64 ", in pieces %" PRIx64 ", general %" PRIx64 "\n",
			a.digest, b.digest, c.digest);
		abort();
	}
	return 0;
}
