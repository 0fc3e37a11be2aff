/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packet sequences: each writer of a trace has one, with strings and other data by id, defaults, and
 * sums of counters. All of it holds until the state is cleared, or is lost with a packet.
 */
#ifndef FORMAT_PERFETTO_IN_SEQUENCE_H
#define FORMAT_PERFETTO_IN_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "format/perfetto/decode.h"
#include "format/perfetto/pool.h"

#define PF_SEQUENCES_MAX	65536U		/* packets of further ones are left out */
#define PF_ENTRIES_MAX		(1U << 20)	/* ids of a sequence; further ones are not known */
#define PF_RAW_BYTES_MAX	(64U << 20)	/* of messages that are kept, of all sequences */
/* Of all strings: then values and names of single events are in their records, stacks and interned values dropped. */
#define PF_VALUE_BYTES		(PF_POOL_BYTES / 2)
#define PF_STACK_BYTES		(PF_POOL_BYTES / 4 * 3)
#define PF_EXTRA_MAX		8U		/* extra counters of an event */
#define PF_PERF_COUNTERS_MAX	32U		/* counters of a sample */

/* An interned string, or message. */
struct pf_entry_data {
	uint32_t string;	/* in the pool */
	uint32_t len;
	uint8_t *raw;		/* the entry's message, of tables of messages */
};

/* Uuids of extra counters. */
struct pf_extra {
	uint64_t ints[PF_EXTRA_MAX], doubles[PF_EXTRA_MAX];
	uint8_t ints_cnt, doubles_cnt;
};

struct pf_sequence {
	uint32_t id;
	bool is_valid;			/* its state is known: cleared, and nothing lost since */
	bool has_packets;
	uint32_t clock_id;		/* default; 0: none */
	uint64_t track_uuid;		/* default */
	bool has_track_uuid;
	struct pf_extra extra;		/* default */
	uint32_t stack_source;		/* default, in the pool; 0: none */
	uint64_t sample_period_ns;	/* default; 0: not known */
	uint32_t perf_names[PF_PERF_COUNTERS_MAX], perf_cnt;	/* default: counters of samples, in the pool */
	uint32_t perf_session;		/* number of those that have counted something; 0: it has not */
	/* ThreadDescriptor */
	bool has_thread, has_reference;
	int64_t pid, tid;
	int64_t time_us, thread_time_us, instructions;
	struct map by_id;		/* of table and id */
	struct pf_entry_data *entries;
	uint32_t entries_cnt, entries_cap;
	struct map sums_by_uuid;
	struct pf_sum { int64_t number; double real; } *sums;
	uint32_t sums_cnt, sums_cap;
};

struct pf_sequences {
	struct map by_id;
	struct pf_sequence **all, *last;	/* @last: found last */
	uint32_t cnt, cap;
	size_t raw_bytes;
	uint64_t entries_dropped;	/* beyond the limits */
};

/* Made if it is new; NULL: too many, or no memory. */
struct pf_sequence *pf_sequence_get(struct pf_sequences *s, uint32_t id);
/* Forgets what was interned and the sums; with @defaults those too. */
void pf_sequence_clear(struct pf_sequences *s, struct pf_sequence *q, bool defaults);
/* InternedData; an id that is there already has the new data from now on. 0, -EBADMSG or -ENOMEM. */
int pf_sequence_intern(struct pf_sequences *s, struct pf_sequence *q, struct pf_pool *pool, struct pf_cursor message);
/* One entry, of the table that its number says; the same errors. */
int pf_sequence_add(struct pf_sequences *s, struct pf_sequence *q, struct pf_pool *pool, const struct pf_field *entry);
/* TracePacketDefaults. 0 or -EBADMSG. */
int pf_sequence_defaults(struct pf_sequence *q, struct pf_pool *pool, struct pf_cursor message);
/* What an id of that table is; NULL: it is not known. */
const struct pf_entry_data *pf_sequence_find(const struct pf_sequence *q, enum pf_interned table, uint64_t id);
/* The sum of the counter on that track so far; NULL: no memory. */
struct pf_sum *pf_sequence_sum(struct pf_sequence *q, uint64_t uuid);
void pf_sequences_fini(struct pf_sequences *s);

/* The message of an entry that is one. */
static inline struct pf_cursor pf_entry_message(const struct pf_entry_data *e)
{
	return pf_message(e->raw, e->len);
}

#endif
