/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writer's string and thread tables: byte strings ("keys") to indexes.
 * Private to libfxt.
 */
#ifndef FXT_TABLE_H
#define FXT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct fxt_table;

/* A table of indexes 1 to @limit (at most 32767) whose keys take at most @bytes_max. */
int fxt_table_open(struct fxt_table **out, unsigned int limit, size_t bytes_max);
void fxt_table_close(struct fxt_table *t);

/*
 * Starts a record: what is found or added until the next call of this is used
 * by the record and will not be replaced.
 */
void fxt_table_begin(struct fxt_table *t);
/* The key's index, or 0. */
unsigned int fxt_table_find(struct fxt_table *t, const void *key, size_t len);
/*
 * Adds a key that is not there, if need be in the place of the one added
 * longest ago that the record does not use. Returns its index, -ENOSPC if the
 * record uses all there is, or -ENOMEM.
 */
int fxt_table_add(struct fxt_table *t, const void *key, size_t len);
/* Adds under an index of the caller's that is never replaced; -EINVAL once it is too late. */
int fxt_table_add_fixed(struct fxt_table *t, unsigned int index, const void *key, size_t len);
/* Forgets all but the fixed ones. Indexes not used so far are still used first. */
void fxt_table_forget(struct fxt_table *t);

/* How many indexes are not fixed. */
unsigned int fxt_table_space(const struct fxt_table *t);
/* The highest index ever used, 0 if there is none. */
unsigned int fxt_table_last(const struct fxt_table *t);
/* The key of a fixed index, or NULL. */
const void *fxt_table_fixed(const struct fxt_table *t, unsigned int index, size_t *len);
/* How many were replaced so far. */
uint64_t fxt_table_replaced(const struct fxt_table *t);

#pragma GCC visibility pop

#endif
