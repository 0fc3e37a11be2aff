/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads an FXT trace by the reader of the formats' table.
 */
#ifndef TESTS_FORMAT_READ_FXT_H
#define TESTS_FORMAT_READ_FXT_H

#include "format/formats.h"

/* All of it, as @cfg says but for its form. 0, or the error that read() ended with. @counts: NULL is fine. */
int read_fxt(struct reader_cfg *cfg, struct reader_counts *counts);

#endif
