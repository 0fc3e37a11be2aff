/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands. Each has its own file, takes its own name as argv[0] and
 * returns an enum exit_code.
 */
#ifndef CLI_CMD_H
#define CLI_CMD_H

int cmd_record(int argc, char **argv);
int cmd_estimate(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_mark(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_status(int argc, char **argv);

#endif
