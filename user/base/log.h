/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages to the user: the only printer on stderr.
 *
 * A message is `what: object: reason (hint)`, in lower case, without a newline;
 * it is printed once, by the command that knows the user's words.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

enum log_level {
	LOG_LEVEL_ERROR,	/* --quiet */
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,		/* the default */
	LOG_LEVEL_DEBUG,	/* --verbose */
};

void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* Prints unless the level is too low. Every byte passes log_text() on its way. */
void log_print_va(enum log_level level, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
void log_print(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...)	log_print(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)	log_print(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)	log_print(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)	log_print(LOG_LEVEL_DEBUG, __VA_ARGS__)

/* Space for one input byte as \xNN, or one UTF-8 character, and the NUL. */
#define LOG_TEXT_MAX	5

/*
 * Makes untrusted text safe for a terminal: control characters (C0, DEL, C1),
 * bidirectional overrides and bytes that are not UTF-8 become \xNN. Writes at
 * most @size bytes, cut at a whole character and NUL-terminated; returns @buf.
 */
const char *log_text(char *buf, size_t size, const char *data, size_t len);
/* The same onto a stream, of any length. */
void log_text_print(FILE *file, const char *data, size_t len);
/* The length of the UTF-8 character @data begins with, 0 if it is not one. */
size_t log_utf8_len(const char *data, size_t len);

#endif
