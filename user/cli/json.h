/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Printing JSON to stdout.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stddef.h>

/*
 * A quoted string, whatever the bytes: control characters are escaped and what
 * is not UTF-8 becomes U+FFFD.
 */
void json_print_string(const char *data, size_t len);
/* The same for a NUL-terminated text; NULL prints null. */
void json_print_text(const char *text);
/* A number; what JSON has no number for becomes the string "nan", "inf", "-inf". */
void json_print_double(double v);
/* Bytes as a string of hexadecimal digits. */
void json_print_hex(const void *data, size_t len);

#endif
