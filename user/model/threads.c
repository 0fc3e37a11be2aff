// SPDX-License-Identifier: GPL-2.0
/*
 * Threads and processes: what is known of them, from whichever event, and
 * their kernel objects, written at the end, when it is known best.
 */
#include "threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bpf/abi/ids.h"
#include "core.h"
#include "slices.h"
#include "source_track.h"

_Static_assert(ID_GENERATION_MAX * ID_GENERATION_STEP + IDS_MAX <= PSEUDO_BASE, "koids of threads are those of tracks");
#define OBJECT_NAME_MAX	8192U	/* a name of builder_track(), with its id */

/* Linux has no such ids, but a text may: kept apart from those of later generations. */
static uint64_t make_koid(int32_t tid, uint32_t generation)
{
	if ((uint32_t)tid < ID_GENERATION_STEP)
		return (uint32_t)tid + (uint64_t)generation * ID_GENERATION_STEP;
	return (uint32_t)tid | (uint64_t)(generation + 1) << 32;
}

/* ---- the table ------------------------------------------------------------- */

struct thread *thread_find(struct builder *b, int32_t tid)
{
	uint32_t i = map_get(&b->thread_map, (uint32_t)tid);

	return i == MAP_NONE ? NULL : b->threads[i];
}

struct thread *thread_add(struct builder *b)
{
	struct thread *t;

	if (array_reserve(b->threads, b->threads_cnt, b->threads_cap, 1))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->tid = NO_TID;
	t->tgid = NO_TID;
	t->prio = 120;
	b->threads[b->threads_cnt++] = t;
	return t;
}

static struct thread *add_thread(struct builder *b, int32_t tid)
{
	struct thread *t = thread_add(b);

	if (t && map_add(&b->thread_map, (uint32_t)tid, (uint32_t)b->threads_cnt - 1)) {
		free(b->threads[--b->threads_cnt]);
		return NULL;
	}
	if (!t)
		return NULL;
	t->tid = tid;
	t->koid = make_koid(tid, 0);
	t->process = t->koid;
	return t;
}

struct thread *thread_get(struct builder *b, int32_t tid)
{
	struct thread *t = thread_find(b, tid);

	return t ? t : add_thread(b, tid);
}

uint64_t thread_koid_of(struct builder *b, int32_t tid)
{
	const struct thread *t = thread_find(b, tid);

	return t ? t->koid : make_koid(tid, 0);
}

/* ---- whose it is ----------------------------------------------------------- */

/* How threads of the kernel call themselves; those that end in a slash or blank go on. */
static const char *const kernel_names[] = {
	"kworker/", "ksoftirqd/", "migration/", "cpuhp/", "idle_inject/", "irq/", "rcuc/", "rcub/",
	"rcuog/", "rcuop/", "rcuos/", "rcuob/", "rcuox/", "jbd2/", "xfsaild/", "ktimers/", "pr/",
	"kdamond.", "scsi_eh_", "kswapd", "kcompactd", "watchdog/",
};

static const char *const kernel_names_whole[] = {
	"kthreadd", "rcu_preempt", "rcu_sched", "rcu_bh", "rcu_gp", "rcu_par_gp", "rcu_tasks_kthre",
	"rcu_tasks_rude_", "rcu_tasks_trace", "kdevtmpfs", "kauditd", "khungtaskd", "khugepaged",
	"oom_reaper", "writeback", "kblockd", "ksmd", "watchdogd", "mm_percpu_wq", "netns",
	"slub_flushwq", "pool_workqueue_",
};

static bool is_kernel_name(const struct thread *t)
{
	size_t i, len;

	for (i = 0; i < sizeof(kernel_names) / sizeof(*kernel_names); i++) {
		len = strlen(kernel_names[i]);
		if (t->name_len > len && !memcmp(t->name, kernel_names[i], len))
			return true;
	}
	for (i = 0; i < sizeof(kernel_names_whole) / sizeof(*kernel_names_whole); i++) {
		len = strlen(kernel_names_whole[i]);
		if (t->name_len == len && !memcmp(t->name, kernel_names_whole[i], len))
			return true;
	}
	return false;
}

/* Anyone can take a kernel thread's name, but not without doing what only a program does. */
static bool is_kernel(const struct thread *t)
{
	if (t->user || (t->tgid != NO_TID && t->tgid != t->tid))
		return false;
	return t->kernel || is_kernel_name(t);
}

void thread_classify(struct builder *b, struct thread *t)
{
	if (t == b->idle)
		return;
	if (is_kernel(t))
		t->process = 0;
	else if (t->tgid != NO_TID && t->tgid != t->tid)
		t->process = thread_koid_of(b, t->tgid);
	else
		t->process = t->koid;
	if (t->track)
		t->track->at.process = t->process;
	if (t->markers)
		t->markers->at.process = t->process;
}

void thread_tgid(struct builder *b, struct thread *t, int32_t tgid, bool guess)
{
	if (t == b->idle || tgid <= 0 || (t->tgid == tgid && t->tgid_is_guess <= guess))
		return;
	if (guess && t->tgid != NO_TID)
		return;
	t->tgid = tgid;
	t->tgid_is_guess = guess;
	thread_classify(b, t);
}

/* ---- names ----------------------------------------------------------------- */

/* The column has the last name there was, arguments the one of that moment. */
void thread_name(struct builder *b, struct thread *t, struct model_text name, enum name_from from)
{
	size_t len = name.len < NAME_BYTES ? name.len : NAME_BYTES;

	if (!len || t == b->idle || from < t->name_from)
		return;
	if (t->name_len == len && text_same(t->name, name.data, len)) {
		t->name_from = (uint8_t)from;
		return;
	}
	memcpy(t->name, name.data, len);
	t->name_len = (uint8_t)len;
	t->name_from = (uint8_t)from;
	thread_classify(b, t);
}

static struct model_process *process_get(struct builder *b, uint64_t koid, int32_t tgid)
{
	uint32_t i = map_get(&b->process_map, koid);

	if (i != MAP_NONE)
		return &b->processes[i];
	if (array_reserve(b->processes, b->processes_cnt, b->processes_cap, 1) ||
	    map_add(&b->process_map, koid, (uint32_t)b->processes_cnt))
		return NULL;
	b->processes[b->processes_cnt] = (struct model_process){
		.koid = koid, .tgid = tgid, .parent = NOT_AN_ID,
	};
	return &b->processes[b->processes_cnt++];
}

int process_use(struct builder *b, uint64_t koid, int32_t tgid)
{
	return process_get(b, koid, tgid) ? 0 : -ENOMEM;
}

int process_use_source(struct builder *b, uint64_t koid, const struct source_track *source)
{
	const bool is_linux = source && !source->is_invented;
	struct model_process *p = process_get(b, koid, is_linux ? (int32_t)koid : NO_TID);

	if (!p)
		return -ENOMEM;
	p->source = source;
	return 0;
}

static int set_process_name(struct model_process *p, const char *name, size_t len)
{
	char *copy = malloc(len + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, name, len);
	free(p->name);
	p->name = copy;
	p->name_len = (uint32_t)len;
	return 0;
}

int process_name(struct builder *b, int32_t tgid, struct model_text name)
{
	struct model_process *p;

	if (tgid <= 0 || !name.len)
		return 0;
	p = process_get(b, thread_koid_of(b, tgid), tgid);
	return p ? set_process_name(p, name.data, name.len < 4096 ? name.len : 4096) : -ENOMEM;
}

int process_parent(struct builder *b, const struct thread *t, uint64_t parent)
{
	struct model_process *p;

	if (!t->process || t->process != t->koid)
		return 0;
	p = process_get(b, t->process, t->tid);
	if (!p)
		return -ENOMEM;
	p->parent = parent;
	return 0;
}

/* ---- kernel objects -------------------------------------------------------- */

#define OBJECT_ARGS	2

static int write_object(struct builder *b, uint8_t kind, uint64_t koid, struct fxt_str name,
			const struct fxt_arg *args, unsigned int n)
{
	const struct fxt_object o = { .id = koid, .kind = kind, .name = name };

	return fxt_write_kernel_object(b->w, &o, args, n);
}

/* FXT has no order of tracks: it is an argument. */
static unsigned int put_order(const struct source_track *source, struct fxt_arg *arg)
{
	if (!source || !source->has_order)
		return 0;
	*arg = fxt_arg_i64("sort_index", source->order);
	return 1;
}

/* Of a thread without a name of the kernel's it has the id, as those of a recording do. */
int thread_write_markers(struct builder *b, const struct thread *t)
{
	const struct fxt_arg process = fxt_arg_koid("process", t->process);
	static const char suffix[] = " markers";
	char name[NAME_BYTES + sizeof(suffix)];
	size_t len = t->name_len;

	memcpy(name, t->name, len);
	if (!len)
		len = (size_t)snprintf(name, NAME_BYTES, "%d", t->tid);
	memcpy(name + len, suffix, sizeof(suffix));
	return write_object(b, FXT_KOBJ_THREAD, t->markers->at.thread,
			    fxt_str_inline(name, (unsigned int)(len + sizeof(suffix) - 1)), &process, 1);
}

static struct fxt_str name_of(const struct thread *t, char *buf, size_t size)
{
	if (!t->source || (!t->source->name && t->name_len))
		return fxt_str_inline(t->name, t->name_len);
	if (t->source->spec.kind == MODEL_TRACK_PROCESS)
		return fxt_str("process");
	return fxt_str_inline(buf, track_full_name(t->source, t->lane, buf, size));
}

static int write_thread(struct builder *b, const struct thread *t)
{
	struct fxt_arg args[OBJECT_ARGS] = { fxt_arg_koid("process", t->process) };
	int err = t->process && t->tid != NO_TID ? process_use(b, t->process, t->tgid > 0 ? t->tgid : t->tid) : 0;
	char buf[OBJECT_NAME_MAX];

	b->stats.threads++;
	if (!err)
		err = write_object(b, FXT_KOBJ_THREAD, t->koid, name_of(t, buf, sizeof(buf)), args,
				   1 + put_order(t->source, &args[1]));
	if (!err && t->markers)
		err = thread_write_markers(b, t);
	return err;
}

static int write_process(struct builder *b, const struct model_process *p)
{
	struct fxt_arg args[OBJECT_ARGS] = { fxt_arg_koid("parent", p->parent) };
	unsigned int n = p->parent != NOT_AN_ID;
	struct fxt_str name = fxt_str_inline(p->name, p->name_len);
	const struct thread *t = thread_find(b, p->tgid == NO_TID && p->koid < PSEUDO_BASE ? (int32_t)p->koid : p->tgid);
	char buf[OBJECT_NAME_MAX];

	if (p->source && (p->source->name || !p->name))
		name = fxt_str_inline(buf, track_full_name(p->source, 0, buf, sizeof(buf)));
	if (name.len)
		;
	else if (p->koid == PROCESS_GLOBAL)
		name = fxt_str("global");
	if (!name.len && t && t->koid == p->koid)
		name = fxt_str_inline(t->name, t->name_len);
	b->stats.processes++;
	return write_object(b, FXT_KOBJ_PROCESS, p->koid, name, args, n + put_order(p->source, &args[n]));
}

/* Process 0 holds the kernel's threads; thread 0 is whichever CPU's idle thread. */
static int write_kernel(struct builder *b)
{
	const struct fxt_arg process = fxt_arg_koid("process", 0);
	int err = write_object(b, FXT_KOBJ_PROCESS, 0, fxt_str("kernel"), NULL, 0);

	return err ? err : write_object(b, FXT_KOBJ_THREAD, 0, fxt_str("swapper"), &process, 1);
}

/*
 * A thread may be known by an id of Linux, as in ftrace text, and as a track of the source too: one
 * koid, one object. That of the track if it has a name and a process of an id of Linux.
 */
static void choose_objects(struct builder *b)
{
	struct thread *t, *other;
	size_t i;

	for (i = 0; i < b->threads_cnt; i++) {
		t = b->threads[i];
		other = t->source && t->koid < PSEUDO_BASE ? thread_find(b, (int32_t)t->koid) : NULL;
		if (!other || other == t || other->koid != t->koid)
			continue;
		if ((t->source->name_len && t->process < PSEUDO_BASE) || !other->name_len)
			other->no_object = true;
		else
			t->no_object = true;
	}
}

int threads_write(struct builder *b)
{
	int err = write_kernel(b);
	size_t i;

	choose_objects(b);
	for (i = 0; i < b->threads_cnt && !err; i++)
		if (b->threads[i] != b->idle && !b->threads[i]->no_object)
			err = write_thread(b, b->threads[i]);
	for (i = 0; i < b->processes_cnt && !err; i++)
		err = write_process(b, &b->processes[i]);
	return err;
}

bool thread_is_last(const struct thread *t)
{
	return t->generation >= ID_GENERATION_MAX;
}

int thread_renew(struct builder *b, struct thread *t)
{
	const bool free_due = !t->freed && (t->exited || t->state == SCHED_DEAD);
	struct model_process *p;
	int err;

	if (t == b->idle)
		return 0;
	err = sched_forget(b, t);
	if (!err && t->track)
		err = slices_close(b, t->track);
	if (!err && t->markers)
		err = slices_close(b, t->markers);
	if (err)
		return err;
	if (!thread_is_last(t)) {
		err = write_thread(b, t);
		p = t->process == t->koid ? process_get(b, t->koid, t->tid) : NULL;
		if (!err && p && !p->name)
			err = set_process_name(p, t->name, t->name_len);
		t->generation++;
	}
	track_free(t->track);
	track_free(t->markers);
	*t = (struct thread){
		.tid = t->tid, .tgid = NO_TID, .generation = t->generation, .prio = 120,
		.koid = make_koid(t->tid, t->generation), .sched_ns = t->sched_ns,
		.free_due = free_due,
	};
	t->process = t->koid;
	return err;
}

void threads_fini(struct builder *b)
{
	size_t i;

	for (i = 0; i < b->threads_cnt; i++) {
		track_free(b->threads[i]->track);
		track_free(b->threads[i]->markers);
		free(b->threads[i]);
	}
	for (i = 0; i < b->processes_cnt; i++)
		free(b->processes[i].name);
	free(b->threads);
	free(b->processes);
	map_fini(&b->thread_map);
	map_fini(&b->process_map);
}
