/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kfxt report --stacks, and what it shares with kfxt diff: reading the stacks of a trace.
 */
#ifndef CLI_REPORT_STACKS_H
#define CLI_REPORT_STACKS_H

#include "analysis/stacks.h"
#include "report/report.h"

/* Returns an enum exit_code; the message is printed. */
int report_stacks(const struct report_cfg *cfg, const char *path);

/*
 * Reads all stack samples of @path for @command: an enum exit_code, with the message printed. On EXIT_OK, and
 * where the file was damaged so that they are not all, *@out is set, with at least one sample in it.
 */
int stacks_of_path(struct stacks **out, const struct stacks_cfg *cfg, const char *command, const char *path);
/* Of a word for --stacks, which is not empty; PROFILE_SOURCE_CNT with the message printed: it is none. */
enum profile_source stacks_source_word(const char *command, const char *word);

#endif
