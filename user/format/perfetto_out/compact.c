// SPDX-License-Identifier: GPL-2.0
/*
 * FtraceEventBundle packets with compact scheduling.
 */
#include "compact.h"

#include <errno.h>
#include <stdlib.h>

#include "format/perfetto/fields.h"

#define SLOTS		4096U	/* more than twice OUT_BUNDLE_EVENTS, a power of two */

/* Where the name of a task is among those of the bundle whose @serial this is. */
struct out_comm_slot {
	uint32_t serial, task, index;
};

static struct out_comm_slot *find_slot(const struct out_bundle *b, uint32_t task)
{
	uint32_t at = task * 2654435761U;

	while (b->slots[at % SLOTS].serial == b->serial && b->slots[at % SLOTS].task != task)
		at++;
	return &b->slots[at % SLOTS];
}

static int open_slots(struct out_bundle *b)
{
	if (b->slots)
		return 0;
	b->slots = calloc(SLOTS, sizeof(*b->slots));
	b->serial = 1;		/* of no slot */
	return b->slots ? 0 : -ENOMEM;
}

/* An empty name where it is not known yet: packets that name threads say it. */
static uint32_t comm_index(struct out_bundle *b, const struct out_tasks *t, uint32_t task)
{
	const struct out_name *name = &t->tasks[task].name;
	struct out_comm_slot *slot = find_slot(b, task);

	if (slot->serial == b->serial)
		return slot->index;
	*slot = (struct out_comm_slot){ .serial = b->serial, .task = task, .index = b->comms_cnt++ };
	pb_put_string(&b->comms, PF_COMPACT_INTERN, name->data, name->len);
	return slot->index;
}

static uint32_t id_of(const struct out_tasks *t, uint32_t task)
{
	return task == OUT_IDLE ? 0 : out_id(t->tasks[task].koid);
}

/* The first of an array is a time, others are what was added since. */
static void put_time(struct pb_buf *array, uint64_t *last_ns, uint64_t ts_ns)
{
	pb_put_varint(array, array->len ? ts_ns - *last_ns : ts_ns);
	*last_ns = ts_ns;
}

static int put_result(const struct out_bundle *b)
{
	unsigned int i;

	for (i = 0; i < OUT_ARRAY_CNT; i++)
		if (b->arrays[i].failed)
			return -ENOMEM;
	return b->comms.failed || b->single.failed ? -ENOMEM : 0;
}

int out_bundle_switch(struct out_bundle *b, const struct out_tasks *t, const struct out_bundle_switch *s)
{
	if (open_slots(b))
		return -ENOMEM;
	b->events++;
	put_time(&b->arrays[OUT_ARRAY_TIME], &b->switch_ns, s->ts_ns);
	pb_put_varint(&b->arrays[OUT_ARRAY_STATE], s->prev_state);
	pb_put_varint(&b->arrays[OUT_ARRAY_PID], id_of(t, s->next));
	pb_put_varint(&b->arrays[OUT_ARRAY_PRIO], (uint64_t)(int64_t)s->prio);
	pb_put_varint(&b->arrays[OUT_ARRAY_COMM], comm_index(b, t, s->next));
	if (s->mark)
		pb_put_varint(&b->arrays[OUT_ARRAY_MARKS], (uint64_t)b->switches * PF_MARK_CNT + s->mark);
	b->switches++;
	return put_result(b);
}

int out_bundle_waking(struct out_bundle *b, const struct out_tasks *t, const struct out_bundle_waking *s)
{
	if (open_slots(b))
		return -ENOMEM;
	b->events++;
	put_time(&b->arrays[OUT_ARRAY_WAKING_TIME], &b->waking_ns, s->ts_ns);
	pb_put_varint(&b->arrays[OUT_ARRAY_WAKING_PID], id_of(t, s->task));
	pb_put_varint(&b->arrays[OUT_ARRAY_WAKING_CPU], s->target_cpu);
	pb_put_varint(&b->arrays[OUT_ARRAY_WAKING_PRIO], (uint64_t)(int64_t)s->prio);
	pb_put_varint(&b->arrays[OUT_ARRAY_WAKING_COMM], comm_index(b, t, s->task));
	pb_put_varint(&b->arrays[OUT_ARRAY_WAKING_FLAGS], s->flags);
	return put_result(b);
}

size_t out_bundle_begin_single(struct out_bundle *b, uint64_t ts_ns, uint32_t pid)
{
	size_t begun = pb_begin(&b->single, PF_BUNDLE_EVENT);

	b->events++;
	pb_put_u64(&b->single, PF_FTRACE_TIMESTAMP, ts_ns);
	pb_put_u64(&b->single, PF_FTRACE_PID, pid);
	return begun;
}

void out_bundle_end_single(struct out_bundle *b, size_t begun)
{
	pb_end(&b->single, begun);
}

static void put_arrays(struct out_bundle *b, struct pb_buf *out)
{
	static const uint16_t fields[OUT_ARRAY_CNT] = {
		[OUT_ARRAY_TIME] = PF_COMPACT_SWITCH_TIME, [OUT_ARRAY_STATE] = PF_COMPACT_PREV_STATE,
		[OUT_ARRAY_PID] = PF_COMPACT_NEXT_PID, [OUT_ARRAY_PRIO] = PF_COMPACT_NEXT_PRIO,
		[OUT_ARRAY_COMM] = PF_COMPACT_NEXT_COMM, [OUT_ARRAY_WAKING_TIME] = PF_COMPACT_WAKING_TIME,
		[OUT_ARRAY_WAKING_PID] = PF_COMPACT_WAKING_PID, [OUT_ARRAY_WAKING_CPU] = PF_COMPACT_WAKING_CPU,
		[OUT_ARRAY_WAKING_PRIO] = PF_COMPACT_WAKING_PRIO, [OUT_ARRAY_WAKING_COMM] = PF_COMPACT_WAKING_COMM,
		[OUT_ARRAY_WAKING_FLAGS] = PF_COMPACT_WAKING_FLAGS, [OUT_ARRAY_MARKS] = PF_COMPACT_KFXT_MARKS,
	};
	size_t compact = pb_begin(out, PF_BUNDLE_COMPACT);
	unsigned int i;

	pb_put_raw(out, b->comms.data, b->comms.len);
	for (i = 0; i < OUT_ARRAY_CNT; i++) {
		if (b->arrays[i].len)
			pb_put_bytes(out, fields[i], b->arrays[i].data, b->arrays[i].len);
		b->arrays[i].len = 0;
	}
	pb_end(out, compact);
}

int out_bundle_put(struct out_bundle *b, struct pb_buf *out)
{
	size_t packet, bundle;

	if (!b->events)
		return put_result(b);
	packet = pb_begin(out, PF_TRACE_PACKET);
	bundle = pb_begin(out, PF_PACKET_FTRACE_EVENTS);
	pb_put_u64(out, PF_BUNDLE_CPU, b->cpu);
	pb_put_raw(out, b->single.data, b->single.len);
	if (b->lost)
		pb_put_u64(out, PF_BUNDLE_LOST_EVENTS, 1);
	if (b->comms_cnt)
		put_arrays(b, out);
	pb_end(out, bundle);
	pb_end(out, packet);
	b->comms.len = b->single.len = 0;
	b->events = b->switches = b->comms_cnt = 0;
	b->lost = false;
	b->serial++;
	return out->failed ? -ENOMEM : put_result(b);
}

void out_bundle_fini(struct out_bundle *b)
{
	unsigned int i;

	for (i = 0; i < OUT_ARRAY_CNT; i++)
		pb_buf_fini(&b->arrays[i]);
	pb_buf_fini(&b->comms);
	pb_buf_fini(&b->single);
	free(b->slots);
}
