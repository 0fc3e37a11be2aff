// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer entry for the scanner of Trace Event JSON: the size of the pieces that the input
 * comes in makes no difference, and neither does an error after its last byte.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "scan_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__ubsan_default_options(void);

/* What is undefined is a finding, too. */
const char *__ubsan_default_options(void)
{
	return "halt_on_error=1:print_stacktrace=1";
}

static struct scan_walk walk(const uint8_t *data, size_t size, size_t chunk, int err)
{
	struct scan_walk w = scan_walk((const char *)data, size, (struct scan_walk_options){ .chunk = chunk, .err = err });

	if (w.broken) {
		fprintf(stderr, "not kept: %s\n", w.broken);
		abort();
	}
	return w;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t chunks[] = { 1, 7, 100, 4096 };
	struct scan_walk whole = walk(data, size, 0, 0);
	struct scan_walk pieces = walk(data, size, chunks[size % 4], 0);
	struct scan_walk failing = walk(data, size, 0, -EIO);

	if (whole.digest != pieces.digest || whole.end || pieces.end) {
		fprintf(stderr, "%llu events in one piece, %llu in several\n", (unsigned long long)whole.counts.events,
			(unsigned long long)pieces.counts.events);
		abort();
	}
	if (failing.end != -EIO && failing.digest != whole.digest)
		abort();
	return 0;
}
