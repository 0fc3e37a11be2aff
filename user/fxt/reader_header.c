/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much a word looks like a record's header: what the search for the end of
 * a damaged stretch goes by.
 *
 * Reserved bits must be zero and the size what the other fields ask for, which
 * random data hardly ever satisfies. Reading proper is more liberal: there,
 * records of a later format with more words or bits are no damage.
 */
#include "reader.h"

/* Whether all bits from @bit up are zero. */
static bool zero_from(uint64_t head, unsigned int bit)
{
	return !(head >> bit);
}

static bool metadata_plausible(uint64_t head, uint64_t words)
{
	switch (FXT_GET(head, FXT_F_META_TYPE)) {
	case FXT_META_PROVIDER_INFO:
		return words == 1 + fxt_words(FXT_GET(head, FXT_F_META_NAME_LEN)) &&
		       zero_from(head, 60);
	case FXT_META_PROVIDER_SECTION:
		return words == 1 && zero_from(head, 52);
	case FXT_META_PROVIDER_EVENT:
		return words == 1 && zero_from(head, 56);
	default:
		return head == FXT_MAGIC;
	}
}

static bool event_plausible(uint64_t head, uint64_t words)
{
	unsigned int type = FXT_GET(head, FXT_F_EVENT_TYPE);

	return type <= FXT_FLOW_END &&
	       words >= 2 + fxt_thread_words(FXT_GET(head, FXT_F_EVENT_THREAD)) +
			fxt_ref_words(FXT_GET(head, FXT_F_EVENT_CATEGORY)) +
			fxt_ref_words(FXT_GET(head, FXT_F_EVENT_NAME)) +
			FXT_GET(head, FXT_F_EVENT_NARGS) + fxt_event_has_id(type);
}

static bool blob_plausible(uint64_t head, uint64_t words)
{
	return words == 1 + fxt_ref_words(FXT_GET(head, FXT_F_BLOB_NAME)) +
			fxt_words(FXT_GET(head, FXT_F_BLOB_BYTES)) &&
	       FXT_GET(head, FXT_F_BLOB_TYPE) && !FXT_GET(head, 47, 1) && zero_from(head, 56);
}

/* Both kinds of objects have name and arguments in the same bits. */
static bool object_plausible(uint64_t head, uint64_t words, unsigned int process_words)
{
	return words >= 2 + process_words + fxt_ref_words(FXT_GET(head, FXT_F_UOBJ_NAME)) +
			FXT_GET(head, FXT_F_UOBJ_NARGS) && zero_from(head, 44);
}

static bool scheduling_plausible(uint64_t head, uint64_t words)
{
	switch (FXT_GET(head, FXT_F_SCHED_TYPE)) {
	case FXT_SCHED_LEGACY:
		return words == 2 + fxt_thread_words(FXT_GET(head, FXT_F_LEGACY_OUT)) +
				fxt_thread_words(FXT_GET(head, FXT_F_LEGACY_IN)) &&
		       FXT_GET(head, FXT_F_LEGACY_STATE) <= FXT_STATE_DEAD;
	case FXT_SCHED_SWITCH:
		return words >= 4 + FXT_GET(head, FXT_F_SCHED_NARGS) &&
		       FXT_GET(head, FXT_F_SCHED_STATE) <= FXT_STATE_DEAD && !FXT_GET(head, 40, 20);
	case FXT_SCHED_WAKEUP:
		return words >= 3 + FXT_GET(head, FXT_F_SCHED_NARGS) && !FXT_GET(head, 36, 24);
	default:
		return false;
	}
}

static bool profiler_plausible(uint64_t head, uint64_t words)
{
	size_t thread_words = fxt_thread_words(FXT_GET(head, FXT_F_PROF_THREAD));

	switch (FXT_GET(head, FXT_F_PROF_TYPE)) {
	case FXT_PROF_MODULE:
		return words == 2 + thread_words + fxt_words(FXT_GET(head, FXT_F_PROF_NAME_LEN)) +
				fxt_words(FXT_GET(head, FXT_F_PROF_BUILD_LEN)) &&
		       zero_from(head, 60);
	case FXT_PROF_MMAP:
		return words == 5 + thread_words && zero_from(head, 47);
	case FXT_PROF_BACKTRACE:
		return words == 2 + thread_words + FXT_GET(head, FXT_F_PROF_FRAMES) &&
		       zero_from(head, 36);
	default:
		return false;
	}
}

bool fxt_header_unknown(uint64_t head)
{
	switch (FXT_GET(head, FXT_F_TYPE)) {
	case FXT_METADATA:
		return !FXT_GET(head, FXT_F_META_TYPE) ||
		       FXT_GET(head, FXT_F_META_TYPE) > FXT_META_TRACE_INFO ||
		       (FXT_GET(head, FXT_F_META_TYPE) == FXT_META_TRACE_INFO &&
			FXT_GET(head, FXT_F_META_INFO));
	case FXT_EVENT:
		return FXT_GET(head, FXT_F_EVENT_TYPE) > FXT_FLOW_END;
	case FXT_SCHEDULING:
		return FXT_GET(head, FXT_F_SCHED_TYPE) > FXT_SCHED_WAKEUP;
	case FXT_PROFILER:
		return FXT_GET(head, FXT_F_PROF_TYPE) > FXT_PROF_BACKTRACE;
	case FXT_LARGE:
		return FXT_GET(head, FXT_F_LARGE_TYPE) != FXT_LARGE_BLOB ||
		       FXT_GET(head, FXT_F_LARGE_FORMAT) > FXT_LARGE_NO_METADATA;
	default:
		return FXT_GET(head, FXT_F_TYPE) > FXT_PROFILER;
	}
}

bool fxt_header_plausible(uint64_t head)
{
	uint64_t words = FXT_RECORD_WORDS(head);

	switch (FXT_GET(head, FXT_F_TYPE)) {
	case FXT_METADATA:
		return metadata_plausible(head, words);
	case FXT_INITIALIZATION:
		/* Jane Street's writer adds two words. */
		return (words == 2 || words == 4) && zero_from(head, 16);
	case FXT_STRING:
		return words > 1 && words == 1 + fxt_words(FXT_GET(head, FXT_F_STRING_LEN)) &&
		       FXT_GET(head, FXT_F_STRING_INDEX) && !FXT_GET(head, 31, 1) &&
		       zero_from(head, 47);
	case FXT_THREAD:
		return words == 3 && FXT_GET(head, FXT_F_THREAD_INDEX) && zero_from(head, 24);
	case FXT_EVENT:
		return event_plausible(head, words);
	case FXT_BLOB:
		return blob_plausible(head, words);
	case FXT_USERSPACE_OBJECT:
		return object_plausible(head, words, !FXT_GET(head, FXT_F_UOBJ_PROCESS));
	case FXT_KERNEL_OBJECT:
		return object_plausible(head, words, 0);
	case FXT_SCHEDULING:
		return scheduling_plausible(head, words);
	case FXT_LOG:
		return words == 2 + fxt_thread_words(FXT_GET(head, FXT_F_LOG_THREAD)) +
				fxt_words(FXT_GET(head, FXT_F_LOG_BYTES)) &&
		       !FXT_GET(head, 31, 1) && zero_from(head, 40);
	case FXT_PROFILER:
		return profiler_plausible(head, words);
	case FXT_LARGE:
		return words >= 3 && FXT_GET(head, FXT_F_LARGE_TYPE) == FXT_LARGE_BLOB &&
		       FXT_GET(head, FXT_F_LARGE_FORMAT) <= FXT_LARGE_NO_METADATA &&
		       zero_from(head, 44);
	default:
		return false;
	}
}
