/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of the vDSO, which the kernel maps into every process: those of our own.
 */
#ifndef SYMBOL_VDSO_H
#define SYMBOL_VDSO_H

struct elf_file;

/* NULL: there is none, or it cannot be read. To be closed by elf_file_close(). */
struct elf_file *vdso_open(void);

#endif
