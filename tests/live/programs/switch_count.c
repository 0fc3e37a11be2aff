// SPDX-License-Identifier: GPL-2.0
/*
 * Counts every context switch of the machine until stdin ends.
 *
 *	switch_count > FILE
 *
 * Prints "ready" on stderr once it counts. FILE: pairs of 64-bit words, CPU and
 * CLOCK_BOOTTIME in ns.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "switch_count.skel.h"

#define TIMES_PER_CPU	(1 << 21)

static uint64_t *map_words(const struct bpf_map *map)
{
	void *p = mmap(NULL, bpf_map__max_entries(map) * 8UL, PROT_READ, MAP_SHARED,
		       bpf_map__fd(map), 0);

	return p == MAP_FAILED ? NULL : p;
}

int main(void)
{
	struct switch_count *skel = switch_count__open();
	/* Not all that are possible: that may be hundreds, with 16 MiB each. */
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), cpu;
	uint64_t *counts, *times, i, pair[2];
	char c;

	if (!skel)
		return 1;
	bpf_map__set_max_entries(skel->maps.counts, cpus);
	bpf_map__set_max_entries(skel->maps.times, cpus * TIMES_PER_CPU);
	if (switch_count__load(skel) || switch_count__attach(skel))
		return 1;
	counts = map_words(skel->maps.counts);
	times = map_words(skel->maps.times);
	if (!counts || !times)
		return 1;
	fprintf(stderr, "ready\n");
	while (read(0, &c, 1) > 0)
		;
	switch_count__detach(skel);
	for (cpu = 0; cpu < cpus; cpu++) {
		if (counts[cpu] > TIMES_PER_CPU) {
			fprintf(stderr, "too many switches\n");
			return 1;
		}
		for (i = 0; i < counts[cpu]; i++) {
			pair[0] = cpu;
			pair[1] = times[(uint64_t)cpu * TIMES_PER_CPU + i];
			fwrite(pair, sizeof(pair), 1, stdout);
		}
	}
	switch_count__destroy(skel);
	return fflush(stdout) ? 1 : 0;
}
