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
 * What the programs of one kind of event came upon: each is counted in @seen once it is known what
 * becomes of it. What is neither filtered nor lost is in the ring. Changed by atomic instructions.
 */
struct event_counts {
	__u64 seen;
	__u64 filtered;	/* of threads that are not wanted, or by a filter on fields */
	__u64 lost;	/* the ring was full, or never at rest; or the other half of it is missing */
};

/*
 * One per CPU, in an mmap-able array. The first part is written by that CPU's
 * programs alone (@cur and @state apart, which say who else), the last line by
 * the drain alone.
 */
struct cpu_ctl {
	/* Who runs: its tid; CUR_WOKEN is set by a waker on another CPU, see struct late_wake. */
	__u64 cur;
	__u64 head;		/* bytes ever written to the ring */
	__u64 calm_until;	/* up to this @head the CPU is live with no filter, and there is room and no gap */
	__u32 state;		/* enum cpu_state; set by the recorder too */
	__u32 chunk;		/* where @head is; set by the recorder to the first of this CPU's */
	__u32 last_tid;		/* who was last switched in as the trace has it, and when */
	__u32 last_koid;
	__u64 last_ns;
	__u64 switch_header;	/* of this CPU's switches from R without more arguments; set by the recorder */
	__u64 preempt_count;	/* its address; 0: unknown */
	/* A cache line ends here; with what is above and in the next one most events are done. */
	__u64 switches, wakeups;		/* written */
	__u64 seen_switches, seen_wakeups;	/* whatever became of them */
	__u64 gap_ns;		/* when it began; 0: nothing is missing */
	__s32 last_prio;
	__u32 hidden;		/* who runs was not wanted: nobody runs here as the trace has it */
	__u32 gap_koid;		/* who ran when the gap began */
	__s32 gap_prio;
	__u32 gap_bytes;	/* it ends when so much is free */
	__u32 slot;		/* which ring is this CPU's */
	__u64 lost_switches, lost_wakeups;	/* ring full */
	__u64 unseen_switches;			/* the kernel ran none of our programs for them */
	__u64 unseen_wakeups;			/* the same for wakeups, or the sleep before; written, with a mark */
	__u64 start_ns, stop_ns;
	__u64 filtered_switches, filtered_wakeups;	/* not written: of threads that are not wanted */
	__u64 told_switches, told_wakeups;	/* of those lost: in the slices of gaps that are over */
	__u32 told_unseen;
	__u32 gaps;		/* how many those are */
	__u32 reserved;
	__u16 leaves_wanted, comes_told;	/* of the switch under way: see judge_switch() */
	__u64 reserved1[4];

	__u64 tail;		/* bytes ever taken out */
	__u64 event_tail;
	__u32 rung;		/* the doorbell was rung; cleared by the drain */
	__u32 event_rung;	/* the same for the event ring */
	__u64 reserved3[5];

	/*
	 * The event ring. Its writers nest, so all of this is changed by atomic
	 * instructions, and the counts are of what is not in the ring.
	 */
	__u64 event_head;		/* bytes ever reserved */
	__u64 side_users;		/* programs here that are inside of the side ring's code */
	struct event_counts calls;	/* of functions; these three are neither lost nor filtered: */
	__u64 deep_calls;		/* no place to keep an entry until its return */
	__u64 shed_calls;		/* beyond --func-max-rate */
	__u64 lost_returns;		/* calls whose return was not seen */
	struct event_counts logs;	/* lines of the log, or parts of them */
	struct event_counts raws;	/* what other sources have */
	__u64 reserved4[2];
};
_Static_assert(sizeof(struct cpu_ctl) == 448, "the drain's words stand in a cache line of their own");

#define SWITCH_WORDS	6	/* header, time, out, in, two weights */

#define CUR_TID(cur)	((__u32)(cur))
#define CUR_WOKEN	(1ULL << 63)

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
#define CALL_RDONLY_CAST	0x6b667875

/*
 * Stand for numbers and for addresses of maps' only values, in the programs of a switch and a wakeup
 * alone: there each look into memory for them would cost. See PUT_NUMBER().
 */
#define NUMBER_RDONLY_CAST	0x6b667876	/* 1: the kernel has it */
#define NUMBER_CHUNK_LAST	0x6b667877	/* byte of a chunk */
#define NUMBER_CPUS		0x6b667878
#define NUMBER_IDS		0x6b667879	/* in VALUE_IDS; 0: they are in more than one value */
#define VALUE_CTLS		0x6b66787a
#define VALUE_IDS		0x6b66787b

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
 * What other sources leave to the recorder: raw records, of a type that FXT does not have,
 * so that none can be taken for a record of the file. All begin the same.
 */
#define RAW_TYPE	14
#define RAW_F_KIND	16, 8		/* enum raw_kind */
#define RAW_RECORD(kind, words)	(FXT_HEADER(RAW_TYPE, words) | FXT_PUT(kind, RAW_F_KIND))

enum raw_kind {
	RAW_LOG,		/* enum log_word */
	RAW_TRACEPOINT,		/* enum tracepoint_word */
	RAW_MARKER,		/* enum marker_word */
	RAW_IRQ,		/* enum irq_word; this one and those below: presets.h */
	RAW_WORK,		/* enum work_word */
	RAW_POWER,		/* enum power_word */
	RAW_BLOCK,		/* enum block_word */
	RAW_SYSCALL,		/* enum syscall_word */
	RAW_KIND_CNT
};

enum raw_word {
	RAW_HEADER	= 0,
	RAW_TS		= 1,
	RAW_PROCESS	= 2,
	RAW_THREAD	= 3,
	RAW_WORDS	= 4,
};

/* A line of the kernel's log. */
enum log_word {
	LOG_LEN		= RAW_WORDS,	/* bytes; and LOG_INTERRUPT */
	LOG_TEXT,
	LOG_TEXT_BYTES	= 1024,	/* no kernel prints more at once */
};

#define LOG_INTERRUPT		(1ULL << 32)	/* the thread is the one it came upon */

/* A tracepoint's own record, as its format file describes it. The common fields are not filled in. */
enum tracepoint_word {
	TRACEPOINT_WHICH = RAW_WORDS,	/* index of what was asked for; its bytes in the upper half */
	TRACEPOINT_RECORD,
	TRACEPOINT_BYTES_MAX = (EVENT_WORDS_MAX - TRACEPOINT_RECORD) * 8,	/* longer ones are cut */
};

/*
 * What the program knows of a tracepoint: how long its records are, and which are wanted.
 * A filter is a list of tests that are gone through by jumps, as the kernel does it.
 */
#define FIELD_TESTS_MAX	16
#define FIELD_TEXT_WORDS	8	/* of one string */
#define FIELD_YES		0xff	/* instead of the next test: it is decided */
#define FIELD_NO		0xfe
enum field_op {
	FIELD_EQ, FIELD_LT, FIELD_GT, FIELD_AND,	/* numbers; their opposites by the jumps */
	FIELD_TEXT,		/* begins with these bytes, the NUL among them or not */
};
struct field_test {
	__u16 offset;		/* of the field, or of the word that says where it is */
	__u8 size;		/* 1, 2, 4, 8; of a text: bytes to compare */
	__u8 op;
	__u8 yes, no;		/* next test */
	__u8 is_signed, is_dynamic;	/* 2: relative */
	__u64 value;		/* of a text: its first word in texts[] */
};
#define TRACEPOINT_DYNAMIC_MAX	14
#define TRACEPOINT_RELATIVE	0x8000
struct tracepoint_info {
	__u32 bytes;		/* up to the end of the last field of fixed length */
	__u16 dynamic[TRACEPOINT_DYNAMIC_MAX];	/* where words stand that tell of others; 0: no more */
	__u32 tests;		/* 0: all are wanted */
	struct field_test test[FIELD_TESTS_MAX];
	__u64 texts[FIELD_TESTS_MAX * FIELD_TEXT_WORDS];
	__u64 filtered;		/* records that were not wanted */
};
/* What is counted of all, on each CPU, where the kernel does not tell what it skips. */
enum tracepoint_count { TRACEPOINTS_SEEN, TRACEPOINTS_RAN, TRACEPOINTS_COUNTS };

/* What a program wrote to trace_marker. */
enum marker_word {
	MARKER_LEN	= RAW_WORDS,	/* bytes; 0: the text could not be read */
	MARKER_TEXT,
	MARKER_TEXT_BYTES	= (EVENT_WORDS_MAX - MARKER_TEXT) * 8,	/* no kernel takes more at once */
};
/* A system call, from entry to exit; its time is that of the entry. */
enum syscall_word {
	SYSCALL_END_TS	= RAW_WORDS,
	SYSCALL_CALL,		/* SYSCALL_*() below; and SYSCALL_UNFINISHED */
	SYSCALL_RETURN,
	SYSCALL_TEXT_LEN,	/* of the first text, NUL included, and of the second, 32 bits each */
	SYSCALL_ARGS,
	SYSCALL_ARGS_MAX = 6,
	SYSCALL_TEXT	= SYSCALL_ARGS + SYSCALL_ARGS_MAX,	/* the second one behind the first, at a whole word */
	SYSCALL_TEXTS_MAX = 2,
	SYSCALL_TEXT_MAX = 256,			/* bytes that are written */
	SYSCALL_TEXT_BYTES = SYSCALL_TEXT_MAX + 8,	/* that are read, to see whether there are more */
};

/* Which call: its number, by the table of 32-bit programs with SYSCALL_COMPAT. */
#define SYSCALL_COMPAT		(1ULL << 32)
#define SYSCALL_OPEN		(1ULL << 33)	/* in open_syscall only */
#define SYSCALL_UNFINISHED	(1ULL << 34)	/* in a record only: it did not return */
#define SYSCALL_NR(call)	((__s32)(call))
#define SYSCALL_NUMBERS		1024	/* known; what is beyond is no call of any kernel so far */

/* What is known of a number: */
#define SYSCALL_WANTED		0x8000
#define SYSCALL_EXEC		0x4000	/* the memory of its arguments is gone at exit, and its number may be */
#define SYSCALL_TEXT_ARG(i)	(3 * (i)), 3	/* which argument is a text, plus 1; 0: none */

/* A thread's slot, its own from its first call on, that of a thread until it ends. */
struct open_syscall {
	__u64 task;	/* address of its task_struct, which exec does not change; 0: free */
	__u64 call;	/* 0: none is open */
	__u64 ts;	/* entry or, if none is open, the latest exit: times of one thread never repeat */
	__u64 process;	/* koids */
	__u64 thread;
	__u64 args[SYSCALL_ARGS_MAX];
};
#define OPEN_SYSCALLS_SHIFT	16

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
#define IDLE_KOID(cpu)		((unsigned long long)IDS_MAX + (cpu))

/* The kernel's PID_MAX_LIMIT: ids are below. */
#define IDS_MAX			4194304U

/*
 * What is kept of every id: 16 bits, all of them in one map value or, where the kernel does not
 * have such large ones (before 6.8), 2048 to a value.
 */
#define IDS_PAGE_SHIFT		11
#define ID_EXITED		1	/* its thread has exited */
#define ID_ASLEEP		2	/* as far as the trace has told */
#define ID_TOLD		(1U << 11)	/* with a filter: the trace has told of its state since it ran */
#define ID_RAN		(1U << 12)	/* the trace has told of it running */
#define ID_WOKEN	(1U << 13)	/* and of a wakeup */
#define ID_LATE		(1U << 14)	/* asleep, and maybe woken already: there is a struct late_wake */
#define ID_NAMED	(1U << 15)	/* the names of its thread have been sent */
#define ID_GENERATION_SHIFT	2	/* how often it was recycled: 9 bits */
#define ID_GENERATION(id)	((id) >> ID_GENERATION_SHIFT & 0x1ff)
#define ID_GENERATION_MAX	428	/* keeps koids within 32 bits */
#define ID_GENERATION_STEP	10000000ULL

/*
 * A wake of a thread that ran, as far as was to be seen. If it went to sleep all the same, it had been
 * on its way, and the wake is a real one. By the thread's id; of two with the same place the later
 * one is kept.
 */
struct late_wake {
	__u64 ts;
	__u64 who;	/* LATE_WHO(), LATE_SEEN; 0: none */
	__u64 cpu;	/* where it ran */
};
#define LATE_WAKES		8192
#define LATE_WHO(tid, waker)	((__u64)(tid) << 32 | (waker))
#define LATE_SEEN		(1ULL << 63)	/* by the thread's CPU when it went to sleep, which set ID_LATE */
#define LATE_TID(who)		((__u32)((who) >> 32) & 0x7fffffff)
#define LATE_WAKER(who)		((__u32)(who))

/*
 * A thread of which the trace had told nothing when it was asked for, by the program that iterates
 * over all. It did not run since its CPU's recording began, and was not woken.
 */
struct thread_state {
	__u64 koid;
	__u64 since_ns;		/* right before the first record of the CPU on which it ran last; 0: it has none */
	__u32 tid;
	__u32 cpu;
	__s32 prio;
	__u32 index;		/* of its state, as the kernel numbers them */
};

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
	X(STR_MARK_FILTER,	"filter") \
	X(STR_MARK_STATE,	"state") \
	X(STR_FILTERED,		"filtered") \
	X(STR_KFXT,		"kfxt") \
	X(STR_NOT_REPORTED,	"not reported by the kernel") \
	X(STR_CPU,		"cpu") \
	X(STR_SWITCHES,		"switches") \
	X(STR_WAKEUPS,		"wakeups") \
	X(STR_UNSEEN,		"unseen") \
	X(STR_FUNCTION,		"function") \
	X(STR_RETURN,		"return") \
	/* what the recorder, too, tells records by that it could not write */ \
	X(STR_LOG,		"log") \
	X(STR_USDT,		"usdt") \
	X(STR_UNFINISHED,	"unfinished")

enum session_string {
	STR_EMPTY,
#define X(id, text) id,
	SESSION_STRINGS(X)
#undef X
	STR_CNT
};

#endif
