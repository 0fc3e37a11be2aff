/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A streaming JSON writer: it adds commas, colons and quotes, and keeps track of open objects and arrays.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX	31	/* the caller keeps below it */

struct json {
	FILE *out;
	bool spaced;		/* a space after each comma and colon */
	unsigned int depth;
	uint32_t is_array, is_filled;	/* bits by depth: arrays; what has something in it */
	bool after_key;
	const char *line;	/* see json_line() */
};

/* Errors are those of @out, which only this thread uses. */
void json_init(struct json *j, FILE *out, bool spaced);

/* Everything up to json_end() is in it. The end of the outermost is followed by a newline. */
void json_object(struct json *j);
void json_array(struct json *j);
void json_end(struct json *j);
/* The name of a member, before its value. */
void json_key(struct json *j, const char *name);
/* The next member or end is on a new line after @indent. */
void json_line(struct json *j, const char *indent);

/*
 * A string, whatever the bytes: control characters are escaped and what is not UTF-8 becomes
 * U+FFFD.
 */
void json_string(struct json *j, const char *data, size_t len);
/* The same for a NUL-terminated text; NULL is null. */
void json_text(struct json *j, const char *text);
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
/*
 * What lies beyond 2^53, which parsers that have doubles only would round, is a string: of
 * decimal digits. A pointer is one always: "0xffff888000000000".
 */
void json_u64(struct json *j, uint64_t v);
void json_i64(struct json *j, int64_t v);
void json_pointer(struct json *j, uint64_t v);
/* All digits that a double has; what JSON has no number for becomes the string "nan", "inf", "-inf". */
void json_double(struct json *j, double v);
/* So many digits after the point, for what is measured. */
void json_fixed(struct json *j, double v, int digits);
/* Bytes as a string of hexadecimal digits. */
void json_hex(struct json *j, const void *data, size_t len);

/* Members of an object. */
void json_key_text(struct json *j, const char *name, const char *text);
void json_key_u64(struct json *j, const char *name, uint64_t v);
void json_key_bool(struct json *j, const char *name, bool v);
void json_key_fixed(struct json *j, const char *name, double v, int digits);

#endif
