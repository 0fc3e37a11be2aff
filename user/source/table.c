// SPDX-License-Identifier: GPL-2.0
/*
 * The table of sources.
 */
#include "table.h"

const struct source_ops *const source_table[RAW_KIND_CNT] = {
#define X(id, name) [RAW_##id] = &source_##name,
	SOURCES(X)
#undef X
};
