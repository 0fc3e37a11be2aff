/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bit layouts of the Fuchsia trace format, each stated once.
 *
 * Included by BPF programs, by the kernel module and by user space, so it
 * holds macros and constants only and needs no other header.
 *
 * A field is a pair "lowest bit, number of bits"; FXT_PUT() places a value
 * into it and FXT_GET() takes it out of a word:
 *
 *	word = FXT_PUT(FXT_EVENT, FXT_F_TYPE) | FXT_PUT(3, FXT_F_SIZE);
 *	size = FXT_GET(word, FXT_F_SIZE);
 *
 * All words are 64 bits, little endian; sizes count words and include the
 * header. Section names are those of the specification.
 */
#ifndef FXT_FORMAT_H
#define FXT_FORMAT_H

#define FXT_MASK_(n)		((n) >= 64 ? ~0ULL : (1ULL << ((n) & 63)) - 1)
#define FXT_PUT_(v, lo, n)	(((unsigned long long)(v) & FXT_MASK_(n)) << (lo))
#define FXT_GET_(w, lo, n)	(((unsigned long long)(w) >> (lo)) & FXT_MASK_(n))
#define FXT_PUT(...)		FXT_PUT_(__VA_ARGS__)
#define FXT_GET(...)		FXT_GET_(__VA_ARGS__)

/* "Record header": type and size of every record. */
#define FXT_F_TYPE		0, 4
#define FXT_F_SIZE		4, 12

enum fxt_type {
	FXT_METADATA		= 0,
	FXT_INITIALIZATION	= 1,
	FXT_STRING		= 2,
	FXT_THREAD		= 3,
	FXT_EVENT		= 4,
	FXT_BLOB		= 5,
	FXT_USERSPACE_OBJECT	= 6,
	FXT_KERNEL_OBJECT	= 7,
	FXT_SCHEDULING		= 8,
	FXT_LOG			= 9,
	FXT_PROFILER		= 10,
	FXT_LARGE		= 15,
};

/* Limits. */
#define FXT_RECORD_WORDS_MAX	4095U	/* 12-bit size */
#define FXT_ARGS_MAX		15U	/* 4-bit count */
#define FXT_STRING_INDEX_MAX	0x7fffU
#define FXT_STRING_BYTES_MAX	32000U	/* "String references" */
#define FXT_THREAD_INDEX_MAX	0xffU
#define FXT_PROVIDER_NAME_MAX	255U
#define FXT_MODULE_NAME_MAX	255U

/* "String references": 0 is the empty string, bit 15 marks an inline one. */
#define FXT_STR_INLINE		0x8000U

/* "Metadata record" */
#define FXT_F_META_TYPE		16, 4
#define FXT_F_META_PROVIDER	20, 32
#define FXT_F_META_NAME_LEN	52, 8	/* provider info */
#define FXT_F_META_EVENT	52, 4	/* provider event */
#define FXT_F_META_INFO		20, 4	/* trace info */
#define FXT_MAGIC		0x0016547846040010ULL

enum fxt_meta {
	FXT_META_PROVIDER_INFO		= 1,
	FXT_META_PROVIDER_SECTION	= 2,
	FXT_META_PROVIDER_EVENT		= 3,
	FXT_META_TRACE_INFO		= 4,
};
#define FXT_PROVIDER_EVENT_BUFFER_FULL	0

/* "String record", "Thread record" */
#define FXT_F_STRING_INDEX	16, 15
#define FXT_F_STRING_LEN	32, 15
#define FXT_F_THREAD_INDEX	16, 8

/* "Event record" */
#define FXT_F_EVENT_TYPE	16, 4
#define FXT_F_EVENT_NARGS	20, 4
#define FXT_F_EVENT_THREAD	24, 8
#define FXT_F_EVENT_CATEGORY	32, 16
#define FXT_F_EVENT_NAME	48, 16

enum fxt_event_type {
	FXT_INSTANT		= 0,
	FXT_COUNTER		= 1,
	FXT_DURATION_BEGIN	= 2,
	FXT_DURATION_END	= 3,
	FXT_DURATION_COMPLETE	= 4,
	FXT_ASYNC_BEGIN		= 5,
	FXT_ASYNC_INSTANT	= 6,
	FXT_ASYNC_END		= 7,
	FXT_FLOW_BEGIN		= 8,
	FXT_FLOW_STEP		= 9,
	FXT_FLOW_END		= 10,
};

/* "BLOB record" */
#define FXT_F_BLOB_NAME		16, 16
#define FXT_F_BLOB_BYTES	32, 15
#define FXT_F_BLOB_TYPE		48, 8

enum fxt_blob_type {
	FXT_BLOB_DATA		= 1,
	FXT_BLOB_LAST_BRANCH	= 2,
	FXT_BLOB_PERFETTO	= 3,
};

/* "Userspace object record" */
#define FXT_F_UOBJ_PROCESS	16, 8
#define FXT_F_UOBJ_NAME		24, 16
#define FXT_F_UOBJ_NARGS	40, 4

/* "Kernel object record"; object types are Zircon's ZX_OBJ_TYPE_*. */
#define FXT_F_KOBJ_TYPE		16, 8
#define FXT_F_KOBJ_NAME		24, 16
#define FXT_F_KOBJ_NARGS	40, 4
#define FXT_KOBJ_PROCESS	1
#define FXT_KOBJ_THREAD		2

/* "Scheduling Record" */
#define FXT_F_SCHED_TYPE	60, 4
#define FXT_F_SCHED_NARGS	16, 4	/* context switch, wakeup */
#define FXT_F_SCHED_CPU		20, 16	/* context switch, wakeup */
#define FXT_F_SCHED_STATE	36, 4	/* context switch */
#define FXT_F_LEGACY_CPU	16, 8
#define FXT_F_LEGACY_STATE	24, 4
#define FXT_F_LEGACY_OUT	28, 8
#define FXT_F_LEGACY_IN		36, 8
#define FXT_F_LEGACY_OUT_PRIO	44, 8
#define FXT_F_LEGACY_IN_PRIO	52, 8

enum fxt_sched_type {
	FXT_SCHED_LEGACY	= 0,
	FXT_SCHED_SWITCH	= 1,
	FXT_SCHED_WAKEUP	= 2,
};

/* "Thread States" */
enum fxt_thread_state {
	FXT_STATE_NEW		= 0,
	FXT_STATE_RUNNING	= 1,
	FXT_STATE_SUSPENDED	= 2,
	FXT_STATE_BLOCKED	= 3,
	FXT_STATE_DYING		= 4,
	FXT_STATE_DEAD		= 5,
};

/*
 * Weight of the idle thread. The specification is silent; Zircon's scheduler
 * writes it and Perfetto's importer knows idle by nothing else.
 */
#define FXT_WEIGHT_IDLE		(-2147483647 - 1)

/* "Log record" */
#define FXT_F_LOG_BYTES		16, 15
#define FXT_F_LOG_THREAD	32, 8

/* "Profiler record" */
#define FXT_F_PROF_TYPE		16, 4
#define FXT_F_PROF_THREAD	20, 8
#define FXT_F_PROF_MODULE	28, 16	/* module, mmap */
#define FXT_F_PROF_NAME_LEN	44, 8	/* module */
#define FXT_F_PROF_BUILD_LEN	52, 8	/* module */
#define FXT_F_PROF_FLAGS	44, 3	/* mmap */
#define FXT_F_PROF_FRAMES	28, 8	/* backtrace */

enum fxt_prof_type {
	FXT_PROF_MODULE		= 0,
	FXT_PROF_MMAP		= 1,
	FXT_PROF_BACKTRACE	= 2,
};

/* "Large record header", "Large BLOB record" */
#define FXT_F_LARGE_SIZE	4, 32
#define FXT_F_LARGE_TYPE	36, 4
#define FXT_F_LARGE_FORMAT	40, 4
#define FXT_LARGE_BLOB		0
#define FXT_F_LBLOB_CATEGORY	0, 16
#define FXT_F_LBLOB_NAME	16, 16
#define FXT_F_LBLOB_NARGS	32, 4	/* format 0 */
#define FXT_F_LBLOB_THREAD	36, 8	/* format 0 */

enum fxt_large_format {
	FXT_LARGE_WITH_METADATA	= 0,
	FXT_LARGE_NO_METADATA	= 1,
};

/* Of a whole record, by its header, which is evaluated more than once. */
#define FXT_RECORD_WORDS(header)						\
	(FXT_GET(header, FXT_F_TYPE) == FXT_LARGE ?				\
	 FXT_GET(header, FXT_F_LARGE_SIZE) : FXT_GET(header, FXT_F_SIZE))

/* "Argument header" */
#define FXT_F_ARG_TYPE		0, 4
#define FXT_F_ARG_SIZE		4, 12
#define FXT_F_ARG_NAME		16, 16
#define FXT_F_ARG_VALUE32	32, 32	/* int32, uint32, blob size */
#define FXT_F_ARG_STRING	32, 16	/* string */
#define FXT_F_ARG_BOOL		32, 1

enum fxt_arg_type {
	FXT_ARG_NULL	= 0,
	FXT_ARG_INT32	= 1,
	FXT_ARG_UINT32	= 2,
	FXT_ARG_INT64	= 3,
	FXT_ARG_UINT64	= 4,
	FXT_ARG_DOUBLE	= 5,
	FXT_ARG_STRING	= 6,
	FXT_ARG_POINTER	= 7,
	FXT_ARG_KOID	= 8,
	FXT_ARG_BOOL	= 9,
	FXT_ARG_BLOB	= 10,
};

/* First words, put together. */
#define FXT_HEADER(type, words) \
	(FXT_PUT(type, FXT_F_TYPE) | FXT_PUT(words, FXT_F_SIZE))
#define FXT_ARG_HEADER(type, words, name) \
	(FXT_PUT(type, FXT_F_ARG_TYPE) | FXT_PUT(words, FXT_F_ARG_SIZE) | \
	 FXT_PUT(name, FXT_F_ARG_NAME))
#define FXT_SCHED_HEADER(type, words, nargs, cpu) \
	(FXT_HEADER(FXT_SCHEDULING, words) | FXT_PUT(type, FXT_F_SCHED_TYPE) | \
	 FXT_PUT(nargs, FXT_F_SCHED_NARGS) | FXT_PUT(cpu, FXT_F_SCHED_CPU))

/* Arguments of one word: the name, and the string of the last one, are string references. */
#define FXT_I32_ARG(name, v) \
	(FXT_ARG_HEADER(FXT_ARG_INT32, 1, name) | FXT_PUT(v, FXT_F_ARG_VALUE32))
#define FXT_BOOL_ARG(name, v) \
	(FXT_ARG_HEADER(FXT_ARG_BOOL, 1, name) | FXT_PUT(v, FXT_F_ARG_BOOL))
#define FXT_STR_ARG(name, ref) \
	(FXT_ARG_HEADER(FXT_ARG_STRING, 1, name) | FXT_PUT(ref, FXT_F_ARG_STRING))

/*
 * "Context Switch Record", "Thread Wakeup Record": all but the arguments, which follow from word
 * FXT_SWITCH_WORDS or FXT_WAKEUP_WORDS on. @at is where the record goes, @words its size. Macros, for
 * what BPF programs and user space call a word are different types.
 */
#define FXT_SWITCH_WORDS	4
#define FXT_SWITCH_HEADER(words, nargs, cpu, state) \
	(FXT_SCHED_HEADER(FXT_SCHED_SWITCH, words, nargs, cpu) | FXT_PUT(state, FXT_F_SCHED_STATE))
#define FXT_PUT_SWITCH(at, words, nargs, cpu, state, ts, out, in) \
	do { \
		(at)[0] = FXT_SWITCH_HEADER(words, nargs, cpu, state); \
		(at)[1] = (ts); \
		(at)[2] = (out); \
		(at)[3] = (in); \
	} while (0)
#define FXT_WAKEUP_WORDS	3
#define FXT_PUT_WAKEUP(at, words, nargs, cpu, ts, thread) \
	do { \
		(at)[0] = FXT_SCHED_HEADER(FXT_SCHED_WAKEUP, words, nargs, cpu); \
		(at)[1] = (ts); \
		(at)[2] = (thread); \
	} while (0)

#endif
