/* SPDX-License-Identifier: GPL-2.0 */
/*
 * That a recording begins in time, or it is said why not.
 */
#ifndef CLI_RECORD_BEGIN_H
#define CLI_RECORD_BEGIN_H

/*
 * A process with more than one thread waits for a grace period when its table of files has to grow (expand_files() of the
 * kernel, from 64 on): it grows while there is one.
 */
void record_grow_file_table(void);
/*
 * Says that the kernel lets the recorder wait before the first event, in its function @where, or an empty text. By another
 * thread than the one that waits.
 */
void record_say_stuck(const char *where);

#endif
