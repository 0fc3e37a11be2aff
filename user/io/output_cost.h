/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a byte of output costs: by copying it, and by writing it as a recording does, in the same rhythm, into a file that
 * nobody sees.
 */
#ifndef IO_OUTPUT_COST_H
#define IO_OUTPUT_COST_H

#include <stdint.h>

struct output_cost;

/*
 * Measures what copying takes, and opens a file without a name in the directory @dir, or in memory if there is none (NULL) or
 * it is of a file system that cannot. 0 or -errno.
 */
int output_cost_open(struct output_cost **out, const char *dir);
/* Writes what a round of a recording has brought, or a part of it. A file that has become large is not written to any more. */
void output_cost_write(struct output_cost *o, uint64_t bytes);
/* CPU time of a byte in ns. Of writing: of all so far; 0: not known. */
double output_cost_copy_ns(const struct output_cost *o);
double output_cost_write_ns(const struct output_cost *o);
/* NULL is fine. */
void output_cost_close(struct output_cost *o);

#endif
