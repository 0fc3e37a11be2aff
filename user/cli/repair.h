/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kfxt verify --repair.
 */
#ifndef CLI_REPAIR_H
#define CLI_REPAIR_H

/* Writes a whole trace of @in to @out. An exit code; the message is printed. */
int repair_file(const char *in, const char *out);

#endif
