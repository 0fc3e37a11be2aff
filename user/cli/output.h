/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stdout as a place for results: a reader that goes away (`| head`) is no
 * error, a full disk is one.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>

/* Before the first result of a command that starts no other programs. */
void output_begin(void);
/* Whether nobody takes what is printed, so that going on is of no use. */
bool output_failed(void);
/*
 * Flushes, at the end of main(). Returns @code, or EXIT_FAILED with a message if
 * results were lost; calling it again is fine.
 */
int output_end(const char *command, int code);

#endif
