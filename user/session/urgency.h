/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The recorder's own priority. It is of the fair class, at nice -20, as long as it is scheduled; if a thread of it waits
 * for a CPU all the time, as where real-time threads have all CPUs, it is made a real-time thread itself.
 */
#ifndef SESSION_URGENCY_H
#define SESSION_URGENCY_H

#include <stdbool.h>
#include <stdint.h>

struct urgency;

/*
 * Until urgency_close() the calling thread has @nice, if that is more urgent than what it had, and is watched by
 * another one; what it begins meanwhile inherits the nice value. With a @nice of 0 or more, and without the right to
 * real-time priorities, nothing is watched. NULL: out of memory.
 */
struct urgency *urgency_open(int nice);
/* As before. Whether it was made a real-time thread. NULL is fine. */
bool urgency_close(struct urgency *u);

#endif
