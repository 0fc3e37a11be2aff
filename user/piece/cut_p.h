/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a cut is on each CPU, and what it means for scheduling.
 */
#ifndef PIECE_CUT_P_H
#define PIECE_CUT_P_H

#include "state_p.h"

/* A thread that does nothing, as its head has it. */
struct idle_mark {
	uint64_t ts;
	uint64_t koid;
	int32_t prio;
	uint16_t cpu;
	uint8_t fxt_state, linux_state;
};

struct carried_wake {
	uint64_t koid;
	struct wake wake;
};

/* What a cut means for scheduling. */
struct cut {
	uint64_t from_ns, to_ns;	/* session of the file that begins, and of the one that ends here */
	uint64_t first_ns;		/* where the first CPU is cut: the recorder's own slices are */
	struct idle_mark *marks;	/* in order of time */
	size_t marks_cnt, marks_cap;
	struct carried_wake *wakes;	/* the same */
	size_t wakes_cnt, wakes_cap;
};

bool piece_cpu_known(const struct piece_state *s, unsigned int cpu);
/* Up to which time nothing is certain of a thread that does not run; UINT64_MAX: at no time. */
uint64_t piece_blind_until(const struct piece_state *s);
uint64_t piece_cpu_cut_ns(const struct piece_state *s, const struct piece_cut *cut, unsigned int cpu);
/* The session alone, in which from_ns can be later than what the head of the file has. */
void piece_cut_session(struct cut *c, const struct piece_state *s, const struct piece_cut *cut);
/* 0 or -ENOMEM. */
int piece_cut_init(struct cut *c, const struct piece_state *s, const struct piece_cut *cut);
void piece_cut_fini(struct cut *c);

#endif
