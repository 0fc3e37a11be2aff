// SPDX-License-Identifier: GPL-2.0
/*
 * Which records are counted, and as what, by their words; timeline.c does the same
 * with records that were read.
 */
#include <stdbool.h>

#include "bpf/abi/strings.h"
#include "fxt/format.h"
#include "ledger.h"
#include "write_errors.h"

/* The position of a CPU, or -1. */
static int find_cpu(const struct unwritten *u, uint32_t cpu)
{
	unsigned int low = 0, high = u->cpus_cnt, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (u->cpus[middle] < cpu)
			low = middle + 1;
		else
			high = middle;
	}
	return low < u->cpus_cnt && u->cpus[low] == cpu ? (int)low : -1;
}

/* Marks do not count. */
static void count_scheduling(const struct unwritten *u, const uint64_t *rec, uint64_t words)
{
	const int i = find_cpu(u, FXT_GET(*rec, FXT_F_SCHED_CPU));
	const bool marked = words > 6 && FXT_GET(rec[6], FXT_F_ARG_NAME) == STR_MARK;

	if (FXT_GET(*rec, FXT_F_SCHED_TYPE) == FXT_SCHED_WAKEUP) {
		/* It has the CPU of the task that was woken, not the one whose ring it was in. */
		ledger_unwritten(u->ledger)[LEDGER_WAKEUPS]++;
		return;
	}
	if (i < 0)
		return;
	if (!marked)
		ledger_drained(u->ledger, i)[LEDGER_SWITCHES].unwritten++;
	if (!u->cuts[i].known && words > 4 && !(marked && FXT_GET(rec[6], FXT_F_ARG_STRING) == STR_MARK_STATE))
		u->cuts[i] = (struct unwritten_cut){ true, rec[1], rec[2], (int32_t)(rec[4] >> 32) };
}

static uint64_t text_words(uint64_t ref)
{
	return ref & FXT_STR_INLINE ? ((ref & ~FXT_STR_INLINE) + 7) / 8 : 0;
}

/* Whether an event has an argument of that name. */
static bool has_argument(const uint64_t *rec, uint64_t words, uint64_t name)
{
	uint64_t at = FXT_GET(*rec, FXT_F_EVENT_THREAD) ? 2 : 4;
	unsigned int left = FXT_GET(*rec, FXT_F_EVENT_NARGS);

	at += text_words(FXT_GET(*rec, FXT_F_EVENT_CATEGORY)) + text_words(FXT_GET(*rec, FXT_F_EVENT_NAME));
	for (; left && at < words; left--, at += FXT_GET(rec[at], FXT_F_ARG_SIZE))
		if (FXT_GET(rec[at], FXT_F_ARG_NAME) == name)
			return true;
	return false;
}

static void count_event(uint64_t *unwritten, const uint64_t *rec, uint64_t words)
{
	switch (FXT_GET(*rec, FXT_F_EVENT_CATEGORY)) {
	case STR_KFXT:
	case STR_LOG:
		break;
	case STR_FUNCTION:
	case STR_USDT:
		unwritten[LEDGER_CALLS] += !has_argument(rec, words, STR_UNFINISHED);
		break;
	default:
		unwritten[LEDGER_EVENTS] += !has_argument(rec, words, STR_CONTINUES);	/* is to be written as a whole */
	}
}

void unwritten_count(const struct unwritten *u, const void *records, size_t len)
{
	uint64_t *unwritten = ledger_unwritten(u->ledger);
	const uint64_t *rec = records;
	uint64_t left = len / 8, words;

	for (; left; rec += words, left -= words) {
		words = FXT_RECORD_WORDS(*rec);
		if (!words || words > left)
			return;
		switch (FXT_GET(*rec, FXT_F_TYPE)) {
		case FXT_SCHEDULING:
			count_scheduling(u, rec, words);
			break;
		case FXT_EVENT:
			count_event(unwritten, rec, words);
			break;
		case FXT_LOG:
			unwritten[LEDGER_LOGS]++;
			break;
		}
	}
}
