// SPDX-License-Identifier: GPL-2.0
/*
 * Work items as slices, named by their functions.
 */
#include <stdio.h>

#include "../../bpf/presets.h"
#include "events_p.h"
#include "kernel_symbols.h"
#include "presets.h"

/* As the kernel prints it. */
static struct fxt_str function_name(struct presets *p, uint64_t addr, char *buf, size_t size)
{
	const struct kernel_symbol *symbol = p->symbols ? kernel_symbols_find_late(p->symbols, addr) : NULL;

	if (!symbol)
		snprintf(buf, size, "0x%llx", (unsigned long long)addr);
	else if (symbol->module)
		snprintf(buf, size, "%s [%s]", symbol->name, symbol->module);
	else
		return fxt_str(symbol->name);
	return fxt_str(buf);
}

int works_write(struct events *e, struct fxt_writer *w, const uint64_t *rec, unsigned int *written)
{
	char name[256];
	struct fxt_event event = {
		.type = FXT_DURATION_COMPLETE, .ts = rec[RAW_TS], .id = rec[OPEN_END_TS],
		.thread = { .process = rec[RAW_PROCESS], .thread = rec[RAW_THREAD] },
		.category = fxt_str("workqueue"),
		.name = function_name(e->presets, rec[WORK_FUNCTION], name, sizeof(name)),
	};
	struct fxt_arg args[3] = { fxt_arg_ptr("work", rec[WORK_ITEM]) };
	unsigned int n = 1;
	int err = 0;

	if (rec[OPEN_PLACE] & OPEN_SOFTIRQ)
		err = presets_track(e->presets, w, PSEUDO_SOFTIRQ, FXT_GET(rec[OPEN_PLACE], OPEN_F_CPU), &event.thread);
	if (rec[WORK_QUEUED_TS])
		args[n++] = fxt_arg_u64("queued_ns", rec[RAW_TS] - rec[WORK_QUEUED_TS]);
	if (rec[OPEN_PLACE] & OPEN_UNFINISHED)
		args[n++] = fxt_arg_bool("unfinished", true);
	err = err ?: fxt_write_event(w, &event, args, n);
	*written = !err;
	return err;
}
