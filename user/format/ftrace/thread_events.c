// SPDX-License-Identifier: GPL-2.0
/*
 * Events of the life of threads: fork, exec, exit, rename.
 */
#include "import_p.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KTHREADD	2
#define CLONE_THREAD	0x10000
#define BY_NEWTASK	1U	/* events of a birth */
#define BY_FORK		2U
#define SKEW_NS		1000000U	/* clocks of CPUs differ by less */

/* Written as instants too: a fork is something to see. A recording has such instants of its own, if any. */
static int seen(struct builder *b, const struct record *r)
{
	int err = r->ev->recorded ? 0 : on_instant(b, r);

	return err < 0 ? err : OUT_NAME;
}

/* What was last known to be done by it, in ns; 0: nothing. */
static uint64_t last_ns(const struct builder *b, const struct thread *t)
{
	uint64_t sched = t->sched_ts ? t->sched_ns : 0, slice = t->track ? build_ns(b, t->track->last) : 0;

	return sched > slice ? sched : slice;
}

/*
 * In a recording no birth is missing, and a birth is there if there is something of the thread before. Elsewhere a
 * birth may have two events, and the child's clock may be a little slow.
 */
static bool is_another(const struct builder *b, const struct thread *t, const struct record *r, uint8_t by)
{
	if (t->births & by)
		return true;
	if (t->exited || t->state == SCHED_DEAD || (r->ev->recorded && (t->sched_ns || t->track)))
		return true;
	return last_ns(b, t) && last_ns(b, t) + SKEW_NS < r->ns;
}

static struct thread *born(struct builder *b, int32_t tid, const struct record *r, uint8_t by, int *err)
{
	struct thread *t = thread_get(b, tid);

	*err = t ? 0 : -ENOMEM;
	if (t && t != b->idle && is_another(b, t, r, by))
		*err = thread_renew(b, t);
	if (t)
		t->births |= by;
	return t;
}

static int set_parent(struct builder *b, struct thread *t, const struct thread *parent)
{
	if (parent && parent->tid == KTHREADD && !parent->user)
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
	struct model_text name;
	struct thread *t, *parent;
	int32_t pid, child;
	int err;

	if (!find_tid(r->ev, " child_pid=", &child) || !find_tid(r->ev, " pid=", &pid))
		return OUT_OTHER;
	t = born(b, child, r, BY_FORK, &err);
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
	struct model_text name, flags;
	struct thread *t;
	char text[20];
	int64_t v;
	int err;

	if (!text_find_int(r->ev, "pid", &v) || v < 0 || v > INT32_MAX ||
	    !text_between(r->ev->args, " clone_flags=", " oom_score_adj=", &flags) ||
	    !flags.len || flags.len >= sizeof(text))
		return OUT_OTHER;
	t = born(b, (int32_t)v, r, BY_NEWTASK, &err);
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
	struct model_text name;
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

/* "comm=C pid=D prio=D": some time after its end, so that another thread may have the id already. */
int on_free_thread(struct builder *b, const struct record *r)
{
	struct thread *t;
	int32_t tid;

	if (!find_tid(r->ev, " pid=", &tid))
		return OUT_OTHER;
	t = thread_find(b, tid);
	if (t && t->free_due)
		t->free_due = false;
	else if (t)
		t->exited = t->freed = t != b->idle;
	return on_instant(b, r);
}

/* "filename=F pid=D old_pid=D": a thread takes its process's id. */
int on_exec(struct builder *b, const struct record *r)
{
	struct model_text name, base;
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
	struct model_text name;
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
