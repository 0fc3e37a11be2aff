// SPDX-License-Identifier: GPL-2.0
/*
 * Fires USDT probes whose arguments tell what became of them.
 *
 *	usdt TIMES
 *
 *	kfxt_test:begin		no arguments
 *	kfxt_test:numbers	int8 uint8 int16 uint16 int32 uint32 int64 uint64
 *	kfxt_test:guarded	int32; has a semaphore and is fired only while that is raised
 *
 * Prints what it fired: "TID NAME ARG..." lines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <unistd.h>

static void fire_plain(int tid, int i)
{
	const int8_t i8 = -100 + i % 50;
	const uint8_t u8 = 200 + i % 50;
	const int16_t i16 = -30000 + i % 10000;
	const uint16_t u16 = 50000 + i % 10000;
	const int32_t i32 = -2000000000 + i;
	const uint32_t u32 = 4000000000u + i;
	const int64_t i64 = -9000000000000000000 + i;
	const uint64_t u64 = 18000000000000000000u + i;

	DTRACE_PROBE(kfxt_test, begin);
	printf("%d begin\n", tid);
	DTRACE_PROBE8(kfxt_test, numbers, i8, u8, i16, u16, i32, u32, i64, u64);
	printf("%d numbers %d %u %d %u %" PRId32 " %" PRIu32 " %" PRId64 " %" PRIu64 "\n", tid, i8,
	       u8, i16, u16, i32, u32, i64, u64);
}

/*
 * _SDT_HAS_SEMAPHORES would give each probe of this file a semaphore. The notes are made where
 * the macros are used, so this gives one only to what comes below.
 */
#undef _SDT_SEMAPHORE
#define _SDT_SEMAPHORE(provider, name) _SDT_ASM_1(_SDT_ASM_ADDR provider##_##name##_semaphore)

__attribute__((used, section(".probes"))) volatile unsigned short kfxt_test_guarded_semaphore;

static void fire_guarded(int tid, int i)
{
	const int32_t i32 = -1 - i;

	if (!kfxt_test_guarded_semaphore)
		return;
	DTRACE_PROBE1(kfxt_test, guarded, i32);
	printf("%d guarded %" PRId32 "\n", tid, i32);
}

int main(int argc, char **argv)
{
	const int tid = gettid();

	if (argc != 2) {
		fprintf(stderr, "usage: usdt TIMES\n");
		return 2;
	}
	for (int i = 0; i < atoi(argv[1]); i++) {
		fire_plain(tid, i);
		fire_guarded(tid, i);
	}
	return 0;
}
