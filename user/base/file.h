/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of /proc and tracefs, whose size is known only once they have been read.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

#define PROC_STAT_BYTES_MAX	(1U << 22)	/* interrupts take a line of many thousand words */

/*
 * Reads @path whole. *@text is malloc'ed, NUL-terminated and *@len long. 0 or -errno;
 * -EFBIG if there are more than @max_bytes.
 */
int text_file_read(const char *path, size_t max_bytes, char **text, size_t *len);
/*
 * How long tasks have stalled in all, by a file of /proc/pressure that is open: @share is "some" or "full". 0, -errno, or -EIO: it
 * does not say.
 */
int pressure_read(int fd, const char *share, uint64_t *total_us);

#endif
