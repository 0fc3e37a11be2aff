// SPDX-License-Identifier: GPL-2.0
/*
 * A string of any length, decoded piece by piece.
 */
#include "bytes.h"
#include "scan_p.h"
#include "value.h"

#define ESCAPE_BYTES_MAX	12U	/* of a surrogate pair */

/* How much of the string in the window can be decoded without what is to come. */
static size_t whole_escapes(const char *data, size_t len)
{
	size_t safe = len > ESCAPE_BYTES_MAX ? len - ESCAPE_BYTES_MAX : 0, at = 0;
	const char *escape;
	uint64_t bad = 0;
	char out[4];

	while (at < safe) {
		escape = chrome_find_quote(data + at);
		at = (size_t)(escape - data);
		if (at >= safe)
			return safe;
		at += escape[1] == 'u' ? ESCAPE_BYTES_MAX / 2 : 2;
		if (escape[1] == 'u' && chrome_string_decode(escape, ESCAPE_BYTES_MAX, out, sizeof(out), &bad) == 4 &&
		    (unsigned char)out[0] >= 0xf0)
			at += ESCAPE_BYTES_MAX / 2;
	}
	return at;
}

static int hand_out(struct chrome_scan *s, size_t len)
{
	char *data = s->buf + s->pos;
	uint64_t bad = 0;
	size_t n = chrome_string_decode(data, len, data, len, &bad);

	s->pos += len;
	return n ? s->text(s->text_ctx, data, n) : 0;
}

int scan_take_text(struct chrome_scan *s)
{
	const char *end;
	bool escaped = false;
	int err, got;

	for (s->pos++;;) {
		end = chrome_string_end(s->buf + s->pos, s->buf + s->end, &escaped);
		err = hand_out(s, end ? (size_t)(end - (s->buf + s->pos)) : whole_escapes(s->buf + s->pos, s->end - s->pos));
		if (err)
			return err;
		if (end)
			break;
		got = scan_more(s);
		if (got < 0)
			return got;
		if (!got)
			break;
	}
	s->pos += end != NULL;
	err = s->text(s->text_ctx, "", 0);
	return err ? err : end != NULL;
}
