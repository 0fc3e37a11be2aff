/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slice drawn where records of a CPU are missing.
 */
#ifndef BPF_LIB_GAP_BPF_H
#define BPF_LIB_GAP_BPF_H

#include "../abi/ctl.h"
#include "../abi/strings.h"
#include "ring.bpf.h"

#define LOST_TEXT_WORDS	4	/* "lost 18446744073709551615 events" */
#define LOST_WORDS_MAX	(4 + LOST_TEXT_WORDS + 7 + 1)	/* with arguments and end */

/* The track of CPU 0's gaps and its process; another CPU's is the first one's plus its number. */
const volatile __u64 cfg_gap_thread = 0;
const volatile __u64 cfg_gap_process = 0;

/* A string as it is in a record; little endian. */
struct text {
	__u64 words[LOST_TEXT_WORDS];
	__u32 bytes;
};

static __always_inline void text_prepend(struct text *t, char c)
{
#pragma unroll
	for (int i = LOST_TEXT_WORDS - 1; i > 0; i--)
		t->words[i] = t->words[i] << 8 | t->words[i - 1] >> 56;
	t->words[0] = t->words[0] << 8 | (__u8)c;
}

/*
 * How many digits @n has. Global, so that to the verifier the result is any number: else it would check what follows
 * once for each length of a text.
 */
__noinline int digits_of(__u64 n)
{
	int cnt = 1;

	for (; cnt < 20 && n > 9; cnt++)
		n /= 10;
	return cnt;
}

static __always_inline struct text lost_text(__u64 lost)
{
	static const char before[] = "lost ", after[] = " events";
	const __u32 digits = digits_of(lost);
	__u64 left = lost;
	struct text t;

	/* Asked again, as what it knows of the first answer from here on is how often the loop has been through. */
	barrier_var(lost);
	t = (struct text){ .bytes = sizeof(before) - 1 + digits_of(lost) + sizeof(after) - 1 };
#pragma unroll
	for (int i = sizeof(after) - 2; i >= 0; i--)
		text_prepend(&t, after[i]);
	for (__u32 i = 0; i < 20 && i < digits; i++, left /= 10)
		text_prepend(&t, '0' + left % 10);
#pragma unroll
	for (int i = sizeof(before) - 2; i >= 0; i--)
		text_prepend(&t, before[i]);
	return t;
}

static __always_inline __u64 *put_count(__u64 *arg, __u32 name, __u64 count)
{
	arg[0] = FXT_ARG_HEADER(FXT_ARG_UINT64, 2, name);
	arg[1] = count;
	return arg + 2;
}

/*
 * The slice of the gap that ends at @ts, with how much of what was lost or not reported is in none yet.
 * Global, as end_gap() is.
 */
__noinline int write_gap(__u32 cpu, __u64 ts)
{
	struct cpu_ctl *ctl = ctl_of(cpu);
	__u64 *rec, *arg, switches, wakeups;
	__u32 unreported, name = STR_NOT_REPORTED, text_words = 0, words;
	struct text text = { 0 };

	if (!ctl)
		return 0;
	switches = ctl->lost_switches - ctl->recorded_switches;
	wakeups = ctl->lost_wakeups - ctl->recorded_wakeups;
	unreported = (__u32)ctl->unreported_switches - ctl->reported_in_gaps;
	if (switches || wakeups || !unreported) {
		text = lost_text(switches + wakeups);
		name = FXT_STR_INLINE | text.bytes;
		text_words = (text.bytes + 7) / 8;
	}
	/* The verifier needs the test in the register that is used. */
	barrier_var(text_words);
	if (text_words > LOST_TEXT_WORDS)
		return 0;
	barrier_var(text_words);
	words = LOST_WORDS_MAX - LOST_TEXT_WORDS + text_words;
	rec = ring_reserve(ctl, words);
	if (!rec)
		return 0;
	rec[0] = FXT_HEADER(FXT_EVENT, words) | FXT_PUT(FXT_DURATION_COMPLETE, FXT_F_EVENT_TYPE) |
		 FXT_PUT(4, FXT_F_EVENT_NARGS) | FXT_PUT(STR_KFXT, FXT_F_EVENT_CATEGORY) |
		 FXT_PUT(name, FXT_F_EVENT_NAME);
	rec[1] = ctl->gap_ns;
	rec[2] = cfg_gap_process;
	rec[3] = cfg_gap_thread + cpu;
#pragma unroll
	for (int i = 0; i < LOST_TEXT_WORDS; i++)
		rec[4 + i] = text.words[i];	/* of those that are not needed what follows takes the place */
	arg = rec + 4 + text_words;
	arg[0] = FXT_ARG_HEADER(FXT_ARG_UINT32, 1, STR_CPU) | FXT_PUT(cpu, FXT_F_ARG_VALUE32);
	arg = put_count(arg + 1, STR_SWITCHES, switches);
	arg = put_count(arg, STR_WAKEUPS, wakeups);
	arg = put_count(arg, STR_UNREPORTED, unreported);
	arg[0] = ts;
	ring_submit(ctl, words);
	ctl->recorded_switches += switches;
	ctl->recorded_wakeups += wakeups;
	ctl->reported_in_gaps += unreported;
	ctl->gaps++;
	return 0;
}

#endif
