/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The map of code that one process writes (jit_map.h): found, checked, and read as it grows.
 */
#ifndef SYMBOL_JIT_FILE_H
#define SYMBOL_JIT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jit_map.h"

struct jit_file;

/* Of process @pid, with @root before /proc. 0 or -ENOMEM. */
int jit_file_open(struct jit_file **out, const char *root, uint32_t pid);
/* Reads what has been added to it since, less than @bytes_max; false: there is none. */
bool jit_file_read(struct jit_file *f, size_t bytes_max);
/* What has been read. */
struct jit_map *jit_file_map(struct jit_file *f);
/* NULL is fine. */
void jit_file_close(struct jit_file *f);

#endif
