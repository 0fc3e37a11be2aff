/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Strings that are kept once each, up to a limit of all together.
 */
#ifndef SYMBOL_KEPT_NAMES_H
#define SYMBOL_KEPT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define KEPT_NAME_LEN_MAX	4095	/* what is longer is cut */

struct kept_names;

/* With a limit of @bytes_max for all strings. 0 or -ENOMEM. */
int kept_names_open(struct kept_names **out, size_t bytes_max);
/*
 * The string of @len bytes at @text, as valid UTF-8 without control characters: other bytes are '?'.
 * Lives until kept_names_forget(). NULL: the limit is reached, or there is no memory.
 */
const char *kept_names_put(struct kept_names *n, const char *text, size_t len);
/* Whether there was a string for which there was no space. */
bool kept_names_are_full(const struct kept_names *n);
/* All of them. */
void kept_names_forget(struct kept_names *n);
/* NULL is fine. */
void kept_names_close(struct kept_names *n);

#endif
