// SPDX-License-Identifier: GPL-2.0
/*
 * The table of sources.
 */
#include <stddef.h>
#include <unistd.h>

#include "../../bpf/presets.h"
#include "kernel_btf.h"
#include "sources.h"

const struct source sources[SOURCE_CNT] = {
	[SOURCE_LOG] = {
		.name = "log", .by_default = true,
		.about = "lines of the kernel's log, with level and thread; on unless !log",
		.shows = "log records and instants on the threads that print",
		.tracepoints = { { "console", 2 } },
		.programs = { "on_console" },
	},
	[SOURCE_SIGNAL] = {
		.name = "signal",
		.about = "signals as they are sent and as they are delivered",
		.shows = "instants of category \"signal\" on the threads that send and that get them; needs tracefs",
		.tracepoints = { { "signal_generate", 1 }, { "signal_deliver", 1 } },
		.events = { "signal:signal_generate", "signal:signal_deliver" },
	},
	[SOURCE_MIGRATE] = {
		.name = "migrate",
		.about = "threads that are moved to another CPU",
		.shows = "instants of category \"sched\" on the threads that move them; needs tracefs",
		.tracepoints = { { "sched_migrate_task", 1 } },
		.events = { "sched:sched_migrate_task" },
	},
	[SOURCE_MARKER] = {
		.name = "marker", .by_default = true,	/* without the program, see events.c */
		.about = "what programs write to trace_marker; on unless !marker, or where it costs something",
		.shows = "slices, counters and instants, as kfxt convert makes of markers",
		.tracepoints = { { "sys_exit", 2 } },
		.programs = { "on_marker" },
	},
	[SOURCE_IRQ] = {
		.name = "irq",
		.about = "interrupts, softirqs, and on x86 those of the local timer and of other CPUs",
		.shows = "slices on tracks \"irq CPU N\" and \"softirq CPU N\" of process \"interrupts\"",
		.tracepoints = { { "irq_handler_entry", 2 }, { "irq_handler_exit", 3 },
				 { "softirq_entry", 1 }, { "softirq_exit", 1 } },
		.programs = { "on_irq_handler_entry", "on_irq_handler_exit", "on_softirq_entry", "on_softirq_exit" },
#define X(name) #name "_entry", #name "_exit",
		.optional = { IRQ_VECTORS(X) },
#undef X
		.maps = { "open_irqs" },
	},
	[SOURCE_WORKQUEUE] = {
		.name = "workqueue",
		.about = "work items of the kernel by their functions, and how long they were queued",
		.shows = "slices on the worker threads, those of BH workqueues on tracks \"softirq CPU N\"",
		.tracepoints = { { "workqueue_queue_work", 3 }, { "workqueue_execute_start", 1 },
				 { "workqueue_execute_end", 1 } },
		.programs = { "on_workqueue_queue_work", "on_workqueue_execute_start", "on_workqueue_execute_end" },
		.maps = { "open_works", "queued_works" },
	},
	[SOURCE_POWER] = {
		.name = "power",
		.about = "idle state and frequency of each CPU",
		.shows = "counters \"cpu_idle\" and \"cpu_frequency\" (kHz) of process \"counters\", by CPU",
		.tracepoints = { { "cpu_idle", 2 }, { "cpu_frequency", 2 } },
		.programs = { "on_cpu_idle", "on_cpu_frequency" },
	},
	[SOURCE_BLOCK] = {
		.name = "block",
		.about = "requests of block devices, from the driver's getting them to completion",
		.shows = "asynchronous slices \"DEVICE OPERATION\" of the threads that issue them",
		.tracepoints = { { "block_rq_issue", 1 }, { "block_rq_complete", 3 }, { "block_rq_requeue", 1 } },
		.programs = { "on_block_rq_issue", "on_block_rq_complete", "on_block_rq_requeue" },
		.maps = { "open_requests" },
	},
	[SOURCE_PSI] = {
		.name = "psi",
		.about = "pressure: the share of time some or all tasks waited for CPU, memory or I/O",
		.shows = "counters \"pressure WHAT\" (percent, up to five times a second) of process \"counters\"",
		.file = "/proc/pressure/cpu",
	},
	[SOURCE_SYSCALLS] = {
		.name = "syscalls",
		.about = "system calls with arguments and results; syscalls:openat,read these only",
		.shows = "slices on the threads that call; needs tracefs",
		.tracepoints = { { "sys_enter", 2 }, { "sys_exit", 2 } },
		.programs = { "on_sys_enter", "on_sys_exit" },
	},
};

const char *source_lacks(const struct source *source)
{
	const struct source_tracepoint *t = source->tracepoints;

	for (; t < source->tracepoints + SOURCE_PARTS_MAX && t->name; t++)
		if (!kernel_btf_has_tracepoint(t->name, t->nargs))
			return t->name;
	return source->file && access(source->file, R_OK) ? source->file : NULL;
}
