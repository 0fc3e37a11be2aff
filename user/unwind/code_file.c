// SPDX-License-Identifier: GPL-2.0
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code_file.h"

#define PROGRAM_HEADERS_MAX	256U
#define SECTION_HEADERS_MAX	1024U
#define NOTES_BYTES_MAX		4096U
#define NOTE_SEGMENTS_MAX	8U

bool code_file_read(const struct code_file *f, uint64_t offset, void *to, size_t bytes)
{
	if (offset > f->bytes || bytes > f->bytes - offset)
		return false;
	if (f->fd >= 0)
		return pread(f->fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
	memcpy(to, f->memory + offset, bytes);
	return true;
}

/* ---- addresses ------------------------------------------------------------------------------ */

bool code_file_address(const struct code_file *f, uint64_t offset, uint64_t *address)
{
	const struct code_segment *s;

	for (s = f->segments; s < f->segments + f->segment_cnt; s++)
		if (offset - s->offset < s->bytes) {
			*address = offset - s->offset + s->address;
			return true;
		}
	return false;
}

struct code_section code_file_from(const struct code_file *f, uint64_t address)
{
	const struct code_segment *s;
	uint64_t at;

	for (s = f->segments; s < f->segments + f->segment_cnt; s++) {
		at = address - s->address;
		if (at < s->bytes)
			return (struct code_section){ .offset = s->offset + at, .bytes = s->bytes - at,
						      .address = address };
	}
	return (struct code_section){ 0 };
}

bool code_file_offset(const struct code_file *f, uint64_t address, uint64_t *offset)
{
	const struct code_section found = code_file_from(f, address);

	*offset = found.offset;
	return found.bytes;
}

/* ---- segments ------------------------------------------------------------------------------- */

static void add_segment(struct code_file *f, const Elf64_Phdr *p)
{
	struct code_segment *s = &f->segments[f->segment_cnt];

	if (f->segment_cnt == CODE_SEGMENTS_MAX || p->p_offset >= f->bytes || !p->p_filesz)
		return;
	s->address = p->p_vaddr;
	s->offset = p->p_offset;
	s->bytes = p->p_filesz < f->bytes - p->p_offset ? p->p_filesz : f->bytes - p->p_offset;
	f->segment_cnt++;
}

/* Of notes: three words, the owner's name and the description, each padded to 4 bytes. */
static void find_build_id(struct code_file *f, const uint8_t *notes, size_t bytes)
{
	Elf64_Nhdr n;
	size_t at = 0, desc, i;

	while (bytes - at >= sizeof(n)) {
		memcpy(&n, notes + at, sizeof(n));
		at += sizeof(n);
		if (n.n_namesz > bytes - at || n.n_descsz > bytes - at)
			return;
		desc = at + ((n.n_namesz + 3UL) & ~3UL);
		if (desc > bytes || n.n_descsz > bytes - desc)
			return;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(notes + at, "GNU", 4) &&
		    n.n_descsz <= CODE_BUILD_ID_BYTES_MAX) {
			for (i = 0; i < n.n_descsz; i++)
				sprintf(f->build_id + 2 * i, "%02x", notes[desc + i]);
			return;
		}
		at = desc + ((n.n_descsz + 3UL) & ~3UL);
		if (at > bytes)
			return;
	}
}

static void read_notes(struct code_file *f, const Elf64_Phdr *p)
{
	uint8_t notes[NOTES_BYTES_MAX];

	if (!*f->build_id && p->p_filesz <= sizeof(notes) && code_file_read(f, p->p_offset, notes, p->p_filesz))
		find_build_id(f, notes, p->p_filesz);
}

static int read_segments(struct code_file *f, const Elf64_Ehdr *h)
{
	unsigned int i, notes = 0;
	Elf64_Phdr p;

	if (h->e_phentsize != sizeof(p) || h->e_phnum > PROGRAM_HEADERS_MAX)
		return -ENOEXEC;
	for (i = 0; i < h->e_phnum; i++) {
		if (!code_file_read(f, h->e_phoff + i * sizeof(p), &p, sizeof(p)))
			return -ENOEXEC;
		if (p.p_type == PT_LOAD)
			add_segment(f, &p);
		else if (p.p_type == PT_NOTE && notes++ < NOTE_SEGMENTS_MAX)
			read_notes(f, &p);
		else if (p.p_type == PT_GNU_EH_FRAME && p.p_offset <= f->bytes && p.p_filesz <= f->bytes - p.p_offset)
			f->eh_frame_hdr = (struct code_section){ .offset = p.p_offset, .bytes = p.p_filesz,
								 .address = p.p_vaddr };
	}
	return f->segment_cnt ? 0 : -ENOEXEC;
}

/* ---- sections ------------------------------------------------------------------------------- */

static bool is_named(const struct code_file *f, const Elf64_Shdr *names, const Elf64_Shdr *s, const char *name)
{
	const size_t bytes = strlen(name) + 1;
	char found[16];

	return s->sh_name <= names->sh_size && bytes <= names->sh_size - s->sh_name &&
	       code_file_read(f, names->sh_offset + s->sh_name, found, bytes) && !memcmp(found, name, bytes);
}

static void take_section(struct code_file *f, const Elf64_Shdr *names, const Elf64_Shdr *s)
{
	const struct code_section section = { .offset = s->sh_offset, .bytes = s->sh_size, .address = s->sh_addr };

	/* On x86-64 a type of its own is possible: SHT_X86_64_UNWIND. */
	if (s->sh_type == SHT_NOBITS || s->sh_flags & SHF_COMPRESSED || s->sh_offset > f->bytes ||
	    s->sh_size > f->bytes - s->sh_offset)
		return;
	if (s->sh_flags & SHF_ALLOC && is_named(f, names, s, ".eh_frame"))
		f->eh_frame = section;
	else if (!(s->sh_flags & SHF_ALLOC) && is_named(f, names, s, ".debug_frame"))
		f->debug_frame = section;
}

/* There need not be any, and what is wrong with them does not matter to what is found by segments. */
static void read_sections(struct code_file *f, const Elf64_Ehdr *h)
{
	Elf64_Shdr names, s;
	unsigned int i;

	if (h->e_shentsize != sizeof(s) || h->e_shnum > SECTION_HEADERS_MAX ||
	    !code_file_read(f, h->e_shoff + h->e_shstrndx * sizeof(s), &names, sizeof(names)) ||
	    names.sh_size > f->bytes || names.sh_offset > f->bytes)
		return;
	for (i = 0; i < h->e_shnum && code_file_read(f, h->e_shoff + i * sizeof(s), &s, sizeof(s)); i++)
		take_section(f, &names, &s);
}

/* ---- opening -------------------------------------------------------------------------------- */

static int read_headers(struct code_file *f, uint16_t elf_machine)
{
	Elf64_Ehdr h;
	int err;

	if (!code_file_read(f, 0, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != elf_machine)
		return -ENOEXEC;
	f->entry = h.e_entry;
	err = read_segments(f, &h);
	if (!err)
		read_sections(f, &h);
	return err;
}

int code_file_open(struct code_file *f, int fd, uint16_t elf_machine)
{
	struct stat st;
	int err;

	*f = (struct code_file){ .fd = fd };
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -ENOEXEC;
	else {
		f->bytes = st.st_size;
		err = read_headers(f, elf_machine);
	}
	if (err)
		code_file_close(f);
	return err;
}

int code_file_open_memory(struct code_file *f, const void *memory, uint64_t bytes, uint16_t elf_machine)
{
	*f = (struct code_file){ .fd = -1, .memory = memory, .bytes = bytes };
	return read_headers(f, elf_machine);
}

void code_file_close(struct code_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}
