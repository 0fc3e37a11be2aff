// SPDX-License-Identifier: GPL-2.0
/*
 * Tracks that belong to no thread, and which of them have been named.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tracks.h"

#define THREADS_MAX	(PSEUDO_STEP * (1 + PSEUDO_CNT))	/* from PSEUDO_BASE */

struct tracks {
	bool named_processes[PSEUDO_PROCESSES];
	bool named_threads[THREADS_MAX];	/* by koid, from PSEUDO_BASE */
};

int tracks_open(struct tracks **out)
{
	struct tracks *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	*out = t;
	return 0;
}

static int write_process(struct tracks *t, struct fxt_writer *w, uint64_t process)
{
	bool *named = &t->named_processes[process - PSEUDO_BASE];
	const struct fxt_object object = {
		.id = process, .kind = FXT_KOBJ_PROCESS, .name = fxt_str(pseudo_process_name(process)),
	};

	if (*named)
		return 0;
	*named = true;
	return fxt_write_kernel_object(w, &object, NULL, 0);
}

static int write_thread(struct tracks *t, struct fxt_writer *w, struct fxt_thread at, const char *name)
{
	const struct fxt_arg process = fxt_arg_koid("process", at.process);
	const struct fxt_object object = { .id = at.thread, .kind = FXT_KOBJ_THREAD, .name = fxt_str(name) };
	bool *named = &t->named_threads[at.thread - PSEUDO_BASE];
	int err;

	if (*named)
		return 0;
	*named = true;
	err = write_process(t, w, at.process);
	return err ?: fxt_write_kernel_object(w, &object, &process, 1);
}

int tracks_get_cpu(struct tracks *t, struct fxt_writer *w, enum pseudo kind, uint32_t cpu, struct fxt_thread *at)
{
	char name[32];

	if (cpu >= PSEUDO_STEP)
		return -EINVAL;
	pseudo_thread_name(kind, cpu, name, sizeof(name));
	*at = pseudo_thread(kind, cpu);
	return write_thread(t, w, *at, name);
}

int tracks_get_shed(struct tracks *t, struct fxt_writer *w, struct fxt_thread *at)
{
	*at = pseudo_thread(PSEUDO_SHED, 0);
	return write_thread(t, w, *at, "shed by the budget");
}

int tracks_get_counters(struct tracks *t, struct fxt_writer *w, struct fxt_thread *at)
{
	*at = (struct fxt_thread){ .process = PROCESS_COUNTERS, .thread = PROCESS_COUNTERS };
	return write_thread(t, w, *at, pseudo_process_name(PROCESS_COUNTERS));
}

void tracks_close(struct tracks *t)
{
	free(t);
}
