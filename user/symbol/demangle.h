/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of C++ and Rust functions by their symbols.
 */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#define DEMANGLE_BYTES	4096	/* of the longest name, with its NUL */

/*
 * The name of the function with @symbol, without parameters and what compilers append (.cold, .isra.0).
 * False: it is not mangled, or it or the name is too long (1024 and DEMANGLE_BYTES bytes); @name is
 * undefined then.
 */
bool symbol_demangle(const char *symbol, char name[DEMANGLE_BYTES]);

#endif
