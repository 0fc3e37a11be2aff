/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What can be probed in an ELF file: functions by symbol, USDT probes by note.
 */
#ifndef ELF_ELF_H
#define ELF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_PATH_BYTES		4096
#define ELF_USDT_ARGS_MAX	12

struct elf_file;

struct elf_func {
	const char *name;	/* lives as long as the file */
	uint64_t offset;	/* of its first instruction in the file: where a uprobe goes */
	uint64_t size;		/* 0: unknown */
};

/* How an argument of a USDT probe is typed: its size and sign, from the note. */
struct elf_usdt_arg {
	uint8_t bytes;		/* 1, 2, 4, 8 */
	bool is_signed;
	bool is_float;		/* cannot be read by a probe */
};

/* One USDT probe; the same provider and name may be at several places. */
struct elf_usdt {
	const char *provider, *name;
	uint64_t offset;	/* of the nop in the file */
	uint64_t semaphore;	/* of its reference counter in the file, 0: none */
	struct elf_usdt_arg args[ELF_USDT_ARGS_MAX];
	unsigned int args_cnt;
};

/*
 * Finds the file a user means by @word: a path; a number, which is the executable of that
 * process (through /proc/PID/exe, so that deleted and container files work); a library name
 * as the loader would look for it ("libc.so.6", or "libc" for the one match); a program in
 * $PATH. 0, -ENOENT or another -errno; -ENOTUNIQ: libraries of several versions fit.
 */
int elf_path_find(const char *word, char path[ELF_PATH_BYTES]);

/*
 * Opens and reads it: .symtab, .dynsym and, where the file is stripped, the symbols of its
 * separate debug file found by build-id below /usr/lib/debug/.build-id or by .gnu_debuglink, or
 * those in .gnu_debugdata, or else only where functions begin, by .eh_frame.
 * 0 or -errno; -ENOEXEC: not an ELF file, of another machine, or damaged; *@why is then
 * static text that says which, otherwise NULL. Lengths and offsets inside are not trusted.
 */
int elf_file_open(struct elf_file **out, const char *path, const char **why);
/*
 * The same for a file of @bytes at @data, which is not needed afterwards; separate debug files are not
 * looked for.
 */
int elf_file_open_memory(struct elf_file **out, const void *data, size_t bytes, const char **why);
/* NULL is fine. */
void elf_file_close(struct elf_file *f);
/* What it takes of memory, about. */
uint64_t elf_file_bytes(const struct elf_file *f);
/* Functions by offset, then name; aliases (several names at one offset) are all there. */
const struct elf_func *elf_file_functions(const struct elf_file *f, unsigned int *cnt);
const struct elf_usdt *elf_file_usdts(const struct elf_file *f, unsigned int *cnt);
/* The build-id in hex, or "". */
const char *elf_file_build_id(const struct elf_file *f);
/* No symbols but perhaps dynamic ones, no debug file, and no .gnu_debugdata. */
bool elf_file_is_stripped(const struct elf_file *f);
/* The symbol that the file offset @offset lies in; NULL: none. */
const struct elf_func *elf_file_find(const struct elf_file *f, uint64_t offset);
/*
 * Where the function that @offset lies in begins in the file, by .eh_frame. False: not known, or the
 * file is not stripped. Parts of a function that are apart from it (.cold) count as functions.
 */
bool elf_file_function_start(const struct elf_file *f, uint64_t offset, uint64_t *start);
/* The address that the file gives to the code at @offset; false: no code is loaded from there. */
bool elf_file_address(const struct elf_file *f, uint64_t offset, uint64_t *address);

#endif
