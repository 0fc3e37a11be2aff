/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of /proc and tracefs, whose size is known only once they have been read.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>

#define PROC_STAT_BYTES_MAX	(1U << 22)	/* interrupts take a line of many thousand words */

/*
 * Reads @path whole. *@text is malloc'ed, NUL-terminated and *@len long. 0 or -errno;
 * -EFBIG if there are more than @max_bytes.
 */
int text_file_read(const char *path, size_t max_bytes, char **text, size_t *len);

#endif
