// SPDX-License-Identifier: GPL-2.0
#include "idle_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define IDLE_PARTS	8	/* of a CPU's time; it is idle if one of them is */

/* The line of the total, "cpu  1 2", is none of a CPU. Guests' time is in that of users (proc_stat(5)). */
static void parse_line(struct idle_times *t, const char *line)
{
	unsigned long long user, nice, system, idle, waiting, irq = 0, softirq = 0, stolen = 0;
	unsigned int cpu;

	if (line[3] == ' ' || sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &user, &nice, &system, &idle, &waiting,
				     &irq, &softirq, &stolen) < 6 || cpu >= NUM_CPUS_MAX)
		return;
	t->ticks[cpu] = idle + waiting + 1;
	t->all[cpu] = t->ticks[cpu] + user + nice + system + irq + softirq + stolen;
}

struct idle_times *idle_times_parse(const char *text)
{
	struct idle_times *t = calloc(1, sizeof(*t));

	while (t && text && !strncmp(text, "cpu", 3)) {
		parse_line(t, text);
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return t;
}

struct idle_times *idle_times_read(void)
{
	struct idle_times *t;
	char *text;
	size_t len;

	if (text_file_read("/proc/stat", PROC_STAT_BYTES_MAX, &text, &len))
		return NULL;
	t = idle_times_parse(text);
	free(text);
	return t;
}

/* 0 also of a CPU that was not online at one of both times, and where time spent waiting was counted back. */
static uint64_t idle_between(const struct idle_times *from, const struct idle_times *to, unsigned int cpu)
{
	uint64_t idle;

	if (!from || !to || !from->ticks[cpu] || to->ticks[cpu] < from->ticks[cpu])
		return 0;
	idle = to->ticks[cpu] - from->ticks[cpu];
	return idle >= (to->all[cpu] - from->all[cpu]) / IDLE_PARTS ? idle : 0;
}

int idle_cpu(const struct idle_times *begin, const struct idle_times *from, const struct idle_times *to, const struct affinity *allowed)
{
	uint64_t lately, all, most_lately = 0, most = 0;
	unsigned int cpu;
	int best = -1;

	for (cpu = 0; cpu < NUM_CPUS_MAX; cpu++) {
		lately = idle_between(from, to, cpu);
		all = idle_between(begin, to, cpu);
		if (!CPU_ISSET_S(cpu, allowed->bytes, allowed->set) || lately < most_lately || (lately == most_lately && all <= most))
			continue;
		best = (int)cpu;
		most_lately = lately;
		most = all;
	}
	return best;
}

static bool is_any_busy(const struct idle_times *from, const struct idle_times *to)
{
	unsigned int cpu;

	for (cpu = 0; from && to && cpu < NUM_CPUS_MAX; cpu++)
		if (from->ticks[cpu] && !idle_between(from, to, cpu))
			return true;
	return false;
}

bool idle_cpu_move(const struct idle_times *begin, const struct idle_times *from, struct affinity *before)
{
	struct idle_times *now = idle_times_read();
	bool apart = false;
	int cpu = -1;

	if (!affinity_get(before))
		cpu = idle_cpu(begin, from, now, before);
	if (cpu >= 0 && !affinity_pin((unsigned int)cpu))
		apart = idle_between(from, now, (unsigned int)cpu) && is_any_busy(from, now);
	free(now);
	return apart;
}
