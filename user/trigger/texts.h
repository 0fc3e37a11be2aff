/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which of the strings that triggers know is at each index of the trace's string table.
 */
#ifndef TRIGGER_TEXTS_H
#define TRIGGER_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fxt/format.h"
#include "fxt/fxt.h"

#define TRIGGER_TEXTS(X) \
	X(MARK,		"mark") \
	X(START,	"start") \
	X(LATE,		"late") \
	X(STOP,		"stop") \
	X(GAP,		"gap") \
	X(IMPLIED,	"implied") \
	X(FILTER,	"filter") \
	X(STATE,	"state") \
	X(FILTERED,	"filtered") \
	X(LINUX_STATE,	"linux_state") \
	X(D,		"D") \
	X(KFXT,		"kfxt") \
	X(IRQ,		"irq") \
	X(IRQ_VECTORS,	"irq_vectors") \
	X(SYSCALLS,	"syscalls") \
	X(FUNCTION,	"function") \
	X(LOG,		"log") \
	X(ATRACE,	"atrace") \
	X(FTRACE,	"ftrace")

enum text {
	TEXT_NONE,
#define X(id, text) TEXT_##id,
	TRIGGER_TEXTS(X)
#undef X
	TEXT_CNT
};

struct texts {
	uint8_t by_index[FXT_STRING_INDEX_MAX + 1];	/* enum text */
};

static inline bool texts_equal(struct fxt_str s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.data, text, s.len);
}

/* A string record of @words words. */
void texts_add(struct texts *t, const uint64_t *rec, size_t words);

/* Of a string ref; TEXT_NONE for any other string and those that are in the record. */
static inline enum text texts_of(const struct texts *t, uint64_t ref)
{
	return ref > FXT_STRING_INDEX_MAX ? TEXT_NONE : (enum text)t->by_index[ref];
}

#endif
