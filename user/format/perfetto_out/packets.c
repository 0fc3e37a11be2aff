// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of the recorder, which are in BLOB records, and those of a trace that has none.
 */
#include <errno.h>
#include <string.h>

#include "format/perfetto/decode.h"
#include "writer_p.h"

#define PACKET_BYTES_MAX	(16U << 20)
#define RECORDER_SEQUENCE	1U
#define RELEASE			"6.1.0"	/* of a kernel that has the bits of states that are written */

/* ---- BLOBs ------------------------------------------------------------------------ */

static int take_process(struct pf_out *o, struct pf_cursor c)
{
	struct pb_buf args = { 0 };
	struct pf_field f;
	uint32_t koid = 0;
	int err;

	while (pf_next(&c, &f) > 0) {
		if (pf_is(&f, PF_TREE_PID, PF_VARINT))
			koid = (uint32_t)f.value;
		if (!pf_is(&f, PF_TREE_CMDLINE, PF_BYTES))
			continue;
		pb_put_raw(&args, f.data, f.len);
		pb_put_raw(&args, "", 1);
	}
	err = args.failed ? -ENOMEM : 0;
	if (!err && args.len)
		err = out_tasks_cmdline(&o->tasks, koid, args.data, args.len);
	pb_buf_fini(&args);
	return err;
}

/* Processes with their koids, whose names are written with those of the records. */
static int take_processes(struct pf_out *o, struct pf_cursor c)
{
	struct pf_field f;
	int err = 0;

	while (!err && pf_next(&c, &f) > 0)
		if (pf_is(&f, PF_TREE_PROCESSES, PF_BYTES))
			err = take_process(o, pf_inner(&f));
	return err;
}

/* A packet with bytes that are no field would make readers refuse the whole trace. */
static bool is_whole(struct pf_cursor c)
{
	struct pf_field f;
	int got;

	while ((got = pf_next(&c, &f)) > 0)
		;
	return !got;
}

/* How far real time is ahead, for packets of the log. */
static void take_clocks(struct pf_out *o, struct pf_cursor c)
{
	uint64_t real_ns = 0, boot_ns = 0;
	struct pf_field f, id, time;

	while (pf_next(&c, &f) > 0) {
		if (!pf_is(&f, PF_SNAPSHOT_CLOCKS, PF_BYTES) || !pf_find(pf_inner(&f), PF_CLOCK_ID, PF_VARINT, &id) ||
		    !pf_find(pf_inner(&f), PF_CLOCK_TIMESTAMP, PF_VARINT, &time))
			continue;
		if (id.value == PF_CLOCK_REALTIME)
			real_ns = time.value;
		else if (id.value == PF_CLOCK_BOOTTIME)
			boot_ns = time.value;
	}
	if (real_ns && boot_ns && !o->has_clocks)
		o->events.realtime_offset_ns = real_ns - boot_ns;
	o->has_clocks = true;
}

static bool is_own(struct pf_cursor c, uint32_t number)
{
	struct pf_field f;

	return pf_find(c, number, PF_BYTES, &f) && pf_find(c, PF_PACKET_SEQUENCE_ID, PF_VARINT, &f) &&
	       f.value == RECORDER_SEQUENCE;
}

/* By the recorder: a line of the log, which has a record, too, or a label, which is made of the record of its process. */
static bool is_twice(struct pf_cursor c)
{
	return is_own(c, PF_PACKET_ANDROID_LOG) || is_own(c, PF_PACKET_PROCESS_DESCRIPTOR);
}

static int take_packet(struct pf_out *o, struct pf_cursor c)
{
	struct pf_field f;

	if (!is_whole(c)) {
		o->left_out[PF_LEFT_PACKET]++;
		return 0;
	}
	if (pf_find(c, PF_PACKET_PROCESS_TREE, PF_BYTES, &f))
		return take_processes(o, pf_inner(&f));
	if (is_twice(c))
		return 0;
	o->has_system |= pf_find(c, PF_PACKET_SYSTEM_INFO, PF_BYTES, &f);
	if (pf_find(c, PF_PACKET_CLOCK_SNAPSHOT, PF_BYTES, &f))
		take_clocks(o, pf_inner(&f));
	if (pf_find(c, PF_PACKET_SEQUENCE_ID, PF_VARINT, &f) && f.value != RECORDER_SEQUENCE)
		return out_samples_put(o, c);
	pb_put_bytes(&o->out, PF_TRACE_PACKET, c.at, (size_t)(c.end - c.at));
	return o->out.failed ? -ENOMEM : 0;
}

/* Bytes of the packet at @from in the BLOBs so far: 0 if it is not all there, -EBADMSG if it is none. */
static long packet_at(const struct pf_out *o, size_t from, struct pf_cursor *packet)
{
	struct pf_cursor c;
	uint64_t len;

	if (o->blob.len == from)
		return 0;
	c = pf_message(o->blob.data + from, o->blob.len - from);
	if (*c.at++ != PF_TRACE_TAG)
		return -EBADMSG;
	if (!pf_varint(&c, &len))
		return o->blob.len - from > PB_VARINT_BYTES_MAX ? -EBADMSG : 0;
	if (len > PACKET_BYTES_MAX)
		return -EBADMSG;
	if (len > (uint64_t)(c.end - c.at))
		return 0;
	*packet = pf_message(c.at, len);
	return packet->end - (o->blob.data + from);
}

int out_packets_take(struct pf_out *o, const void *data, size_t len)
{
	struct pf_cursor packet;
	size_t from = 0;
	long used = 0;
	int err;

	pb_put_raw(&o->blob, data, len);
	err = o->blob.failed ? -ENOMEM : 0;
	while (!err && (used = packet_at(o, from, &packet)) > 0) {
		err = take_packet(o, packet);
		from += (size_t)used;
	}
	if (used < 0) {
		o->left_out[PF_LEFT_PACKET]++;
		from = o->blob.len;
	}
	if (from)
		memmove(o->blob.data, o->blob.data + from, o->blob.len - from);
	o->blob.len -= from;
	return err;
}

/* ---- beginning -------------------------------------------------------------------- */

static void put_system(struct pf_out *o, const struct fxt_arg *kernel)
{
	const struct fxt_str release = kernel && kernel->type == FXT_ARG_STRING ? kernel->str : fxt_str(RELEASE);
	struct pb_buf *b = &o->out;
	size_t packet = pb_begin(b, PF_TRACE_PACKET), info = pb_begin(b, PF_PACKET_SYSTEM_INFO);
	size_t names = pb_begin(b, PF_SYSTEM_UTSNAME);

	pb_put_text(b, PF_UTS_SYSNAME, "Linux");
	pb_put_string(b, PF_UTS_RELEASE, release.data, release.len);
	pb_end(b, names);
	pb_end(b, info);
	pb_end(b, packet);
}

static void put_clocks(struct pf_out *o, uint64_t ts_ns)
{
	struct pb_buf *b = &o->out;
	size_t packet = pb_begin(b, PF_TRACE_PACKET), snapshot, clock;

	pb_put_u64(b, PF_PACKET_TIMESTAMP, ts_ns);
	snapshot = pb_begin(b, PF_PACKET_CLOCK_SNAPSHOT);
	clock = pb_begin(b, PF_SNAPSHOT_CLOCKS);
	pb_put_u64(b, PF_CLOCK_ID, PF_CLOCK_BOOTTIME);
	pb_put_u64(b, PF_CLOCK_TIMESTAMP, ts_ns);
	pb_end(b, clock);
	pb_put_u64(b, PF_SNAPSHOT_PRIMARY, PF_CLOCK_BOOTTIME);
	pb_end(b, snapshot);
	pb_end(b, packet);
}

/* Who reads it to make FXT again finds marks and all as they were. */
static void put_provider(struct pf_out *o)
{
	struct pb_buf *b = &o->out;
	size_t packet = pb_begin(b, PF_TRACE_PACKET), attributes = pb_begin(b, PF_PACKET_TRACE_ATTRIBUTES);
	size_t attribute = pb_begin(b, PF_ATTRIBUTES_LIST);

	pb_put_text(b, PF_ATTRIBUTE_KEY, PF_KEY_PROVIDER);
	pb_put_string(b, PF_ATTRIBUTE_STRING, o->provider.data, o->provider.len);
	pb_end(b, attribute);
	pb_end(b, attributes);
	pb_end(b, packet);
}

void out_packets_begin(struct pf_out *o, const struct fxt_record *first, uint64_t ts_ns)
{
	o->begun = true;
	o->sched.begin_ns = ts_ns;
	if (!o->has_system)
		put_system(o, fxt_record_arg(first, "kernel"));
	if (!o->has_clocks)
		put_clocks(o, ts_ns);
	put_provider(o);
}
