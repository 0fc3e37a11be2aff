/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code that a process made as it ran, by the lines that its JIT compiler writes to /tmp/perf-PID.map:
 * "START SIZE NAME", numbers in hexadecimal. Later lines are about newer code. Any content is fine.
 */
#ifndef SYMBOL_JIT_MAP_H
#define SYMBOL_JIT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit_map;

struct jit_code {
	uint64_t start, bytes;
	const char *name;	/* not terminated; until the next jit_map_add() */
	size_t name_len;
};

/* 0 or -ENOMEM. */
int jit_map_open(struct jit_map **out);
/*
 * Adds the lines of @len bytes at @text, of which the last may have no newline. Lines that are not
 * understood are left out. 0, -ENOMEM, or -EFBIG: it has as many as it can hold; part was added.
 */
int jit_map_add(struct jit_map *m, const char *text, size_t len);
/* Forgets all lines. */
void jit_map_clear(struct jit_map *m);
/* The newest code at @pc; false: none. */
bool jit_map_find(struct jit_map *m, uint64_t pc, struct jit_code *out);
/* What it takes. */
size_t jit_map_bytes(const struct jit_map *m);
/* NULL is fine. */
void jit_map_close(struct jit_map *m);

#endif
