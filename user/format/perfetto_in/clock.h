/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clocks of a trace and how they relate: each snapshot gives the values of several at one moment. All
 * times become those of one clock, by which they are sorted, and in the end those of the trace's, which is the
 * primary one of the first snapshot that has it or BOOTTIME. Mostly both are the same: the first snapshot says the
 * trace's clock, else they are sorted by the first clock in it.
 */
#ifndef FORMAT_PERFETTO_IN_CLOCK_H
#define FORMAT_PERFETTO_IN_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "format/perfetto/decode.h"

#define PF_CLOCKS_A_SNAPSHOT	64U	/* further ones are left out */

#define PF_CLOCK_OF_TRACE	0	/* a key: of times that do not say their clock */

/* A clock's value and that which times are sorted by at the same moment, in ns. */
struct pf_anchor {
	uint64_t clock_ns, sort_ns;
};

struct pf_clock_row {
	uint64_t multiplier_ns;		/* of its unit */
	bool is_incremental;		/* times are deltas */
	uint64_t now;			/* of an incremental one, in units */
	struct pf_anchor *anchors;	/* ascending by clock_ns */
	uint32_t cnt, cap, last;	/* @last: the one used last */
};

struct pf_clocks {
	struct map by_key;
	struct pf_clock_row *all;
	uint32_t cnt, cap;
	uint64_t sort_key, trace_key;	/* 0: none yet */
	bool is_used;			/* there are times of BOOTTIME from before the first snapshot */
	uint64_t snapshots, refused;	/* refused: the clock that is sorted by goes back in them, or is not related */
	uint64_t steps;			/* of clocks that went back */
};

enum pf_convert {
	PF_CONVERTED,		/* to that which is sorted by */
	PF_CLOCK_UNKNOWN,	/* not related to it so far */
	PF_CLOCK_BAD,		/* of a clock of the sequence that there is no snapshot of, or before time 0 */
};

/* Names a clock in the whole trace: @clock_id is that of the packet, @sequence counts for 64 to 127 only. */
static inline uint64_t pf_clock_key(uint32_t clock_id, uint32_t sequence)
{
	bool own = clock_id >= PF_CLOCK_SEQUENCE_FIRST && clock_id <= PF_CLOCK_SEQUENCE_LAST;

	return clock_id | (own ? (uint64_t)sequence << 32 : 0);
}

/* A ClockSnapshot, in a packet of that sequence. 0, -EBADMSG or -ENOMEM. */
int pf_clocks_snapshot(struct pf_clocks *c, struct pf_cursor message, uint32_t sequence);
/*
 * The time of a packet in file order: deltas of incremental clocks add up. *@ns is of the clock, or,
 * if it is PF_CONVERTED, what is sorted by.
 */
enum pf_convert pf_clocks_time(struct pf_clocks *c, uint64_t key, uint64_t value, uint64_t *ns);
/* Any time of a clock that is not incremental. */
enum pf_convert pf_clocks_convert(struct pf_clocks *c, uint64_t key, uint64_t *ns);
/* There are no more snapshots. */
void pf_clocks_end(struct pf_clocks *c);
/* The time of the trace's clock, of what was sorted by; after pf_clocks_end(). */
uint64_t pf_clocks_shown(struct pf_clocks *c, uint64_t ns);
void pf_clocks_fini(struct pf_clocks *c);

#endif
