// SPDX-License-Identifier: GPL-2.0
/*
 * See kernel_frames.h.
 */
#include <string.h>

#include "kernel_frames.h"

#define TRACER_FRAMES	8U	/* so far up a tracepoint's own frames may reach */
#define ENTRY_BYTES	16U	/* so far into a function the call of its trampoline may return to */

/* Functions that samples are taken in by a tracepoint or a probe: what is below them is not the tracer's. */
static bool is_sampled_in(const char *name)
{
	static const char *const functions[] = { "__schedule", "finish_task_switch", "schedule_tail", "try_to_wake_up" };
	unsigned int i;

	for (i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		const size_t len = strlen(functions[i]);

		/* "finish_task_switch.isra.0" */
		if (!strncmp(name, functions[i], len) && (!name[len] || name[len] == '.'))
			return true;
	}
	return false;
}

static unsigned int tracer_frames(struct symbolizer *s, const uint64_t *pcs, unsigned int cnt)
{
	unsigned int i, last = 0;
	struct symbol symbol;

	for (i = 0; i < cnt && i < TRACER_FRAMES; i++) {
		symbolizer_kernel(s, pcs[i], &symbol);
		if (symbolizer_is_tracer(s, pcs[i]))
			last = i + 1;
		else if (is_sampled_in(symbol.name))
			break;
	}
	return last;
}

static bool is_trampoline(const struct symbol *symbol)
{
	static const char name[] = "bpf_trampoline_";

	return !strncmp(symbol->name, name, sizeof(name) - 1);
}

/* The trampoline of @callee is called at its entry and, where it waits for the return, calls the rest of it: two frames for one. */
static bool is_entry_of(const struct symbol *symbol, const struct symbol *callee)
{
	return symbol->rel_start && symbol->rel_start == callee->rel_start && symbol->rel_pc - symbol->rel_start <= ENTRY_BYTES;
}

unsigned int kernel_frames_of(struct symbolizer *s, const uint64_t *pcs, unsigned int cnt, bool in_tracepoint, struct symbol *out)
{
	unsigned int i = in_tracepoint ? tracer_frames(s, pcs, cnt) : 0, n = 0;
	bool after_trampoline = false;

	for (; i < cnt; i++) {
		symbolizer_kernel(s, pcs[i], &out[n]);
		if (n && is_trampoline(&out[n])) {
			after_trampoline = true;
			continue;
		}
		n += !after_trampoline || !is_entry_of(&out[n], &out[n - 1]);
		after_trampoline = false;
	}
	return n;
}
