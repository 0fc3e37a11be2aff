// SPDX-License-Identifier: GPL-2.0
/*
 * What print formats say beyond a field's type: flags and symbols by their names, addresses by
 * what they are of. The trees of tracepoint_parse.c, evaluated; they are not deeper than it lets
 * them be.
 */
#include <stdlib.h>
#include <string.h>

#include "tracepoint_p.h"

/* ---- numbers --------------------------------------------------------------------------- */

/* C's types and the kernel's own. */
static int64_t cast(const char *type, size_t len, int64_t v)
{
	static const struct {
		const char *name;
		unsigned int size;
		bool is_signed;
	} types[] = {
		{ "u8", 1, false }, { "s8", 1, true }, { "u16", 2, false }, { "s16", 2, true },
		{ "u32", 4, false }, { "s32", 4, true }, { "char", 1, true }, { "unsigned char", 1, false },
		{ "short", 2, true }, { "unsigned short", 2, false }, { "int", 4, true },
		{ "unsigned int", 4, false }, { "unsigned", 4, false }, { "gfp_t", 4, false },
	};
	unsigned int i, shift;

	for (i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (strlen(types[i].name) != len || memcmp(types[i].name, type, len) != 0)
			continue;
		shift = 64 - 8 * types[i].size;
		if (types[i].is_signed)
			return (int64_t)((uint64_t)v << shift) >> shift;
		return (int64_t)((uint64_t)v << shift >> shift);
	}
	return v;
}

static bool compute(const char *op, int64_t a, int64_t b, int64_t *v)
{
	const uint64_t x = (uint64_t)a, y = (uint64_t)b;

	if (!strcmp(op, "+"))
		*v = (int64_t)(x + y);
	else if (!strcmp(op, "-"))
		*v = (int64_t)(x - y);
	else if (!strcmp(op, "*"))
		*v = (int64_t)(x * y);
	else if (!strcmp(op, "&"))
		*v = a & b;
	else if (!strcmp(op, "|"))
		*v = a | b;
	else if (!strcmp(op, "^"))
		*v = a ^ b;
	else if (!strcmp(op, "==") || !strcmp(op, "!="))
		*v = (a == b) == (*op == '=');
	else if (!strcmp(op, "&&"))
		*v = a && b;
	else if (!strcmp(op, "||"))
		*v = a || b;
	else if (!strcmp(op, "<") || !strcmp(op, ">="))
		*v = (a < b) == (*op == '<');
	else if (!strcmp(op, ">") || !strcmp(op, "<="))
		*v = (a > b) == (*op == '>');
	else if (!strcmp(op, "<<") && y < 64)
		*v = (int64_t)(x << b);
	else if (!strcmp(op, ">>") && y < 64)
		*v = (int64_t)(x >> b);
	else if (!strcmp(op, "/") && y)
		*v = (int64_t)(x / y);
	else if (!strcmp(op, "%") && y)
		*v = (int64_t)(x % y);
	else
		return false;
	return true;
}

static bool eval_field(const struct tracepoint_record *r, const struct tracepoint_field *field, int64_t *v)
{
	const unsigned char *data;
	size_t len;

	if (!r || field->is_array || field->is_dynamic || !tracepoint_bytes(r, field, &data, &len))
		return false;
	*v = (int64_t)tracepoint_number(data, field->size, field->is_signed);
	return true;
}

static bool eval_unary(const struct tracepoint_record *r, const struct print_node *n, int64_t *v)
{
	int64_t a;

	if (!tracepoint_eval(r, n->left, &a))
		return false;
	*v = *n->text == '!' ? !a : *n->text == '~' ? ~a : *n->text == '-' ? (int64_t)(0 - (uint64_t)a) : a;
	return true;
}

bool tracepoint_eval(const struct tracepoint_record *r, const struct print_node *n, int64_t *v)
{
	int64_t a, b;

	switch (n->kind) {
	case PRINT_NUMBER:
		*v = n->number;
		return true;
	case PRINT_FIELD:
		return eval_field(r, n->field, v);
	case PRINT_CAST:
		if (!tracepoint_eval(r, n->left, &a))
			return false;
		*v = cast(n->text, (size_t)n->number, a);
		return true;
	case PRINT_UNARY:
		return eval_unary(r, n, v);
	case PRINT_BINARY:
		return tracepoint_eval(r, n->left, &a) && tracepoint_eval(r, n->right, &b) && compute(n->text, a, b, v);
	case PRINT_CHOICE:
		return tracepoint_eval(r, n->left, &a) && tracepoint_eval(r, a ? n->right : n->other, v);
	default:
		return false;
	}
}

/* ---- texts ------------------------------------------------------------------------------- */

/* As trace_print_flags_seq(): what has no name is left over, in hex. */
static bool print_flags(struct tracepoint_record *r, const struct print_node *n)
{
	const struct print_node *name;
	const char *delim = "";
	int64_t v;

	if (!tracepoint_eval(r, n->left, &v))
		return false;
	for (name = n->names; name && v; name = name->next) {
		if ((v & name->number) != name->number)
			continue;
		tracepoint_put(r, "%s%s", delim, name->text);
		v &= ~name->number;
		delim = n->text ?: "";
	}
	if (v)
		tracepoint_put(r, "%s0x%llx", delim, (unsigned long long)v);
	return true;
}

/* As trace_print_symbols_seq(). */
static bool print_symbol(struct tracepoint_record *r, const struct print_node *n)
{
	const struct print_node *name;
	int64_t v;

	if (!tracepoint_eval(r, n->left, &v))
		return false;
	for (name = n->names; name && name->number != v; name = name->next)
		;
	if (name)
		tracepoint_put(r, "%s", name->text);
	else
		tracepoint_put(r, "0x%llx", (unsigned long long)v);
	return true;
}

bool tracepoint_print(struct tracepoint_record *r, const struct print_node *n)
{
	int64_t v;

	switch (n->kind) {
	case PRINT_FLAGS:
		return print_flags(r, n);
	case PRINT_SYMBOLS:
		return print_symbol(r, n);
	case PRINT_STRING:
		tracepoint_put(r, "%s", n->text);
		return true;
	case PRINT_CAST:
		return tracepoint_print(r, n->left);
	case PRINT_CHOICE:
		return tracepoint_eval(r, n->left, &v) && tracepoint_print(r, v ? n->right : n->other);
	default:
		return false;
	}
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* Does it come out as text, whatever the record? */
static bool is_text(const struct print_node *n)
{
	switch (n->kind) {
	case PRINT_FLAGS:
	case PRINT_SYMBOLS:
	case PRINT_STRING:
		return true;
	case PRINT_CAST:
		return is_text(n->left);
	case PRINT_CHOICE:
		return is_text(n->right) && is_text(n->other);
	default:
		return false;
	}
}

/* The one field that @n is about; false: there are several. *@field NULL: none yet. */
static bool find_field(const struct print_node *n, const struct tracepoint_field **field)
{
	if (!n)
		return true;
	if (n->field && *field && *field != n->field)
		return false;
	if (n->field)
		*field = n->field;
	return find_field(n->left, field) && find_field(n->right, field) && find_field(n->other, field);
}

static struct tracepoint_field *field_of(struct tracepoint_format *f, const struct print_node *n)
{
	const struct tracepoint_field *field = NULL;

	return find_field(n, &field) && field ? &f->fields[field - f->fields] : NULL;
}

/* Flags and symbols; a field's second text counts if it follows the first: "%s%s" of a state. */
static void plan_text(struct tracepoint_format *f, const struct print_node *n, const struct print_node *before)
{
	struct tracepoint_field *field = field_of(f, n);

	if (!field || field->is_array || field->is_dynamic || field->size > 8)
		return;
	if (field->shape != TRACEPOINT_TEXT) {
		field->shape = TRACEPOINT_TEXT;
		field->texts[0] = n;
	} else if (!field->texts[1] && before && field->texts[0] == before) {
		field->texts[1] = n;
	}
}

/* A conversion of printk's beyond C's: "%pI4", @spec being what follows the p. */
static void plan_pointer(struct tracepoint_field *field, const char *spec)
{
	if (field->is_dynamic)
		return;
	if (!field->is_array && field->size == sizeof(long))
		field->shape = *spec && strchr("sSfFB", *spec) ? TRACEPOINT_FUNCTION : TRACEPOINT_POINTER;
	else if (!strncmp(spec, "I4", 2) && field->is_array && field->size == 4)
		field->shape = TRACEPOINT_IPV4;
	else if (!strncmp(spec, "I6", 2) && field->is_array && field->size == 16)
		field->shape = TRACEPOINT_IPV6;
	else if (*spec == 'M' && field->is_array && field->size == 6)
		field->shape = TRACEPOINT_MAC;
}

/* What one conversion says of the field it prints: @spec is what follows the '%', flags and width. */
static void plan_arg(struct tracepoint_format *f, const struct print_node *n, const struct print_node *before,
		     const char *spec)
{
	struct tracepoint_field *field;

	if (is_text(n)) {
		plan_text(f, n, before);
		return;
	}
	while (n->kind == PRINT_CAST)
		n = n->left;
	field = field_of(f, n);
	if (!field)
		return;
	if (n->kind == PRINT_BITMASK && field->is_dynamic)
		field->shape = TRACEPOINT_BITMASK;
	else if (n->kind == PRINT_FIELD && *spec == 'p')
		plan_pointer(field, spec + 1);
	else if (n->kind == PRINT_FIELD && *spec == 's' && field->shape == TRACEPOINT_POINTER)
		field->shape = TRACEPOINT_LITERAL;
	else if (n->kind == PRINT_FIELD && *spec == 's' && field->shape == TRACEPOINT_BYTES)
		field->shape = TRACEPOINT_STRING;
}

void tracepoint_print_plan(struct tracepoint_format *f)
{
	const struct print_node *arg = f->print.args, *before = NULL;
	const char *spec = f->print.format;

	while (spec && arg && (spec = strchr(spec, '%'))) {
		const char *begin = spec++;

		if (*spec == '%') {
			spec++;
			continue;
		}
		/* A '*' takes an argument of its own. */
		for (; *spec && strchr("-+ #0123456789.*hlLqjzt", *spec); spec++)
			if (*spec == '*' && arg)
				arg = arg->next;
		if (!arg)
			return;
		plan_arg(f, arg->left, before, spec);
		/* The next one follows at once, or does not. */
		before = *spec == 's' && spec[1] == '%' ? arg->left : NULL;
		arg = arg->next;
		spec = *spec ? spec + 1 : begin + strlen(begin);
	}
}
