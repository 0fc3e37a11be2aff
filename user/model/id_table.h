/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the trace builder: what is open, by 64-bit ids. Entries can be removed, so that its
 * size is that of what is open at a time.
 */
#ifndef MODEL_ID_TABLE_H
#define MODEL_ID_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct id_slot {
	uint64_t key;
	void *value;		/* NULL: free */
};

/* All zero is an empty table. Key 0 is none. */
struct id_table {
	struct id_slot *slots;
	size_t cap, cnt;
};

/* NULL: it is not there. */
void *id_table_get(const struct id_table *t, uint64_t key);
/* Sets the value, which is not NULL. 0 or -ENOMEM, which it never is for a key that is there. */
int id_table_put(struct id_table *t, uint64_t key, void *value);
void id_table_remove(struct id_table *t, uint64_t key);
/* The values are the caller's. */
void id_table_fini(struct id_table *t);

#endif
