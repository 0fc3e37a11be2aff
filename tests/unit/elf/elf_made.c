// SPDX-License-Identifier: GPL-2.0
/*
 * Small ELF files made in memory, by libelf's writer.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf_made.h"

#define SECTIONS_MAX	16

struct maker {
	Elf *elf;
	int elf_class;
	uint64_t end;			/* of what has been placed */
	char names[256];		/* of sections */
	size_t names_len;
	void *mem[2 * SECTIONS_MAX];	/* to free */
	size_t mem_cnt;
};

struct blob {
	char *data;
	size_t len;
};

static void *space(struct maker *k, size_t bytes)
{
	void *p = calloc(1, bytes ?: 1);

	assert_non_null(p);
	assert_true(k->mem_cnt < 2 * SECTIONS_MAX);
	return k->mem[k->mem_cnt++] = p;
}

/* Adds a section, after all others unless @at says where; its index. */
static size_t add_section(struct maker *k, const char *name, GElf_Shdr h, const void *data,
			  Elf_Type type)
{
	Elf_Scn *section = elf_newscn(k->elf);
	Elf_Data *d = elf_newdata(section);
	GElf_Shdr old;

	assert_non_null(d);
	d->d_buf = (void *)data;
	d->d_size = h.sh_size;
	d->d_type = type;
	d->d_align = 1;
	d->d_version = EV_CURRENT;
	h.sh_name = k->names_len;
	strcpy(k->names + k->names_len, name);
	k->names_len += strlen(name) + 1;
	h.sh_addralign = h.sh_addralign ?: 8;
	if (!h.sh_offset)
		h.sh_offset = (k->end + 7) & ~7ULL;
	if (h.sh_offset + h.sh_size > k->end)
		k->end = h.sh_offset + h.sh_size;
	assert_non_null(gelf_getshdr(section, &old));
	assert_true(gelf_update_shdr(section, &h));
	return elf_ndxscn(section);
}

static void put(struct blob *b, const void *data, size_t len)
{
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void put_address(struct maker *k, struct blob *b, uint64_t address)
{
	uint32_t narrow = (uint32_t)address;

	if (k->elf_class == ELFCLASS64)
		put(b, &address, 8);
	else
		put(b, &narrow, 4);
}

/* A note's three numbers, its owner and, padded to words, its description. */
static void put_note(struct blob *b, uint32_t type, const char *owner, const struct blob *desc)
{
	uint32_t head[3] = { (uint32_t)strlen(owner) + 1, (uint32_t)desc->len, type };

	put(b, head, sizeof(head));
	put(b, owner, (strlen(owner) + 4) & ~3UL);
	put(b, desc->data, desc->len);
	b->len = (b->len + 3) & ~3UL;
}

static void add_notes(struct maker *k, const struct made_note *n)
{
	char buf[1024];
	struct blob all = { .data = space(k, 8192) }, desc = { .data = buf };
	GElf_Shdr h = { .sh_type = SHT_NOTE, .sh_addralign = 4 };

	for (; n && n->provider; n++) {
		desc.len = 0;
		put_address(k, &desc, n->pc);
		put_address(k, &desc, MADE_NOTE_BASE);
		put_address(k, &desc, n->semaphore);
		put(&desc, n->provider, strlen(n->provider) + 1);
		put(&desc, n->name, strlen(n->name) + 1);
		put(&desc, n->args, strlen(n->args) + 1);
		put_note(&all, 3, "stapsdt", &desc);
	}
	h.sh_size = all.len;
	add_section(k, ".note.stapsdt", h, all.data, ELF_T_BYTE);
	h = (GElf_Shdr){
		.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addr = MADE_BASE, .sh_size = 1
	};
	add_section(k, ".stapsdt.base", h, space(k, 1), ELF_T_BYTE);
}

static void add_build_id(struct maker *k)
{
	char id[20];
	struct blob all = { .data = space(k, 64) }, desc = { .data = id, .len = sizeof(id) };
	GElf_Shdr h = { .sh_type = SHT_NOTE, .sh_flags = SHF_ALLOC, .sh_addralign = 4 };
	unsigned int byte;
	size_t i;

	for (i = 0; i < sizeof(id); i++) {
		assert_int_equal(sscanf(&MADE_BUILD_ID[2 * i], "%2x", &byte), 1);
		id[i] = (char)byte;
	}
	put_note(&all, NT_GNU_BUILD_ID, "GNU", &desc);
	h.sh_size = all.len;
	add_section(k, ".note.gnu.build-id", h, all.data, ELF_T_BYTE);
}

static void add_symbols(struct maker *k, uint32_t type, const struct made_symbol *s)
{
	const char *names[2] = { type == SHT_SYMTAB ? ".symtab" : ".dynsym",
				 type == SHT_SYMTAB ? ".strtab" : ".dynstr" };
	Elf_Data d = { .d_type = ELF_T_SYM, .d_version = EV_CURRENT, .d_align = 8 };
	struct blob strings = { .data = space(k, 4096), .len = 1 };
	GElf_Shdr h = { .sh_type = SHT_STRTAB };
	size_t cnt = 1, i;

	while (s[cnt - 1].name)
		cnt++;
	d.d_size = cnt * gelf_fsize(k->elf, ELF_T_SYM, 1, EV_CURRENT);
	d.d_buf = space(k, d.d_size);
	for (i = 1; i < cnt; i++, s++) {
		GElf_Sym sym = { .st_name = strings.len, .st_info = GELF_ST_INFO(s->bind, s->type),
				 .st_shndx = s->section, .st_value = s->value, .st_size = s->size };

		put(&strings, s->name, strlen(s->name) + 1);
		if (k->elf_class == ELFCLASS64)
			((Elf64_Sym *)d.d_buf)[i] = sym;
		else
			((Elf32_Sym *)d.d_buf)[i] = (Elf32_Sym){ .st_name = sym.st_name,
								 .st_value = sym.st_value,
								 .st_size = sym.st_size,
								 .st_info = sym.st_info,
								 .st_shndx = sym.st_shndx };
	}
	h.sh_size = strings.len;
	h.sh_link = add_section(k, names[1], h, strings.data, ELF_T_BYTE);
	h.sh_type = type;
	h.sh_size = d.d_size;
	h.sh_entsize = gelf_fsize(k->elf, ELF_T_SYM, 1, EV_CURRENT);
	h.sh_info = 1;
	add_section(k, names[0], h, d.d_buf, ELF_T_SYM);
}

static void add_segments(struct maker *k)
{
	GElf_Phdr code = { .p_type = PT_LOAD,
			   .p_flags = PF_R | PF_X,
			   .p_offset = MADE_CODE_OFFSET,
			   .p_vaddr = MADE_CODE,
			   .p_filesz = MADE_CODE_BYTES,
			   .p_memsz = MADE_CODE_BYTES };
	GElf_Phdr data = { .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = MADE_DATA_OFFSET,
			   .p_vaddr = MADE_DATA, .p_filesz = MADE_DATA_BYTES, .p_memsz = 0x1000 };

	assert_true(gelf_update_phdr(k->elf, 0, &code));
	assert_true(gelf_update_phdr(k->elf, 1, &data));
}

static void add_all(struct maker *k, const struct made_elf *m)
{
	GElf_Shdr code = { .sh_type = SHT_PROGBITS,
			   .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			   .sh_addr = MADE_CODE,
			   .sh_offset = MADE_CODE_OFFSET,
			   .sh_size = MADE_CODE_BYTES };
	GElf_Shdr data = { .sh_type = SHT_PROGBITS,
			   .sh_flags = SHF_ALLOC | SHF_WRITE,
			   .sh_addr = MADE_DATA,
			   .sh_offset = MADE_DATA_OFFSET,
			   .sh_size = MADE_DATA_BYTES };

	add_section(k, ".text", code, space(k, MADE_CODE_BYTES), ELF_T_BYTE);
	add_section(k, ".probes", data, space(k, MADE_DATA_BYTES), ELF_T_BYTE);
	add_segments(k);
	add_build_id(k);
	if (m->notes)
		add_notes(k, m->notes);
	if (m->dynsym)
		add_symbols(k, SHT_DYNSYM, m->dynsym);
	if (m->symtab)
		add_symbols(k, SHT_SYMTAB, m->symtab);
}

int made_elf(const struct made_elf *m)
{
	struct maker k = { .elf_class = m->elf_class, .names_len = 1 };
	GElf_Shdr names = { .sh_type = SHT_STRTAB, .sh_size = sizeof(k.names) };
	int fd = memfd_create("elf", MFD_CLOEXEC);
	GElf_Ehdr h = { 0 };

	assert_true(fd >= 0);
	elf_version(EV_CURRENT);
	k.elf = elf_begin(fd, ELF_C_WRITE, NULL);
	assert_non_null(k.elf);
	assert_true(gelf_newehdr(k.elf, m->elf_class) && gelf_newphdr(k.elf, 2));
	elf_flagelf(k.elf, ELF_C_SET, ELF_F_LAYOUT);
	add_all(&k, m);
	assert_non_null(gelf_getehdr(k.elf, &h));
	h.e_shstrndx = add_section(&k, ".shstrtab", names, k.names, ELF_T_BYTE);
	h.e_ident[EI_DATA] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	h.e_machine = m->machine;
	h.e_type = m->type;
	h.e_version = EV_CURRENT;
	h.e_phoff = gelf_fsize(k.elf, ELF_T_EHDR, 1, EV_CURRENT);
	h.e_shoff = (k.end + 7) & ~7ULL;
	assert_true(gelf_update_ehdr(k.elf, &h));
	assert_true(elf_update(k.elf, ELF_C_WRITE) > 0);
	elf_end(k.elf);
	while (k.mem_cnt)
		free(k.mem[--k.mem_cnt]);
	return fd;
}

uint16_t made_machine(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint16_t machine = 0;

	assert_int_equal(pread(fd, &machine, sizeof(machine), offsetof(Elf64_Ehdr, e_machine)),
			 sizeof(machine));
	close(fd);
	return machine;
}

void made_elf_hole(int fd, uint32_t type, uint64_t bytes)
{
	const off_t end = lseek(fd, 0, SEEK_END);
	Elf64_Ehdr h;
	Elf64_Shdr s;
	off_t at;

	assert_int_equal(pread(fd, &h, sizeof(h), 0), sizeof(h));
	assert_int_equal(h.e_ident[EI_CLASS], ELFCLASS64);
	for (at = (off_t)h.e_shoff;; at += (off_t)sizeof(s)) {
		assert_int_equal(pread(fd, &s, sizeof(s), at), sizeof(s));
		if (s.sh_type == type)
			break;
	}
	s.sh_offset = (uint64_t)end;
	s.sh_size = bytes;
	assert_int_equal(pwrite(fd, &s, sizeof(s), at), sizeof(s));
	assert_int_equal(ftruncate(fd, end + (off_t)bytes), 0);
}
