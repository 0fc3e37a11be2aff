// SPDX-License-Identifier: GPL-2.0
/*
 * The drain of many CPUs: drain_load CPUS RECORDS ROUNDS OUTPUT
 *
 * Makes rings as the kernel's programs leave them, RECORDS switches in each, and empties them
 * the way the recorder does, ROUNDS times. Prints nanoseconds of CPU time a record and a round
 * that finds nothing, and KiB resident: "RECORD ROUND RESIDENT".
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "fxt/format.h"
#include "tests/unit/ring/ring_made.h"
#include "io/sink.h"

#define WORDS		6
#define NOTHING_ROUNDS	1000

static double cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void put(struct ring *r, uint32_t cpu, uint64_t ts)
{
	const uint64_t weight = FXT_ARG_HEADER(FXT_ARG_INT32, 1, 1);
	const uint64_t rec[WORDS] = { FXT_SCHED_HEADER(FXT_SCHED_SWITCH, WORDS, WORDS - 4, cpu), ts, cpu, ts & 0xffff, weight, weight };

	if (!ring_made_put(r, rec, WORDS))
		exit(1);
}

/* As the recorder's drain(). Not inlined: the guard counts its instructions. */
__attribute__((noinline)) static int drain_all(struct ring *rings, int cpus, struct sink *sink)
{
	struct iovec pieces[RING_MADE_CHUNKS + 1];
	uint64_t heads[cpus];
	int err = 0, cnt, i;

	for (i = 0; i < cpus; i++)
		heads[i] = ring_head(&rings[i]);
	for (i = 0; i < cpus; i++) {
		cnt = ring_pieces(&rings[i], heads[i], pieces);
		if (cnt)
			err = sink_writev(sink, pieces, cnt) ?: err;
		ring_release(&rings[i], heads[i]);
	}
	return err;
}

static struct ring *make_rings(int cpus)
{
	struct cpu_ctl *ctls = aligned_alloc(64, cpus * sizeof(*ctls));
	struct ring *rings = calloc(cpus, sizeof(*rings));
	char *memory = mmap(NULL, cpus * RING_MADE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	if (!ctls || !rings || memory == MAP_FAILED)
		return NULL;
	memset(ctls, 0, cpus * sizeof(*ctls));
	for (i = 0; i < cpus; i++)
		rings[i] = ring_made(&ctls[i], memory + i * RING_MADE_BYTES);
	return rings;
}

int main(int argc, char **argv)
{
	struct sink_cfg cfg = { .path = argc == 5 ? argv[4] : "" };
	int cpus = argc == 5 ? atoi(argv[1]) : 0, rounds, round, i, err;
	long records, n;
	double begin, ns = 0, nothing;
	struct rusage usage;
	struct ring *rings;
	struct sink *sink;
	const char *hint;

	if (cpus < 1) {
		fprintf(stderr, "usage: drain_load CPUS RECORDS ROUNDS OUTPUT\n");
		return 2;
	}
	records = atol(argv[2]);
	rounds = atoi(argv[3]);
	rings = make_rings(cpus);
	err = sink_open(&sink, &cfg, &hint);
	err = err ? err : sink_publish(sink, &hint);
	if (!rings || err) {
		fprintf(stderr, "drain_load: %s: %s\n", cfg.path, strerror(err ? -err : ENOMEM));
		return 1;
	}
	for (round = 0; round < rounds && !err; round++) {
		for (i = 0; i < cpus; i++)
			for (n = 0; n < records; n++)
				put(&rings[i], i, n);
		begin = cpu_ns();
		err = drain_all(rings, cpus, sink);
		ns += cpu_ns() - begin;
	}
	begin = cpu_ns();
	for (round = 0; round < NOTHING_ROUNDS; round++)
		err = drain_all(rings, cpus, sink) ?: err;
	nothing = (cpu_ns() - begin) / NOTHING_ROUNDS;
	getrusage(RUSAGE_SELF, &usage);
	printf("%.3f %.0f %ld\n", ns / rounds / cpus / records, nothing, usage.ru_maxrss);
	err = sink_close(sink) ?: err;
	if (err)
		fprintf(stderr, "drain_load: %s: %s\n", cfg.path, strerror(-err));
	return err ? 1 : 0;
}
