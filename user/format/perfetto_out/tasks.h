/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes and threads of a trace, and the packets that name them.
 *
 * A koid is the id of a process or thread, and how often that was recycled before times
 * ID_GENERATION_STEP; packets have the id, and the birth of each thread that has it again.
 * Koids that no thread of Linux has are tracks (tracks.h).
 */
#ifndef FORMAT_PERFETTO_OUT_TASKS_H
#define FORMAT_PERFETTO_OUT_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "fxt/fxt.h"

struct pb_buf;

#define OUT_NO_CPU	UINT16_MAX
#define OUT_IDLE		0U	/* of tasks[]: the idle threads */

struct out_name {
	char *data;		/* bytes of the trace; NULL: not known */
	size_t len;
};

struct out_process {
	uint64_t koid, parent;
	struct out_name name;
	struct out_name cmdline;	/* arguments, each ended by a NUL */
	struct out_name label;		/* of its cgroup; without data it never had one */
	uint64_t since_ns;	/* it is named from then on, if it was @seen */
	bool seen, dirty, has_parent;
};

/* A thread. */
struct out_task {
	uint64_t koid, process;
	struct out_name name;
	uint64_t since_ns;	/* it is named from then on, if it was @seen by scheduling */
	uint64_t sched_ns;	/* of its last change of state */
	uint16_t cpu;		/* on which it runs, or OUT_NO_CPU */
	bool seen, dirty;
	bool has_process, from_object;	/* its process is known; by its own record, not by an event */
	bool has_state;		/* it has a mark "state": it was there when the recording began */
};

struct out_tasks {
	struct map by_koid, processes_by_koid;
	struct out_task *tasks;
	size_t cnt, cap;
	struct out_process *processes;
	size_t processes_cnt, processes_cap;
	uint32_t *dirty, *dirty_processes;	/* those to be named */
	size_t dirty_cnt, dirty_cap, dirty_processes_cnt, dirty_processes_cap;
};

/* 0 or -ENOMEM. */
int out_tasks_init(struct out_tasks *t);
void out_tasks_fini(struct out_tasks *t);
/* The place of a koid in tasks[] or processes[], added if it is new: 0 or -ENOMEM. */
int out_tasks_get(struct out_tasks *t, uint64_t koid, uint32_t *at);
int out_tasks_get_process(struct out_tasks *t, uint64_t koid, uint32_t *at);
/* What a kernel object record of a thread or process says. 0 or -ENOMEM. */
int out_tasks_object(struct out_tasks *t, const struct fxt_record *rec);
/* A process of a ProcessTree, with its command line. 0 or -ENOMEM. */
int out_tasks_cmdline(struct out_tasks *t, uint64_t koid, const void *cmdline, size_t len);
/* An event is on @thread: its process, if no record of its own says so. 0 or -ENOMEM. */
int out_tasks_event(struct out_tasks *t, struct fxt_thread thread);
/* The thread appears in the scheduling for the first time, born then or there before. 0 or -ENOMEM. */
int out_tasks_seen(struct out_tasks *t, uint32_t at, uint64_t since_ns);
/* Whether the koid is that of a thread or process of Linux, and not the idle thread's. */
bool out_is_linux(uint64_t koid);
/* The id of such a koid; of another one an id that no thread of Linux has. */
uint32_t out_id(uint64_t koid);
/* The same of the process of the thread: of a kernel thread, which FXT has in process 0, its own id. */
uint32_t out_process_id(const struct out_task *task);
/* Whether the thread had the id first. */
bool out_is_first(uint64_t koid);
/*
 * Appends packets that name those that were seen and are not named yet; with @all also others that are
 * first to have their id, as there from @begin_ns on. 0 or -ENOMEM.
 */
int out_tasks_put(struct out_tasks *t, struct pb_buf *out, bool all, uint64_t begin_ns);

#endif
