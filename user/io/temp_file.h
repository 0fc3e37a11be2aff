/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A new file under a temporary name, which a signal that ends the process removes first. One at a time.
 */
#ifndef IO_TEMP_FILE_H
#define IO_TEMP_FILE_H

/*
 * Makes a file of mode 0600 as mkostemp(3) does, close-on-exec; @path, which ends with XXXXXX, becomes its
 * name and is borrowed. SIGINT, SIGTERM and SIGHUP, where they have their default action, remove the file
 * before they end the process. An fd or -errno.
 */
int temp_file_make(char *path);
/* The file has its final name or is removed; before the name given to temp_file_make() is freed. */
void temp_file_end(void);

#endif
