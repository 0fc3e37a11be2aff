/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What became of the triggers, and what the window in memory holds at the end.
 */
#ifndef CLI_RECORD_WINDOW_H
#define CLI_RECORD_WINDOW_H

#include "bpf/abi/shed.h"

struct budget;
struct json;
struct recorder_totals;
struct triggers;

/* Which of the budget's classes the trigger of this word looks at; SHED_CNT: none. */
enum shed_class record_window_class(const char *word);
/* To stderr; @triggers and @b may be NULL. */
void record_window_show(const struct triggers *triggers, const struct budget *b, const struct recorder_totals *t);
/* Members "window" and "triggers" of the object that is open. */
void record_window_print_json(struct json *j, const struct triggers *triggers, const struct budget *b,
			      const struct recorder_totals *t);

#endif
