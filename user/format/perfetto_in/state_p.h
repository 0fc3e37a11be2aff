/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the reader of Perfetto traces knows while it reads one.
 */
#ifndef FORMAT_PERFETTO_IN_STATE_P_H
#define FORMAT_PERFETTO_IN_STATE_P_H

#include "clock.h"
#include "input.h"
#include "record.h"
#include "sequence.h"
#include "model/arg_list.h"
#include "model/builder.h"
#include "model/sort.h"
#include "reader.h"

#define PF_DATA_MAX		4U	/* data fields of a packet; there should be one */
#define PF_STRING_BYTES_MAX	32000U	/* of an argument or name; longer ones are cut */
#define PF_LINES_MAX		(64U << 10)	/* bytes of a line of a log, or of a text put together */
#define PF_SORT_BYTES		(40U << 20)	/* of memory, before a temporary file is used */
#define PF_WAITING_BYTES	(8U << 20)	/* of memory for records whose clock is not known yet, the same */
#define PF_TRACKS_MAX		(2U << 20)	/* events of further ones are left out */
#define PF_CPUS			4096U
#define PF_COMMS_MAX	65536U		/* names in a bundle */
#define PF_FLOWS_HELD		1024U	/* flow ends that wait for a slice */

/* A packet, while it is decoded; what is from @interned on has no value but where it is said. */
struct pf_packet_info {
	uint64_t offset, number, timestamp;
	uint64_t clock_key, ns;		/* its time, by that clock, or of the trace if it is converted */
	enum pf_convert converted;
	uint32_t clock_id, sequence_id, flags, machine_id;
	int32_t trusted_pid;		/* of who wrote it, in no namespace; 0: not known */
	bool has_timestamp, has_clock, has_sequence, was_dropped, is_after_loss, is_inner;
	struct pf_sequence *q;		/* NULL: it has no sequence; one of id 0 is one */
	unsigned int data_cnt;
	struct pf_field interned, defaults;	/* no data if there is none */
	struct pf_field data[PF_DATA_MAX];
};

/* What a message means: an enum pf_fate, or -errno. */
typedef int pf_message_fn(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor message);

enum pf_scope {
	PF_SCOPE_UNKNOWN, PF_SCOPE_THREAD, PF_SCOPE_BELOW_THREAD, PF_SCOPE_PROCESS, PF_SCOPE_GLOBAL, PF_SCOPE_NONE,
};

/* A track, by its uuid or by its thread. */
struct pf_track_row {
	uint64_t uuid, parent;
	bool is_described, has_process, has_thread, is_counter, is_incremental;
	uint8_t counter_type, scope;	/* @scope: enum pf_scope, found in the second pass */
	bool has_state, is_open;	/* state tracks: a state has begun */
	bool has_type_name;		/* @name is that of a type of Chrome */
	int32_t trusted_pid;		/* of who described it, the same */
	int64_t pid, tid;
	int64_t multiplier;
	uint32_t name, first_name;	/* @first_name: of its first event */
	uint32_t shown;			/* of a counter: its name in FXT */
	int32_t rank;			/* explicit order among its siblings, 0: none */
	uint32_t track;			/* the builder's */
	uint32_t counter;		/* of a value of FXT's counters: index + 1 */
	uint64_t packet, offset;	/* of its first event */
	uint64_t last_ns;		/* its last begin or end of a slice; 0: there is none */
};

struct pf_tracks {
	struct map by_uuid, by_thread;
	struct map owners;		/* of the builder's tracks of threads: whose slices are on it, by uuid */
	struct pf_track_row *all;
	uint32_t cnt, cap;
};

/* Events of ftrace that are described in the trace. */
struct pf_descriptions {
	struct map by_number;
	struct pf_description { uint8_t *raw; uint32_t len, group; } *all;
	uint32_t cnt, cap;
};

/* Threads, or processes, of a kernel that is not Linux: their ids have 64 bits. */
struct pf_tasks {
	struct map by_id;
	struct pf_task {
		int64_t id, pid;
		uint32_t name;		/* of the list of processes; it stays */
		uint32_t comm;		/* the last of its events */
		uint32_t track;		/* the builder's */
		bool has_pid, is_idle;
	} *all;
	uint32_t cnt, cap;
};

/* When an id of Linux was first given to a thread, or taken from one. */
struct pf_lives {
	struct map by_tid;
	uint64_t *first_ns;
	uint32_t cnt, cap;
};

/* Current thread of a CPU; in the first pass by the order of the file. */
struct pf_cpu {
	bool is_known, has_lost;	/* @has_lost: events, which is not drawn yet */
	int32_t tid, prio;
	uint32_t comm;
};

/* Which value of which counter of FXT a track is; strings of the pool. */
struct pf_counter_value {
	uint32_t category, name, argument;
	uint64_t id;
};

/* A counter of FXT, until it is known whether it has more values. */
struct pf_held_counter {
	struct pf_counter_value of;
	uint32_t track, names[FXT_ARGS_MAX];
	uint64_t ts_ns;
	struct fxt_arg args[FXT_ARGS_MAX];
	unsigned int cnt;		/* 0: there is none */
};

/* A slice that has begun in the packet before: the record that it is going to be. */
struct pf_begun {
	bool is_held;
	uint64_t uuid;
	struct pf_packet_info p;
	uint64_t *record;
	size_t words, cap;
};

/* A flow's end that binds to the next slice of its track. */
struct pf_held_flow {
	uint32_t track, name, category;
	uint64_t id, ts_ns;
};

#define PF_SYSCALLS_MAX	512U	/* no machine has more */

struct pf_syscalls {
	uint32_t arch;			/* SCMP_ARCH_*; 0: not known */
	char *names[PF_SYSCALLS_MAX];	/* as far as they were looked up */
	char event[64];			/* "sys_enter_openat", the last one */
};

struct pf_reader {
	struct builder *builder;
	pf_ftrace_fn ftrace;
	void *ftrace_ctx;
	struct pf_ftrace_event ftrace_event;	/* to be handed on: the same one each time, not cleared */
	struct pf_input input;
	struct pf_counts counts;
	struct pf_pool pool;
	struct pf_sequences sequences;
	struct pf_clocks clocks;
	struct pf_tracks tracks;
	struct pf_descriptions descriptions;
	struct pf_tasks tasks, task_processes;
	struct map meters;		/* names of rails and GPUs' counters, by number: see meters.c */
	uint64_t lost_lines;		/* of the journal, the last count */
	uint64_t (*lost_in_buffers)[3], *lost_on_cpus;	/* the last counts; NULL: none. See losses.c */
	struct map tree;		/* pids and tids that a ProcessTree has named: see names.c */
	struct map namespaced;		/* tids by those in a namespace: see names.c */
	bool has_other_2;		/* process 2 is not the kernel's kthreadd, but one of a container */
	struct pf_lives lives;
	bool old_states, has_release;	/* of a kernel before 4.14; whether the trace says which it is */
	uint32_t state_bits;		/* of all states */
	struct pf_syscalls syscalls;
	uint32_t perf_sessions;		/* sequences whose samples have counted something */
	bool is_recorded;		/* what is read, or played, was written from FXT */
	uint8_t record_flag;		/* PF_RECORD_FROM_FXT if so */
	char provider[256];		/* of FXT, the first one */
	int pass;
	uint64_t packet_number, packet_offset;	/* of the one that is decoded */
	uint64_t latest_ns;		/* what has no time of its own has that */
	struct event_sort *sort;
	const uint64_t *at;		/* the record that is played */
	uint64_t at_ns;			/* its place in time */
	uint64_t *record;		/* being made */
	size_t record_words, record_cap;
	struct event_sort *waiting;	/* records whose clock is not known yet; NULL: none */
	unsigned int waiting_runs;
	bool has_machine_time;		/* there are records of another clock than the wall's */
	uint32_t *comms;		/* names of a bundle */
	size_t comms_cap;
	struct pf_cpu *cpus;		/* PF_CPUS */
	struct pf_begun begun;
	struct pf_counter_value *counters;
	size_t counters_cnt, counters_cap;
	struct pf_held_counter held_counter;
	uint64_t local_pid;		/* of the event that is played, if it has PF_HAS_LOCAL_ID */
	struct arg_list *args;
	struct pf_held_flow *held;
	unsigned int held_cnt;
	struct profile_frame *frames;	/* of a sample; PROFILE_FRAMES_MAX */
	char text[PF_LINES_MAX];	/* put together */
	size_t text_len;
};

#endif
