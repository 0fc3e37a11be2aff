/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names by pattern: fnmatch(3) without flags.
 */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Does @name match @glob? A leading '!' has no meaning here. */
bool glob_match(const char *glob, const char *name);
/* Does it have a wildcard that is not escaped? */
bool glob_has_wildcard(const char *glob);
/* What it matches has at least so many bytes; where there are brackets it may be more. */
size_t glob_least_bytes(const char *glob);

#endif
