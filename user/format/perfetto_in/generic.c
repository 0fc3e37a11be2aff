// SPDX-License-Identifier: GPL-2.0
/*
 * Scheduling of kernels that are not Linux: each packet has the new state of one thread, lists have the threads
 * and processes.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "reader_p.h"

#define HZ_PER_KHZ	1000

/* Values of PF_TASK_STATE. */
enum { TASK_CREATED = 1, TASK_RUNNING = 3, TASK_DESTROYED = 8 };

/* ---- the tables ------------------------------------------------------------ */

/* Index + 1; 0: no memory, or too many. */
static uint32_t task_get(struct pf_tasks *t, int64_t id)
{
	uint32_t i = map_get(&t->by_id, (uint64_t)id);

	if (i != MAP_NONE)
		return i + 1;
	if (t->cnt >= PF_TRACKS_MAX || array_reserve(t->all, t->cnt, t->cap, 1) || map_add(&t->by_id, (uint64_t)id, t->cnt))
		return 0;
	t->all[t->cnt] = (struct pf_task){ .id = id };
	return ++t->cnt;
}

static int task_error(const struct pf_tasks *t)
{
	return t->cnt >= PF_TRACKS_MAX ? PF_TOO_MANY_TRACKS : -ENOMEM;
}

void pf_tasks_fini(struct pf_reader *r)
{
	map_fini(&r->tasks.by_id);
	map_fini(&r->task_processes.by_id);
	free(r->tasks.all);
	free(r->task_processes.all);
}

/* ---- states, names --------------------------------------------------------- */

static int emit_task(struct pf_reader *r, const struct pf_packet_info *p, int64_t tid, struct pf_record *head)
{
	int err;

	head->kind = PF_RECORD_TASK;
	head->track = task_get(&r->tasks, tid);
	if (!head->track)
		return task_error(&r->tasks);
	err = pf_record_begin(r, head, sizeof(*head));
	/* At one time a thread is switched out before another one is switched in. */
	return err ? err : pf_emit_packet(r, p, head->type == TASK_RUNNING ? PF_RANK_OTHER : PF_RANK_WAKING);
}

int pf_task_state(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	struct pf_record head = { 0 };
	uint64_t cpu = UINT64_MAX, state = 0;
	bool has_tid = false;
	int64_t tid = 0;
	struct pf_field f;
	int got;

	while ((got = pf_next(&message, &f)) > 0) {
		if (pf_is(&f, PF_TASK_CPU, PF_VARINT)) {
			cpu = f.value;
		} else if (pf_is(&f, PF_TASK_TID, PF_VARINT)) {
			tid = (int64_t)f.value;
			has_tid = true;
		} else if (pf_is(&f, PF_TASK_STATE, PF_VARINT)) {
			state = f.value;
		} else if (pf_is(&f, PF_TASK_PRIO, PF_VARINT)) {
			head.number = (int32_t)f.value;
		} else if (pf_is(&f, PF_TASK_COMM, PF_BYTES)) {
			head.name = pf_string_of(r, &f);
		}
	}
	if (got < 0)
		return got;
	if (!has_tid)
		return PF_NO_THREAD;
	if (state < TASK_CREATED || state > TASK_DESTROYED)
		return PF_NO_TYPE;
	if (cpu >= PF_CPUS && state == TASK_RUNNING)
		return PF_NO_CPU;
	head.type = (uint8_t)state;
	head.cpu = cpu < PF_CPUS ? (uint16_t)cpu : 0;
	return emit_task(r, p, tid, &head);
}

int pf_task_rename(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	struct pf_record head = { 0 };
	struct pf_field tid, comm;

	if (!pf_find(message, PF_RENAME_TID, PF_VARINT, &tid))
		return PF_NO_THREAD;
	if (pf_find(message, PF_RENAME_COMM, PF_BYTES, &comm))
		head.name = pf_string_of(r, &comm);
	return emit_task(r, p, (int64_t)tid.value, &head);
}

/* ---- lists ----------------------------------------------------------------- */

/* Its path, without arguments. */
static int read_process(struct pf_reader *r, struct pf_cursor m)
{
	struct pf_field pid, cmdline;
	const uint8_t *end;
	uint32_t i;

	if (!pf_find(m, PF_TASK_PROCESS_PID, PF_VARINT, &pid) || !pf_find(m, PF_TASK_PROCESS_CMDLINE, PF_BYTES, &cmdline))
		return PF_USED;
	i = task_get(&r->task_processes, (int64_t)pid.value);
	if (!i)
		return task_error(&r->task_processes);
	end = cmdline.len ? memchr(cmdline.data, ' ', cmdline.len) : NULL;
	cmdline.len = end ? (size_t)(end - cmdline.data) : cmdline.len;
	r->task_processes.all[i - 1].name = pf_string_of(r, &cmdline);
	return PF_USED;
}

static int read_thread(struct pf_reader *r, struct pf_cursor m)
{
	struct pf_field tid, f;
	struct pf_task *task;
	uint32_t i;

	if (!pf_find(m, PF_TASK_THREAD_TID, PF_VARINT, &tid))
		return PF_USED;
	i = task_get(&r->tasks, (int64_t)tid.value);
	if (!i)
		return task_error(&r->tasks);
	task = &r->tasks.all[i - 1];
	if (pf_find(m, PF_TASK_THREAD_PID, PF_VARINT, &f)) {
		task->pid = (int64_t)f.value;
		task->has_pid = true;
	}
	if (pf_find(m, PF_TASK_THREAD_COMM, PF_BYTES, &f))
		task->name = pf_string_of(r, &f);
	task->is_idle |= pf_find(m, PF_TASK_THREAD_IS_IDLE, PF_VARINT, &f) && f.value;
	return PF_USED;
}

int pf_task_tree(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	int got = 0, fate = PF_USED;
	struct pf_field f;

	(void)p;
	while (fate == PF_USED && (got = pf_next(&message, &f)) > 0) {
		if (pf_is(&f, PF_TASKS_PROCESSES, PF_BYTES))
			fate = read_process(r, pf_inner(&f));
		else if (pf_is(&f, PF_TASKS_THREADS, PF_BYTES))
			fate = read_thread(r, pf_inner(&f));
	}
	return got < 0 ? got : fate;
}

/* ---- frequencies ----------------------------------------------------------- */

/* As the tracepoint of Linux says it. */
int pf_generic_frequency(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message)
{
	struct pf_record head = { .kind = PF_RECORD_FTRACE, .tid = -1 };
	struct pf_field cpu, hz;
	int err;

	if (!pf_find(message, PF_GENERIC_CPU, PF_VARINT, &cpu) || cpu.value >= PF_CPUS)
		return PF_NO_CPU;
	if (!pf_find(message, PF_GENERIC_HZ, PF_VARINT, &hz))
		return PF_NO_VALUE;
	head.cpu = (uint16_t)cpu.value;
	head.name = pf_word(r, "cpu_frequency");
	head.category = pf_word(r, "power");
	pf_text_clear(r);
	pf_text_print(r, "state=%llu cpu_id=%llu", (unsigned long long)hz.value / HZ_PER_KHZ, (unsigned long long)cpu.value);
	err = pf_record_begin(r, &head, sizeof(head));
	err = err ? err : pf_record_put_text(r, PF_PIECE_LOG, 0, r->text, r->text_len);
	return err ? err : pf_emit_packet(r, p, PF_RANK_OTHER);
}

/* ---- the second pass ------------------------------------------------------- */

/* A thread whose process is not known is one of its own. */
static int find_track(struct pf_reader *r, struct pf_task *task)
{
	const struct model_track spec = {
		.kind = task->is_idle || !task->id ? MODEL_TRACK_IDLE : MODEL_TRACK_THREAD,
		.process.number = task->has_pid ? task->pid : task->id, .thread.number = task->id,
	};

	task->is_idle = spec.kind == MODEL_TRACK_IDLE;
	return task->track ? 0 : builder_track(r->builder, &spec, &task->track);
}

static int set_name(struct pf_reader *r, uint32_t track, uint32_t name)
{
	return pf_add(r, &(struct model_event){ .kind = MODEL_NAME, .track = track, .name = pf_pool_str(&r->pool, name) });
}

static int name_process(struct pf_reader *r, const struct pf_task *process)
{
	const struct model_track spec = { .kind = MODEL_TRACK_PROCESS, .process.number = process->id };
	uint32_t track;
	int err = builder_track(r->builder, &spec, &track);

	return err || !process->name ? err : set_name(r, track, process->name);
}

int pf_tasks_name(struct pf_reader *r)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < r->task_processes.cnt && !err; i++)
		err = name_process(r, &r->task_processes.all[i]);
	for (i = 0; i < r->tasks.cnt && !err; i++) {
		err = find_track(r, &r->tasks.all[i]);
		if (!err && r->tasks.all[i].name && !r->tasks.all[i].is_idle)
			err = set_name(r, r->tasks.all[i].track, r->tasks.all[i].name);
	}
	return err;
}

/* A new thread is not runnable yet: it will be woken. */
static const struct {
	enum model_state state;
	const char *letter;
} states[TASK_DESTROYED + 1] = {
	[TASK_CREATED] = { MODEL_SLEEPING, "" }, [2] = { MODEL_RUNNABLE, "" }, [TASK_RUNNING] = { MODEL_RUNNING, "" },
	[4] = { MODEL_SLEEPING, "" }, [5] = { MODEL_BLOCKED, "D" }, [6] = { MODEL_STOPPED, "T" }, [7] = { MODEL_DYING, "Z" },
	[TASK_DESTROYED] = { MODEL_DEAD, "X" },
};

int pf_play_task(struct pf_reader *r, const struct pf_record *head, uint64_t ts_ns)
{
	struct pf_task *task = &r->tasks.all[head->track - 1];
	struct model_event ev = { .kind = MODEL_STATE, .track = task->track, .ts_ns = ts_ns };
	int err = 0;

	if (head->name && head->name != task->comm && !task->name && !task->is_idle) {
		task->comm = head->name;
		err = set_name(r, task->track, head->name);
	}
	if (err || !head->type)
		return err;
	ev.sched.cpu = head->cpu;
	ev.sched.priority = (int32_t)head->number;
	ev.sched.state = states[head->type].state;
	ev.sched.linux_state = fxt_str(states[head->type].letter);
	return pf_add(r, &ev);
}
