/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands that ask a recorder that runs: which one, and the messages if it does not answer.
 */
#ifndef CLI_ASK_ASK_H
#define CLI_ASK_ASK_H

#include "control/client.h"

/*
 * Asks the recorder @pid, or with 0 the only one there is. An exit code; unless it is EXIT_OK a message, as @command's,
 * is printed. With EXIT_OK @text is for free().
 */
int ask_recorder(const char *command, uint64_t pid, const struct control_query *q, char **text);

#endif
