// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer entry for where names of functions are taken from, all of which are others' files. What is
 * found for an address is at that address, and names are bounded.
 *
 * The input: a byte that says what the rest is: an ELF file; its .eh_frame; its .gnu_debugdata; the
 * ELF file in that; a map of a JIT compiler; a symbol to be demangled.
 */
#include <elf.h>
#include <lzma.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf.h"
#include "symbol/demangle.h"
#include "symbol/jit_map.h"

#define INNER_BYTES_MAX	4096
#ifdef __x86_64__
#define MACHINE		EM_X86_64
#else
#define MACHINE		EM_AARCH64
#endif

enum what { WHAT_ELF, WHAT_EH_FRAME, WHAT_DEBUGDATA, WHAT_INNER, WHAT_JIT, WHAT_SYMBOL, WHAT_CNT };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
	if (!holds)
		abort();
}

/* ---- ELF files -------------------------------------------------------------------- */

/* A stripped file with 64 KiB of code, and @bytes at @data as section @name. */
struct stripped {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3];
	char names[32];
	uint8_t section[];
};

#define CODE_BYTES	0x10000
#define CODE_ADDRESS	0x400000
#define SECTION_ADDRESS	0x500000

static struct stripped *make_stripped(const char *name, const uint8_t *data, size_t size, size_t *bytes)
{
	struct stripped *s;

	*bytes = sizeof(*s) + size > CODE_BYTES ? sizeof(*s) + size : CODE_BYTES;
	s = calloc(1, *bytes);
	check(s != NULL);
	s->header = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
				  .e_type = ET_DYN, .e_machine = MACHINE, .e_version = EV_CURRENT,
				  .e_ehsize = sizeof(Elf64_Ehdr), .e_phoff = offsetof(struct stripped, segment),
				  .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
				  .e_shoff = offsetof(struct stripped, sections), .e_shentsize = sizeof(Elf64_Shdr),
				  .e_shnum = 3, .e_shstrndx = 1 };
	s->segment = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = CODE_ADDRESS,
				   .p_filesz = CODE_BYTES, .p_memsz = CODE_BYTES };
	s->sections[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_size = sizeof(s->names),
				       .sh_offset = offsetof(struct stripped, names), .sh_addralign = 1 };
	s->sections[2] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_size = size,
				       .sh_offset = offsetof(struct stripped, section), .sh_addralign = 1,
				       .sh_addr = SECTION_ADDRESS };
	strcpy(s->names + 1, name);
	if (size)
		memcpy(s->section, data, size);
	return s;
}

static void look_up(const struct elf_file *f, uint64_t offset)
{
	const struct elf_func *func = elf_file_find(f, offset);
	uint64_t start, address;

	check(!func || (func->offset <= offset && *func->name));
	if (elf_file_function_start(f, offset, &start))
		check(start <= offset && elf_file_address(f, start, &address));
}

static void run_elf(const void *data, size_t size)
{
	void *copy = malloc(size ?: 1);		/* aligned, and not longer than it is */
	struct elf_file *f;
	unsigned int cnt, i;
	const struct elf_func *funcs;
	const char *why;

	check(copy != NULL);
	memcpy(copy, data, size);
	if (!elf_file_open_memory(&f, copy, size, &why)) {
		free(copy);
		funcs = elf_file_functions(f, &cnt);
		for (i = 0; i < cnt; i++)
			look_up(f, funcs[i].offset);
		for (i = 0; i < CODE_BYTES; i += 511)
			look_up(f, i);
		look_up(f, UINT64_MAX);
		elf_file_close(f);
	} else {
		check(why && *why);
		free(copy);
	}
}

static void run_section(const char *name, const uint8_t *data, size_t size)
{
	size_t bytes;
	struct stripped *s = make_stripped(name, data, size, &bytes);

	run_elf(s, bytes);
	free(s);
}

static void run_inner(const uint8_t *data, size_t size)
{
	uint8_t out[2 * INNER_BYTES_MAX];
	size_t len = 0;

	if (size <= INNER_BYTES_MAX &&
	    lzma_easy_buffer_encode(0, LZMA_CHECK_NONE, NULL, data, size, out, &len, sizeof(out)) == LZMA_OK)
		run_section(".gnu_debugdata", out, len);
}

/* ---- text ------------------------------------------------------------------------- */

static void ask(struct jit_map *m, uint64_t pc)
{
	struct jit_code code;

	if (jit_map_find(m, pc, &code))
		check(code.start <= pc && pc - code.start < code.bytes && !memchr(code.name, '\n', code.name_len));
}

static void run_jit(const char *text, size_t size)
{
	size_t half = size / 2;
	struct jit_map *m;
	uint64_t pc;

	check(!jit_map_open(&m));
	jit_map_add(m, text, half);
	ask(m, 0x1000);
	jit_map_add(m, text + half, size - half);
	for (pc = 0; pc < 0x3000; pc += 0xff)
		ask(m, pc);
	ask(m, UINT64_MAX);
	jit_map_close(m);
}

static void run_symbol(const char *symbol, size_t size)
{
	char name[DEMANGLE_BYTES], *copy = strndup(symbol, size);

	check(copy != NULL);
	if (symbol_demangle(copy, name))
		check(*name && strnlen(name, DEMANGLE_BYTES) < DEMANGLE_BYTES);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (*data++ % WHAT_CNT) {
	case WHAT_ELF:
		run_elf(data, size - 1);
		break;
	case WHAT_EH_FRAME:
		run_section(".eh_frame", data, size - 1);
		break;
	case WHAT_DEBUGDATA:
		run_section(".gnu_debugdata", data, size - 1);
		break;
	case WHAT_INNER:
		run_inner(data, size - 1);
		break;
	case WHAT_JIT:
		run_jit((const char *)data, size - 1);
		break;
	default:
		run_symbol((const char *)data, size - 1);
	}
	return 0;
}
