/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Small ELF files made in memory, with everything that user/elf/elf.h reads.
 */
#ifndef ELF_MADE_H
#define ELF_MADE_H

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

/* Code and data: where they are loaded, and where they are in the file. */
#define MADE_CODE		0x401200
#define MADE_CODE_OFFSET	0x200
#define MADE_CODE_BYTES		0x400
#define MADE_DATA		0x602600
#define MADE_DATA_OFFSET	0x600
#define MADE_DATA_BYTES		0x40
/* .stapsdt.base has been moved by 0x10 since the notes were written. */
#define MADE_BASE		0x500010
#define MADE_NOTE_BASE		0x500000
#define MADE_BUILD_ID		"00112233445566778899aabbccddeeff01234567"

struct made_symbol {
	const char *name;
	uint64_t value, size;
	unsigned char type, bind;
	uint16_t section;
};

struct made_note {
	uint64_t pc, semaphore;
	const char *provider, *name, *args;
};

struct made_elf {
	int elf_class;
	uint16_t machine, type;
	const struct made_symbol *symtab, *dynsym;	/* each ends with a NULL name */
	const struct made_note *notes;			/* ends with a NULL provider */
};

/* Writes it to a new file in memory; its descriptor. */
int made_elf(const struct made_elf *m);
/*
 * Gives the first section of @type @bytes at the end of the file, which is a hole there; its names are all empty
 * then.
 */
void made_elf_hole(int fd, uint32_t type, uint64_t bytes);
/* The machine that the test runs on. */
uint16_t made_machine(void);

#endif
