// SPDX-License-Identifier: GPL-2.0
/*
 * A filter becomes a tree, and the tree a list of tests of which each knows where to go on
 * when it holds and when it does not; so nothing but jumps is left for the kernel side.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi/tracepoint.h"
#include "filter.h"
#include "tracepoint.h"

#define NODES_MAX	(2 * FIELD_TESTS_MAX)
#define DEPTH_MAX	32
#define WORD_BYTES	(FIELD_TEXT_WORDS * 8)

enum node_kind { NODE_TEST, NODE_AND, NODE_OR, NODE_NOT };

struct node {
	enum node_kind kind;
	struct field_test test;
	struct node *left, *right;
};

struct compiler {
	const struct tracepoint_format *format;
	struct tracepoint_info *info;
	const char *text, *at;
	struct node nodes[NODES_MAX];
	unsigned int nodes_cnt, depth, texts_cnt;
	char *why;
	size_t why_size;
};

/* The first error is the one that is reported. */
static struct node *fail(struct compiler *c, const char *fmt, ...)
{
	va_list ap;

	if (c->why[0])
		return NULL;
	va_start(ap, fmt);
	vsnprintf(c->why, c->why_size, fmt, ap);
	va_end(ap);
	return NULL;
}

static struct node *missing(struct compiler *c, const char *what)
{
	return *c->at ? fail(c, "%s is missing at \"%.20s\"", what, c->at) : fail(c, "%s is missing at the end", what);
}

static void skip_spaces(struct compiler *c)
{
	c->at += strspn(c->at, " \t\n");
}

static bool take_token(struct compiler *c, const char *token)
{
	skip_spaces(c);
	if (strncmp(c->at, token, strlen(token)) != 0)
		return false;
	c->at += strlen(token);
	return true;
}

static struct node *make(struct compiler *c, enum node_kind kind, struct node *left, struct node *right)
{
	struct node *n = &c->nodes[c->nodes_cnt];

	if (!left || (!right && kind != NODE_NOT))
		return NULL;
	if (c->nodes_cnt == NODES_MAX)
		return fail(c, "more than %u comparisons", FIELD_TESTS_MAX);
	c->nodes_cnt++;
	*n = (struct node){ .kind = kind, .left = left, .right = right };
	return n;
}

/* ---- one comparison ------------------------------------------------------------------------ */

/* A name or a value, as @what says: quoted, or up to what ends it. */
static bool take_word(struct compiler *c, const char *what, char *word, bool *quoted)
{
	size_t len;

	skip_spaces(c);
	*quoted = *c->at == '"' || *c->at == '\'';
	if (*quoted) {
		const char *end = strchr(c->at + 1, *c->at);

		if (!end)
			return fail(c, "a quotation mark is missing"), false;
		len = (size_t)(end - c->at - 1);
		c->at++;
	} else {
		len = strcspn(c->at, " \t\n=!<>&|~()\"'");
	}
	if (!len && !*quoted)
		return missing(c, what), false;
	if (len > WORD_BYTES)
		return fail(c, "\"%.20s...\" is longer than %d bytes", c->at, WORD_BYTES), false;
	memcpy(word, c->at, len);
	word[len] = 0;
	c->at += len + *quoted;
	return true;
}

static bool take_op(struct compiler *c, char op[3])
{
	static const char *const ops[] = { "==", "!=", "<=", ">=", "<", ">", "&", "~" };
	unsigned int i;

	skip_spaces(c);
	for (i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		if (!strncmp(c->at, "&&", 2) || !take_token(c, ops[i]))
			continue;
		strcpy(op, ops[i]);
		return true;
	}
	return missing(c, "a comparison (==, !=, <, <=, >, >=, & or ~)"), false;
}

static struct node *leaf(struct compiler *c, const struct field_test *test, bool opposite)
{
	struct node *n = &c->nodes[c->nodes_cnt];

	if (c->nodes_cnt == NODES_MAX)
		return fail(c, "more than %u comparisons", FIELD_TESTS_MAX);
	c->nodes_cnt++;
	*n = (struct node){ .kind = NODE_TEST, .test = *test };
	return opposite ? make(c, NODE_NOT, n, NULL) : n;
}

static struct node *compare_number(struct compiler *c, const struct tracepoint_field *field, const char *op,
				   const char *word)
{
	struct field_test test = { .offset = field->offset, .size = field->size, .is_signed = field->is_signed };
	const bool negative = *word == '-';
	char *end;

	errno = 0;
	test.value = negative ? (uint64_t)strtoll(word, &end, 0) : strtoull(word, &end, 0);
	if (!isdigit((unsigned char)word[negative]) || *end || errno)
		return fail(c, "%s is a number, \"%s\" is none", field->name, word);
	if (negative && !field->is_signed)
		return fail(c, "%s is never negative", field->name);
	test.op = *op == '&' ? FIELD_AND : *op == '<' ? FIELD_LT : *op == '>' ? FIELD_GT : FIELD_EQ;
	if (!strcmp(op, "~"))
		return fail(c, "%s is a number: ~ is for strings", field->name);
	/* "<=" is not ">", and the other way round. */
	if (!strcmp(op, "<=") || !strcmp(op, ">="))
		test.op = *op == '<' ? FIELD_GT : FIELD_LT;
	return leaf(c, &test, op[1] && strcmp(op, "==") != 0);
}

static struct node *compare_text(struct compiler *c, const struct tracepoint_field *field, const char *op,
				 char *word)
{
	struct field_test test = {
		.op = FIELD_TEXT, .offset = field->offset,
		.is_dynamic = field->is_dynamic + (field->is_dynamic && field->is_relative),
	};
	size_t len = strlen(word);
	bool begins = false;

	if (strcmp(op, "==") != 0 && strcmp(op, "!=") != 0 && strcmp(op, "~") != 0)
		return fail(c, "%s is a string: it can be compared by ==, != and ~", field->name);
	if (*op == '~' && len && word[len - 1] == '*') {
		begins = true;
		word[--len] = 0;
	}
	if (*op == '~' && strpbrk(word, "*?["))
		return fail(c, "\"%s\": in the kernel only a '*' at the end can be matched", word);
	if (!field->is_dynamic && len > field->size)
		return fail(c, "%s has %u bytes, \"%s\" has more", field->name, field->size, word);
	if (c->texts_cnt == FIELD_TESTS_MAX)
		return fail(c, "more than %u comparisons", FIELD_TESTS_MAX);
	/* With the NUL after it, where there is space for one. */
	test.size = begins || (!field->is_dynamic && len == field->size) || len == WORD_BYTES ? len : len + 1;
	test.value = c->texts_cnt++ * FIELD_TEXT_WORDS;
	memcpy(&c->info->texts[test.value], word, len);
	return leaf(c, &test, *op == '!');
}

static struct node *list_fields(struct compiler *c, const char *name)
{
	unsigned int cnt, i;
	const struct tracepoint_field *fields = tracepoint_format_fields(c->format, &cnt);
	char names[256];
	size_t len = 0;

	names[0] = 0;
	for (i = 0; i < cnt && len < sizeof(names); i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "", fields[i].name);
	return fail(c, "there is no field %s (there are: %s)", name, names);
}

static struct node *parse_comparison(struct compiler *c)
{
	char name[WORD_BYTES + 1], word[WORD_BYTES + 1], op[3];
	const struct tracepoint_field *field;
	bool quoted;

	if (!take_word(c, "a field", name, &quoted))
		return NULL;
	field = tracepoint_format_field(c->format, name);
	if (!field)
		return list_fields(c, name);
	if (!take_op(c, op) || !take_word(c, "a value", word, &quoted))
		return NULL;
	if (field->shape == TRACEPOINT_STRING)
		return compare_text(c, field, op, word);
	if (field->is_array || field->is_dynamic || (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8))
		return fail(c, "%s is an array: only numbers and strings can be compared", field->name);
	if (quoted)
		return fail(c, "%s is a number in the record, whatever it is printed as", field->name);
	return compare_number(c, field, op, word);
}

/* ---- the tree ---------------------------------------------------------------------------------- */

static struct node *parse_or(struct compiler *c);

static struct node *parse_unary(struct compiler *c)
{
	struct node *n;

	if (++c->depth > DEPTH_MAX)
		return fail(c, "too many parentheses");
	if (take_token(c, "!")) {
		n = parse_unary(c);
		n = make(c, NODE_NOT, n, NULL);
	} else if (take_token(c, "(")) {
		n = parse_or(c);
		if (n && !take_token(c, ")"))
			n = missing(c, "a ')'");
	} else {
		n = parse_comparison(c);
	}
	c->depth--;
	return n;
}

static struct node *parse_and(struct compiler *c)
{
	struct node *n = parse_unary(c);

	while (n && take_token(c, "&&"))
		n = make(c, NODE_AND, n, parse_unary(c));
	return n;
}

static struct node *parse_or(struct compiler *c)
{
	struct node *n = parse_and(c);

	while (n && take_token(c, "||"))
		n = make(c, NODE_OR, n, parse_and(c));
	return n;
}

/* ---- the list ------------------------------------------------------------------------------------ */

static unsigned int count(const struct node *n)
{
	if (n->kind == NODE_TEST)
		return 1;
	return count(n->left) + (n->right ? count(n->right) : 0);
}

/* The tests of @n, the first one at @base; where to go on when it holds and when not. */
static void emit(struct compiler *c, const struct node *n, unsigned int base, uint8_t yes, uint8_t no)
{
	unsigned int second;

	switch (n->kind) {
	case NODE_TEST:
		c->info->test[base] = n->test;
		c->info->test[base].yes = yes;
		c->info->test[base].no = no;
		break;
	case NODE_NOT:
		emit(c, n->left, base, no, yes);
		break;
	case NODE_AND:
	case NODE_OR:
		second = base + count(n->left);
		emit(c, n->left, base, n->kind == NODE_AND ? second : yes, n->kind == NODE_AND ? no : second);
		emit(c, n->right, second, yes, no);
		break;
	}
}

int tracepoint_filter_compile(struct tracepoint_info *info, const struct tracepoint_format *format,
			      const char *text, char *why, size_t why_size)
{
	struct compiler c = {
		.format = format, .info = info, .text = text, .at = text, .why = why, .why_size = why_size,
	};
	struct node *root;

	why[0] = 0;
	memset(info->texts, 0, sizeof(info->texts));
	root = parse_or(&c);
	skip_spaces(&c);
	if (root && *c.at)
		root = fail(&c, "\"%.20s\" is too much", c.at);
	if (root && count(root) > FIELD_TESTS_MAX)
		root = fail(&c, "more than %u comparisons", FIELD_TESTS_MAX);
	if (!root)
		return -EINVAL;
	info->tests = count(root);
	emit(&c, root, 0, FIELD_YES, FIELD_NO);
	return 0;
}
