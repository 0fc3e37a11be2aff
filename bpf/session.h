/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the BPF programs and the recorder agree on: the shared control words of
 * each CPU, the records that the recorder completes, and the strings whose table
 * indexes are fixed before loading.
 */
#ifndef KFXT_SESSION_H
#define KFXT_SESSION_H

#include <linux/types.h>

/* A CPU records nothing, or everything. */
enum cpu_state {
	CPU_OFF		= 0,
	CPU_ARMED	= 1,	/* goes live at its next switch (see on_sched_switch) */
	CPU_LIVE	= 2,
	CPU_ENDING	= 3,	/* ends at its next switch */
};

/*
 * One per CPU, in an mmap-able array. The first part is written by that CPU's
 * programs alone (@cur and @state apart, which say who else), the last line by
 * the drain alone.
 */
struct cpu_ctl {
	/*
	 * Who runs: the tid in the low half. A waker on another CPU that meets its
	 * target on the way out sets CUR_WOKEN and its own tid; the CPU itself then
	 * writes the wakeup.
	 */
	__u64 cur;
	__u64 head;		/* bytes ever written to the ring */
	__u32 state;		/* enum cpu_state; set by the recorder too */
	__u32 slot;		/* which ring is this CPU's */
	__u32 rung;		/* the doorbell was rung, cleared by the drain */
	__u32 maybe_woken;	/* tid of the last wake here that may be a no-op */
	__u32 gap_koid;		/* who ran when the gap began */
	__s32 gap_prio;
	__u32 gap_bytes;	/* it ends when so much is free */
	__u32 last_tid;		/* who was last switched in as the trace has it, and when */
	__u32 last_koid;
	__s32 last_prio;
	__u64 last_ns;
	__u64 gap_ns;		/* when it began; 0: nothing is missing */
	__u64 switches, wakeups;		/* written */
	__u64 lost_switches, lost_wakeups;	/* ring full */
	__u64 unseen_switches;			/* the kernel ran none of our programs for them */
	__u64 start_ns, stop_ns;
	__u64 preempt_count;			/* its address; 0: unknown */
	__u64 unseen_wakeups;			/* the same for wakeups; written, as implied */
	__u64 reserved[6];

	__u64 tail;		/* bytes ever taken out */
	__u64 event_tail;
	__u32 event_rung;	/* as @rung, for the event ring */
	__u32 reserved2;
	__u64 reserved3[5];

	/*
	 * The event ring. Its writers nest, so all of this is changed by atomic
	 * instructions, and the counts are of what is not in the ring.
	 */
	__u64 event_head;		/* bytes ever reserved */
	__u64 side_users;		/* programs here that are inside of the side ring's code */
	__u64 lost_events;		/* calls: the ring was full, or never at rest */
	__u64 lost_logs;		/* the same for lines of the log */
	__u64 lost_calls;		/* no place to keep an entry until its return */
	__u64 shed_calls;		/* beyond --func-max-rate */
	__u64 lost_returns;		/* calls whose return was not seen */
	__u64 reserved4[1];
};
_Static_assert(sizeof(struct cpu_ctl) == 320, "the drain's words stand in a cache line of their own");

#define CUR_TID(cur)	((__u32)(cur))
#define CUR_WOKEN	(1ULL << 63)
#define CUR_WAKER(cur)	((__u32)((cur) >> 32) & 0x7fffffff)

/*
 * A ring is 2^n chunks of 2^m bytes. A record starts inside a chunk and may run
 * over its end into the slack behind it; how far it did stands in the chunk's
 * last word, so that the drain knows where the chunk's records end and the next
 * chunk's begin. Chunks exist because a map value was at most 4 MiB before 6.8.
 */
#define RING_SLACK_BYTES	4096
#define RING_CHUNK_BYTES_MAX	(1U << 20)

/*
 * The event ring: as above, but its records become visible one by one, by their
 * first word, which is 0 until then and again once the drain has taken them.
 * A record is at most EVENT_WORDS_MAX long and needs no word about the slack.
 */
#define EVENT_WORDS_MAX		(RING_SLACK_BYTES / 8)

/*
 * What a program knows of a function: the category and name refs as they stand in
 * an event's header; the low bits say what its return value is.
 */
#define FUNC_ID_BITS		20
#define FUNC_ID_NONE		((1U << FUNC_ID_BITS) - 1)
#define FUNC_ID_MAX		(FUNC_ID_NONE - 1)
#define FUNC_INFO_REFS		0xffffffff00000000ULL
#define FUNC_INFO_RETURN	0x0fU	/* enum fxt_arg_type; 0: it returns nothing that is known */

/* Address to function: open addressing, a word to a slot, the low bits of the address above the id. */
#define FUNC_PROBES		8	/* slots looked at */
#define FUNC_SLOT(addr, id)	((__u64)(addr) << FUNC_ID_BITS | (id))
#define FUNC_SLOT_ADDR(slot)	((slot) >> FUNC_ID_BITS)
#define FUNC_SLOT_ID(slot)	((__u32)((slot) & FUNC_ID_NONE))
/* Fibonacci hashing; functions are aligned, hence the shift. */
#define FUNC_HASH(addr, bits)	((((__u64)(addr) >> 2) * 0x9e3779b97f4a7c15ULL) >> (64 - (bits)))

/*
 * Stands for a call of bpf_session_is_return() until the recorder, which knows its id
 * in this kernel, puts that in its place: libbpf would insist on one prototype, and
 * kernels have two, without and (7.x) with the context.
 */
#define CALL_SESSION_IS_RETURN	0x6b667874

/*
 * A function event that the recorder has to write itself: without a name ref, with
 * a caller, with arguments. An event record that never gets into a file: its
 * category is 0.
 */
enum func_word {
	FUNC_HEADER	= 0,	/* FXT_INSTANT or FXT_DURATION_COMPLETE */
	FUNC_TS		= 1,
	FUNC_PROCESS	= 2,
	FUNC_THREAD	= 3,
	FUNC_END_TS	= 4,
	FUNC_ID		= 5,	/* FUNC_ID_NONE: see @FUNC_ADDR; and FUNC_UNFINISHED */
	FUNC_ADDR	= 6,
	FUNC_PARENT	= 7,	/* 0: not asked for */
	FUNC_RETURN	= 8,	/* as in a register */
	FUNC_WORDS	= 9,
	FUNC_ARGS	= 9,	/* USDT: one word each */
	FUNC_ARGS_MAX	= 12,
};

#define FUNC_UNFINISHED		(1ULL << 32)	/* ended with its thread, not by returning */
#define FUNC_TRAMPOLINES	3

/*
 * A line of the kernel's log, which the recorder has to complete too: an event record
 * of type FXT_LOG that never gets into a file.
 */
enum log_word {
	LOG_HEADER	= 0,
	LOG_TS		= 1,
	LOG_PROCESS	= 2,
	LOG_THREAD	= 3,
	LOG_LEN		= 4,	/* bytes; and LOG_INTERRUPT */
	LOG_TEXT	= 5,
	LOG_TEXT_BYTES	= 1024,	/* no kernel prints more at once */
};

#define LOG_INTERRUPT		(1ULL << 32)	/* the thread is the one it came upon */

/*
 * Calls that have not returned, a slot to a thread that is inside of any. The first
 * word is the owner's; only what runs as that thread, interrupts among it, touches
 * the rest, each on top of the other.
 */
#define OPEN_SLOTS		4096U
#define OPEN_PROBES		8	/* slots looked at */
#define OPEN_CALLS		64	/* how deep calls of traced functions may nest; a power of two */
struct open_call {
	__u64 start_ns;
	__u64 addr;	/* or the function's id, or OPEN_ENDED */
	__u64 parent;
};
struct open_calls {
	__u64 owner;	/* OPEN_OWNER(); 0: free */
	__u64 process;	/* koids */
	__u64 thread;
	__u64 last_ns;	/* of its latest entry or return: times of one thread never repeat */
	struct open_call calls[OPEN_CALLS];
};
#define OPEN_ENDED		~0ULL	/* written already */
#define OPEN_OWNER(who, depth)	((__u64)(who) << 32 | (depth))
#define OPEN_WHO(owner)		((__u32)((owner) >> 32))
#define OPEN_DEPTH(owner)	((__u32)(owner))
/* Who: a thread id, or for a CPU's idle thread, of which there is one each: */
#define OPEN_IDLE(cpu)		(1U << 31 | (cpu))
/* The koid of an idle thread that calls functions: above all ids, below the second generation. */
#define IDLE_KOID(cpu)		(4194304ULL + (cpu))

/* What is kept of every id: 16 bits, 2048 of them to a map value. */
#define IDS_PER_PAGE		2048
#define ID_EXITED		1	/* its thread has exited */
#define ID_ASLEEP		2	/* as far as the trace has told */
#define ID_NAMED	(1U << 15)	/* the names of its thread have been sent */
#define ID_GENERATION_SHIFT	2	/* how often it was recycled */
#define ID_GENERATION(id)	(((id) & ~ID_NAMED) >> ID_GENERATION_SHIFT)
#define ID_GENERATION_MAX	428	/* keeps koids within 32 bits */
#define ID_GENERATION_STEP	10000000ULL

/*
 * A kernel object record in the side ring, in words: header, koid, name of
 * fixed length, Koid argument (the thread's process or the process's parent)
 * and, for a process at exec, its command line as a String argument.
 */
enum object_word {
	OBJECT_HEADER		= 0,
	OBJECT_KOID		= 1,
	OBJECT_NAME		= 2,
	OBJECT_NAME_WORDS	= 2,	/* TASK_COMM_LEN */
	OBJECT_ARG		= 4,
	OBJECT_WORDS		= 6,
	OBJECT_CMDLINE		= 7,	/* behind its argument header */
	OBJECT_CMDLINE_WORDS	= 64,	/* longer ones are completed from /proc */
	OBJECT_EXEC_WORDS	= 71,
};

/* Fixed string table: X(index name, text). The recorder writes it, programs refer to it. */
#define SESSION_STRINGS(X) \
	X(STR_OUTGOING_WEIGHT,	"outgoing_weight") \
	X(STR_INCOMING_WEIGHT,	"incoming_weight") \
	X(STR_WEIGHT,		"weight") \
	X(STR_WAKER,		"waker") \
	X(STR_PROCESS,		"process") \
	X(STR_PARENT,		"parent") \
	X(STR_CMDLINE,		"cmdline") \
	X(STR_LINUX_STATE,	"linux_state") \
	/* by the kernel's task state index; R and S are never written */ \
	X(STR_STATE_R,		"R") \
	X(STR_STATE_S,		"S") \
	X(STR_STATE_D,		"D") \
	X(STR_STATE_T,		"T") \
	X(STR_STATE_t,		"t") \
	X(STR_STATE_X,		"X") \
	X(STR_STATE_Z,		"Z") \
	X(STR_STATE_P,		"P") \
	X(STR_STATE_I,		"I") \
	X(STR_STATE_R_PLUS,	"R+") \
	X(STR_MARK,		"mark") \
	X(STR_MARK_START,	"start") \
	X(STR_MARK_STOP,	"stop") \
	X(STR_MARK_GAP,		"gap") \
	X(STR_MARK_IMPLIED,	"implied") \
	X(STR_FUNCTION,		"function") \
	X(STR_RETURN,		"return")

enum session_string {
	STR_EMPTY,
#define X(id, text) id,
	SESSION_STRINGS(X)
#undef X
	STR_CNT
};

#endif
