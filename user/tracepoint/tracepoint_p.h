/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the reading of tracepoints' records.
 */
#ifndef TRACEPOINT_TRACEPOINT_P_H
#define TRACEPOINT_TRACEPOINT_P_H

#include "fxt/fxt.h"
#include "tracepoint.h"

struct print_block;
struct tep_event;
struct tep_handle;

enum print_kind {
	PRINT_OTHER,		/* of no meaning here: a call, a name, what is beyond bounds */
	PRINT_ARG,		/* .left; the others by .next */
	PRINT_NUMBER,		/* .number */
	PRINT_STRING,		/* .text */
	PRINT_FIELD,		/* .field */
	PRINT_CAST,		/* (.text, .number bytes; 0: a pointer) .left */
	PRINT_UNARY,		/* .text .left */
	PRINT_BINARY,		/* .left .text .right */
	PRINT_CHOICE,		/* .left ? .right : .other */
	PRINT_FLAGS,		/* .left by .names, .text between them */
	PRINT_SYMBOLS,		/* .left by .names */
	PRINT_BITMASK,		/* .field */
};

struct print_node {
	enum print_kind kind;
	const char *text;
	int64_t number;
	const struct tracepoint_field *field;
	struct print_node *left, *right, *other, *next, *names;
};

struct print_tree {
	const char *format;		/* "%s %d" */
	struct print_node *args;
	struct print_block *blocks;	/* all nodes */
	char *text;			/* what they point into */
};

struct tracepoint_format {
	struct tep_handle *tep;
	struct tep_event *event;
	struct tracepoint_field *fields;
	unsigned int fields_cnt, bytes;
	struct print_tree print;
};

/* A record being read, and where its texts go. */
struct tracepoint_record {
	const struct tracepoint_format *format;
	const struct tracepoint_names *names;
	const unsigned char *data;
	size_t len;
	char *text;
	size_t used, space;
};

/* Appends to the texts; what does not fit is cut. */
void tracepoint_put(struct tracepoint_record *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The bytes of a field; false: they are not all there. */
bool tracepoint_bytes(const struct tracepoint_record *r, const struct tracepoint_field *field,
		      const unsigned char **data, size_t *len);
/* An integer of 1, 2, 4 or 8 bytes, extended by its sign; others are 0. */
uint64_t tracepoint_number(const unsigned char *data, unsigned int size, bool is_signed);

/* tracepoint_check.c */
/* Where the print format begins in a format file that is one as far as there; else NULL. */
const char *tracepoint_check_fields(const char *text);

/* tracepoint_parse.c */
/* 0, -EINVAL: it cannot be understood; -ENOMEM. */
int print_tree_parse(struct print_tree *tree, const struct tracepoint_format *format, const char *text,
		     tracepoint_enum_fn value_of, void *ctx);
void print_tree_free(struct print_tree *tree);

/* tracepoint_print.c */
/* Gives each field the shape that the print format gives it. */
void tracepoint_print_plan(struct tracepoint_format *f);
/* The value of an expression; false: that takes more than is known here. @r NULL: of no record. */
bool tracepoint_eval(const struct tracepoint_record *r, const struct print_node *n, int64_t *v);
/* Appends what the kernel would print for @n; false as above. */
bool tracepoint_print(struct tracepoint_record *r, const struct print_node *n);

#endif
