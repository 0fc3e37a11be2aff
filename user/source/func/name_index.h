/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The index of a name in an array of names, which may hold it more than once.
 */
#ifndef SOURCE_FUNC_NAME_INDEX_H
#define SOURCE_FUNC_NAME_INDEX_H

#include <stdint.h>

#define NAME_INDEX_NONE	UINT32_MAX

struct name_index {
	const char *const *names;	/* the caller's */
	uint32_t *heads, *next;
	uint32_t mask;
};

/* 0 or -ENOMEM. */
int name_index_init(struct name_index *index, const char *const *names, uint32_t cnt);
void name_index_fini(struct name_index *index);
/* The first place of @name, and the one after place @i; NAME_INDEX_NONE: there is none. */
uint32_t name_index_first(const struct name_index *index, const char *name);
uint32_t name_index_next(const struct name_index *index, uint32_t i);

#endif
