/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is sorted by time: records with all that the first pass knew, made of multiples of 8 bytes.
 */
#ifndef FORMAT_PERFETTO_IN_RECORD_H
#define FORMAT_PERFETTO_IN_RECORD_H

#include <stddef.h>
#include <stdint.h>

enum pf_record_kind {
	PF_RECORD_EVENT,	/* TrackEvent; @type, @value of a counter or duration of 'X' */
	PF_RECORD_INSTANT,	/* on a thread: @pid, @tid; neither: of the trace */
	PF_RECORD_LOG,		/* the same, its text is PF_PIECE_LOG */
	PF_RECORD_COUNTER,	/* @pid, 0: of the machine; @id of the counters; PF_PIECE_COUNTER each */
	PF_RECORD_SWITCH,	/* struct pf_sched */
	PF_RECORD_WAKING,	/* the same, from either form */
	PF_RECORD_FTRACE,	/* another event of ftrace: @name, text is PF_PIECE_LOG */
	PF_RECORD_LOST,		/* events of @cpu are missing before this */
	PF_RECORD_PROCESS,	/* struct pf_tree_entry */
	PF_RECORD_STACK,	/* struct pf_stack */
	PF_RECORD_TASK,		/* @track is of struct pf_tasks, @type its new state, 0: a name only; @number: priority */
};

#define PF_RECORD_FROM_FXT	0x80U	/* with the kind, in the sorted record: of a trace that was written from FXT */

/* Records of one time are in this order. */
enum pf_rank { PF_RANK_LOST, PF_RANK_NAMES, PF_RANK_WAKING, PF_RANK_OTHER };

#define PF_TYPE_PROCESS_INSTANT	'P'	/* beside the letters of a LegacyEvent that are read */

struct pf_record {
	uint8_t kind;
	uint8_t type;		/* enum pf_event_type, or the letter of a LegacyEvent */
	uint16_t cpu;
	union {
		uint32_t track;	/* index + 1 of the table of tracks */
		int32_t tid;
		uint32_t id;
	};
	uint32_t name, category;	/* in the pool */
	union {
		int64_t number;
		double real;
		uint64_t bits;
		int32_t pid;
	};
};

#define PF_HAS_NUMBER	1U	/* pf_record.cpu of a counter: its value is an integer */
#define PF_HAS_REAL	2U
#define PF_HAS_LOCAL_ID	3U	/* of a LegacyEvent: an id of it is of its process */

static inline enum pf_record_kind pf_kind(uint8_t kind)
{
	return (enum pf_record_kind)(kind & ~PF_RECORD_FROM_FXT);
}

/* Of the compact form only the first PF_COMPACT_BYTES are there. */
struct pf_sched {
	uint8_t kind;
	uint8_t in_irq, has_prev;	/* @has_prev: of the verbose form */
	uint8_t mark;			/* enum pf_mark */
	uint16_t cpu, target_cpu;
	int32_t tid, prio;		/* of the incoming, or woken, thread */
	uint32_t comm;
	uint32_t prev_state;		/* bits of the kernel */
	int32_t prev_tid, prev_prio;	/* of the outgoing thread, or the waker */
	uint32_t prev_comm;
	uint32_t event;			/* number of the event: waking, wakeup, wakeup_new */
};

#define PF_COMPACT_BYTES	offsetof(struct pf_sched, prev_tid)

struct pf_tree_entry {
	uint8_t kind;
	uint8_t is_thread, is_kernel, has_name;
	int32_t pid, parent;		/* of a process, or of a thread and its process */
	uint32_t name;
	uint64_t early_ns;	/* it holds from the beginning, if the id had one life up to then; 0: from its own time on */
};

/* A sample. */
struct pf_stack {
	uint8_t kind, source;	/* @source: enum profile_source */
	uint8_t user_mode, unused;
	int32_t cpu;		/* -1: not known */
	int32_t pid, tid;
	uint32_t source_name;
	uint32_t frames;	/* in the pool: numbers of struct pf_stack_frame, outermost first */
	uint64_t weight;
};

/* In the pool; the first four are its numbers of text, or of bytes. */
struct pf_stack_frame {
	uint32_t name, mapping, build_id, source_path, line, kind;
	uint64_t rel_pc;
};

/* What follows a struct pf_record. */
enum pf_piece_kind {
	PF_PIECE_MEMBER, PF_PIECE_ELEMENT, PF_PIECE_LEAVE,	/* of nested arguments: @name, @value; what is put next is in it */
	PF_PIECE_BOOL, PF_PIECE_UINT, PF_PIECE_INT, PF_PIECE_DOUBLE, PF_PIECE_POINTER,
	PF_PIECE_STRING,	/* @value is of the pool */
	PF_PIECE_TEXT,		/* @value bytes follow, up to a multiple of 8 */
	PF_PIECE_NAME,		/* the same, the name of the event */
	PF_PIECE_LOG,		/* the same, a line of a log or the arguments of an event of ftrace */
	PF_PIECE_FLOW, PF_PIECE_FLOW_BEGIN, PF_PIECE_FLOW_STEP, PF_PIECE_FLOW_END,	/* @value is the id, @name PF_ID_* */
	PF_PIECE_COUNTER,	/* int: @name is a track, or of PF_RECORD_COUNTER a name */
	PF_PIECE_COUNTER_DOUBLE,
	PF_PIECE_ASYNC,		/* id of a LegacyEvent, the same */
};

#define PF_ID_TO_NEXT	1U	/* a flow's end that binds to the next slice */
#define PF_ID_LOCAL	2U	/* an id of the process */

struct pf_piece {
	uint8_t kind;
	uint8_t is_member;	/* a value with a name of its own */
	uint8_t pad[2];
	uint32_t name;
	uint64_t value;
};

static inline size_t pf_padded(uint64_t len)
{
	return (size_t)(len + 7) & ~(size_t)7;
}

#endif
