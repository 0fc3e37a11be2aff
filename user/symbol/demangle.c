// SPDX-License-Identifier: GPL-2.0
/*
 * By libiberty, whose demanglers limit their depth, but neither their time nor their output: a name may
 * refer to its own parts again and again, which doubles it each time. So they are stopped when the
 * output is too long. A number of lifetimes is counted through even where nothing is printed.
 */
#include <libiberty/demangle.h>
#include <ctype.h>
#include <setjmp.h>
#include <string.h>

#include "demangle.h"

#define SYMBOL_BYTES	1025	/* libiberty does not take longer ones of C++ */
#define LIFETIME_DIGITS	2	/* in base 62; compilers need one */

struct output {
	char *name;
	size_t len;
	jmp_buf full;
	char *symbol;		/* Rust */
	size_t more;		/* of Rust, pieces of output after it was full */
};

static bool append(struct output *out, const char *text, size_t len)
{
	if (len >= DEMANGLE_BYTES - out->len)
		return false;
	if (len)
		memcpy(out->name + out->len, text, len);
	out->len += len;
	return true;
}

/* Of C++: nothing is allocated while it prints, so that it can be left at any point. */
static void append_cplus(const char *text, size_t len, void *ctx)
{
	struct output *out = ctx;

	if (!append(out, text, len))
		longjmp(out->full, 1);
}

/*
 * Of Rust: reads the symbol while it prints, and gives up once that has ended, except when it counts
 * something. It has memory allocated only while it prints an identifier, in no more pieces than the
 * symbol has bytes: after that many it can be left, too.
 */
static void append_rust(const char *text, size_t len, void *ctx)
{
	struct output *out = ctx;

	if (append(out, text, len))
		return;
	out->len = DEMANGLE_BYTES - 1;
	memset(out->symbol, 0, SYMBOL_BYTES);
	if (out->more++ > SYMBOL_BYTES)
		longjmp(out->full, 1);
}

/* Whether it may name more lifetimes than anyone has: FG or DG, and a number that ends with _. */
static bool has_many_lifetimes(const char *symbol)
{
	const char *p = symbol, *digits;

	while ((p = strchr(p, 'G'))) {
		for (digits = ++p; isalnum((unsigned char)*p); p++)
			;
		if (*p == '_' && p - digits > LIFETIME_DIGITS && digits - symbol > 1 &&
		    (digits[-2] == 'F' || digits[-2] == 'D'))
			return true;
		p = digits;
	}
	return false;
}

static bool demangle_rust(const char *symbol, size_t len, struct output *out)
{
	char copy[SYMBOL_BYTES];

	if (has_many_lifetimes(symbol))
		return false;
	out->symbol = memcpy(copy, symbol, len + 1);
	if (setjmp(out->full))
		return false;
	return rust_demangle_callback(copy, DMGL_NO_OPTS, append_rust, out) && *copy;
}

static bool demangle_cplus(const char *symbol, struct output *out)
{
	out->len = 0;
	if (setjmp(out->full))
		return false;
	return cplus_demangle_v3_callback(symbol, DMGL_NO_OPTS, append_cplus, out);
}

bool symbol_demangle(const char *symbol, char name[DEMANGLE_BYTES])
{
	const size_t len = strnlen(symbol, SYMBOL_BYTES);
	struct output out = { .name = name };

	if (symbol[0] != '_' || len == SYMBOL_BYTES)
		return false;
	/* Those of older Rust look like C++, but end with a hash. */
	if (!demangle_rust(symbol, len, &out) && !demangle_cplus(symbol, &out))
		return false;
	name[out.len] = 0;
	return out.len;
}
