/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What can be probed in an ELF file: functions by symbol, USDT probes by note.
 */
#ifndef RECORD_ELF_FILE_H
#define RECORD_ELF_FILE_H

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

/* One USDT probe; the same provider and name may stand at several places. */
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
 * separate debug file found by build-id below /usr/lib/debug/.build-id or by .gnu_debuglink.
 * 0 or -errno; -ENOEXEC: not an ELF file, of another machine, or damaged; *@why is then
 * static text that says which, otherwise NULL. Lengths and offsets inside are not trusted.
 */
int elf_file_open(struct elf_file **out, const char *path, const char **why);
/* NULL is fine. */
void elf_file_close(struct elf_file *f);
/* Functions by offset, then name; aliases (several names at one offset) are all there. */
const struct elf_func *elf_file_functions(const struct elf_file *f, unsigned int *cnt);
const struct elf_usdt *elf_file_usdts(const struct elf_file *f, unsigned int *cnt);
/* The build-id in hex, or "". */
const char *elf_file_build_id(const struct elf_file *f);
/* No symbols but perhaps dynamic ones, and no debug file. */
bool elf_file_is_stripped(const struct elf_file *f);
/* The symbol that the file offset @offset lies in; NULL: none. */
const struct elf_func *elf_file_find(const struct elf_file *f, uint64_t offset);

#endif
