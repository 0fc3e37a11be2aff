/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all deferred records have in common: the recorder completes them.
 */
#ifndef BPF_ABI_RAW_H
#define BPF_ABI_RAW_H

#include "sources.h"

/*
 * Deferred records: other sources write them, the recorder turns them into FXT records. Their
 * type is one that FXT does not have, so none can be mistaken for a record of the file. All
 * begin with the same words.
 */
#define RAW_TYPE	14
#define RAW_F_KIND	16, 8		/* enum raw_kind */
#define RAW_RECORD(kind, words)	(FXT_HEADER(RAW_TYPE, words) | FXT_PUT(kind, RAW_F_KIND))

/* One for each source, whether it has such records or not: enum NAME_word says what is in them. */
enum raw_kind {
#define X(id, name) RAW_##id,
	SOURCES(X)
#undef X
	RAW_KIND_CNT
};

enum raw_word {
	RAW_HEADER	= 0,
	RAW_TS		= 1,
	RAW_PROCESS	= 2,
	RAW_THREAD	= 3,
	RAW_WORDS	= 4,
};

/*
 * An event that may begin and end on different CPUs is kept in a map as its future record until
 * it ends. At the end of the recording the recorder reads the unfinished ones from the map.
 */
enum open_word {
	OPEN_END_TS	= RAW_WORDS,
	OPEN_PLACE,
	OPEN_WORDS,
	OPEN_WORDS_MAX	= 12,
};
#define OPEN_F_CPU		0, 16	/* where it began */
#define OPEN_F_STATUS		16, 8	/* how it ended; 0: well */
#define OPEN_SOFTIRQ		(1ULL << 32)	/* no thread's doing */
#define OPEN_REQUEUED		(1ULL << 33)	/* given back, to be begun again */
#define OPEN_UNFINISHED		(1ULL << 34)
#define OPEN_CONTINUES		(1ULL << 35)	/* in a record only: and will be written as a whole */

#endif
