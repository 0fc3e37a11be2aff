/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A directory to put files in.
 */
#ifndef TESTS_ARCHIVE_MADE_H
#define TESTS_ARCHIVE_MADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* cmocka's setup and teardown: the current directory is a new one, *@state its path; it is removed with all in it. */
int archive_make_dir(void **state);
int archive_remove_dir(void **state);
/* A file of @bytes, last written to at second @time. */
void archive_put(const char *name, size_t bytes, long time, mode_t mode);
bool archive_has(const char *name);
/* Files in the current directory. */
unsigned int archive_count(void);
/* Waits until @name is there, at most 10 s. */
void archive_wait_for(const char *name);

#endif
