/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sources there are (bpf/abi/sources.h lists them), each a struct source_ops in a file of its own.
 */
#ifndef SOURCE_TABLE_H
#define SOURCE_TABLE_H

#include "bpf/abi/raw.h"

struct source_ops;

#define X(id, name) extern const struct source_ops source_##name;
SOURCES(X)
#undef X

/* By enum raw_kind, in the order in which they are listed. */
extern const struct source_ops *const source_table[RAW_KIND_CNT];

#endif
