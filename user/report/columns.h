/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How wide text is on a terminal, for tables.
 */
#ifndef REPORT_COLUMNS_H
#define REPORT_COLUMNS_H

#include <stddef.h>

/*
 * Columns of what log_text() made: East Asian wide characters take two, combining ones none. Where
 * the C library has no C.UTF-8 each character counts as one.
 */
size_t columns_of(const char *text);
/* Cuts @text to at most @width columns; what was cut ends with "...", if there is space for that. */
void columns_cut(char *text, size_t width);
/* Columns of the terminal that @fd is; 0: it is none, or does not say. */
size_t columns_of_terminal(int fd);
/* Spaces up to @width columns after @text, which has been printed. */
void columns_pad(const char *text, size_t width);

#endif
