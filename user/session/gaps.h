/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slices where events are missing, on tracks of their own, two to a CPU. Those of context switches
 * and wakeups come from the kernel side (bpf/lib/gap.bpf.h), which knows both ends; of what the event
 * rings lost it is known between which two looks at them that was.
 */
#ifndef SESSION_GAPS_H
#define SESSION_GAPS_H

#include <stdint.h>

struct cpu_ctl;
struct cpu_look;
struct sources;
struct fxt_writer;
struct gaps;
struct num_cpus;
struct tracks;

/* For so many CPUs. Borrows @w and @tracks. 0 or -ENOMEM. */
int gaps_open(struct gaps **out, struct fxt_writer *w, struct tracks *tracks, unsigned int cpus_cnt);
/* From here on. */
void gaps_begin(struct gaps *g, uint64_t start_ns);
/* Before each look at the rings. */
void gaps_look(struct gaps *g);
/*
 * After each look at the rings of the @i'th CPU, number @cpu: names its tracks once they are needed
 * and writes what was lost of its events since the last time. 0 or -errno.
 */
int gaps_write(struct gaps *g, unsigned int i, uint32_t cpu, const struct cpu_ctl *ctl, struct sources *s);
/* The gap that its programs could not end, if there is one: up to @stop_ns. The same. */
int gaps_write_open(struct gaps *g, uint32_t cpu, struct cpu_ctl *ctl, uint64_t stop_ns);
/* From where on nothing of the CPU could be written: what was lost there, up to @stop_ns. The same. */
int gaps_write_cut(struct gaps *g, uint32_t cpu, uint64_t from_ns, uint64_t stop_ns, uint64_t switches);
/*
 * The time up to which nothing is missing any more, of the @cnt CPUs @cpus, as @looks has them before a look at @looked_ns:
 * what a gap hides is in the ring once it has ended. That of a CPU that has gone offline does not end until it comes back:
 * it is passed over, if @online says so. NULL: that is not known.
 */
uint64_t gaps_complete_until(const struct cpu_look *looks, const uint32_t *cpus, unsigned int cnt,
			     const struct num_cpus *online, uint64_t looked_ns);
/* NULL is fine. */
void gaps_close(struct gaps *g);

#endif
