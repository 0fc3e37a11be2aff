/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts without those parts of them that regular expressions match.
 */
#ifndef BASE_REDACT_H
#define BASE_REDACT_H

#include <stdbool.h>
#include <stddef.h>

#define REDACT_MARK		"[redacted]"
#define REDACT_BYTES_MAX	16384

struct redact;

/*
 * Why a POSIX extended regular expression, right or wrong, is not taken; NULL: it is. It has "\1" or such, for which one
 * text could take forever, or regcomp(3) would make more than 1000 copies of its parts, of which it needs the square where
 * they are optional, or call itself for more than 100 parentheses in each other.
 */
const char *redact_refuses(const char *regex);
/* Without expressions. 0 or -ENOMEM. */
int redact_open(struct redact **out);
/*
 * Adds a POSIX extended regular expression; characters are bytes. 0, -ENOMEM or, with one line in @why, -EINVAL: it is
 * none, it is refused, or it matches an empty text.
 */
int redact_add(struct redact *r, const char *regex, char *why, size_t size);
/*
 * Copies @text with each match of any of them replaced by REDACT_MARK, of matches that overlap or touch by one. To
 * the expressions a NUL is a space. What finds no space in @size bytes is left out, marks are whole. More than
 * REDACT_BYTES_MAX bytes are one mark, and so is all of a text for which there is no memory, or while the expressions have
 * taken more than a tenth of the time. Returns the length.
 */
size_t redact_text(struct redact *r, const char *text, size_t len, char *out, size_t size);
/* NULL is fine. */
void redact_close(struct redact *r);

#endif
