/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Strict parsers of what users type: the whole text must be a value in range.
 *
 * All return 0, -EINVAL (not such a value) or -ERANGE (too large), and then
 * set *@why, unless @why is NULL, to static text that says what was wrong;
 * *@out is touched only on success.
 */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUM_CPUS_MAX	4096U	/* Perfetto's limit, see docs/design.md */

/* A set of CPUs. */
struct num_cpus {
	uint64_t words[NUM_CPUS_MAX / 64];
};

int num_parse_u64(const char *text, uint64_t *out, const char **why);
/* "4096", "64K", "16M", "1G": powers of 1024. */
int num_parse_size(const char *text, uint64_t *out_bytes, const char **why);
/* "10" and "10s" are seconds; ns, us, ms, s, m, h; "1.5s" and ".5" are fine, "5." and "0.5ns" are not. */
int num_parse_duration(const char *text, uint64_t *out_ns, const char **why);
/* "0-3,7" */
int num_parse_cpus(const char *text, struct num_cpus *out, const char **why);
/* The same of @len bytes, also -ENOMEM. */
int num_parse_cpus_n(const char *text, size_t len, struct num_cpus *out);

#define NUM_SIZE_TEXT	32
/* A size for people, in units of 1024: "612 bytes", "12.3 KiB", "4.0 MiB", "1.5 GiB". Returns @buf. */
const char *num_size_text(uint64_t bytes, char buf[NUM_SIZE_TEXT]);

void num_cpus_add(struct num_cpus *cpus, unsigned int cpu);
/* As a list, "0-3,7"; cut where @size is too small. */
void num_print_cpus(const struct num_cpus *cpus, char *text, size_t size);
bool num_cpus_has(const struct num_cpus *cpus, unsigned int cpu);
unsigned int num_cpus_count(const struct num_cpus *cpus);

/* How much it has grown; 0: it is less, as times of several threads together or what was counted too early may be. */
static inline double num_growth(uint64_t from, uint64_t to)
{
	return to > from ? (double)(to - from) : 0;
}

#endif
