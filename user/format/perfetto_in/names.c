// SPDX-License-Identifier: GPL-2.0
/*
 * Processes as the system's lists have them: names, parents, threads; and counters of them.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "reader_p.h"
#include "model/core.h"
#include "model/threads.h"

#define KTHREADD	2
#define KIB		1024
#define NAMESPACES_MAX	32	/* of the kernel: one within another */

/* ---- ProcessTree ----------------------------------------------------------- */

static uint64_t tree_key(int32_t id, bool is_thread)
{
	return (uint64_t)is_thread << 32 | (uint32_t)id;
}

bool pf_tree_names(const struct pf_reader *r, int64_t pid)
{
	return pid == (int32_t)pid && map_get(&r->tree, tree_key((int32_t)pid, false)) == 1;
}

static uint64_t namespaced_key(int32_t process, int32_t id)
{
	return (uint64_t)(uint32_t)process << 32 | (uint32_t)id;
}

int64_t pf_tree_id(const struct pf_reader *r, int32_t writer, int64_t id)
{
	uint32_t tid = id == (int32_t)id ? map_get(&r->namespaced, namespaced_key(writer, (int32_t)id)) : MAP_NONE;

	return tid == MAP_NONE ? id : (int32_t)tid;
}

/* What the thread, or process, @id of @process is called in its own namespace: the last of @f. 0 or -ENOMEM. */
static int note_namespaced(struct pf_reader *r, int32_t process, int32_t id, const struct pf_field *f)
{
	uint64_t ids[NAMESPACES_MAX];
	size_t cnt = pf_numbers(f, PF_VARINT, ids, 0, NAMESPACES_MAX);

	if (!f->number || !cnt || process <= 0 || id <= 0)
		return 0;
	return map_set(&r->namespaced, namespaced_key(process, (int32_t)ids[cnt - 1]), (uint32_t)id);
}

int pf_note_life(struct pf_reader *r, int32_t tid, uint64_t ns)
{
	struct pf_lives *l = &r->lives;
	uint32_t i = map_get(&l->by_tid, (uint32_t)tid);

	if (i != MAP_NONE) {
		l->first_ns[i] = ns < l->first_ns[i] ? ns : l->first_ns[i];
		return 0;
	}
	if (array_reserve(l->first_ns, l->cnt, l->cap, 1) || map_add(&l->by_tid, (uint32_t)tid, l->cnt))
		return -ENOMEM;
	l->first_ns[l->cnt++] = ns;
	return 0;
}

/* What is said first holds from the beginning on, if it is of the first life of the id. */
static int emit_early(struct pf_reader *r, const struct pf_packet_info *p, const struct pf_tree_entry *e)
{
	struct pf_tree_entry early = *e;
	int err;

	if (map_get(&r->tree, tree_key(e->pid, e->is_thread)) != MAP_NONE)
		return 0;
	early.early_ns = p->has_timestamp && p->converted == PF_CONVERTED && p->ns ? p->ns : UINT64_MAX;
	err = map_add(&r->tree, tree_key(e->pid, e->is_thread), e->has_name);
	err = err ? err : pf_record_begin(r, &early, sizeof(early));
	return err ? err : pf_emit_ns(r, 0, PF_RANK_NAMES);
}

static int emit_entry(struct pf_reader *r, const struct pf_packet_info *p, const struct pf_tree_entry *e)
{
	int fate = emit_early(r, p, e);

	fate = fate < 0 ? fate : pf_record_begin(r, e, sizeof(*e));
	if (fate)
		return fate;
	fate = pf_emit_packet(r, p, PF_RANK_NAMES);
	if (fate > PF_USED)
		fate = pf_emit_ns(r, r->latest_ns, PF_RANK_NAMES);
	return fate < 0 ? fate : 0;
}

/* Of a worker of the kernel what stays, without what it works on. */
static size_t worker_len(const char *name, size_t len)
{
	size_t i;

	for (i = strlen("kworker/"); i < len && !memcmp(name, "kworker/", strlen("kworker/")); i++)
		if (name[i] == '-' || name[i] == '+')
			return i;
	return len;
}

/* Its path, without arguments. FXT has the whole name. */
static uint32_t process_name_of(struct pf_reader *r, const struct pf_field *arg, bool is_only, bool is_kernel)
{
	const uint8_t *end = is_only && !r->is_recorded ? memchr(arg->data, ' ', arg->len) : NULL;
	size_t len = end ? (size_t)(end - arg->data) : arg->len;

	if (is_kernel && !r->is_recorded)
		len = worker_len((const char *)arg->data, len);
	return pf_string(r, arg->data, len);
}

/* Outside of a container process 2 is kthreadd; without a name it is taken for that. */
static bool is_other_2(const struct pf_tree_entry *e, const struct pf_field *arg)
{
	return e->pid == KTHREADD && !e->is_kernel && arg->len && (arg->len != 8 || memcmp(arg->data, "kthreadd", 8) != 0);
}

static int read_process(struct pf_reader *r, const struct pf_packet_info *p, struct pf_cursor m)
{
	struct pf_tree_entry e = { .kind = PF_RECORD_PROCESS };
	struct pf_field f, arg = { 0 }, inner = { 0 };
	unsigned int args_cnt = 0;
	bool is_comm = false;
	int got;

	while ((got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, PF_TREE_PID, PF_VARINT))
			e.pid = (int32_t)f.value;
		else if (pf_is(&f, PF_TREE_PPID, PF_VARINT))
			e.parent = (int32_t)f.value;
		else if (pf_is(&f, PF_TREE_IS_KTHREAD, PF_VARINT))
			e.is_kernel = f.value != 0;
		else if (pf_is(&f, PF_TREE_CMDLINE_IS_COMM, PF_VARINT))
			is_comm = f.value != 0;
		else if (f.number == PF_TREE_NSPID)
			inner = f;
		else if (pf_is(&f, PF_TREE_CMDLINE, PF_BYTES) && !args_cnt++)
			arg = f;
	}
	if (got < 0)
		return got;
	if (note_namespaced(r, e.pid, e.pid, &inner))
		return -ENOMEM;
	r->has_other_2 |= is_other_2(&e, &arg);
	e.is_kernel |= !r->has_other_2 && (e.pid == KTHREADD || e.parent == KTHREADD);
	/* FXT's name of a process is that of its main thread, if the command line does not have it. */
	e.has_name = args_cnt > 0 && (is_comm || !r->is_recorded);
	if (e.has_name)
		e.name = process_name_of(r, &arg, args_cnt == 1, e.is_kernel);
	return e.pid > 0 ? emit_entry(r, p, &e) : 0;
}

static int read_thread(struct pf_reader *r, const struct pf_packet_info *p, struct pf_cursor m)
{
	struct pf_tree_entry e = { .kind = PF_RECORD_PROCESS, .is_thread = true };
	struct pf_field f, inner = { 0 };
	int got;

	while ((got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, PF_TREE_TID, PF_VARINT))
			e.pid = (int32_t)f.value;
		else if (pf_is(&f, PF_TREE_TGID, PF_VARINT))
			e.parent = (int32_t)f.value;
		else if (pf_is(&f, PF_TREE_NAME, PF_BYTES))
			e.name = pf_string_of(r, &f);
		else if (f.number == PF_TREE_NSTID)
			inner = f;
	}
	if (got < 0)
		return got;
	if (note_namespaced(r, e.parent, e.pid, &inner))
		return -ENOMEM;
	return e.pid > 0 ? emit_entry(r, p, &e) : 0;
}

int pf_process_tree(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	struct pf_field f;
	int got = 0, err = 0;

	while (!err && (got = pf_next(&message, &f)) > 0) {
		if (pf_is(&f, PF_TREE_PROCESSES, PF_BYTES))
			err = read_process(r, p, pf_inner(&f));
		else if (pf_is(&f, PF_TREE_THREADS, PF_BYTES))
			err = read_thread(r, p, pf_inner(&f));
	}
	return err ? err : got < 0 ? got : PF_USED;
}

/* ---- the second pass ------------------------------------------------------- */

static struct model_text text_of(const struct pf_reader *r, uint32_t name)
{
	struct fxt_str s = pf_pool_str(&r->pool, name);

	return (struct model_text){ s.data, s.len };
}

static int play_thread(struct pf_reader *r, const struct pf_tree_entry *e)
{
	struct thread *t = thread_get(r->builder, e->pid);
	struct model_text name = text_of(r, e->name);

	if (!t)
		return -ENOMEM;
	thread_tgid(r->builder, t, e->parent, false);
	/* Lists from Android 16 on have main threads, too. */
	if (t->kernel && e->pid == e->parent && !r->is_recorded)
		name.len = worker_len(name.data, name.len);
	thread_name(r->builder, t, name, NAME_LIST);
	return 0;
}

static int play_process(struct pf_reader *r, const struct pf_tree_entry *e)
{
	struct builder *b = r->builder;
	struct thread *t = thread_get(b, e->pid);
	int err = 0;

	if (!t)
		return -ENOMEM;
	t->kernel |= e->is_kernel;
	t->user |= e->pid == KTHREADD && r->has_other_2;
	thread_tgid(b, t, e->pid, false);
	thread_classify(b, t);
	if (e->is_kernel)
		thread_name(b, t, text_of(r, e->name), NAME_LIST);
	else if (e->has_name || !r->is_recorded)
		err = process_name(b, e->pid, text_of(r, e->name));
	if (err || e->is_kernel || e->parent <= 0)
		return err;
	return process_parent(b, t, thread_koid_of(b, e->parent));
}

static bool had_another_life(const struct pf_reader *r, const struct pf_tree_entry *e)
{
	uint32_t i = map_get(&r->lives.by_tid, (uint32_t)e->pid);

	return i != MAP_NONE && r->lives.first_ns[i] <= e->early_ns;
}

int pf_play_tree(struct pf_reader *r, const struct pf_tree_entry *e)
{
	if (e->early_ns && had_another_life(r, e))
		return 0;
	if (!e->early_ns) {
		r->counts.handed_on++;
		build_count(r->builder, OUT_NAME, 1);
	}
	return e->is_thread ? play_thread(r, e) : play_process(r, e);
}

/* ---- ProcessStats ---------------------------------------------------------- */

static const struct {
	uint32_t number;
	int64_t factor;
	const char *name;
} stats_rows[] = {
	{ 2, KIB, "mem.virt" }, { 3, KIB, "mem.rss" }, { 4, KIB, "mem.rss.anon" }, { 5, KIB, "mem.rss.file" },
	{ 6, KIB, "mem.rss.shmem" }, { 7, KIB, "mem.swap" }, { 8, KIB, "mem.locked" }, { 9, KIB, "mem.rss.watermark" },
	{ 10, 1, "oom_score_adj" }, { 13, KIB, "chrome.private_footprint" }, { 14, KIB, "chrome.peak_rss" },
	{ 16, KIB, "mem.smaps.rss" }, { 17, KIB, "mem.smaps.pss" },
	{ 18, KIB, "mem.smaps.pss.anon" }, { 19, KIB, "mem.smaps.pss.file" }, { 20, KIB, "mem.smaps.pss.shmem" },
	{ 21, 1, "runtime.user_ns" }, { 22, 1, "runtime.kernel_ns" },
	{ 23, KIB, "mem.smaps.swap.pss" }, { 24, KIB, "mem.dmabuf_rss" },
};

static int put_stat(struct pf_reader *r, const struct pf_field *f)
{
	uint32_t name;
	size_t i;

	for (i = 0; i < sizeof(stats_rows) / sizeof(stats_rows[0]); i++) {
		if (!pf_is(f, stats_rows[i].number, PF_VARINT))
			continue;
		name = pf_word(r, stats_rows[i].name);
		return pf_record_put(r, PF_PIECE_COUNTER, name, f->value * (uint64_t)stats_rows[i].factor);
	}
	return 0;
}

static int read_stats(struct pf_reader *r, const struct pf_packet_info *p, struct pf_cursor m)
{
	struct pf_record head = { .kind = PF_RECORD_COUNTER };
	struct pf_field f;
	int got = 0, err;

	if (!pf_find(m, PF_PROCESS_STATS_PID, PF_VARINT, &f))
		return PF_USED;
	head.pid = (int32_t)f.value;
	err = pf_record_begin(r, &head, sizeof(head));
	while (!err && (got = pf_next(&m, &f)) > 0)
		err = put_stat(r, &f);
	if (err || got < 0)
		return err ? err : got;
	return pf_emit_packet(r, p, PF_RANK_OTHER);
}

int pf_process_stats(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	int got = 0, fate = PF_USED;
	struct pf_field f;

	while (fate == PF_USED && (got = pf_next(&message, &f)) > 0)
		if (pf_is(&f, PF_PROCESS_STATS_PROCESSES, PF_BYTES))
			fate = read_stats(r, p, pf_inner(&f));
	return fate != PF_USED ? fate : got < 0 ? got : PF_USED;
}
