// SPDX-License-Identifier: GPL-2.0
/*
 * Priority, CPUs and rights of kfxt's own process.
 */
#include "self_opts.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/exit.h"
#include "base/log.h"
#include "kernel/preempt_rt.h"
#include "kernel/sched_group.h"

#define NICE_DEFAULT	(-20)	/* the drain is short and late is lost */

/* "-20" to "19" */
static int parse_nice(const char *text, int *nice, const char **why)
{
	const bool negative = *text == '-';
	uint64_t n;
	int err = num_parse_u64(text + negative, &n, why);

	if (err)
		return err;
	if (n > (negative ? 20 : 19)) {
		*why = "not from -20 to 19";
		return -ERANGE;
	}
	*nice = negative ? -(int)n : (int)n;
	return 0;
}

int self_opts_check(const struct self_opts *opts, const char *command)
{
	const char *why;
	int nice;

	if (!opts->nice || !parse_nice(opts->nice, &nice, &why))
		return EXIT_OK;
	log_error("%s: --nice: %s: '%s'", command, why, opts->nice);
	return EXIT_USAGE;
}

/* Affinity is a thread's, and so goes to each; those to come have their maker's. */
static int set_affinity(const struct num_cpus *cpus)
{
	const size_t bytes = CPU_ALLOC_SIZE(NUM_CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(NUM_CPUS_MAX);
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	unsigned int cpu;
	int err = set && dir ? 0 : -errno;

	if (set)
		CPU_ZERO_S(bytes, set);
	for (cpu = 0; cpu < NUM_CPUS_MAX && set; cpu++)
		if (num_cpus_has(cpus, cpu))
			CPU_SET_S(cpu, bytes, set);
	while (!err && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && sched_setaffinity(atoi(entry->d_name), bytes, set))
			err = -errno;
	if (dir)
		closedir(dir);
	CPU_FREE(set);
	return err;
}

int self_opts_nice(const struct self_opts *opts)
{
	int nice = NICE_DEFAULT;
	const char *why;

	if (opts->nice)
		parse_nice(opts->nice, &nice, &why);
	return nice;
}

bool self_opts_realtime(const struct self_opts *opts, bool with_command)
{
	return !opts->nice && (kernel_is_preempt_rt() || sched_group_is_shared("", with_command));
}

int self_opts_apply(const struct self_opts *opts, const char *command)
{
	const int nice = self_opts_nice(opts);
	int err = 0;

	/* Without the right to it, do without; unless it was asked for. */
	if (setpriority(PRIO_PROCESS, 0, nice) && opts->nice)
		log_warn("%s: --nice %d: %s (CAP_SYS_NICE helps)", command, nice, strerror(errno));
	if (num_cpus_count(&opts->cpus))
		err = set_affinity(&opts->cpus);
	if (err)
		log_error("%s: --cpu-affinity: %s", command,
			  err == -EINVAL ? "no CPU of the list is online and allowed" : strerror(-err));
	return err == -EINVAL ? EXIT_USAGE : err ? EXIT_FAILED : EXIT_OK;
}

int self_opts_confine(const struct self_opts *opts, const struct privileges_cfg *cfg, const char *command)
{
	struct confined confined;
	int err;

	if (opts->no_sandbox)
		return EXIT_OK;
	err = privileges_confine(cfg, &confined);
	if (err) {
		log_error("%s: cannot drop unneeded rights: %s (--no-sandbox keeps them)", command,
			  strerror(-err));
		return EXIT_FAILED;
	}
	log_debug("capabilities kept: %s", *confined.kept ? confined.kept : "none");
	if (confined.filter_err)
		log_debug("system calls are not filtered: %s", strerror(-confined.filter_err));
	return EXIT_OK;
}
