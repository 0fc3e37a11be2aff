/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deferred records of tracepoints, and filters on their fields.
 */
#ifndef BPF_ABI_TRACEPOINT_H
#define BPF_ABI_TRACEPOINT_H

#include <linux/types.h>

#include "raw.h"
#include "ring.h"

/* A tracepoint's own record, as its format file describes it. The common fields are not filled in. */
enum tracepoint_word {
	TRACEPOINT_WHICH = RAW_WORDS,	/* index of what was asked for; its bytes in the upper half */
	TRACEPOINT_RECORD,
	TRACEPOINT_BYTES_MAX = (EVENT_WORDS_MAX - TRACEPOINT_RECORD) * 8,	/* longer ones are cut */
};

/*
 * What the program knows of a tracepoint: how long its records are, and which are selected.
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
	__u16 dynamic[TRACEPOINT_DYNAMIC_MAX];	/* offsets of words that locate others; 0: no more */
	__u32 tests;		/* 0: all are selected */
	struct field_test test[FIELD_TESTS_MAX];
	__u64 texts[FIELD_TESTS_MAX * FIELD_TEXT_WORDS];
	__u64 filtered;		/* records that were not selected */
};
/* What is counted of all, on each CPU, where the kernel does not report what it skips. */
enum tracepoint_count { TRACEPOINTS_SEEN, TRACEPOINTS_RAN, TRACEPOINTS_COUNTS };

#endif
