// SPDX-License-Identifier: GPL-2.0
#include "marker.h"

#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/trace.h>
#include <linux/trace_events.h>

#include "counts.h"
#include "trace.h"

/* What ftrace writes where it could not read the program's memory. */
#define FAULTED		"<faulted>\n"

/* ftrace's own struct print_entry, which it keeps to itself. */
struct marker_entry {
	struct trace_entry ent;
	unsigned long ip;
	char text[];
};

static bool started;

/*
 * tracing_mark_write() ends what was written with a newline, unless there is one,
 * and a NUL. The ring buffer rounds up to words and leaves old bytes there, so the
 * end is the first newline and NUL that may be it: of anything but the shortest
 * markers, for which older kernels leave room for FAULTED, among the last few bytes.
 */
unsigned int kfxt_marker_len(const char *text, unsigned int room)
{
	const unsigned int tail = sizeof(u32) + 1;
	unsigned int i;

	if (room >= sizeof(FAULTED) && !memcmp(text, FAULTED, sizeof(FAULTED)))
		return sizeof(FAULTED) - 2;
	i = room > ALIGN(sizeof(FAULTED), sizeof(u32)) ? room - tail : 1;
	for (; i < room; i++) {
		if (!text[i] && text[i - 1] == '\n')
			return i - 1;
	}
	i = strnlen(text, room);
	return i && text[i - 1] == '\n' ? i - 1 : i;
}

/* Any process that writes, preemption off, no nesting. */
static void on_marker(struct trace_export *export, const void *data, unsigned int size)
{
	const struct marker_entry *entry = data;

	if (size <= sizeof(*entry) || !rcu_is_watching()) {
		this_cpu_inc(kfxt_counts.markers_lost);
		return;
	}
	trace_kfxt_marker(entry->text, kfxt_marker_len(entry->text, size - sizeof(*entry)));
	this_cpu_inc(kfxt_counts.markers);
}

static struct trace_export export = {
	.write = on_marker,
	.flags = TRACE_EXPORT_MARKER,
};

int kfxt_marker_start(void)
{
	int err;

	if (started)
		return 0;
	err = register_ftrace_export(&export);
	started = !err;
	return err ? -EINVAL : 0;
}

void kfxt_marker_stop(void)
{
	if (!started)
		return;
	unregister_ftrace_export(&export);
	synchronize_rcu();	/* the list is walked with preemption off; nobody else waits */
	started = false;
}
