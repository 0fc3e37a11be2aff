// SPDX-License-Identifier: GPL-2.0
/*
 * Print formats of tracepoints ("print fmt: "%s", REC->comm"), which are C, into trees. What
 * is not understood becomes a node of no meaning, what is no C ends the reading: its fields are
 * then numbers. libtraceevent could do this, but not with any text without crashing.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tracepoint_p.h"

#define DEPTH_MAX	100
#define NODES_MAX	65536U

struct print_block {
	struct print_block *next;
	struct print_node nodes[256];
};

struct parser {
	const struct tracepoint_format *format;
	struct print_tree *tree;
	char *at;		/* in a copy that is written to */
	unsigned int depth, used;
	bool failed;
	tracepoint_enum_fn value_of;	/* NULL: not known */
	void *ctx;
};

/* Never NULL: the last one, of no meaning, is for when there are no more. */
static struct print_node *make(struct parser *p, enum print_kind kind)
{
	static struct print_node none = { .kind = PRINT_OTHER };
	struct print_block *block = p->tree->blocks;
	struct print_node *n;

	if (!block || p->used % 256 == 0) {
		block = p->used < NODES_MAX ? calloc(1, sizeof(*block)) : NULL;
		if (!block) {
			p->failed = true;
			return &none;
		}
		block->next = p->tree->blocks;
		p->tree->blocks = block;
	}
	n = &block->nodes[p->used++ % 256];
	n->kind = kind;
	return n;
}

static struct print_node *fail(struct parser *p)
{
	p->failed = true;
	return make(p, PRINT_OTHER);
}

/* ---- tokens ------------------------------------------------------------------------------ */

static bool take_token(struct parser *p, const char *text)
{
	const size_t len = strlen(text);

	p->at += strspn(p->at, " \t\n");
	if (strncmp(p->at, text, len) != 0)
		return false;
	p->at += len;
	return true;
}

static void expect(struct parser *p, const char *text)
{
	if (!take_token(p, text))
		p->failed = true;
}

static bool is_name(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_';
}

/* The length of the name here, or 0. */
static size_t name_len(struct parser *p)
{
	size_t len = 0;

	p->at += strspn(p->at, " \t\n");
	while (is_name(p->at[len]))
		len++;
	return isdigit((unsigned char)*p->at) ? 0 : len;
}

/* Literals in a row, as one text, undone in place; NULL: there is none, or it has no end. */
static const char *take_strings(struct parser *p)
{
	char *text = NULL, *to = NULL;

	while (take_token(p, "\"")) {
		if (!text)
			text = to = p->at;
		for (; *p->at && *p->at != '"'; p->at++) {
			if (*p->at == '\\' && p->at[1])
				p->at++;
			*to++ = *p->at;
		}
		if (!*p->at) {
			p->failed = true;
			return NULL;
		}
		p->at++;
	}
	if (to)
		*to = 0;
	return text;
}

/* ---- expressions --------------------------------------------------------------------------- */

static struct print_node *expression(struct parser *p);

static struct print_node *field_node(struct parser *p)
{
	struct print_node *n = make(p, PRINT_OTHER);
	const size_t len = name_len(p);
	const char saved = p->at[len];

	if (!len)
		return fail(p);
	p->at[len] = 0;
	n->field = tracepoint_format_field(p->format, p->at);
	p->at[len] = saved;
	p->at += len;
	n->kind = n->field ? PRINT_FIELD : PRINT_OTHER;
	return n;
}

/* { value, "name" }, ... of __print_flags() and __print_symbolic(), up to the parenthesis. */
static void take_names(struct parser *p, struct print_node *n)
{
	struct print_node **last = &n->names, *name;
	int64_t value;

	while (!p->failed && take_token(p, ",")) {
		name = make(p, PRINT_STRING);
		expect(p, "{");
		if (take_token(p, "}"))
			continue;
		name->left = expression(p);
		expect(p, ",");
		name->text = take_strings(p);
		if (!name->text)
			expression(p);		/* (void *)0 ends some lists */
		expect(p, "}");
		if (!name->text || !tracepoint_eval(NULL, name->left, &value))
			continue;
		name->number = value;
		*last = name;
		last = &name->next;
	}
}

/* The name of a field as the argument of a macro: __get_bitmask(cpus). */
static void take_field(struct parser *p, struct print_node *n)
{
	struct print_node *field = field_node(p);

	n->field = field->field;
	if (!n->field)
		n->kind = PRINT_OTHER;
}

static struct print_node *call(struct parser *p, const char *name, size_t len)
{
	static const struct {
		const char *name;
		enum print_kind kind;
	} known[] = {
		{ "__print_flags", PRINT_FLAGS }, { "__print_flags_u64", PRINT_FLAGS },
		{ "__print_symbolic", PRINT_SYMBOLS }, { "__print_symbolic_u64", PRINT_SYMBOLS },
		{ "__get_bitmask", PRINT_BITMASK }, { "__get_cpumask", PRINT_BITMASK },
		{ "__get_rel_bitmask", PRINT_BITMASK }, { "__get_rel_cpumask", PRINT_BITMASK },
	};
	struct print_node *n = make(p, PRINT_OTHER);
	unsigned int i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i].name) == len && !memcmp(known[i].name, name, len))
			n->kind = known[i].kind;
	if (n->kind == PRINT_FLAGS || n->kind == PRINT_SYMBOLS)
		n->left = expression(p);
	if (n->kind == PRINT_FLAGS) {
		expect(p, ",");
		n->text = take_strings(p);
	}
	if (n->kind == PRINT_FLAGS || n->kind == PRINT_SYMBOLS) {
		take_names(p, n);
	} else if (n->kind == PRINT_BITMASK) {
		take_field(p, n);
	} else if (!take_token(p, ")")) {
		do
			n->left = expression(p);
		while (!p->failed && take_token(p, ","));
	} else {
		return n;
	}
	expect(p, ")");
	return n;
}

/* "(unsigned long)" before something that can be cast; nothing is taken if it is none. */
static struct print_node *cast(struct parser *p)
{
	char *begin = p->at, *from, *end = NULL;
	struct print_node *n;
	size_t len;

	p->at += strspn(p->at, " \t\n");
	from = p->at;
	while ((len = name_len(p))) {
		p->at += len;
		end = p->at;
	}
	if (!end) {
		p->at = begin;
		return NULL;
	}
	len = (size_t)(end - from);
	while (take_token(p, "*"))
		len = 0;
	if (take_token(p, ")")) {
		p->at += strspn(p->at, " \t\n");
		if (is_name(*p->at) || *p->at == '(' || *p->at == '-' || *p->at == '~') {
			n = make(p, PRINT_CAST);
			n->text = from;
			n->number = (int64_t)len;
			return n;
		}
	}
	p->at = begin;
	return NULL;
}

static struct print_node *number(struct parser *p)
{
	struct print_node *n = make(p, PRINT_NUMBER);
	char *end;

	n->number = (int64_t)strtoull(p->at, &end, 0);
	while (is_name(*end))		/* ULL */
		end++;
	p->at = end;
	return n;
}

/* An enumerator whose name the preprocessor could not replace. */
static struct print_node *constant(struct parser *p, const char *text, size_t len)
{
	struct print_node *n = make(p, PRINT_OTHER);
	char name[128];

	if (!p->value_of || len >= sizeof(name))
		return n;
	memcpy(name, text, len);
	name[len] = 0;
	if (p->value_of(p->ctx, name, &n->number))
		n->kind = PRINT_NUMBER;
	return n;
}

static struct print_node *unary(struct parser *p);

static struct print_node *operand(struct parser *p)
{
	struct print_node *n;
	const char *text = take_strings(p);
	size_t len;

	if (text) {
		n = make(p, PRINT_STRING);
		n->text = text;
		return n;
	}
	if (take_token(p, "REC->"))
		return field_node(p);
	if (isdigit((unsigned char)*p->at))
		return number(p);
	if (*p->at == '\'' && p->at[1] && p->at[2] == '\'') {
		n = make(p, PRINT_NUMBER);
		n->number = p->at[1];
		p->at += 3;
		return n;
	}
	if (take_token(p, "(")) {
		n = cast(p);
		if (n) {
			n->left = unary(p);
			return n;
		}
		n = expression(p);
		expect(p, ")");
		return n;
	}
	len = name_len(p);
	if (!len)
		return fail(p);
	text = p->at;
	p->at += len;
	return take_token(p, "(") ? call(p, text, len) : constant(p, text, len);
}

static struct print_node *unary(struct parser *p)
{
	static const char *const ops[] = { "!", "~", "-", "+", "*", "&" };
	struct print_node *n;
	unsigned int i;

	if (p->failed || p->depth++ > DEPTH_MAX)
		return fail(p);
	for (i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		if (!take_token(p, ops[i]))
			continue;
		n = make(p, i < 4 ? PRINT_UNARY : PRINT_OTHER);
		n->text = ops[i];
		n->left = unary(p);
		goto out;
	}
	n = operand(p);
	while (!p->failed && (take_token(p, "[") || take_token(p, "->"))) {
		if (p->at[-1] == '[') {
			expression(p);
			expect(p, "]");
		} else {
			p->at += name_len(p);
		}
		n = make(p, PRINT_OTHER);
	}
out:
	p->depth--;
	return n;
}

/* C's, the weakest last. */
static const struct {
	const char *op;
	unsigned int level;
} operators[] = {
	{ "<<", 8 }, { ">>", 8 }, { "<=", 7 }, { ">=", 7 }, { "==", 6 }, { "!=", 6 }, { "&&", 2 }, { "||", 1 },
	{ "*", 10 }, { "/", 10 }, { "%", 10 }, { "+", 9 }, { "-", 9 }, { "<", 7 }, { ">", 7 }, { "&", 5 },
	{ "^", 4 }, { "|", 3 },
};

/* Operands joined by operators of at least @level. */
static struct print_node *binary(struct parser *p, unsigned int level)
{
	struct print_node *left = unary(p), *n;
	unsigned int i;

again:
	for (i = 0; !p->failed && i < sizeof(operators) / sizeof(*operators); i++) {
		char *begin = p->at;

		if (!take_token(p, operators[i].op))
			continue;
		if (operators[i].level < level) {
			p->at = begin;
			break;
		}
		n = make(p, PRINT_BINARY);
		n->text = operators[i].op;
		n->left = left;
		n->right = binary(p, operators[i].level + 1);
		left = n;
		goto again;
	}
	return left;
}

static struct print_node *expression(struct parser *p)
{
	struct print_node *n, *choice;

	if (p->failed || p->depth++ > DEPTH_MAX)
		return fail(p);
	n = binary(p, 1);
	if (take_token(p, "?")) {
		choice = make(p, PRINT_CHOICE);
		choice->left = n;
		choice->right = expression(p);
		expect(p, ":");
		choice->other = expression(p);
		n = choice;
	}
	p->depth--;
	return n;
}

int print_tree_parse(struct print_tree *tree, const struct tracepoint_format *format, const char *text,
		     tracepoint_enum_fn value_of, void *ctx)
{
	struct parser p = { .format = format, .tree = tree, .value_of = value_of, .ctx = ctx };
	struct print_node **last = &tree->args;

	*tree = (struct print_tree){ .text = strdup(text) };
	if (!tree->text)
		return -ENOMEM;
	p.at = tree->text;
	tree->format = take_strings(&p);
	while (!p.failed && take_token(&p, ",")) {
		*last = make(&p, PRINT_ARG);
		(*last)->left = expression(&p);
		last = &(*last)->next;
	}
	p.at += strspn(p.at, " \t\n");
	if (p.failed || !tree->format || *p.at) {
		print_tree_free(tree);
		return -EINVAL;
	}
	return 0;
}

void print_tree_free(struct print_tree *tree)
{
	struct print_block *block, *next;

	for (block = tree->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	free(tree->text);
	*tree = (struct print_tree){ 0 };
}
