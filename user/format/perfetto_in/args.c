// SPDX-License-Identifier: GPL-2.0
/*
 * What an event carries beside its name: arguments, source locations, call stacks.
 */
#include <errno.h>

#include "reader_p.h"

#define DEPTH_MAX	80	/* of nested arguments; deeper ones are left out */
#define KEYS_MAX	1024U	/* of a NestedValue; what has a later one has no name */
#define FRAMES_MAX	512U	/* of a call stack */

/* ---- DebugAnnotation ------------------------------------------------------- */

static uint32_t interned(struct pf_reader *r, const struct pf_sequence *q, enum pf_interned table, uint64_t iid)
{
	const struct pf_entry_data *e = q ? pf_sequence_find(q, table, iid) : NULL;

	r->counts.unknown_ids += !e;
	return e ? e->string : PF_NO_STRING;
}

/* Where a value is put: with the name of a member, or in what is open. */
struct place {
	uint32_t name;
	int depth;
};

static int put_annotation(struct pf_reader *r, const struct pf_sequence *q, struct pf_cursor m, int depth,
			  bool is_element, uint64_t index);
static int put_nested(struct pf_reader *r, struct pf_cursor m, struct place at);

static int put_string(struct pf_reader *r, const struct pf_field *f, uint32_t name)
{
	/* What is long does not come again. */
	uint32_t number = f->len <= 64 ? pf_pool_add_below(&r->pool, f->data, f->len, PF_VALUE_BYTES) : PF_POOL_FULL;

	if (number == PF_POOL_FULL)
		return pf_record_put_text(r, PF_PIECE_TEXT, name, f->data, f->len);
	return pf_record_put(r, PF_PIECE_STRING, name, number);
}

/* A value that is one field: 1 if it was one, 0 if not, or -errno. */
static int put_value(struct pf_reader *r, const struct pf_sequence *q, const struct pf_field *f, struct place at)
{
	static const struct { uint8_t wire, piece; } kinds[] = {
		[PF_ANNOTATION_BOOL] = { PF_VARINT, PF_PIECE_BOOL }, [PF_ANNOTATION_UINT] = { PF_VARINT, PF_PIECE_UINT },
		[PF_ANNOTATION_INT] = { PF_VARINT, PF_PIECE_INT }, [PF_ANNOTATION_DOUBLE] = { PF_FIXED64, PF_PIECE_DOUBLE },
		[PF_ANNOTATION_POINTER] = { PF_VARINT, PF_PIECE_POINTER },
	};
	int err;

	if (f->number < sizeof(kinds) / sizeof(kinds[0]) && kinds[f->number].piece && kinds[f->number].wire == f->wire)
		err = pf_record_put(r, kinds[f->number].piece, at.name, f->value);
	else if (pf_is(f, PF_ANNOTATION_STRING, PF_BYTES) || pf_is(f, PF_ANNOTATION_JSON, PF_BYTES))
		err = put_string(r, f, at.name);
	else if (pf_is(f, PF_ANNOTATION_STRING_IID, PF_VARINT))
		err = pf_record_put(r, PF_PIECE_STRING, at.name, interned(r, q, PF_INTERNED_ANNOTATION_STRINGS, f->value));
	else if (pf_is(f, PF_ANNOTATION_NESTED, PF_BYTES))
		err = put_nested(r, pf_inner(f), at);
	else
		return 0;
	return err ? err : 1;
}

/* Entries of a dictionary, or elements of an array. */
static int put_children(struct pf_reader *r, const struct pf_sequence *q, struct pf_cursor m, struct place at)
{
	uint64_t index = 0;
	struct pf_field f;
	int got = 0, err = at.name ? pf_record_put(r, PF_PIECE_MEMBER, at.name, 0) : 0;

	while (!err && (got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, PF_ANNOTATION_DICT, PF_BYTES))
			err = put_annotation(r, q, pf_inner(&f), at.depth + 1, false, 0);
		else if (pf_is(&f, PF_ANNOTATION_ARRAY, PF_BYTES))
			err = put_annotation(r, q, pf_inner(&f), at.depth + 1, true, index++);
	}
	if (!err && !got && at.name)
		err = pf_record_put(r, PF_PIECE_LEAVE, 0, 0);
	return err ? err : got;
}

/* The name of an annotation; *@has_children: it is a dictionary or an array. False: it is not known. */
static bool find_name(struct pf_reader *r, const struct pf_sequence *q, struct pf_cursor m, uint32_t *name,
		      bool *has_children, struct pf_field *value)
{
	const struct pf_entry_data *entry;
	struct pf_field f;

	*name = PF_NO_STRING;
	*has_children = false;
	*value = (struct pf_field){ 0 };
	while (pf_next(&m, &f) > 0) {
		if (pf_is(&f, PF_ANNOTATION_NAME, PF_BYTES)) {
			*name = pf_string_of(r, &f);
			if (f.len && !*name)
				return false;
		} else if (pf_is(&f, PF_ANNOTATION_NAME_IID, PF_VARINT)) {
			entry = q ? pf_sequence_find(q, PF_INTERNED_ANNOTATION_NAMES, f.value) : NULL;
			r->counts.unknown_ids += !entry;
			if (!entry)
				return false;
			*name = entry->string;
		} else if (pf_is(&f, PF_ANNOTATION_DICT, PF_BYTES) || pf_is(&f, PF_ANNOTATION_ARRAY, PF_BYTES)) {
			*has_children = true;
		} else if (f.number <= PF_ANNOTATION_PROTO || f.number == PF_ANNOTATION_STRING_IID) {
			*value = f;
		}
	}
	return true;
}

static int put_annotation(struct pf_reader *r, const struct pf_sequence *q, struct pf_cursor m, int depth,
			  bool is_element, uint64_t index)
{
	struct place at = { .depth = depth };
	struct pf_field value;
	bool has_children;
	int put, err = 0;

	if (depth > DEPTH_MAX || !find_name(r, q, m, &at.name, &has_children, &value)) {
		r->counts.bad_args++;
		return 0;
	}
	if (is_element)
		at.name = PF_NO_STRING;
	if (is_element)
		err = pf_record_put(r, PF_PIECE_ELEMENT, 0, index);
	if (!err && has_children) {
		err = put_children(r, q, m, at);
	} else if (!err && value.number) {
		put = put_value(r, q, &value, at);
		r->counts.bad_args += !put;
		err = put < 0 ? put : 0;
	}
	return !err && is_element ? pf_record_put(r, PF_PIECE_LEAVE, 0, 0) : err;
}

int pf_put_annotation(struct pf_reader *r, const struct pf_sequence *q, struct pf_cursor message)
{
	return put_annotation(r, q, message, 0, false, 0);
}

/* ---- NestedValue ----------------------------------------------------------- */

/* The key at that place among the keys of a dictionary. */
static uint32_t key_at(struct pf_reader *r, struct pf_cursor m, uint64_t index)
{
	uint32_t number = PF_NO_STRING;
	struct pf_field f;

	while (pf_next(&m, &f) > 0)
		if (pf_is(&f, PF_NESTED_KEYS, PF_BYTES) && !index--)
			number = pf_string_of(r, &f);
	return number;
}

static int put_nested_child(struct pf_reader *r, struct pf_cursor m, const struct pf_field *f, struct place at,
			    uint64_t index)
{
	struct place inner = { .depth = at.depth + 1 };
	int err = 0;

	if (f->number == PF_NESTED_DICT_VALUES) {
		inner.name = index < KEYS_MAX ? key_at(r, m, index) : PF_NO_STRING;
		return put_nested(r, pf_inner(f), inner);
	}
	err = pf_record_put(r, PF_PIECE_ELEMENT, 0, index);
	err = err ? err : put_nested(r, pf_inner(f), inner);
	return err ? err : pf_record_put(r, PF_PIECE_LEAVE, 0, 0);
}

static int put_nested_value(struct pf_reader *r, const struct pf_field *f, uint32_t name)
{
	switch (f->number) {
	case PF_NESTED_INT:
		return pf_record_put(r, PF_PIECE_INT, name, f->value);
	case PF_NESTED_DOUBLE:
		return f->wire == PF_FIXED64 ? pf_record_put(r, PF_PIECE_DOUBLE, name, f->value) : 0;
	case PF_NESTED_BOOL:
		return pf_record_put(r, PF_PIECE_BOOL, name, f->value);
	case PF_NESTED_STRING:
		return f->wire == PF_BYTES ? put_string(r, f, name) : 0;
	default:
		return 0;
	}
}

static int put_nested(struct pf_reader *r, struct pf_cursor m, struct place at)
{
	const struct pf_cursor whole = m;
	uint64_t index = 0;
	struct pf_field f;
	int got = 0, err = 0;
	bool is_open = at.name && (pf_find(m, PF_NESTED_DICT_VALUES, PF_BYTES, &f) ||
				   pf_find(m, PF_NESTED_ARRAY_VALUES, PF_BYTES, &f));

	if (at.depth > DEPTH_MAX) {
		r->counts.bad_args++;
		return 0;
	}
	if (is_open)
		err = pf_record_put(r, PF_PIECE_MEMBER, at.name, 0);
	while (!err && (got = pf_next(&m, &f)) > 0) {
		if (pf_is(&f, PF_NESTED_DICT_VALUES, PF_BYTES) || pf_is(&f, PF_NESTED_ARRAY_VALUES, PF_BYTES))
			err = put_nested_child(r, whole, &f, at, index++);
		else
			err = put_nested_value(r, &f, is_open ? PF_NO_STRING : at.name);
	}
	if (!err && !got && is_open)
		err = pf_record_put(r, PF_PIECE_LEAVE, 0, 0);
	return err ? err : got;
}

/* ---- source locations ------------------------------------------------------ */

static uint32_t name_with(struct pf_reader *r, const char *prefix, const char *name)
{
	pf_text_clear(r);
	pf_text_print(r, "%s.%s", prefix, name);
	return pf_string(r, r->text, r->text_len);
}

int pf_put_location(struct pf_reader *r, const struct pf_sequence *q, struct pf_cursor message, const char *prefix)
{
	struct pf_field f;
	int got = 0, err = 0;

	(void)q;
	while (!err && (got = pf_next(&message, &f)) > 0) {
		if (pf_is(&f, PF_LOCATION_FILE, PF_BYTES))
			err = put_string(r, &f, name_with(r, prefix, "file_name"));
		else if (pf_is(&f, PF_LOCATION_FUNCTION, PF_BYTES))
			err = put_string(r, &f, name_with(r, prefix, "function_name"));
		else if (pf_is(&f, PF_LOCATION_LINE, PF_VARINT))
			err = pf_record_put(r, PF_PIECE_INT, name_with(r, prefix, "line_number"), f.value);
	}
	return err ? err : got;
}

/* ---- call stacks ----------------------------------------------------------- */

/* The frames are outermost first in packets, and innermost first in what is shown, a line each. */
static int put_lines(struct pf_reader *r)
{
	return r->text_len ? pf_record_put_text(r, PF_PIECE_TEXT, pf_word(r, "stack"), r->text, r->text_len) : 0;
}

/* "poll", or the address in its mapping. */
static void add_frame(struct pf_reader *r, const struct pf_sequence *q, uint64_t iid)
{
	const struct pf_entry_data *e = pf_sequence_find(q, PF_INTERNED_FRAMES, iid), *function;
	struct pf_field f;

	if (r->text_len)
		pf_text_add(r, "\n", 1);
	if (e && pf_find(pf_entry_message(e), PF_FRAME_FUNCTION, PF_VARINT, &f)) {
		function = pf_sequence_find(q, PF_INTERNED_FUNCTIONS, f.value);
		if (function && function->string) {
			pf_text_add(r, pf_pool_str(&r->pool, function->string).data,
				    pf_pool_str(&r->pool, function->string).len);
			return;
		}
	}
	if (e && pf_find(pf_entry_message(e), PF_FRAME_REL_PC, PF_VARINT, &f))
		pf_text_print(r, "0x%llx", (unsigned long long)f.value);
	else
		pf_text_add(r, "?", 1);
}

int pf_put_callstack(struct pf_reader *r, const struct pf_sequence *q, uint64_t iid, bool *is_known)
{
	const struct pf_entry_data *e = pf_sequence_find(q, PF_INTERNED_CALLSTACKS, iid);
	uint64_t frames[FRAMES_MAX];
	struct pf_cursor m;
	struct pf_field f;
	size_t cnt = 0;

	*is_known = e && e->raw;
	r->counts.unknown_ids += !*is_known;
	if (!*is_known)
		return 0;
	m = pf_entry_message(e);
	while (pf_next(&m, &f) > 0)
		if (f.number == PF_CALLSTACK_FRAMES)
			cnt = pf_numbers(&f, PF_VARINT, frames, cnt, FRAMES_MAX);
	pf_text_clear(r);
	while (cnt)
		add_frame(r, q, frames[--cnt]);
	return put_lines(r);
}

int pf_put_inline_callstack(struct pf_reader *r, struct pf_cursor message)
{
	struct pf_field frames[FRAMES_MAX], f, function;
	size_t cnt = 0;
	int got;

	while ((got = pf_next(&message, &f)) > 0)
		if (pf_is(&f, PF_INLINE_FRAMES, PF_BYTES) && cnt < FRAMES_MAX)
			frames[cnt++] = f;
	pf_text_clear(r);
	while (cnt--) {
		if (r->text_len)
			pf_text_add(r, "\n", 1);
		if (pf_find(pf_inner(&frames[cnt]), PF_INLINE_FUNCTION, PF_BYTES, &function))
			pf_text_add(r, function.data, function.len);
		else
			pf_text_add(r, "?", 1);
	}
	return got ? got : put_lines(r);
}
