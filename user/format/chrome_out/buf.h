/* SPDX-License-Identifier: GPL-2.0 */
/*
 * JSON text in memory, an event at a time: faster than a FILE, and with what Trace Event JSON
 * asks for beyond JSON: microseconds with three decimals, raw UTF-8, no number that a double
 * would round.
 */
#ifndef FORMAT_CHROME_OUT_BUF_H
#define FORMAT_CHROME_OUT_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is an empty one. What is put after memory ran out is left out. */
struct write_buf {
	char *data;		/* not NUL-terminated */
	size_t len, cap;
	bool failed;		/* no memory */
};

void write_buf_fini(struct write_buf *b);

void write_buf_bytes(struct write_buf *b, const void *data, size_t len);
/* A NUL-terminated text as it is. */
void write_buf_text(struct write_buf *b, const char *text);
void write_buf_char(struct write_buf *b, char c);
__attribute__((format(printf, 2, 3))) void write_buf_printf(struct write_buf *b, const char *fmt, ...);

/*
 * What is inside of the quotes of a JSON string, for any bytes: a quote, a backslash and control
 * characters are escaped, each maximal sequence that is not UTF-8 becomes U+FFFD, all else is raw.
 */
void write_buf_escaped(struct write_buf *b, const char *data, size_t len);
/* The same in quotes. */
void write_buf_string(struct write_buf *b, const char *data, size_t len);

/* Nanoseconds as microseconds: "1234567.890". */
void write_buf_us(struct write_buf *b, uint64_t ns);
/* Decimal digits. */
void write_buf_digits(struct write_buf *b, uint64_t v);
/* A number; beyond 2^53 a string of its digits. */
void write_buf_u64(struct write_buf *b, uint64_t v);
void write_buf_i64(struct write_buf *b, int64_t v);
/* "0x1f", a string. */
void write_buf_hex(struct write_buf *b, uint64_t v);
/* As many digits as it takes to read the same back; "nan", "inf" and "-inf" are strings. */
void write_buf_double(struct write_buf *b, double v);

#endif
