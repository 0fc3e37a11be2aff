// SPDX-License-Identifier: GPL-2.0
/*
 * Ids of async slices, flows and objects: their text, and what it is scoped by, as 64 bits.
 */
#include <stdlib.h>
#include <string.h>

#include "reader_p.h"
#include "value.h"

#define ID_BYTES	256U
#define FNV_BASIS	0xcbf29ce484222325ULL
#define FNV_PRIME	0x100000001b3ULL

static uint64_t add_bytes(uint64_t hash, const char *data, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)data[i]) * FNV_PRIME;
	return hash;
}

/* The text of a member without its escapes if it is no longer than ids are, and a byte that no text has after it. */
static uint64_t add_field(uint64_t hash, const struct chrome_event *e, const struct chrome_field *f)
{
	char text[ID_BYTES];
	uint64_t bad = 0;

	if (f && f->escaped && f->value.len <= sizeof(text))
		hash = add_bytes(hash, text, chrome_string_decode(chrome_text(e, f->value), f->value.len, text,
								  sizeof(text), &bad));
	else if (f)
		hash = add_bytes(hash, chrome_text(e, f->value), f->value.len);
	return (hash ^ 0xff) * FNV_PRIME;
}

static uint64_t mix(uint64_t hash)
{
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93ULL;
	hash ^= hash >> 32;
	return hash ? hash : 1;
}

static const struct chrome_field *id_of(const struct chrome_event *e)
{
	const struct chrome_field *f = chrome_field(e, CHROME_ID);

	return f && f->type != CHROME_NULL ? f : NULL;
}

static const struct chrome_field *id2_of(const struct chrome_event *e)
{
	const struct chrome_field *f = chrome_field(e, CHROME_ID2);

	return f && f->type == CHROME_OBJECT && f->value.len > 2 ? f : NULL;
}

bool reader_has_id(const struct chrome_event *e)
{
	return id_of(e) || id2_of(e);
}

static bool is_named(const struct chrome_event *e, const struct chrome_field *f, const char *word)
{
	char name[8];
	uint64_t bad = 0;
	size_t len = chrome_string_decode(chrome_text(e, f->name), f->name.len, name, sizeof(name), &bad);

	return len == strlen(word) && !memcmp(name, word, len);
}

/* The first of {"local":ID} or {"global":ID}; its event is r->inner. */
static const struct chrome_field *inner_id(struct chrome_reader *r, const struct chrome_event *e,
					   const struct chrome_field *f, bool *is_local)
{
	const char *reason;
	size_t bad_at;
	uint32_t i;

	if (chrome_event_parse(&r->inner, chrome_text(e, f->value), e->len - f->value.at, &bad_at, &reason))
		return NULL;
	for (i = 0; i < r->inner.fields_cnt; i++) {
		const struct chrome_field *id = &r->inner.fields[i];

		*is_local = is_named(&r->inner, id, "local");
		if (*is_local || is_named(&r->inner, id, "global"))
			return id;
	}
	return NULL;
}

bool reader_has_usable_id(struct chrome_reader *r, const struct chrome_event *e)
{
	const struct chrome_field *outer;
	bool is_local;

	if (id_of(e))
		return true;
	outer = id2_of(e);
	return outer && inner_id(r, e, outer, &is_local);
}

/*
 * @what: 'b' nestable async, 'S' deprecated async, 's' flow, 'N' object. Of each its own scope:
 * category and scope, or the name, or the process.
 */
bool reader_async_id(struct chrome_reader *r, const struct chrome_event *e, char what, uint64_t *id)
{
	const struct chrome_field *text = id_of(e), *outer = text ? NULL : id2_of(e);
	uint32_t thread, process;
	bool is_local = what == 'N';
	uint64_t hash = add_bytes(FNV_BASIS, &what, 1);

	if (!text && !outer)
		return false;
	if (what == 'b' || what == 's')
		hash = add_field(hash, e, chrome_field(e, CHROME_CAT));
	if (what == 'b' || what == 'N')
		hash = add_field(hash, e, chrome_field(e, CHROME_SCOPE));
	if (what == 'S' || what == 's')
		hash = add_field(hash, e, chrome_field(e, CHROME_NAME));
	if (outer)
		text = inner_id(r, e, outer, &is_local);
	if (outer && !text)
		return false;
	hash = add_field(hash, outer ? &r->inner : e, text);
	if (is_local) {
		if (reader_track(r, e, &thread, &process))
			return false;
		hash = add_bytes(hash, (const char *)&process, sizeof(process));
	}
	*id = mix(hash);
	return true;
}

uint64_t reader_bind_id(const struct chrome_event *e, const struct chrome_field *f)
{
	return mix(add_field(add_bytes(FNV_BASIS, "bind", 4), e, f));
}

uint64_t reader_held_id(uint64_t number)
{
	return mix(add_bytes(add_bytes(FNV_BASIS, "held", 4), (const char *)&number, sizeof(number)));
}

/* Its digits, if they are those of a number that viewers show as short as it is. */
static bool parse_short(const char *text, size_t len, uint64_t *id)
{
	bool is_hex = len > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
	char digits[20], *end;

	if (!len || len >= sizeof(digits) || text[0] < '0' || text[0] > '9')
		return false;
	memcpy(digits, text, len);
	digits[len] = '\0';
	*id = strtoull(digits, &end, is_hex ? 16 : 10);
	return *id && !*end;
}

uint64_t reader_counter_id(struct chrome_reader *r, const struct chrome_event *e)
{
	const struct chrome_field *f = id_of(e), *outer = f ? NULL : id2_of(e);
	uint64_t id = 0;
	bool is_local;

	/* A counter is of its process anyway. */
	if (outer) {
		f = inner_id(r, e, outer, &is_local);
		e = &r->inner;
	}
	if (!f || parse_short(chrome_text(e, f->value), f->value.len, &id))
		return id;
	return reader_bind_id(e, f);
}

/* Without its escapes if it is no longer than ids are. */
uint64_t reader_frame_key(uint64_t scope, const char *id, size_t len)
{
	char text[ID_BYTES];
	uint64_t bad = 0;

	if (len <= sizeof(text) && memchr(id, '\\', len)) {
		len = chrome_string_decode(id, len, text, sizeof(text), &bad);
		id = text;
	}
	return mix(add_bytes(FNV_BASIS ^ scope, id, len));
}

/* ---- ids that are open ---------------------------------------------------------- */

bool reader_begin_id(struct chrome_reader *r, uint64_t id)
{
	if (id_table_get(&r->begun, id))
		return false;
	/* Without memory it is not known to be open. */
	id_table_put(&r->begun, id, r);
	return true;
}

void reader_end_id(struct chrome_reader *r, uint64_t id)
{
	id_table_remove(&r->begun, id);
}
