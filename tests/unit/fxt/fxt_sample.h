/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace with every record type, subtype and argument type of the
 * specification, indexed and inlined, always the same bytes.
 */
#ifndef FXT_SAMPLE_H
#define FXT_SAMPLE_H

#include <stdbool.h>

#include "fxt/fxt.h"

/*
 * @large: with the longest strings, a split BLOB and large records of more than
 * 4095 words; without, a few KiB that tests can afford to read often.
 */
int fxt_sample_write(struct fxt_writer *w, bool large);

#endif
