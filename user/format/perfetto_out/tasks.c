// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of processes and threads, and ProcessTree and ProcessDescriptor packets made of them.
 */
#include "tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cgroup_name.h"
#include "bpf/abi/ids.h"
#include "format/perfetto/encode.h"
#include "format/perfetto/fields.h"
#include "model/track_ids.h"

#define OTHERS_FROM	2000000000U	/* ids for koids that are none of Linux */
#define OTHERS		100000000U
#define KTHREADD	2U	/* parent of all kernel threads */

bool out_is_linux(uint64_t koid)
{
	return koid && koid < PSEUDO_BASE && koid % ID_GENERATION_STEP && koid % ID_GENERATION_STEP < IDS_MAX;
}

uint32_t out_id(uint64_t koid)
{
	if (!koid || out_is_linux(koid))
		return (uint32_t)(koid % ID_GENERATION_STEP);
	return (uint32_t)(koid < OTHERS_FROM ? koid : OTHERS_FROM + koid % OTHERS);
}

bool out_is_first(uint64_t koid)
{
	return koid < ID_GENERATION_STEP;
}

uint32_t out_process_id(const struct out_task *task)
{
	return out_id(task->process ? task->process : task->koid);
}

int out_tasks_init(struct out_tasks *t)
{
	uint32_t at;

	*t = (struct out_tasks){ 0 };
	return out_tasks_get(t, 0, &at);
}

void out_tasks_fini(struct out_tasks *t)
{
	size_t i;

	for (i = 0; i < t->cnt; i++)
		free(t->tasks[i].name.data);
	for (i = 0; i < t->processes_cnt; i++) {
		free(t->processes[i].name.data);
		free(t->processes[i].cmdline.data);
		free(t->processes[i].label.data);
	}
	free(t->tasks);
	free(t->processes);
	free(t->dirty);
	free(t->dirty_processes);
	map_fini(&t->by_koid);
	map_fini(&t->processes_by_koid);
}

int out_tasks_get(struct out_tasks *t, uint64_t koid, uint32_t *at)
{
	int err;

	*at = map_get(&t->by_koid, koid);
	if (*at != MAP_NONE)
		return 0;
	err = t->cnt >= MAP_NONE ? -ENOMEM : array_reserve(t->tasks, t->cnt, t->cap, 1);
	err = err ? err : map_add(&t->by_koid, koid, (uint32_t)t->cnt);
	if (err)
		return err;
	*at = (uint32_t)t->cnt;
	t->tasks[t->cnt++] = (struct out_task){ .koid = koid, .cpu = OUT_NO_CPU };
	return 0;
}

int out_tasks_get_process(struct out_tasks *t, uint64_t koid, uint32_t *at)
{
	int err;

	*at = map_get(&t->processes_by_koid, koid);
	if (*at != MAP_NONE)
		return 0;
	err = t->processes_cnt >= MAP_NONE ? -ENOMEM :
	      array_reserve(t->processes, t->processes_cnt, t->processes_cap, 1);
	err = err ? err : map_add(&t->processes_by_koid, koid, (uint32_t)t->processes_cnt);
	if (err)
		return err;
	*at = (uint32_t)t->processes_cnt;
	t->processes[t->processes_cnt++] = (struct out_process){ .koid = koid };
	return 0;
}

/* ---- what is known ---------------------------------------------------------------- */

static int set_name(struct out_name *name, const char *data, size_t len)
{
	char *copy = malloc(len + 1);

	if (!copy)
		return -ENOMEM;
	if (len)
		memcpy(copy, data, len);
	copy[len] = 0;
	free(name->data);
	*name = (struct out_name){ copy, len };
	return 0;
}

static int mark_dirty(struct out_tasks *t, uint32_t at)
{
	if (t->tasks[at].dirty)
		return 0;
	if (array_reserve(t->dirty, t->dirty_cnt, t->dirty_cap, 1))
		return -ENOMEM;
	t->tasks[at].dirty = true;
	t->dirty[t->dirty_cnt++] = at;
	return 0;
}

static int mark_process_dirty(struct out_tasks *t, uint32_t at)
{
	if (t->processes[at].dirty)
		return 0;
	if (array_reserve(t->dirty_processes, t->dirty_processes_cnt, t->dirty_processes_cap, 1))
		return -ENOMEM;
	t->processes[at].dirty = true;
	t->dirty_processes[t->dirty_processes_cnt++] = at;
	return 0;
}

/* The process of a thread that was seen was there as long. */
static int see_process(struct out_tasks *t, const struct out_task *task)
{
	uint32_t at;
	int err;

	if (!task->seen || !task->has_process || !task->process)
		return 0;
	err = out_tasks_get_process(t, task->process, &at);
	if (err || t->processes[at].seen)
		return err;
	t->processes[at].seen = true;
	t->processes[at].since_ns = task->since_ns;
	return 0;
}

static int thread_object(struct out_tasks *t, const struct fxt_record *rec)
{
	const struct fxt_arg *process = fxt_record_arg(rec, "process");
	uint32_t at;
	int err = out_tasks_get(t, rec->object.id, &at);

	if (err)
		return err;
	if (process && process->type == FXT_ARG_KOID) {
		t->tasks[at].process = process->u64;
		t->tasks[at].has_process = t->tasks[at].from_object = true;
	}
	err = set_name(&t->tasks[at].name, rec->object.name.data, rec->object.name.len);
	err = err ? err : see_process(t, &t->tasks[at]);
	return err ? err : mark_dirty(t, at);
}

/* An empty one takes back what is said already. */
static int set_label(struct out_process *p, const struct fxt_arg *cgroup)
{
	char label[CGROUP_LABEL_BYTES];

	if (!cgroup || cgroup->type != FXT_ARG_STRING || !cgroup->str.len)
		return 0;
	cgroup_label(label, cgroup->str.data, cgroup->str.len);
	return *label || p->label.data ? set_name(&p->label, label, strlen(label)) : 0;
}

static int process_object(struct out_tasks *t, const struct fxt_record *rec)
{
	const struct fxt_arg *parent = fxt_record_arg(rec, "parent"), *cmdline = fxt_record_arg(rec, "cmdline");
	struct out_process *p;
	uint32_t at;
	int err = out_tasks_get_process(t, rec->object.id, &at);

	if (err)
		return err;
	p = &t->processes[at];
	if (parent && parent->type == FXT_ARG_KOID) {
		p->parent = parent->u64;
		p->has_parent = true;
	}
	/* One string of all arguments, until a packet has them one by one. */
	if (cmdline && cmdline->type == FXT_ARG_STRING)
		err = set_name(&p->cmdline, cmdline->str.data, cmdline->str.len);
	err = err ? err : set_label(p, fxt_record_arg(rec, "cgroup"));
	err = err ? err : set_name(&p->name, rec->object.name.data, rec->object.name.len);
	return err ? err : mark_process_dirty(t, at);
}

int out_tasks_object(struct out_tasks *t, const struct fxt_record *rec)
{
	return rec->object.kind == FXT_KOBJ_THREAD ? thread_object(t, rec) : process_object(t, rec);
}

int out_tasks_cmdline(struct out_tasks *t, uint64_t koid, const void *cmdline, size_t len)
{
	uint32_t at;
	int err = out_tasks_get_process(t, koid, &at);

	err = err ? err : set_name(&t->processes[at].cmdline, cmdline, len);
	return err ? err : mark_process_dirty(t, at);
}

int out_tasks_event(struct out_tasks *t, struct fxt_thread thread)
{
	uint32_t at;
	int err = out_tasks_get(t, thread.thread, &at);

	if (err || t->tasks[at].from_object || t->tasks[at].has_process)
		return err;
	t->tasks[at].process = thread.process;
	t->tasks[at].has_process = true;
	err = see_process(t, &t->tasks[at]);
	return err ? err : mark_dirty(t, at);
}

int out_tasks_seen(struct out_tasks *t, uint32_t at, uint64_t since_ns)
{
	t->tasks[at].seen = true;
	t->tasks[at].since_ns = since_ns;
	return see_process(t, &t->tasks[at]);
}

/* ---- packets ---------------------------------------------------------------------- */

/* ProcessTree packets: entries of one time are in one packet. */
struct tree {
	struct pb_buf *out;
	uint64_t ts_ns;
	size_t packet, tree;	/* of pb_begin(), if @open */
	bool open;
};

static void end_packet(struct tree *tree)
{
	if (!tree->open)
		return;
	pb_end(tree->out, tree->tree);
	pb_end(tree->out, tree->packet);
	tree->open = false;
}

static void begin_packet(struct tree *tree, uint64_t ts_ns)
{
	if (tree->open && tree->ts_ns == ts_ns)
		return;
	end_packet(tree);
	tree->open = true;
	tree->ts_ns = ts_ns;
	tree->packet = pb_begin(tree->out, PF_TRACE_PACKET);
	pb_put_u64(tree->out, PF_PACKET_TIMESTAMP, ts_ns);
	tree->tree = pb_begin(tree->out, PF_PACKET_PROCESS_TREE);
}

/* Arguments one by one. @cmdline ends with a NUL beyond its length, too. */
static void put_cmdline(struct pb_buf *b, const struct out_name *cmdline)
{
	size_t at = 0, len;

	while (at < cmdline->len) {
		len = strlen(cmdline->data + at);
		pb_put_string(b, PF_TREE_CMDLINE, cmdline->data + at, len);
		at += len + 1;
	}
}

/* Readers take no name but the command line: of a process without one it is the thread's name. */
static void put_process(struct tree *tree, uint32_t pid, uint32_t ppid, const struct out_name *cmdline,
			const struct out_name *name, bool is_kthread)
{
	size_t begun = pb_begin(tree->out, PF_TREE_PROCESSES);

	pb_put_u64(tree->out, PF_TREE_PID, pid);
	pb_put_u64(tree->out, PF_TREE_PPID, ppid);
	if (cmdline && cmdline->len)
		put_cmdline(tree->out, cmdline);
	else if (name->data)
		pb_put_string(tree->out, PF_TREE_CMDLINE, name->data, name->len);
	if (is_kthread)
		pb_put_u64(tree->out, PF_TREE_IS_KTHREAD, 1);
	if (!cmdline || !cmdline->len)
		pb_put_u64(tree->out, PF_TREE_CMDLINE_IS_COMM, 1);
	pb_end(tree->out, begun);
}

/* A packet of its own, so that the next entry of the tree is in another one. */
static void put_label(struct tree *tree, uint64_t ts_ns, uint32_t pid, const struct out_name *label)
{
	size_t packet, process;

	end_packet(tree);
	packet = pb_begin(tree->out, PF_TRACE_PACKET);
	pb_put_u64(tree->out, PF_PACKET_TIMESTAMP, ts_ns);
	process = pb_begin(tree->out, PF_PACKET_PROCESS_DESCRIPTOR);
	pb_put_u64(tree->out, PF_PROCESS_PID, pid);
	pb_put_string(tree->out, PF_PROCESS_LABELS, label->data, label->len);
	pb_end(tree->out, process);
	pb_end(tree->out, packet);
}

static void put_thread(struct tree *tree, const struct out_task *task)
{
	size_t begun = pb_begin(tree->out, PF_TREE_THREADS);

	pb_put_u64(tree->out, PF_TREE_TID, out_id(task->koid));
	if (task->name.data)
		pb_put_string(tree->out, PF_TREE_NAME, task->name.data, task->name.len);
	pb_put_u64(tree->out, PF_TREE_TGID, out_process_id(task));
	pb_end(tree->out, begun);
}

/* A kernel thread is a process of its own there. */
static void put_task(struct tree *tree, const struct out_task *task)
{
	const uint32_t tid = out_id(task->koid);

	if (!task->process)
		put_process(tree, tid, tid == KTHREADD ? 0 : KTHREADD, NULL, &task->name, true);
	put_thread(tree, task);
}

/* Whether it is to be named, from *@since_ns on. */
static bool is_due(uint64_t koid, bool seen, bool all, uint64_t *since_ns, uint64_t begin_ns)
{
	if (seen)
		return true;
	*since_ns = begin_ns;
	return all && out_is_first(koid);
}

static void put_processes(struct out_tasks *t, struct tree *tree, bool all, uint64_t begin_ns)
{
	size_t i, left = 0;

	for (i = 0; i < t->dirty_processes_cnt; i++) {
		struct out_process *p = &t->processes[t->dirty_processes[i]];
		uint64_t since_ns = p->since_ns;

		if (out_is_linux(p->koid) && !is_due(p->koid, p->seen, all, &since_ns, begin_ns)) {
			t->dirty_processes[left++] = t->dirty_processes[i];
			continue;
		}
		p->dirty = false;
		if (!out_is_linux(p->koid))
			continue;
		begin_packet(tree, since_ns);
		put_process(tree, out_id(p->koid), p->has_parent ? out_id(p->parent) : 0, &p->cmdline, &p->name, false);
		if (p->label.data)
			put_label(tree, since_ns, out_id(p->koid), &p->label);
	}
	t->dirty_processes_cnt = left;
}

static void put_tasks(struct out_tasks *t, struct tree *tree, bool all, uint64_t begin_ns)
{
	size_t i, left = 0;

	for (i = 0; i < t->dirty_cnt; i++) {
		struct out_task *task = &t->tasks[t->dirty[i]];
		uint64_t since_ns = task->since_ns;

		if (out_is_linux(task->koid) && !is_due(task->koid, task->seen, all, &since_ns, begin_ns)) {
			t->dirty[left++] = t->dirty[i];
			continue;
		}
		task->dirty = false;
		if (!task->has_process || !(task->seen || out_is_linux(task->koid)))
			continue;
		begin_packet(tree, since_ns);
		put_task(tree, task);
	}
	t->dirty_cnt = left;
}

int out_tasks_put(struct out_tasks *t, struct pb_buf *out, bool all, uint64_t begin_ns)
{
	struct tree tree = { .out = out };

	put_processes(t, &tree, all, begin_ns);
	put_tasks(t, &tree, all, begin_ns);
	end_packet(&tree);
	return out->failed ? -ENOMEM : 0;
}
