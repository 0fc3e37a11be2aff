// SPDX-License-Identifier: GPL-2.0
/*
 * Perfetto packets, encoded by protobuf-c and carried in FXT BLOBs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "fxt/fxt.h"
#include "base/clock.h"
#include "packets.h"
#include "perfetto.pb-c.h"

#define PROCESSES_MAX	256
#define ARGS_MAX	64	/* of a command line; the rest is joined to the last */
#define SEQUENCE_ID	1
/* A packet that is larger than a BLOB record, 32,752 bytes, is split, and readers take each BLOB for whole packets. */
#define PROCESSES_BYTES_MAX	30000U
#define PROCESS_BYTES(text)	((text) + 3 * ARGS_MAX + 24)	/* with tags, lengths and ids; at most */
#define LABEL_BYTES(text)	((text) + 48)	/* a packet of its own */

struct packet_process {
	Perfetto__Process msg;
	char *text;		/* the bytes that @args point to */
	char *args[ARGS_MAX];
	Perfetto__ProcessDescriptor descriptor;
	char *label;		/* NULL: none */
};

struct packets {
	struct fxt_writer *w;
	uint64_t realtime_offset;	/* real time less boot time, as the clocks were written */
	unsigned int cnt;
	size_t bytes;			/* of @processes, at most */
	struct packet_process processes[PROCESSES_MAX];
	Perfetto__Process *list[PROCESSES_MAX];
};

int packets_open(struct packets **out, struct fxt_writer *w)
{
	struct packets *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->w = w;
	*out = p;
	return 0;
}

/* In one BLOB. */
static int write_packets(struct packets *p, Perfetto__TracePacket **packets, size_t cnt)
{
	Perfetto__Trace trace = PERFETTO__TRACE__INIT;
	uint8_t *buf;
	size_t len, i;
	int err;

	for (i = 0; i < cnt; i++) {
		if (!packets[i]->has_timestamp)
			packets[i]->timestamp = clock_ns(CLOCK_BOOTTIME);
		packets[i]->has_timestamp = 1;
		packets[i]->has_trusted_packet_sequence_id = 1;
		packets[i]->trusted_packet_sequence_id = SEQUENCE_ID;
	}
	trace.n_packet = cnt;
	trace.packet = packets;
	buf = malloc(perfetto__trace__get_packed_size(&trace));
	if (!buf)
		return -ENOMEM;
	len = perfetto__trace__pack(&trace, buf);
	err = fxt_write_blob(p->w, FXT_BLOB_PERFETTO, fxt_str("perfetto"), buf, len);
	free(buf);
	return err;
}

static int write_packet(struct packets *p, Perfetto__TracePacket *packet)
{
	return write_packets(p, &packet, 1);
}

int packets_write_system(struct packets *p, unsigned int cpus)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__SystemInfo info = PERFETTO__SYSTEM_INFO__INIT;
	Perfetto__Utsname names = PERFETTO__UTSNAME__INIT;
	time_t now = time(NULL);
	struct utsname uts;
	struct tm tm;

	uname(&uts);
	localtime_r(&now, &tm);
	names.sysname = uts.sysname;
	names.version = uts.version;
	names.release = uts.release;
	names.machine = uts.machine;
	info.utsname = &names;
	info.tracing_service_version = "kfxt";
	info.has_page_size = info.has_timezone_off_mins = info.has_num_cpus = 1;
	info.page_size = sysconf(_SC_PAGESIZE);
	info.timezone_off_mins = tm.tm_gmtoff / 60;
	info.num_cpus = cpus;
	packet.system_info = &info;
	return write_packet(p, &packet);
}

int packets_write_clocks(struct packets *p)
{
	/* Perfetto's numbers of the clocks */
	static const struct {
		uint32_t number;
		clockid_t id;
	} clocks[] = { { 6, CLOCK_BOOTTIME }, { 1, CLOCK_REALTIME }, { 3, CLOCK_MONOTONIC } };
	enum { CNT = sizeof(clocks) / sizeof(clocks[0]) };
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__Clock msgs[CNT], *list[CNT];

	for (unsigned int i = 0; i < CNT; i++) {
		perfetto__clock__init(&msgs[i]);
		msgs[i].has_clock_id = msgs[i].has_timestamp = 1;
		msgs[i].clock_id = clocks[i].number;
		msgs[i].timestamp = clock_ns(clocks[i].id);
		list[i] = &msgs[i];
	}
	p->realtime_offset = msgs[1].timestamp - msgs[0].timestamp;
	snapshot.n_clocks = CNT;
	snapshot.clocks = list;
	snapshot.has_primary_trace_clock = 1;
	snapshot.primary_trace_clock = clocks[0].number;
	packet.clock_snapshot = &snapshot;
	return write_packet(p, &packet);
}

int packets_write_log(struct packets *p, const struct packets_log *line)
{
	/* Verbose, debug, info, warn, error, fatal are 2 to 7. */
	static const int32_t prios[] = { 7, 7, 7, 6, 5, 4, 4, 3 };
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__AndroidLogPacket log = PERFETTO__ANDROID_LOG_PACKET__INIT;
	Perfetto__LogEvent event = PERFETTO__LOG_EVENT__INIT, *list = &event;

	event.has_log_id = event.has_pid = event.has_tid = event.has_timestamp = event.has_prio = 1;
	event.log_id = 7;	/* the kernel's */
	event.pid = (int32_t)line->process;
	event.tid = (int32_t)line->thread;
	event.timestamp = line->ts + p->realtime_offset;
	event.prio = line->level >= 0 && line->level < 8 ? prios[line->level] : 2;
	event.tag = (char *)(line->tag ?: "kern");
	event.message = (char *)line->text;
	log.n_events = 1;
	log.events = &list;
	packet.android_log = &log;
	packet.has_timestamp = 1;
	packet.timestamp = line->ts;
	return write_packet(p, &packet);
}

int packets_write_lost(struct packets *p, const uint64_t *lost, unsigned int cnt)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TraceStats stats = PERFETTO__TRACE_STATS__INIT;
	Perfetto__BufferStats *msgs = calloc(cnt, sizeof(*msgs)), **list = calloc(cnt, sizeof(*list));
	int err = -ENOMEM;

	if (!msgs || !list)
		goto out;
	for (unsigned int i = 0; i < cnt; i++) {
		perfetto__buffer_stats__init(&msgs[i]);
		msgs[i].has_trace_writer_packet_loss = 1;
		msgs[i].trace_writer_packet_loss = lost[i];
		list[i] = &msgs[i];
	}
	stats.n_buffer_stats = cnt;
	stats.buffer_stats = list;
	packet.trace_stats = &stats;
	err = write_packet(p, &packet);
out:
	free(msgs);
	free(list);
	return err;
}

/* Splits @text, @len bytes and a NUL after them, into @proc's arguments. */
static void split_args(struct packet_process *proc, char *text, size_t len)
{
	char *s = text;

	proc->text = text;
	while (s < text + len && proc->msg.n_cmdline < ARGS_MAX) {
		proc->args[proc->msg.n_cmdline++] = s;
		s += strlen(s) + 1;
	}
	/* Too many to list: the last holds what is left. */
	for (; s < text + len; s += strlen(s) + 1)
		s[-1] = ' ';
	proc->msg.cmdline = proc->args;
}

static void forget_processes(struct packets *p)
{
	for (; p->cnt; p->cnt--) {
		free(p->processes[p->cnt - 1].text);
		free(p->processes[p->cnt - 1].label);
	}
	p->bytes = 0;
}

int packets_add_process(struct packets *p, const struct packets_process *process)
{
	const size_t len = process->cmdline_len;
	const size_t bytes = PROCESS_BYTES(len) + (process->label ? LABEL_BYTES(strlen(process->label)) : 0);
	struct packet_process *proc;
	char *text, *label;
	int err = p->cnt == PROCESSES_MAX || p->bytes + bytes > PROCESSES_BYTES_MAX ? packets_flush(p) : 0;

	if (err)
		return err;
	text = malloc(len + 1);
	label = process->label ? strdup(process->label) : NULL;
	if (!text || (process->label && !label)) {
		free(text);
		free(label);
		return -ENOMEM;
	}
	if (len)
		memcpy(text, process->cmdline, len);
	text[len] = 0;
	proc = &p->processes[p->cnt];
	perfetto__process__init(&proc->msg);
	proc->msg.has_pid = proc->msg.has_ppid = 1;
	proc->msg.pid = (int32_t)process->koid;
	proc->msg.ppid = (int32_t)process->parent;
	split_args(proc, text, len);
	perfetto__process_descriptor__init(&proc->descriptor);
	proc->label = label;
	proc->descriptor.has_pid = 1;
	proc->descriptor.pid = proc->msg.pid;
	proc->descriptor.n_process_labels = !!label;
	proc->descriptor.process_labels = &proc->label;
	p->list[p->cnt++] = &proc->msg;
	p->bytes += bytes;
	return 0;
}

int packets_flush(struct packets *p)
{
	Perfetto__TracePacket msgs[1 + PROCESSES_MAX], *list[1 + PROCESSES_MAX];
	Perfetto__ProcessTree tree = PERFETTO__PROCESS_TREE__INIT;
	size_t i, cnt = 0;
	int err;

	if (!p->cnt)
		return 0;
	tree.n_processes = p->cnt;
	tree.processes = p->list;
	perfetto__trace_packet__init(&msgs[0]);
	msgs[0].process_tree = &tree;
	list[cnt++] = &msgs[0];
	for (i = 0; i < p->cnt; i++) {
		if (!p->processes[i].label)
			continue;
		perfetto__trace_packet__init(&msgs[cnt]);
		msgs[cnt].process_descriptor = &p->processes[i].descriptor;
		list[cnt] = &msgs[cnt];
		cnt++;
	}
	err = write_packets(p, list, cnt);
	forget_processes(p);
	return err;
}

void packets_close(struct packets *p)
{
	if (!p)
		return;
	forget_processes(p);
	free(p);
}
