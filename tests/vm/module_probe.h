/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts what a tracepoint hands over, with a BPF program in machine code: no
 * compiler, no library. Whatever fails ends the test by give_up().
 */
#ifndef MODULE_PROBE_H
#define MODULE_PROBE_H

#include <stdint.h>

/* What the program writes: the value of a map. */
struct seen {
	uint64_t hits;
};

struct probe {
	int map, prog, link;
	struct seen *seen;
};

/* Counts what comes through @tracepoint: KFXT_TP_FUNC_ENTRY. */
struct probe probe_attach(const char *tracepoint);
void probe_detach(struct probe *probe);

uint64_t probe_hits(const struct probe *probe);

/* Events the kernel kept from the program since it ran on that CPU already. */
uint64_t probe_misses(const struct probe *probe);

#endif
