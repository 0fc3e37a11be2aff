/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inlined functions and source lines, from DWARF. Takes milliseconds and megabytes per file: for
 * reports, not for the recorder.
 */
#ifndef SYMBOL_INLINES_H
#define SYMBOL_INLINES_H

#include <stdbool.h>
#include <stdint.h>

struct inlines;

/* Strings live as long as the struct inlines. */
struct inline_frame {
	const char *name;	/* demangled */
	const char *file;	/* of the source; NULL: not known */
	unsigned int line;	/* 0: not known */
};

/* @use_debuginfod: debug files that are not here are fetched by debuginfod_fetch(). 0 or -ENOMEM. */
int inlines_open(struct inlines **out, bool use_debuginfod);
/*
 * The functions at @rel_pc (as in struct symbol) of the file at @path, innermost first: those that the
 * compiler inlined, then the one that has the symbol. @build_id in hex, "" if not known; a file with
 * another one is not used. How many of at most @max were put into @out, at least 1; 0: nothing is known.
 */
int inlines_find(struct inlines *i, const char *path, const char *build_id, uint64_t rel_pc,
		 struct inline_frame *out, unsigned int max);
/* NULL is fine. */
void inlines_close(struct inlines *i);

#endif
