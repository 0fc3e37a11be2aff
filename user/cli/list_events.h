/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kfxt list GLOB: the tracepoints that record -e would find.
 */
#ifndef CLI_LIST_EVENTS_H
#define CLI_LIST_EVENTS_H

#include <stdbool.h>

/*
 * Prints those that the @words stand for, of none: all; with their fields, of all only as @json.
 * Returns an exit code; the message is printed.
 */
int list_events(char *const *words, int words_cnt, bool json, bool count);

#endif
