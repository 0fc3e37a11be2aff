// SPDX-License-Identifier: GPL-2.0
/*
 * Any tracepoint: its record, as the kernel has put it together for its own tracers, is copied;
 * the recorder decodes it by the format file (user/tracepoint/format.c).
 */
#include "abi/ctl.h"
#include "abi/raw.h"
#include "abi/tracepoint.h"
#include "lib/event_ring.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);		/* as many as were asked for; set before loading */
	__type(key, __u32);
	__type(value, struct tracepoint_info);
} tracepoints SEC(".maps");

/*
 * Before 6.7 (commit dd8657894c11) the kernel does not count how often it skips the program,
 * being inside of another one of its kind on the CPU. A raw tracepoint's program is not
 * skipped then: it counts all, and what did not run is the difference.
 */
const volatile bool cfg_tracepoints_count = false;
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TRACEPOINTS_COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} tracepoint_counts SEC(".maps");

static __always_inline void count_tracepoint_as(__u32 which)
{
	__u64 *cnt = bpf_map_lookup_elem(&tracepoint_counts, &which);

	if (cnt)
		__sync_fetch_and_add(cnt, 1);
}

SEC("raw_tp")
int count_tracepoint(void *ctx)
{
	struct cpu_ctl *ctl = ctl_of(bpf_get_smp_processor_id());

	if (ctl && is_recording(ctl) && is_selected(bpf_get_current_task_btf()))
		count_tracepoint_as(TRACEPOINTS_SEEN);
	return 0;
}

/* At most 8 bytes. Older verifiers need the mask to see that; as asm the compiler cannot remove it. */
static __always_inline __u64 read_field(__u64 record, __u32 offset, __u64 size)
{
	__u64 v[2] = { 0 };

	asm volatile("%[size] &= 15" : [size]"+r"(size));
	bpf_probe_read_kernel(v, size, (void *)(record + offset));
	return v[0];
}

/* Where a field of dynamic length is: offset in the lower half, length in the upper. */
static __always_inline __u32 read_place(__u64 record, __u32 offset, bool relative)
{
	return read_field(record, offset, sizeof(__u32)) + (relative ? offset + sizeof(__u32) : 0);
}

static __always_inline bool text_fits(__u64 record, const struct tracepoint_info *info,
				      const struct field_test *test)
{
	__u32 at = test->offset, left = test->size, i, place;
	__u64 differ;

	if (test->is_dynamic) {
		place = read_place(record, at, test->is_dynamic == 2);
		if (place >> 16 < left)
			return false;
		at = place & 0xffff;
	}
	for (i = 0; i < FIELD_TEXT_WORDS && left; i++) {
		differ = read_field(record, at + i * 8, 8) ^
			 info->texts[(test->value + i) & (FIELD_TESTS_MAX * FIELD_TEXT_WORDS - 1)];
		if (left < 8)
			differ &= (1ULL << (left * 8)) - 1;
		if (differ)
			return false;
		left -= left < 8 ? left : 8;
	}
	return true;
}

static __always_inline bool number_fits(__u64 record, const struct field_test *test)
{
	const __u32 shift = 64 - test->size * 8;
	__u64 v = read_field(record, test->offset, test->size);

	if (test->is_signed)
		v = (__s64)(v << (shift & 63)) >> (shift & 63);
	switch (test->op) {
	case FIELD_EQ:
		return v == test->value;
	case FIELD_LT:
		return test->is_signed ? (__s64)v < (__s64)test->value : v < test->value;
	case FIELD_GT:
		return test->is_signed ? (__s64)v > (__s64)test->value : v > test->value;
	default:
		return v & test->value;
	}
}

/* The verifier sees the mask, which the compiler knows to be idle. */
static __always_inline const struct field_test *test_at(const struct tracepoint_info *info, __u64 i)
{
	asm volatile("%[i] &= %[mask]" : [i]"+r"(i) : [mask]"i"(FIELD_TESTS_MAX - 1));
	return &info->test[i];
}

/*
 * The two functions below are global, so that verifiers look at each once and by itself: with what
 * is_selected() adds, 6.1 would give up. That is why @record is a number.
 */
__noinline int passes_filter(__u64 record, __u32 which)
{
	struct tracepoint_info *info = bpf_map_lookup_elem(&tracepoints, &which);
	const struct field_test *test;
	__u32 at = 0, i;
	bool fits;

	if (!info)
		return 0;
	for (i = 0; i < FIELD_TESTS_MAX && at < FIELD_TESTS_MAX; i++) {
		test = test_at(info, at);
		fits = test->op == FIELD_TEXT ? text_fits(record, info, test) : number_fits(record, test);
		at = fits ? test->yes : test->no;
	}
	return at == FIELD_YES;
}

/* With what its fields of dynamic length take. */
__noinline int record_bytes(__u64 record, __u32 which)
{
	struct tracepoint_info *info = bpf_map_lookup_elem(&tracepoints, &which);
	__u32 bytes, i, place, end;

	if (!info)
		return 0;
	bytes = info->bytes;
	for (i = 0; i < TRACEPOINT_DYNAMIC_MAX && info->dynamic[i]; i++) {
		place = read_place(record, info->dynamic[i] & ~TRACEPOINT_RELATIVE,
				   info->dynamic[i] & TRACEPOINT_RELATIVE);
		end = (place & 0xffff) + (place >> 16);
		if (end > bytes)
			bytes = end;
	}
	return bytes;
}

SEC("tp")
int on_tracepoint(void *ctx)
{
	struct task_struct *me = bpf_get_current_task_btf();
	__u32 which = bpf_get_attach_cookie(ctx), cpu = bpf_get_smp_processor_id(), words;
	struct tracepoint_info *info = bpf_map_lookup_elem(&tracepoints, &which);
	struct cpu_ctl *ctl = ctl_of(cpu);
	struct actor who;
	__u64 *rec, record, ts, bytes;

	if (!ctl || !info || !is_recording(ctl) || !event_selected(&ctl->raws, me))
		return 0;
	if (cfg_tracepoints_count)
		count_tracepoint_as(TRACEPOINTS_RAN);
	/* The address as a number: programs may only take it from memory. */
	bpf_probe_read_kernel(&record, sizeof(record), &ctx);
	if (info->tests && !passes_filter(record, which)) {
		__sync_fetch_and_add(&info->filtered, 1);
		event_filter(&ctl->raws);
		return 0;
	}
	if (event_shed(ctl, SHED_TRACEPOINTS))
		return 0;
	ts = bpf_ktime_get_boot_ns();
	bytes = info->dynamic[0] ? (__u32)record_bytes(record, which) : info->bytes;
	if (bytes > TRACEPOINT_BYTES_MAX)
		bytes = TRACEPOINT_BYTES_MAX;
	/* Once more for the verifier, which has lost sight of it. */
	asm volatile("%[bytes] &= 4095" : [bytes]"+r"(bytes));
	if (bytes > TRACEPOINT_BYTES_MAX)
		return 0;
	words = TRACEPOINT_RECORD + (bytes + 7) / 8;
	rec = raw_reserve(ctl, words);
	if (!rec)
		return 0;
	who = actor_of(me, cpu);
	rec[RAW_TS] = ts;
	rec[RAW_PROCESS] = who.process;
	rec[RAW_THREAD] = who.thread;
	rec[TRACEPOINT_WHICH] = which | (__u64)bytes << 32;
	bpf_probe_read_kernel(rec + TRACEPOINT_RECORD, bytes, ctx);
	event_submit(ctl, rec, RAW_RECORD(RAW_TRACEPOINT, words));
	return 0;
}
