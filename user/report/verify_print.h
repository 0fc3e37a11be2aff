/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Printing what a verification found, on stdout.
 */
#ifndef REPORT_VERIFY_PRINT_H
#define REPORT_VERIFY_PRINT_H

#include "analysis/findings.h"

void verify_print_text(const struct verify *v);
/* One JSON object. */
void verify_print_json(const struct verify *v);

#endif
