/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code of processes that is in no file: what JIT compilers made.
 */
#ifndef SYMBOL_JIT_H
#define SYMBOL_JIT_H

#include <stdbool.h>
#include <stdint.h>

#include "jit_map.h"

struct jit;

/* @root, which is not copied, is what comes before /proc in paths. 0 or -ENOMEM. */
int jit_open(struct jit **out, const char *root);
/*
 * The code of the process of @koid, whose id is @pid, at @pc. Where it is not known yet what the process
 * has written is read again, at most ten times a second, or once where there is nothing, and, of all processes
 * together, for a twentieth of the time. False: not known. @out lives until the next call.
 */
bool jit_find(struct jit *p, uint64_t koid, uint32_t pid, uint64_t pc, struct jit_code *out);
/* NULL is fine. */
void jit_close(struct jit *p);

#endif
