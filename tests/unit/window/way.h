/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recording that never was on its way through a window, for the tests of user/window. Failures end the test.
 */
#ifndef WINDOW_WAY_H
#define WINDOW_WAY_H

#include "made_up.h"
#include "ring/ring.h"
#include "trigger/trigger.h"
#include "window/window.h"

#define ROUND_PAIRS	2500U		/* in a tenth of a second */
#define STEP_NS		40000ULL
#define ROUND_NS	(ROUND_PAIRS * STEP_NS)
#define S		1000000000ULL

/* A recording that goes through a window. */
struct way {
	struct made_up made;
	struct window *window;
	uint64_t *round;
	uint32_t pairs;
	uint64_t step_ns;
	/* Of way_through_rings(): */
	struct ring rings[MADE_UP_CPUS];
	struct cpu_ctl ctls[MADE_UP_CPUS];
	char *memory;			/* of these; NULL: they go into the window at once */
	struct triggers *triggers;	/* that nothing fires */
};

/* The window has its first records. */
void way_open(struct way *way, const struct window_cfg *cfg, uint32_t threads);
/*
 * From now on rounds go through a ring of each CPU, as the kernel's programs and the recorder use it, and past triggers; and in each
 * a thread of each CPU exits. Before the first round.
 */
void way_through_rings(struct way *way);
void way_close(struct way *way);
/* The same, but for the window. */
void way_free(struct way *way);
struct piece_cut way_cut(const struct way *way);
/* @cnt more of these, of ROUND_NS each. */
void way_rounds(struct way *way, unsigned int cnt);
uint64_t way_overwritten(struct way *way);
/* What was given up and what is in a file is all that there was. */
void way_check_counts(struct way *way);

#endif
