// SPDX-License-Identifier: GPL-2.0
/*
 * Threads and processes: what is known of them, from whichever event told, and
 * their kernel objects, written at the end, when it is known best.
 */
#include "build_p.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GENERATION_STEP	10000000U	/* as kfxt record does; Linux ids are below 4,194,304 */
#define GENERATION_MAX	419U		/* the last one below PSEUDO_BASE */
#define KTHREADD	2
#define CLONE_THREAD	0x10000

/* Linux has no such ids, but a text may: kept apart from those of later generations. */
static uint64_t make_koid(int32_t tid, uint32_t generation)
{
	if ((uint32_t)tid < GENERATION_STEP)
		return (uint32_t)tid + (uint64_t)generation * GENERATION_STEP;
	return (uint32_t)tid | (uint64_t)(generation + 1) << 32;
}

/* ---- the table ------------------------------------------------------------- */

struct thread *thread_find(struct builder *b, int32_t tid)
{
	uint32_t i = map_get(&b->thread_map, (uint32_t)tid);

	return i == MAP_NONE ? NULL : b->threads[i];
}

static struct thread *add_thread(struct builder *b, int32_t tid)
{
	size_t cap = b->threads_cap ? b->threads_cap * 2 : 256;
	struct thread *t, **moved;

	if (b->threads_cnt == b->threads_cap) {
		moved = reallocarray(b->threads, cap, sizeof(*moved));
		if (!moved)
			return NULL;
		b->threads = moved;
		b->threads_cap = cap;
	}
	t = calloc(1, sizeof(*t));
	if (!t || map_add(&b->thread_map, (uint32_t)tid, (uint32_t)b->threads_cnt)) {
		free(t);
		return NULL;
	}
	t->tid = tid;
	t->tgid = FTRACE_ID_UNKNOWN;
	t->koid = make_koid(tid, 0);
	t->process = t->koid;
	t->prio = 120;
	b->threads[b->threads_cnt++] = t;
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
	if (t->user || (t->tgid != FTRACE_ID_UNKNOWN && t->tgid != t->tid))
		return false;
	return t->kernel || is_kernel_name(t);
}

void thread_classify(struct builder *b, struct thread *t)
{
	if (t == b->idle)
		return;
	if (is_kernel(t))
		t->process = 0;
	else if (t->tgid != FTRACE_ID_UNKNOWN && t->tgid != t->tid)
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
	if (guess && t->tgid != FTRACE_ID_UNKNOWN)
		return;
	t->tgid = tgid;
	t->tgid_is_guess = guess;
	thread_classify(b, t);
}

/* ---- names ----------------------------------------------------------------- */

/* The column tells the last name there was, arguments the one of that moment. */
void thread_name(struct builder *b, struct thread *t, struct ftrace_text name, enum name_from from)
{
	size_t len = name.len < NAME_BYTES ? name.len : NAME_BYTES;

	if (!len || t == b->idle || from < t->name_from)
		return;
	if (t->name_len == len && !memcmp(t->name, name.data, len)) {
		t->name_from = (uint8_t)from;
		return;
	}
	memcpy(t->name, name.data, len);
	t->name_len = (uint8_t)len;
	t->name_from = (uint8_t)from;
	thread_classify(b, t);
}

static struct process *process_get(struct builder *b, uint64_t koid, int32_t tgid)
{
	uint32_t i = map_get(&b->process_map, koid);
	size_t cap = b->processes_cap ? b->processes_cap * 2 : 64;
	struct process *moved;

	if (i != MAP_NONE)
		return &b->processes[i];
	if (b->processes_cnt == b->processes_cap) {
		moved = reallocarray(b->processes, cap, sizeof(*moved));
		if (!moved)
			return NULL;
		b->processes = moved;
		b->processes_cap = cap;
	}
	if (map_add(&b->process_map, koid, (uint32_t)b->processes_cnt))
		return NULL;
	b->processes[b->processes_cnt] = (struct process){
		.koid = koid, .tgid = tgid, .parent = NOT_AN_ID,
	};
	return &b->processes[b->processes_cnt++];
}

int process_use(struct builder *b, uint64_t koid, int32_t tgid)
{
	return process_get(b, koid, tgid) ? 0 : -ENOMEM;
}

static int set_process_name(struct process *p, const char *name, size_t len)
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

int process_name(struct builder *b, int32_t tgid, struct ftrace_text name)
{
	struct process *p;

	if (tgid <= 0 || !name.len)
		return 0;
	p = process_get(b, thread_koid_of(b, tgid), tgid);
	return p ? set_process_name(p, name.data, name.len < 4096 ? name.len : 4096) : -ENOMEM;
}

static int process_parent(struct builder *b, const struct thread *t, uint64_t parent)
{
	struct process *p;

	if (!t->process || t->process != t->koid)
		return 0;
	p = process_get(b, t->process, t->tid);
	if (!p)
		return -ENOMEM;
	p->parent = parent;
	return 0;
}

/* ---- kernel objects -------------------------------------------------------- */

static int write_object(struct builder *b, uint8_t kind, uint64_t koid, struct fxt_str name,
			const struct fxt_arg *arg)
{
	const struct fxt_object o = { .id = koid, .kind = kind, .name = name };

	return fxt_write_kernel_object(b->w, &o, arg, arg ? 1 : 0);
}

int thread_write_markers(struct builder *b, const struct thread *t)
{
	const struct fxt_arg process = fxt_arg_koid("process", t->process);
	static const char suffix[] = " markers";
	char name[NAME_BYTES + sizeof(suffix)];

	memcpy(name, t->name, t->name_len);
	memcpy(name + t->name_len, suffix, sizeof(suffix));
	return write_object(b, FXT_KOBJ_THREAD, t->markers->at.thread,
			    fxt_str_inline(name, t->name_len + sizeof(suffix) - 1), &process);
}

static int write_thread(struct builder *b, const struct thread *t)
{
	const struct fxt_arg process = fxt_arg_koid("process", t->process);
	int err = t->process ? process_use(b, t->process, t->tgid > 0 ? t->tgid : t->tid) : 0;

	b->stats.threads++;
	if (!err)
		err = write_object(b, FXT_KOBJ_THREAD, t->koid,
				   fxt_str_inline(t->name, t->name_len), &process);
	if (!err && t->markers)
		err = thread_write_markers(b, t);
	return err;
}

static int write_process(struct builder *b, const struct process *p)
{
	const struct fxt_arg parent = fxt_arg_koid("parent", p->parent);
	struct fxt_str name = fxt_str_inline(p->name, p->name_len);
	const struct thread *t = thread_find(b, p->tgid);

	if (!p->name && t && t->koid == p->koid)
		name = fxt_str_inline(t->name, t->name_len);
	b->stats.processes++;
	return write_object(b, FXT_KOBJ_PROCESS, p->koid, name,
			    p->parent == NOT_AN_ID ? NULL : &parent);
}

/* Process 0 holds the kernel's threads; thread 0 is whichever CPU's idle thread. */
static int write_kernel(struct builder *b)
{
	const struct fxt_arg process = fxt_arg_koid("process", 0);
	int err = write_object(b, FXT_KOBJ_PROCESS, 0, fxt_str("kernel"), NULL);

	return err ? err : write_object(b, FXT_KOBJ_THREAD, 0, fxt_str("swapper"), &process);
}

int threads_write(struct builder *b)
{
	int err = write_kernel(b);
	size_t i;

	for (i = 0; i < b->threads_cnt && !err; i++)
		if (b->threads[i] != b->idle)
			err = write_thread(b, b->threads[i]);
	for (i = 0; i < b->processes_cnt && !err; i++)
		err = write_process(b, &b->processes[i]);
	return err;
}

bool thread_is_last(const struct thread *t)
{
	return t->generation >= GENERATION_MAX;
}

int thread_renew(struct builder *b, struct thread *t)
{
	struct process *p;
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
		.tid = t->tid, .tgid = FTRACE_ID_UNKNOWN, .generation = t->generation, .prio = 120,
		.koid = make_koid(t->tid, t->generation), .sched_ns = t->sched_ns,
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

/* ---- events that tell of them ---------------------------------------------- */

/* Written as instants too: a fork is something to see. */
static int seen(struct builder *b, const struct record *r)
{
	int err = on_instant(b, r);

	return err < 0 ? err : OUT_NAME;
}

static struct thread *born(struct builder *b, int32_t tid, int *err)
{
	struct thread *t = thread_get(b, tid);

	*err = t ? 0 : -ENOMEM;
	if (t && t != b->idle && (t->exited || t->state == SCHED_DEAD))
		*err = thread_renew(b, t);
	return t;
}

static int set_parent(struct builder *b, struct thread *t, const struct thread *parent)
{
	if (parent && parent->tid == KTHREADD)
		t->kernel = true;
	thread_classify(b, t);
	return parent ? process_parent(b, t, parent->process) : 0;
}

static bool find_tid(const struct ftrace_event *ev, const char *key, int32_t *tid)
{
	int64_t v;

	if (!text_last_int(ev, key, &v) || v < 0 || v > INT32_MAX)
		return false;
	*tid = (int32_t)v;
	return true;
}

/* "comm=C pid=D child_comm=C child_pid=D" */
int on_fork(struct builder *b, const struct record *r)
{
	struct ftrace_text name;
	struct thread *t, *parent;
	int32_t pid, child;
	int err;

	if (!find_tid(r->ev, " child_pid=", &child) || !find_tid(r->ev, " pid=", &pid))
		return OUT_OTHER;
	t = born(b, child, &err);
	parent = thread_get(b, pid);
	if (err || !parent)
		return err ? err : -ENOMEM;
	if (text_between(r->ev->args, " child_comm=", " child_pid=", &name))
		thread_name(b, t, name, NAME_ARGUMENT);
	if (t->process == t->koid || !t->process)
		err = set_parent(b, t, parent);
	return err ? err : seen(b, r);
}

/* "pid=D comm=C clone_flags=X oom_score_adj=D" */
int on_newtask(struct builder *b, const struct record *r)
{
	struct ftrace_text name, flags;
	struct thread *t;
	char text[20];
	int64_t v;
	int err;

	if (!text_find_int(r->ev, "pid", &v) || v < 0 || v > INT32_MAX ||
	    !text_between(r->ev->args, " clone_flags=", " oom_score_adj=", &flags) ||
	    !flags.len || flags.len >= sizeof(text))
		return OUT_OTHER;
	t = born(b, (int32_t)v, &err);
	if (err)
		return err;
	if (text_between(r->ev->args, " comm=", " clone_flags=", &name))
		thread_name(b, t, name, NAME_ARGUMENT);
	memcpy(text, flags.data, flags.len);
	text[flags.len] = 0;
	if (!(strtoul(text, NULL, 16) & CLONE_THREAD))
		err = set_parent(b, t, r->t);
	else if (r->t && r->t != b->idle && r->t->process)
		thread_tgid(b, t, r->t->tgid > 0 ? r->t->tgid : r->t->tid, r->t->tgid <= 0);
	return err ? err : seen(b, r);
}

/* "comm=C pid=D prio=D [group_dead=true]" */
int on_exit_thread(struct builder *b, const struct record *r)
{
	struct ftrace_text name;
	struct thread *t;
	int32_t tid;

	if (!find_tid(r->ev, " pid=", &tid))
		return OUT_OTHER;
	t = thread_get(b, tid);
	if (!t)
		return -ENOMEM;
	if (text_between(r->ev->args, "comm=", " pid=", &name))
		thread_name(b, t, name, NAME_ARGUMENT);
	t->exited = t != b->idle;
	return seen(b, r);
}

/* "filename=F pid=D old_pid=D": a thread takes its process's id. */
int on_exec(struct builder *b, const struct record *r)
{
	struct ftrace_text name, base;
	struct thread *t, *old;
	int32_t tid, old_tid;
	const char *slash;

	if (!find_tid(r->ev, " pid=", &tid))
		return OUT_OTHER;
	t = thread_get(b, tid);
	if (!t)
		return -ENOMEM;
	t->user = true;
	if (find_tid(r->ev, " old_pid=", &old_tid) && old_tid != tid) {
		old = thread_find(b, old_tid);
		if (old)
			old->exited = old != b->idle;
	}
	if (text_between(r->ev->args, "filename=", " pid=", &name)) {
		slash = memrchr(name.data, '/', name.len);
		base.data = slash ? slash + 1 : name.data;
		base.len = (size_t)(name.data + name.len - base.data);
		base.len = base.len < 15 ? base.len : 15;
		thread_name(b, t, base, NAME_ARGUMENT);
	}
	thread_classify(b, t);
	return seen(b, r);
}

/* "pid=D oldcomm=C newcomm=C oom_score_adj=D" */
int on_rename(struct builder *b, const struct record *r)
{
	struct ftrace_text name;
	struct thread *t;
	int64_t v;

	if (!text_find_int(r->ev, "pid", &v) || v < 0 || v > INT32_MAX ||
	    !text_between(r->ev->args, " newcomm=", " oom_score_adj=", &name))
		return OUT_OTHER;
	t = thread_get(b, (int32_t)v);
	if (!t)
		return -ENOMEM;
	thread_name(b, t, name, t->name_from > NAME_ARGUMENT ? NAME_COLUMN : NAME_ARGUMENT);
	return seen(b, r);
}
