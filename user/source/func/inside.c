// SPDX-License-Identifier: GPL-2.0
/* See inside.h. */
#include "inside.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "func_p.h"
#include "kernel/bpf_sys.h"
#include "kernel/symbols.h"
#include "kfxt.skel.h"

#define STACKS_AT_ONCE	32

_Static_assert(OPEN_CALLS == 64, "a word has a bit for each call");

int inside_attach(struct funcs *f, struct kfxt_bpf *skel)
{
	int fd;

	if (!f->misses)
		return 0;
	fd = bpf_call_iterate(skel->progs.record_inside, &f->inside_link);
	f->inside_fd = fd < 0 ? -1 : fd;
	return fd < 0 ? fd : 0;
}

void inside_detach(struct funcs *f)
{
	if (f->inside_fd >= 0)
		close(f->inside_fd);
	bpf_link__destroy(f->inside_link);
	f->inside_fd = -1;
	f->inside_link = NULL;
}

static bool is_call_of(const struct funcs *f, const struct open_call *call, const struct kernel_symbol *symbol)
{
	return call->addr < f->counts.kernel && call->start_ns != OPEN_SHED && f->funcs[call->addr].addr == symbol->addr;
}

/* Both begin with the innermost, but not all that is on the stack is traced, nor is a call on the stack that has returned. */
static uint64_t match(const struct funcs *f, const struct open_calls *calls, const struct open_stack *stack)
{
	const uint32_t depth = OPEN_DEPTH(calls->owner);
	unsigned int end = depth < OPEN_CALLS ? depth : OPEN_CALLS, i, k;
	const struct kernel_symbol *symbol;
	uint64_t found = 0;

	for (k = 0; k < stack->frames_cnt && k < OPEN_FRAMES_MAX && end; k++) {
		/* Where a call returns to may be the next function, if it never does. */
		symbol = kernel_symbols_find_late(f->symbols, stack->frames[k] - 1);
		for (i = end; symbol && i-- > 0;)
			if (is_call_of(f, &calls->calls[i], symbol)) {
				found |= 1ULL << i;
				end = i;
				break;
			}
	}
	return found;
}

static void take(const struct funcs *f, const struct open_stack *stack, uint64_t *inside)
{
	unsigned int slot;

	for (slot = 0; slot < OPEN_SLOTS; slot++)
		if (f->open[slot].owner && OPEN_WHO(f->open[slot].owner) == stack->who)
			inside[slot] = match(f, &f->open[slot], stack);
}

/* The kernel hands out whole ones, of which a read takes as many as there is space for. */
int inside_read(struct funcs *f, uint64_t **inside)
{
	struct open_stack *stacks = calloc(STACKS_AT_ONCE, sizeof(*stacks));
	ssize_t got = f->inside_fd < 0 ? 0 : 1;
	int err = 0;
	size_t i;

	*inside = calloc(OPEN_SLOTS, sizeof(**inside));
	if (!stacks || !*inside)
		err = -ENOMEM;
	while (!err && got) {
		got = read(f->inside_fd, stacks, STACKS_AT_ONCE * sizeof(*stacks));
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			err = -errno;
		for (i = 0; got > 0 && i < got / sizeof(*stacks); i++)
			take(f, &stacks[i], *inside);
	}
	free(stacks);
	return err;
}
