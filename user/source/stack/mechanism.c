// SPDX-License-Identifier: GPL-2.0
/*
 * What samples stacks on this kernel, each tried and taken off again.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/features.h"
#include "kernel/symbols.h"
#include "mechanism.h"

#define CYCLES_HZ	2500000000ULL	/* of a machine that does not say */
#define SYMBOL_BYTES	64

const char *stack_via_name(enum stack_via via)
{
	static const char *const names[STACK_VIA_CNT] = {
		[STACK_VIA_EXIT_TP] = "sched_exit_tp", [STACK_VIA_KPROBE] = "kprobe on finish_task_switch",
		[STACK_VIA_SWITCH] = "sched_switch, kernel frames only",
	};

	return via < STACK_VIA_CNT ? names[via] : "";
}

/* Whole, or what the compiler made of it: a part that is only executed rarely is none. */
static bool is_finish(const char *name)
{
	const size_t len = strlen("finish_task_switch");

	return !strncmp(name, "finish_task_switch", len) && (!name[len] || !strncmp(name + len, ".isra.", 6)) &&
	       !strstr(name, ".cold");
}

const char *stack_finish_symbol(void)
{
	static char found[SYMBOL_BYTES];
	const struct kernel_symbol *all;
	struct kernel_symbols *symbols = NULL;
	unsigned int i, cnt = 0;

	/* With hidden addresses there are names all the same. */
	kernel_symbols_open(&symbols, NULL);
	all = symbols ? kernel_symbols_all(symbols, &cnt) : NULL;
	found[0] = 0;
	for (i = 0; i < cnt && !found[0]; i++)
		if (kernel_symbol_is_code(&all[i]) && is_finish(all[i].name))
			snprintf(found, sizeof(found), "%s", all[i].name);
	kernel_symbols_close(symbols);
	return found[0] ? found : NULL;
}

int stack_event_open(uint32_t cpu, bool cycles, uint64_t period)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period, .disabled = 1, .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
	};
	const int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The first number after @before in a file, 0 if there is none. */
static double number_in(const char *path, const char *before)
{
	char line[256], *at;
	double number = 0;
	FILE *f = fopen(path, "re");

	while (f && !number && fgets(line, sizeof(line), f)) {
		at = strstr(line, before);
		if (at)
			number = strtod(at + strlen(before), NULL);
	}
	if (f)
		fclose(f);
	return number;
}

uint64_t stack_cycles_hz(void)
{
	double hz = number_in("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "") * 1e3;

	hz = hz ?: number_in("/proc/cpuinfo", "cpu MHz\t\t:") * 1e6;
	return hz >= 1e6 && hz < 1e11 ? (uint64_t)hz : CYCLES_HZ;
}

/* ---- kfxt check -------------------------------------------------------------------------- */

static bool tried(int fd, char *why, size_t size)
{
	if (fd >= 0)
		close(fd);
	else
		snprintf(why, size, "%s", strerror(-fd));
	return fd >= 0;
}

static bool have_event(const struct feature *f, char *why, size_t size)
{
	return tried(stack_event_open(0, f->number, 1000000000), why, size);
}

/* A perf event of the PMU of kprobes. */
static int open_kprobe(const char *function)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .config1 = (uintptr_t)function };
	int fd;

	attr.type = number_in("/sys/bus/event_source/devices/kprobe/type", "");
	if (!attr.type)
		return -ENOENT;
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool have_kprobe(const struct feature *f, char *why, size_t size)
{
	const char *symbol = stack_finish_symbol();

	(void)f;
	if (symbol)
		return tried(open_kprobe(symbol), why, size);
	snprintf(why, size, "no symbol finish_task_switch");
	return false;
}

enum { TIMER, CYCLES, EXIT_TP, KPROBE };

const struct feature stack_features[] = {
	[TIMER] = {
		.name = "timer of the CPU clock", .used_for = "--sample", .have = have_event,
		.remedy = "kernel with CONFIG_PERF_EVENTS=y; root, or kernel.perf_event_paranoid at most 2",
	},
	[CYCLES] = {
		.name = "counter of CPU cycles", .used_for = "--sample=cycles:HZ", .have = have_event, .number = 1,
		.remedy = "a machine whose processor counts are not kept from it; --sample=HZ needs none",
	},
	[EXIT_TP] = {
		.name = "tracepoint sched_exit_tp", .used_for = "--off-cpu with user stacks, at the lowest price",
		.have = feature_have_tracepoint, .arg = "sched_exit_tp", .number = 1,
		.remedy = "kernel 6.15 or so; otherwise a kprobe",
	},
	[KPROBE] = {
		.name = "kprobe on finish_task_switch", .used_for = "--off-cpu with user stacks, without sched_exit_tp",
		.have = have_kprobe,
		.remedy = "kernel with CONFIG_KPROBES=y; without either, --off-cpu has kernel frames only",
	},
	{ 0 },
};

static const struct feature waking = FEATURE_TRACEPOINT("sched_waking", 1, "--wakers");

const struct source_option stack_options[] = {
	{
		"sample", "stacks of what runs on each CPU, 99 times a second", "samples of threads, in Perfetto packets",
		.needs = { &stack_features[TIMER] },
	}, {
		"off-cpu", "stacks of threads that slept for at least 1 ms", "samples of threads, weighted by how long they slept",
		.needs = { &stack_features[EXIT_TP], &stack_features[KPROBE] }, .without = "kernel frames only",
	}, {
		"wakers", "stacks of threads that end such a sleep", "samples of the threads that wake others",
		.needs = { &waking },
	},
	{ 0 },
};
