/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the time stamps of a source count.
 */
#ifndef MODEL_CLOCK_H
#define MODEL_CLOCK_H

enum model_clock {
	MODEL_CLOCK_NONE,	/* has no time of its own */
	MODEL_CLOCK_NS,		/* nanoseconds */
	MODEL_CLOCK_RELATIVE,	/* the same, since the first record */
	MODEL_CLOCK_TICKS,	/* an integer of unknown rate */
};

#endif
