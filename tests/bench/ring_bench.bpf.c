// SPDX-License-Identifier: GPL-2.0
/*
 * What one 48-byte record costs: loops of an empty body, of the clock read, and
 * of the clock read with a record in our ring or in a BPF ring buffer.
 */
#include "../../bpf/lib/ring.bpf.h"

#define WORDS	6

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} ringbuf SEC(".maps");

__u64 iterations;
__u64 elapsed_ns;
__u64 lost;
__u64 sink;	/* keeps the clock reads */

static __always_inline void fill(__u64 *rec, __u64 ts)
{
	rec[0] = FXT_SCHED_HEADER(FXT_SCHED_SWITCH, WORDS, 2, 1);
	rec[1] = ts;
	rec[2] = 1;
	rec[3] = 2;
	rec[4] = 3;
	rec[5] = 4;
}

static long empty_body(__u32 i, void *ctx)
{
	return 0;
}

static long clock_body(__u32 i, void *ctx)
{
	sink += bpf_ktime_get_boot_ns();
	return 0;
}

static long ring_body(__u32 i, void *ctx)
{
	struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());
	__u64 ts = bpf_ktime_get_boot_ns(), *rec;

	if (!ctl)
		return 1;
	if (ctl->head + WORDS * 8 > ctl->fast_until) {
		ring_look(ctl);
		if (ring_free(ctl) < WORDS * 8) {
			lost++;
			return 1;
		}
	}
	rec = ring_reserve(ctl, WORDS);
	if (!rec)
		return 1;
	fill(rec, ts);
	ring_submit(ctl, WORDS);
	ctl->switches++;
	return 0;
}

static long ringbuf_body(__u32 i, void *ctx)
{
	__u64 ts = bpf_ktime_get_boot_ns();
	__u64 *rec = bpf_ringbuf_reserve(&ringbuf, WORDS * 8, 0);

	if (!rec) {
		lost++;
		return 1;
	}
	fill(rec, ts);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

#define MEASURE(name) \
	SEC("raw_tp") \
	int measure_##name(void *ctx) \
	{ \
		__u64 begin = bpf_ktime_get_ns(); \
		bpf_loop(iterations, name##_body, NULL, 0); \
		elapsed_ns = bpf_ktime_get_ns() - begin; \
		return 0; \
	}

MEASURE(empty)
MEASURE(clock)
MEASURE(ring)
MEASURE(ringbuf)

char LICENSE[] SEC("license") = "GPL";
