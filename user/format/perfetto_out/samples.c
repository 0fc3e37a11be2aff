// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of BLOBs that are on a sequence: stack samples and what they refer to. They stay as they are, but
 * for their sequence, of which the writer has one of its own, and ids, which are koids in FXT.
 */
#include <errno.h>

#include "format/perfetto/decode.h"
#include "writer_p.h"

/* The next field as it is, bytes and all: 1, 0 or -EBADMSG. */
static int next_raw(struct pf_cursor *c, struct pf_field *f, struct pf_cursor *raw)
{
	int got;

	raw->at = c->at;
	got = pf_next(c, f);
	raw->end = c->at;
	return got;
}

static void put_raw(struct pb_buf *b, struct pf_cursor raw)
{
	pb_put_raw(b, raw.at, (size_t)(raw.end - raw.at));
}

/* The ids of Linux; of a thread of the kernel that of its own process. 0 or -ENOMEM. */
static int ids_of(struct pf_out *o, uint64_t process, uint64_t thread, uint32_t *pid, uint32_t *tid)
{
	uint32_t at;
	int err = out_tasks_event(&o->tasks, (struct fxt_thread){ .process = process, .thread = thread });

	err = err ? err : out_tasks_get(&o->tasks, thread, &at);
	if (err)
		return err;
	*tid = out_id(thread);
	*pid = process ? out_id(process) : out_process_id(&o->tasks.tasks[at]);
	return 0;
}

/* A message with a process and a thread in fields @process and @thread of it. 0 or -ENOMEM. */
static int put_task(struct pf_out *o, struct pf_cursor m, unsigned int field, unsigned int process, unsigned int thread)
{
	uint64_t koid = 0, process_koid = 0;
	struct pf_cursor at = m, raw;
	struct pf_field f;
	uint32_t pid, tid;
	size_t begun;
	int err;

	while (pf_next(&at, &f) > 0) {
		if (pf_is(&f, process, PF_VARINT))
			process_koid = f.value;
		else if (pf_is(&f, thread, PF_VARINT))
			koid = f.value;
	}
	err = ids_of(o, (uint32_t)process_koid, (uint32_t)koid, &pid, &tid);
	if (err)
		return err;
	begun = pb_begin(&o->out, field);
	pb_put_u64(&o->out, process, pid);
	pb_put_u64(&o->out, thread, tid);
	while (next_raw(&m, &f, &raw) > 0)
		if (!pf_is(&f, process, PF_VARINT) && !pf_is(&f, thread, PF_VARINT))
			put_raw(&o->out, raw);
	pb_end(&o->out, begun);
	return 0;
}

static int put_stack_sample(struct pf_out *o, struct pf_cursor m)
{
	size_t begun = pb_begin(&o->out, PF_PACKET_STACK_SAMPLE);
	struct pf_cursor raw;
	struct pf_field f;
	int err = 0;

	while (!err && next_raw(&m, &f, &raw) > 0) {
		if (pf_is(&f, PF_STACK_TASK, PF_BYTES))
			err = put_task(o, pf_inner(&f), PF_STACK_TASK, PF_STACK_PID, PF_STACK_TID);
		else
			put_raw(&o->out, raw);
	}
	pb_end(&o->out, begun);
	return err;
}

int out_samples_put(struct pf_out *o, struct pf_cursor c)
{
	size_t begun = pb_begin(&o->out, PF_TRACE_PACKET);
	struct pf_cursor raw;
	struct pf_field f;
	int err = 0;

	while (!err && next_raw(&c, &f, &raw) > 0) {
		if (pf_is(&f, PF_PACKET_SEQUENCE_ID, PF_VARINT))
			pb_put_u64(&o->out, PF_PACKET_SEQUENCE_ID, f.value + (f.value >= OUT_SEQUENCE));
		else if (pf_is(&f, PF_PACKET_PERF_SAMPLE, PF_BYTES))
			err = put_task(o, pf_inner(&f), PF_PACKET_PERF_SAMPLE, PF_SAMPLE_PID, PF_SAMPLE_TID);
		else if (pf_is(&f, PF_PACKET_STACK_SAMPLE, PF_BYTES))
			err = put_stack_sample(o, pf_inner(&f));
		else
			put_raw(&o->out, raw);
	}
	pb_end(&o->out, begun);
	return err ? err : o->out.failed ? -ENOMEM : 0;
}
