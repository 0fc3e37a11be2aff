/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is in JSON values: strings decoded, times and integers from their decimal digits.
 */
#ifndef FORMAT_CHROME_VALUE_H
#define FORMAT_CHROME_VALUE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the escapes of a string's @len bytes into @out: the number of bytes, at most @size; the
 * rest is cut at a character. Surrogate pairs become one character, lone surrogates U+FFFD; an
 * escape that JSON does not have stays as it is written and is counted in *@bad. Other bytes are
 * copied, UTF-8 or not. @out may be @data.
 */
size_t chrome_string_decode(const char *data, size_t len, char *out, size_t size, uint64_t *bad);

/*
 * Microseconds as decimal text ("1712345678123456.789", "1.5e-3") to nanoseconds, rounded half
 * away from zero; exact, no floating point. 0; -EINVAL: not a number; -ERANGE: not in 64 bits.
 */
int chrome_time_ns(const char *data, size_t len, int64_t *ns);
/*
 * The same of a time in the usual form, up to 16 digits and three decimals, from @p on: after it, NULL: it is
 * in another form. Eight bytes after it are read.
 */
const char *chrome_usual_time(const char *p, int64_t *ns);

/* An integer, also one written as "7.0" or "8e0". 0; -EINVAL: not an integer; -ERANGE. */
int chrome_int64(const char *data, size_t len, int64_t *value);

#endif
