/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads that have not run: without these records the trace would not have them.
 */
#ifndef SESSION_INITIAL_STATES_H
#define SESSION_INITIAL_STATES_H

#include <stdint.h>

struct fxt_writer;
struct tasks;
struct programs;
struct initial_states;

/*
 * Writes a context switch marked `state` for each, before any of the rings' records. So many CPUs
 * are recorded, the first of which is @cpu, and have begun. 0 or -errno.
 */
int initial_states_write(struct initial_states **out, struct fxt_writer *w, struct programs *p, unsigned int cpus_cnt, uint32_t cpu);
/* All CPUs have ended: a slice for each that has still not run. 0 or the writer's -errno. */
int initial_states_write_end(const struct initial_states *s, const struct tasks *names, uint64_t stop_ns);
/* NULL is fine. */
void initial_states_close(struct initial_states *s);

#endif
