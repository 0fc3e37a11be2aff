// SPDX-License-Identifier: GPL-2.0
/*
 * Strings without needless escapes: "\u0042" is "B". What is equal has equal text then, which is
 * how phases, ids and the names of begins and ends are compared.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "reader_p.h"
#include "value.h"

/* Writes @len bytes of a string with the escapes it must have: how many bytes that takes. */
static size_t put_string(const char *data, size_t len, char *out)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++) {
		if (data[i] == '"' || data[i] == '\\')
			out[n++] = '\\';
		out[n++] = data[i];
	}
	return n;
}

/*
 * The string at @f, in place: what is over is blanks after its quote. A string that JSON does not
 * have stays as it is. @decoded has space for it.
 */
static void make_plain(char *text, struct chrome_field *f, char *decoded)
{
	char *value = text + f->value.at;
	uint64_t bad = 0;
	size_t len = chrome_string_decode(value, f->value.len, decoded, f->value.len, &bad);

	if (bad)
		return;
	len = put_string(decoded, len, value);
	if (len == f->value.len)
		return;
	value[len] = '"';
	memset(value + len + 1, ' ', f->value.len - len);
	f->value.len = (uint32_t)len;
	f->escaped = memchr(value, '\\', len);
}

int reader_plain(struct chrome_reader *r)
{
	struct chrome_event *e = &r->event;
	size_t need = 2 * (size_t)e->len + CHROME_PAD_BYTES;
	uint32_t i;

	if (need > r->plain_cap) {
		free(r->plain);
		r->plain = malloc(need);
		r->plain_cap = r->plain ? need : 0;
		if (!r->plain)
			return -ENOMEM;
	}
	memcpy(r->plain, e->text, e->len);
	memset(r->plain + e->len, '"', CHROME_PAD_BYTES);
	e->text = r->plain;
	for (i = 0; i < e->fields_cnt; i++)
		if (e->fields[i].escaped && e->fields[i].key != CHROME_UNKNOWN)
			make_plain(r->plain, &e->fields[i], r->plain + e->len + CHROME_PAD_BYTES);
	return 0;
}
