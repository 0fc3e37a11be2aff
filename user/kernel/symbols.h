/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's symbols, from /proc/kallsyms: its own, those of modules, those of
 * BPF programs.
 */
#ifndef KERNEL_SYMBOLS_H
#define KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct kernel_symbols;

struct kernel_symbol {
	uint64_t addr;
	const char *name;	/* lives as long as the table */
	const char *module;	/* "ext4"; NULL: the kernel itself; "bpf": a BPF program;
				 * "__builtin__ftrace", "__builtin__kprobes": trampolines */
	char type;		/* as in /proc/kallsyms: 't', 'T', 'w', 'd', ... */
};

/*
 * Reads @path (NULL: /proc/kallsyms); lines that cannot be understood are left out.
 * 0, -errno, -ENODATA if there is no symbol, or -EPERM where it hides the addresses
 * (kernel.kptr_restrict): *@out is then there as well and has the names, all at address 0.
 * It must be closed then. (Where the file cannot even be opened that is -EACCES.)
 */
int kernel_symbols_open(struct kernel_symbols **out, const char *path);
/* NULL is fine. */
void kernel_symbols_close(struct kernel_symbols *s);
/* Is it a function or the like, not data? By its type. */
bool kernel_symbol_is_code(const struct kernel_symbol *symbol);
/*
 * The symbol of code that @addr lies in: the greatest at or before it; where several share
 * an address, the one the kernel itself would name, which is the first in the file (and thus
 * what available_filter_functions has). NULL: none, @addr is after a data symbol or too far
 * after the last function of the kernel (1 MiB) or of a module (64 KiB), or the addresses
 * are hidden.
 */
const struct kernel_symbol *kernel_symbols_find(const struct kernel_symbols *s, uint64_t addr);
/*
 * All of them, by address, in the order of the file at the same one; *@cnt is how many.
 * As they were when the table was opened.
 */
const struct kernel_symbol *kernel_symbols_all(const struct kernel_symbols *s, unsigned int *cnt);
/*
 * The same, but reads the file again if something that was loaded since may be at @addr,
 * once a second at most. Symbols that were handed out before stay as they are. It gives up
 * reading once a million symbols have come and gone.
 */
const struct kernel_symbol *kernel_symbols_find_late(struct kernel_symbols *s, uint64_t addr);

#endif
