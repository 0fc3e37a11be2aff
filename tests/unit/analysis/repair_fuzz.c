// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer entry for the repair of traces: the promises of repair_walk() must hold for anything.
 */
#include <stdio.h>
#include <stdlib.h>

#include "repair_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct repair_walk w;

	repair_walk_run(&w, data, size);
	if (w.broken) {
		fprintf(stderr, "%s (%s)\n", w.broken, w.first);
		abort();
	}
	repair_walk_free(&w);
	return 0;
}
