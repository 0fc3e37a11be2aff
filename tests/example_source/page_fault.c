// SPDX-License-Identifier: GPL-2.0
/*
 * Page faults of programs as instants on the threads that have them.
 */
#include "bpf/abi/raw.h"
#include "capture/features.h"
#include "capture/source.h"
#include "fxt/fxt.h"
#include "table.h"

/* Of the error code of x86: the access was a write. */
#define WRITE	(1U << 1)

static int decode(void *s, struct source_ctx *c, const uint64_t *rec, unsigned int *written)
{
	const struct fxt_event event = {
		.type = FXT_INSTANT, .ts = rec[RAW_TS],
		.thread = { .process = rec[RAW_PROCESS], .thread = rec[RAW_THREAD] },
		.category = fxt_str("exceptions"), .name = fxt_str("page_fault"),
	};
	const struct fxt_arg args[] = {
		fxt_arg_ptr("address", rec[RAW_WORDS]),
		fxt_arg_bool("write", rec[RAW_WORDS + 1] & WRITE),
	};
	int err = fxt_write_event(c->w, &event, args, 2);

	(void)s;
	*written = !err;
	return err;
}

const struct source_ops source_page_fault = {
	.name = "page-fault",
	.about = "page faults of programs",
	.shows = "instants of category \"exceptions\" on the threads that have them",
	.tracepoints = { { "page_fault_user", 3 } },
	.features = (const struct feature[]){ FEATURE_TRACEPOINT("page_fault_user", 3, "-e page-fault"), { 0 } },
	.programs = { "on_page_fault_user" },
	.class = LEDGER_EVENTS, .raw_words_min = RAW_WORDS + 2,
	.typical_ns = 150, .shed_class = SHED_PRESETS, .shed_runs = 1,
	.decode = decode,
};
