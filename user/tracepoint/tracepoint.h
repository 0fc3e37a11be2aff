/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the records of one tracepoint are read: its format file, taken apart by libtraceevent,
 * becomes a list of typed arguments. Neither the file nor a record is trusted.
 */
#ifndef TRACEPOINT_TRACEPOINT_H
#define TRACEPOINT_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fxt_arg;
struct kernel_symbols;
struct print_node;
struct tracepoint_format;

#define TRACEPOINT_TEXT_BYTES	16384	/* for all texts of one record */

/* What is done with a field's bytes. */
enum tracepoint_shape {
	TRACEPOINT_NUMBER,
	TRACEPOINT_BOOL,
	TRACEPOINT_POINTER,
	TRACEPOINT_STRING,	/* up to a NUL */
	TRACEPOINT_TEXT,	/* printed by the format's own flags and symbols */
	TRACEPOINT_BYTES,	/* "0a 0b" */
	TRACEPOINT_ARRAY,	/* "{1,2}" */
	TRACEPOINT_BITMASK,	/* "f,ffffffff" */
	TRACEPOINT_IPV4,
	TRACEPOINT_IPV6,
	TRACEPOINT_MAC,		/* "00:16:3e:00:00:01" */
	TRACEPOINT_FUNCTION,	/* an address, by name */
	TRACEPOINT_LITERAL,	/* the address of a string of the kernel's */
};

struct tracepoint_field {
	const char *name, *type;		/* "prev_comm", "char[16]" */
	unsigned int offset, size;		/* of dynamic length: of the word that says where */
	unsigned int element_size;		/* of arrays */
	bool is_signed, is_array, is_dynamic, is_relative;
	enum tracepoint_shape shape;
	const struct print_node *texts[2];	/* TRACEPOINT_TEXT: in the order they are printed */
};

/* What names addresses; each may be NULL. Borrowed. */
struct tracepoint_names {
	struct kernel_symbols *symbols;
	const char *(*literal)(void *ctx, uint64_t addr);
	void *ctx;
};

/* The value that the kernel's source gives a name in a print format; false: not known. */
typedef bool (*tracepoint_enum_fn)(void *ctx, const char *name, int64_t *value);

/*
 * Reads the text of a format file of @system; it is copied. @value_of may be NULL. 0, -EINVAL: it is none or has
 * more than what can be: a field beyond 4 KiB, 512 fields; -ENOMEM.
 */
int tracepoint_format_open(struct tracepoint_format **out, const char *system, const char *text, size_t len,
			   tracepoint_enum_fn value_of, void *ctx);
const char *tracepoint_format_name(const struct tracepoint_format *f);
unsigned int tracepoint_format_id(const struct tracepoint_format *f);
/* Without the common ones. */
const struct tracepoint_field *tracepoint_format_fields(const struct tracepoint_format *f, unsigned int *cnt);
const struct tracepoint_field *tracepoint_format_field(const struct tracepoint_format *f, const char *name);
/* Bytes up to the end of the last field, what is of dynamic length not counted. */
unsigned int tracepoint_format_bytes(const struct tracepoint_format *f);
/*
 * The arguments of a record, at most FXT_ARGS_MAX: fields beyond are text in the last one,
 * "more". What lies beyond @len becomes Null. They point into @record, @f and @text
 * (TRACEPOINT_TEXT_BYTES). Returns how many there are.
 */
unsigned int tracepoint_format_decode(const struct tracepoint_format *f, const struct tracepoint_names *names,
				      const void *record, size_t len, struct fxt_arg *args, char *text);
/* NULL is fine. */
void tracepoint_format_close(struct tracepoint_format *f);

#endif
