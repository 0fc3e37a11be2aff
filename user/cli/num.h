/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Strict parsers of what users type: the whole text must be a value in range.
 *
 * All return 0, -EINVAL (not such a value) or -ERANGE (too large), and then
 * set *@why, unless @why is NULL, to static text that says what was wrong;
 * *@out is touched only on success.
 */
#ifndef CLI_NUM_H
#define CLI_NUM_H

#include <stdbool.h>
#include <stdint.h>

#define NUM_CPUS_MAX	4096U	/* Perfetto's limit, see docs/design.md */

/* A set of CPUs. */
struct num_cpus {
	uint64_t words[NUM_CPUS_MAX / 64];
};

int num_parse_u64(const char *text, uint64_t *out, const char **why);
/* "4096", "64K", "16M", "1G": powers of 1024. */
int num_parse_size(const char *text, uint64_t *out_bytes, const char **why);
/* "10" and "10s" are seconds; ns, us, ms, s, m, h; "1.5s" is fine, "0.5ns" is not. */
int num_parse_duration(const char *text, uint64_t *out_ns, const char **why);
/* "0-3,7" */
int num_parse_cpus(const char *text, struct num_cpus *out, const char **why);

void num_cpus_add(struct num_cpus *cpus, unsigned int cpu);
bool num_cpus_has(const struct num_cpus *cpus, unsigned int cpu);
unsigned int num_cpus_count(const struct num_cpus *cpus);

#endif
