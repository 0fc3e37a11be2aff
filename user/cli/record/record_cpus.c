// SPDX-License-Identifier: GPL-2.0
#include "record_cpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cli/exit.h"

int record_cpus_choose(struct record_cpus *out, const struct num_cpus *selected, const char *command)
{
	struct num_cpus online;
	unsigned int cpu;

	if (recorder_online_cpus(out->online, sizeof(out->online)) || num_parse_cpus(out->online, &online, NULL)) {
		log_error("%s: /sys/devices/system/cpu/online: cannot be read (is sysfs mounted?)", command);
		return EXIT_FAILED;
	}
	if (!num_cpus_count(selected))
		selected = &online;
	out->list = calloc(num_cpus_count(selected), sizeof(*out->list));
	if (!out->list) {
		log_error("%s: out of memory", command);
		return EXIT_FAILED;
	}
	for (cpu = 0; cpu < NUM_CPUS_MAX; cpu++) {
		if (!num_cpus_has(selected, cpu))
			continue;
		if (!num_cpus_has(&online, cpu)) {
			log_error("%s: --cpus: CPU %u is not online (online: %s)", command, cpu, out->online);
			return EXIT_USAGE;
		}
		out->list[out->cnt++] = cpu;
	}
	num_print_cpus(selected, out->text, sizeof(out->text));
	return EXIT_OK;
}

bool record_cpus_changed(const struct record_cpus *cpus, const struct num_cpus *others)
{
	char now[RECORDER_CPUS_TEXT];
	struct num_cpus before, after, gone = { 0 };
	char gone_text[RECORDER_CPUS_TEXT];
	bool more = false;
	uint32_t i;

	if (recorder_online_cpus(now, sizeof(now)) || num_parse_cpus(now, &after, NULL) ||
	    num_parse_cpus(cpus->online, &before, NULL))
		return false;
	for (i = 0; i < NUM_CPUS_MAX; i++) {
		more |= num_cpus_has(&after, i) && !num_cpus_has(&before, i);
		if (num_cpus_has(others, i) && !num_cpus_has(&after, i))
			num_cpus_add(&gone, i);
	}
	if (num_cpus_count(&gone)) {
		num_print_cpus(&gone, gone_text, sizeof(gone_text));
		log_warn("CPUs %s were online for a time: what ran there is not in the trace", gone_text);
	}
	if (more)
		log_warn("CPUs %s were online at the start, %s are now: what ran on the new ones is not in the trace",
			 cpus->online, now);
	else if (strcmp(now, cpus->online) != 0)
		log_info("CPUs %s were online at the start, %s are now", cpus->online, now);
	return more || num_cpus_count(&gone);
}
