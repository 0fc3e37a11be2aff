// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that have not run. bpf/state.bpf.c iterates over all and says which ones.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf/abi/ids.h"
#include "bpf/abi/task_state.h"
#include "base/array.h"
#include "fxt/fxt.h"
#include "capture/tasks.h"
#include "capture/programs.h"
#include "initial_states.h"

#define AT_ONCE		512

struct initial_states {
	struct fxt_writer *w;
	struct programs *p;
	struct thread_state *list;
	size_t cnt, cap;
};

/* By the kernel's task state index; R+ is none of a thread that has not run. */
static const struct {
	enum fxt_thread_state state;
	const char *text;
} kinds[] = {
	{ FXT_STATE_RUNNING, "R" }, { FXT_STATE_BLOCKED, "S" }, { FXT_STATE_BLOCKED, "D" },
	{ FXT_STATE_SUSPENDED, "T" }, { FXT_STATE_SUSPENDED, "t" }, { FXT_STATE_DEAD, "X" },
	{ FXT_STATE_DYING, "Z" }, { FXT_STATE_BLOCKED, "P" }, { FXT_STATE_BLOCKED, "I" },
};
#define KINDS	(sizeof(kinds) / sizeof(kinds[0]))
#define IS_SAID_BY_FXT(index)	((index) < 2)	/* R and S: no argument says more */

/* Reads what the kernel has; 0 or -errno. */
static int read_all(struct initial_states *s, int fd)
{
	ssize_t got;

	do {
		if (array_reserve(s->list, s->cnt, s->cap, AT_ONCE))
			return -ENOMEM;
		got = read(fd, s->list + s->cnt, AT_ONCE * sizeof(*s->list));
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (got > 0)
			s->cnt += got / sizeof(*s->list);
	} while (got);
	return 0;
}

static int write_state(struct initial_states *s, const struct thread_state *t)
{
	const struct fxt_switch out = {
		.ts = t->since_ns, .cpu = t->cpu, .state = kinds[t->index].state, .out = t->koid,
	};
	const struct fxt_arg args[] = {
		fxt_arg_i32("outgoing_weight", t->prio),
		fxt_arg_i32("incoming_weight", FXT_WEIGHT_IDLE),
		fxt_arg_str("mark", fxt_str("state")),
		fxt_arg_str("linux_state", fxt_str(kinds[t->index].text)),
	};

	return fxt_write_switch(s->w, &out, args, IS_SAID_BY_FXT(t->index) ? 3 : 4);
}

/*
 * One that ran last on a CPU that is not recorded may have run there since the start, unless that
 * is offline; then the first record of the first one has it.
 */
static bool place_offline(struct initial_states *s, struct thread_state *t, unsigned int cpus_cnt, uint32_t cpu)
{
	const uint64_t start_ns = programs_ring(s->p, 0)->ctl->start_ns;

	if (!start_ns || sysconf(_SC_NPROCESSORS_ONLN) != (long)cpus_cnt)
		return false;
	t->cpu = cpu;
	t->since_ns = start_ns - 1;
	return true;
}

int initial_states_write(struct initial_states **out, struct fxt_writer *w, struct programs *p, unsigned int cpus_cnt, uint32_t cpu)
{
	struct initial_states *s = calloc(1, sizeof(*s));
	size_t i, kept = 0;
	int err;

	if (!s)
		return -ENOMEM;
	*out = s;
	s->w = w;
	s->p = p;
	err = read_all(s, programs_states_fd(p));
	programs_states_recorded(p);
	for (i = 0; !err && i < s->cnt; i++) {
		struct thread_state *t = &s->list[i];

		if (t->index >= KINDS || (!t->since_ns && !place_offline(s, t, cpus_cnt, cpu)))
			continue;
		err = write_state(s, t);
		s->list[kept++] = *t;
	}
	s->cnt = kept;
	return err;
}

static int write_end(const struct initial_states *s, const struct thread_state *t, struct fxt_thread at, uint64_t stop_ns,
		     bool woken)
{
	const struct fxt_arg args[] = {
		fxt_arg_str("state", fxt_str(kinds[t->index].text)), fxt_arg_bool("woken", true),
	};
	char text[24];
	const struct fxt_event event = {
		.type = FXT_DURATION_COMPLETE, .ts = t->since_ns, .id = stop_ns, .thread = at,
		.category = fxt_str("kfxt"),
		.name = fxt_str_inline(text, snprintf(text, sizeof(text), "did not run: %s", kinds[t->index].text)),
	};

	return fxt_write_event(s->w, &event, args, 1 + woken);
}

int initial_states_write_end(const struct initial_states *s, const struct tasks *names, uint64_t stop_ns)
{
	const struct thread_state *t;
	struct fxt_thread at;
	uint16_t id;
	int err = 0;

	for (t = s->list; !err && t < s->list + s->cnt; t++) {
		id = programs_id(s->p, t->tid);
		/* A dead one can leave its id to another while it does not run. */
		if (id & ID_RAN || t->koid != t->tid + programs_koid_offset(s->p, t->tid))
			continue;
		tasks_find(names, t->tid, &at);
		err = write_end(s, t, at, stop_ns, id & ID_WOKEN);
	}
	return err;
}

void initial_states_close(struct initial_states *s)
{
	if (!s)
		return;
	free(s->list);
	free(s);
}
