/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function tracing: what programs know of functions, and their records.
 */
#ifndef BPF_ABI_FUNC_H
#define BPF_ABI_FUNC_H

#include <linux/types.h>

#include "raw.h"

/*
 * What a program knows of a function: the category and name refs as they are in
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
 * A deferred record of RAW_FUNC: a call without a name ref, with a caller or with arguments. What
 * has all in its refs is written as an event of the file at once.
 */
enum func_word {
	FUNC_END_TS	= RAW_WORDS,	/* 0: an instant */
	FUNC_ID,		/* FUNC_ID_NONE: see @FUNC_ADDR; and FUNC_UNFINISHED */
	FUNC_ADDR,
	FUNC_PARENT,	/* 0: not asked for */
	FUNC_RETURN,	/* as in a register */
	FUNC_WORDS,
	FUNC_ARGS	= FUNC_WORDS,	/* USDT: one word each */
	FUNC_ARGS_MAX	= 12,
};

#define FUNC_UNFINISHED		(1ULL << 32)	/* ended with its thread, not by returning */
#define FUNC_TRAMPOLINES	3

/*
 * Calls that have not returned, a slot to a thread that is inside of any. The first
 * word is the owner's; only what runs as that thread, interrupts among it, touches
 * the rest, each on top of the other.
 */
#define OPEN_SLOTS		4096U
#define OPEN_PROBES		8	/* slots looked at */
#define OPEN_CALLS		64	/* how deep calls of traced functions may nest; a power of two */
struct open_call {
	__u64 start_ns;	/* or OPEN_SHED */
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
/* Where a thread that has a slot does not run: its kernel stack, innermost first, as record_inside hands it out. */
#define OPEN_FRAMES_MAX		126
struct open_stack {
	__u32 who;
	__u32 frames_cnt;
	__u64 frames[OPEN_FRAMES_MAX];
};
#define OPEN_ENDED		~0ULL	/* written already */
#define OPEN_SHED		0ULL	/* left out, and counted as that: only its place is kept */
#define OPEN_OWNER(who, depth)	((__u64)(who) << 32 | (depth))
#define OPEN_WHO(owner)		((__u32)((owner) >> 32))
#define OPEN_DEPTH(owner)	((__u32)(owner))
/* Who: a thread id, or for a CPU's idle thread, of which there is one each: */
#define OPEN_IDLE(cpu)		(1U << 31 | (cpu))

#endif
