// SPDX-License-Identifier: GPL-2.0
/*
 * Cost of one record in our ring and in a BPF ring buffer, above an empty
 * program and above the clock read, in one run: the four loops take turns, so
 * that a machine whose speed drifts still gives true differences.
 *
 *	ring_bench [--limit NS]
 *
 * Exit 1 if ours costs more than NS above the clock (default: any price is fine).
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/abi/ctl.h"
#include "bpf/abi/ring.h"
#include "ring_bench.skel.h"

#define CHUNK_SHIFT	20
#define CHUNKS_SHIFT	2
#define BATCH		60000	/* times 48 bytes is less than a ring */
#define ROUNDS		101

struct loop {
	const char *name;
	struct bpf_program *prog;
	double ns[ROUNDS];
};

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* What @a costs more than @b: the median of the rounds' differences. */
static double above(const struct loop *a, const struct loop *b)
{
	double d[ROUNDS];

	for (int i = 0; i < ROUNDS; i++)
		d[i] = a->ns[i] - b->ns[i];
	qsort(d, ROUNDS, sizeof(d[0]), compare);
	return d[ROUNDS / 2];
}

static int take(void *ctx, void *data, size_t len)
{
	(void)ctx;
	(void)data;
	(void)len;
	return 0;
}

static struct ring_bench *load(int cpus)
{
	struct ring_bench *skel = ring_bench__open();

	if (!skel)
		return NULL;
	skel->rodata->cfg_chunk_shift = CHUNK_SHIFT;
	skel->rodata->cfg_chunks_shift = CHUNKS_SHIFT;
	skel->rodata->cfg_wake_bytes = UINT64_MAX;
	skel->rodata->cfg_cpus = cpus;
	bpf_map__set_value_size(skel->maps.ctls, cpus * sizeof(struct cpu_ctl));
	bpf_map__set_max_entries(skel->maps.rings, 1 << CHUNKS_SHIFT);
	bpf_map__set_value_size(skel->maps.rings, (1 << CHUNK_SHIFT) + RING_SLACK_BYTES);
	if (ring_bench__load(skel)) {
		ring_bench__destroy(skel);
		return NULL;
	}
	skel->bss->iterations = BATCH;
	return skel;
}

static int measure(struct ring_bench *skel, struct cpu_ctl *ctl, struct loop *loops, int cnt)
{
	struct ring_buffer *rb = ring_buffer__new(bpf_map__fd(skel->maps.ringbuf), take, NULL, NULL);
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	if (!rb)
		return -1;
	for (int round = -3; round < ROUNDS; round++) {		/* the first three warm up */
		for (int i = 0; i < cnt; i++) {
			ctl->tail = ctl->head;
			ring_buffer__consume(rb);
			if (bpf_prog_test_run_opts(bpf_program__fd(loops[i].prog), &opts))
				return -1;
			if (round >= 0)
				loops[i].ns[round] = (double)skel->bss->elapsed_ns / BATCH;
		}
	}
	ring_buffer__free(rb);
	return skel->bss->lost ? -1 : 0;
}

int main(int argc, char **argv)
{
	double limit = argc == 3 && !strcmp(argv[1], "--limit") ? atof(argv[2]) : 0;
	int cpus = libbpf_num_possible_cpus(), cpu = sched_getcpu();
	struct ring_bench *skel = load(cpus);
	struct cpu_ctl *ctls;
	cpu_set_t set;

	if (!skel) {
		fprintf(stderr, "ring_bench: cannot load programs (run as root)\n");
		return 5;
	}
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	ctls = mmap(NULL, cpus * sizeof(*ctls), PROT_READ | PROT_WRITE, MAP_SHARED,
		    bpf_map__fd(skel->maps.ctls), 0);
	if (ctls == MAP_FAILED)
		return 1;
	struct loop loops[] = {
		{ "empty", skel->progs.measure_empty, { 0 } },
		{ "clock", skel->progs.measure_clock, { 0 } },
		{ "ring", skel->progs.measure_ring, { 0 } },
		{ "ringbuf", skel->progs.measure_ringbuf, { 0 } },
	};
	struct loop *empty = &loops[0], *clock = &loops[1], *ring = &loops[2], *ringbuf = &loops[3];

	if (measure(skel, &ctls[cpu], loops, 4)) {
		fprintf(stderr, "ring_bench: a loop failed\n");
		return 1;
	}
	printf("48-byte record, ns each (medians of %d rounds of %d)\n", ROUNDS, BATCH);
	printf("%-24s %10s %10s\n", "", "over empty", "over clock");
	printf("%-24s %10.1f %10s\n", "clock read", above(clock, empty), "-");
	printf("%-24s %10.1f %10.1f\n", "clock + our ring", above(ring, empty), above(ring, clock));
	printf("%-24s %10.1f %10.1f\n", "clock + BPF ring buffer", above(ringbuf, empty),
	       above(ringbuf, clock));
	if (limit && above(ring, clock) > limit) {
		fprintf(stderr, "ring_bench: our ring costs more than %.1f ns\n", limit);
		return 1;
	}
	return 0;
}
