// SPDX-License-Identifier: GPL-2.0
/*
 * By clflushopt, which needs no right: x86 processors have it since 2015 (Intel) and 2017 (AMD).
 */
#include <stdint.h>

#include "cache_flush.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <stdbool.h>

#define LINE_BYTES	64

static bool has_clflushopt;

/* Once: a hypervisor makes this instruction a slow one. */
__attribute__((constructor)) static void ask_cpu(void)
{
	unsigned int eax, ebx, ecx, edx;

	has_clflushopt = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && ebx & bit_CLFLUSHOPT;
}

__attribute__((target("clflushopt"))) static void flush_lines(uintptr_t line, uintptr_t end)
{
	for (; line < end; line += LINE_BYTES)
		__builtin_ia32_clflushopt((const void *)line);
}

void cache_flush(const void *at, const void *end)
{
	const uintptr_t mask = ~(uintptr_t)(LINE_BYTES - 1);

	if (has_clflushopt)
		flush_lines((uintptr_t)at & mask, (uintptr_t)end & mask);
}
#else
void cache_flush(const void *at, const void *end)
{
	(void)at, (void)end;
}
#endif
