/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer entry for the FXT reader. The first byte chooses how the input
 * arrives; the promises of fxt_walk() must hold for anything.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "fxt_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fxt_walk_options how = { 0 }, whole = { 0 };
	struct fxt_walk a, b;

	if (!size)
		return 0;
	how.chunk = data[0] & 0x1f;
	how.err = data[0] & 0x20 ? -11 : 0;
	how.skip_payload = data[0] & 0x40;
	whole.skip_payload = how.skip_payload;
	a = fxt_walk(data + 1, size - 1, how);
	b = fxt_walk(data + 1, size - 1, whole);
	if (a.broken || b.broken || a.digest != b.digest) {
		fprintf(stderr, "%s, %s, digests %llx %llx\n", a.broken, b.broken,
			(unsigned long long)a.digest, (unsigned long long)b.digest);
		abort();
	}
	return 0;
}
