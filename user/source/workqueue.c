// SPDX-License-Identifier: GPL-2.0
/*
 * Work items as slices, named by their functions.
 */
#include <stdio.h>

#include "bpf/abi/raw.h"
#include "bpf/abi/workqueue.h"
#include "capture/features.h"
#include "capture/source.h"
#include "capture/tracks.h"
#include "fxt/fxt.h"
#include "kernel/symbols.h"
#include "table.h"

/* Without symbols functions go by their addresses. The state is these symbols or NULL. */
static int open_symbols(void **s, const struct source_ctx *c, char *why, size_t size)
{
	struct kernel_symbols *symbols = NULL;
	char path[256];

	(void)why, (void)size;
	snprintf(path, sizeof(path), "%s/proc/kallsyms", c->root);
	kernel_symbols_open(&symbols, path);
	*s = symbols;
	return 0;
}

/* As the kernel prints it. */
static struct fxt_str function_name(struct kernel_symbols *symbols, uint64_t addr, char *buf, size_t size)
{
	const struct kernel_symbol *symbol = symbols ? kernel_symbols_find_late(symbols, addr) : NULL;

	if (!symbol)
		snprintf(buf, size, "0x%llx", (unsigned long long)addr);
	else if (symbol->module)
		snprintf(buf, size, "%s [%s]", symbol->name, symbol->module);
	else
		return fxt_str(symbol->name);
	return fxt_str(buf);
}

static int decode(void *s, struct source_ctx *c, const uint64_t *rec, unsigned int *written)
{
	char name[256];
	struct fxt_event event = {
		.type = FXT_DURATION_COMPLETE, .ts = rec[RAW_TS], .id = rec[OPEN_END_TS],
		.thread = { .process = rec[RAW_PROCESS], .thread = rec[RAW_THREAD] },
		.category = fxt_str("workqueue"),
		.name = function_name(s, rec[WORK_FUNCTION], name, sizeof(name)),
	};
	struct fxt_arg args[4] = { fxt_arg_ptr("work", rec[WORK_ITEM]) };
	unsigned int n = 1;
	int err = 0;

	if (rec[OPEN_PLACE] & OPEN_SOFTIRQ)
		err = tracks_get_cpu(c->tracks, c->w, PSEUDO_SOFTIRQ, FXT_GET(rec[OPEN_PLACE], OPEN_F_CPU), &event.thread);
	if (rec[WORK_QUEUED_TS])
		args[n++] = fxt_arg_u64("queued_ns", rec[RAW_TS] - rec[WORK_QUEUED_TS]);
	if (rec[OPEN_PLACE] & OPEN_UNFINISHED)
		args[n++] = fxt_arg_bool("unfinished", true);
	if (rec[OPEN_PLACE] & OPEN_CONTINUES)
		args[n++] = fxt_arg_bool("continues", true);
	err = err ?: fxt_write_event(c->w, &event, args, n);
	*written = !err;
	return err;
}

static int poll_works(void *s, struct source_ctx *c, uint64_t now_ns, bool final)
{
	return final ? source_write_open(&source_workqueue, s, c, "open_works", now_ns, false, &c->events) : 0;
}

static int write_works(void *s, struct source_ctx *c, uint64_t cut_ns, uint64_t *written)
{
	return source_write_open(&source_workqueue, s, c, "open_works", cut_ns, true, written);
}

static void close_symbols(void *s)
{
	kernel_symbols_close(s);
}

const struct source_ops source_workqueue = {
	.name = "workqueue",
	.about = "kernel work items by function, with the time each was queued",
	.shows = "slices on the worker threads, those of BH workqueues on tracks \"softirq CPU N\"",
	.tracepoints = { { "workqueue_queue_work", 3 }, { "workqueue_execute_start", 1 },
			 { "workqueue_execute_end", 1 } },
	.features = (const struct feature[]){
		FEATURE_TRACEPOINT("workqueue_execute_start", 1, "-e workqueue"),
		{ 0 } },
	.programs = { "on_workqueue_queue_work", "on_workqueue_execute_start", "on_workqueue_execute_end" },
	.maps = { "open_works", "queued_works" },
	.class = LEDGER_EVENTS, .raw_words_min = WORK_WORDS,
	.shed_class = SHED_PRESETS, .shed_runs = 2,
	.open = open_symbols, .decode = decode, .poll = poll_works, .write_open = write_works, .close = close_symbols,
};
