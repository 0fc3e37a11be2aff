/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one record of ftrace text says, before it means anything: the parser (parse.h) makes
 * these, the import (import.h) gives them meaning.
 */
#ifndef FORMAT_FTRACE_EVENT_H
#define FORMAT_FTRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/clock.h"
#include "model/text.h"

enum ftrace_kind {
	FTRACE_EVENT,		/* "NAME: args", from whichever tool */
	FTRACE_MARKER,		/* trace_marker: args is the text written; may hold newlines */
	FTRACE_MARKER_RAW,	/* trace_marker_raw: name is the hex id, args the bytes as printed */
	FTRACE_FUNCTION,	/* name is the function, args the caller or "" */
	FTRACE_FUNCTION_REPEATS,/* function with "(repeats: N, ...)": count is N */
	FTRACE_SYSCALL_ENTER,	/* name is "openat", args what was in parentheses */
	FTRACE_SYSCALL_EXIT,	/* args is the value returned, as printed */
	FTRACE_GRAPH_ENTRY,	/* function_graph "f() {": args what was in parentheses */
	FTRACE_GRAPH_EXIT,	/* "}": name may be "", args is "ret=..." or "" */
	FTRACE_GRAPH_LEAF,	/* "f();": entry and return in one */
	FTRACE_GRAPH_IRQ_ENTRY,	/* "==========> |" */
	FTRACE_GRAPH_IRQ_EXIT,	/* "<========== |" */
	FTRACE_STACK,		/* args: a frame a line, innermost first, without " => " */
	FTRACE_USER_STACK,	/* the same; both belong to the record before of that tid */
	FTRACE_TEXT,		/* a record with a body of no known form: args is all of it */
	FTRACE_KIND_RECORDS,	/* ---- those below are no records of the ring buffer */
	FTRACE_TRACE = FTRACE_KIND_RECORDS, /* a trace begins: state of CPUs and clock start over; name: tracer */
	FTRACE_LOST,		/* before the next record of cpu: count events, 0 if not known */
	FTRACE_BUFFER_STARTED,	/* nothing is known of cpu before the next record */
	FTRACE_TASK_SWITCH,	/* function_graph's ruled block: from now on tid runs on cpu */
	FTRACE_PROCESS,		/* a line of a process dump: tid, tgid, comm */
	FTRACE_KIND_CNT
};

/* Who printed it: decides how args of the well-known events look. */
enum ftrace_dialect {
	FTRACE_KERNEL,		/* the kernel, also through trace-cmd report -N, perf script */
	FTRACE_TRACE_CMD,	/* trace-cmd report with plugins: "tgen:157 [120] R ==> ..." */
	FTRACE_FIELDS,		/* options fields, hex, raw and the like: "prev_pid=0x1 (1)" */
};

#define FTRACE_ID_UNKNOWN	(-1)

/* What a switch or a wakeup says; of a wakeup there is no "prev", @cpu is where to. */
struct sched_text {
	struct model_text prev_comm, next_comm, state;
	int32_t prev_tid, next_tid, prev_prio, next_prio, cpu;
	int32_t success;		/* of a wakeup, on old kernels; else 1 */
	uint8_t mark;			/* of what is @recorded: an enum fixed of model/core.h; prev_tid is a wakeup's waker */
};

struct ftrace_event {
	enum ftrace_kind kind;
	enum model_clock clock;
	enum ftrace_dialect dialect;
	uint64_t line;			/* number of its first line in the text, from 1 */
	uint64_t ts;			/* by clock; seconds as printed, in ns */
	int32_t cpu;			/* FTRACE_ID_UNKNOWN, else 0 to 4095 */
	int32_t tid, tgid;		/* FTRACE_ID_UNKNOWN, else 0 to 2^31 - 1 */
	bool in_irq;			/* flags say hard or soft interrupt, or NMI */
	bool stack_follows;		/* the next event may be a stack that belongs to it */
	bool recorded;			/* as kfxt recorded it: written as it is */
	bool complete;			/* false: an unterminated last line, which may have been cut */
	struct model_text comm;	/* name column; "" where it is <...>, cut or missing */
	struct model_text system;	/* "sched" where it was printed, else "" */
	struct model_text name;	/* of the event, as the kernel calls it */
	struct model_text args;
	const struct sched_text *sched;	/* of a source that is not text, in place of args; NULL. Strings outlive the import. */
	uint64_t count;			/* lost, repeats */
	uint32_t depth;			/* function_graph: indentation / 2 */
	bool has_duration;
	uint64_t duration_ns;		/* function_graph: of leaf and exit */
};

#endif
