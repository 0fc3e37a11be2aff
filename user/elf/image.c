// SPDX-License-Identifier: GPL-2.0
/*
 * An ELF file as libelf shows it, with its offsets and lengths checked before libelf
 * follows them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_p.h"

#define SECTION_BYTES_MAX	(UINT64_C(512) << 20)
#define SPARSE_BYTES_MAX	(UINT64_C(64) << 20)	/* a larger section has bytes in the file, */
#define COMPRESSION_MAX		16U			/* so many less where the file system compresses */
#define NOTES_BYTES_MAX		(64 << 10)		/* of a segment in search of the build-id */
#define NOTE_SEGMENTS_MAX	16

#if defined(__x86_64__)
#define MACHINE		EM_X86_64
#define MACHINE_32	EM_386
#elif defined(__aarch64__)
#define MACHINE		EM_AARCH64
#define MACHINE_32	EM_AARCH64	/* the kernel has no uprobes for 32 bit programs */
#elif defined(__riscv)
#define MACHINE		EM_RISCV
#define MACHINE_32	EM_RISCV
#else
#define MACHINE		EM_NONE		/* nothing is recorded there */
#define MACHINE_32	EM_NONE
#endif

#define BYTE_ORDER_HERE	(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)
#define CLASS_HERE	(sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

/* What is wrong with it, or NULL. */
static const char *check(struct elf_image *img)
{
	GElf_Ehdr *h = &img->header;
	size_t sections;

	if (!img->elf || elf_kind(img->elf) != ELF_K_ELF)
		return "not an ELF file";
	if (!gelf_getehdr(img->elf, h))
		return "damaged: it has no ELF header";
	if (h->e_ident[EI_DATA] != BYTE_ORDER_HERE ||
	    (h->e_machine != MACHINE && h->e_machine != MACHINE_32))
		return "made for another machine";
	if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
		return "neither a program nor a shared library";
	if (elf_getshdrnum(img->elf, &sections) || (h->e_shoff && !sections))
		return "damaged: its section headers lie outside the file";
	return NULL;
}

int elf_image_open(struct elf_image *img, const char *path, const char **why)
{
	struct stat st;
	int err;

	*why = NULL;
	/* It may be a FIFO: not to wait for a writer. */
	img->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (img->fd < 0)
		return -errno;
	if (fstat(img->fd, &st)) {
		err = -errno;
		goto close_fd;
	}
	err = -ENOEXEC;
	if (!S_ISREG(st.st_mode)) {
		*why = "not a regular file";
		goto close_fd;
	}
	img->bytes = st.st_size;
	img->stored = (uint64_t)st.st_blocks * 512;
	elf_version(EV_CURRENT);
	/* Not mapped: a file that is cut while it is read would kill us. */
	img->elf = elf_begin(img->fd, ELF_C_READ, NULL);
	*why = check(img);
	if (!*why)
		return 0;
	elf_end(img->elf);
close_fd:
	close(img->fd);
	return err;
}

int elf_image_open_memory(struct elf_image *img, void *data, size_t bytes, const char **why)
{
	img->fd = -1;
	img->bytes = bytes;
	img->stored = bytes;
	elf_version(EV_CURRENT);
	img->elf = elf_memory(data, bytes);
	*why = check(img);
	if (!*why)
		return 0;
	elf_end(img->elf);
	return -ENOEXEC;
}

void elf_image_close(struct elf_image *img)
{
	elf_end(img->elf);
	if (img->fd >= 0)
		close(img->fd);
}

bool elf_image_is_native(const struct elf_image *img)
{
	return img->header.e_machine == MACHINE && img->header.e_ident[EI_CLASS] == CLASS_HERE;
}

/* ---- sections ----------------------------------------------------------------- */

/* A hole in a file costs nobody anything, and each byte of it would be one of our memory. */
static bool is_promised_only(const struct elf_image *img, uint64_t bytes)
{
	return bytes > SPARSE_BYTES_MAX && bytes / COMPRESSION_MAX > img->stored;
}

Elf_Data *elf_image_data(const struct elf_image *img, Elf_Scn *section)
{
	GElf_Shdr h;

	if (!section || !gelf_getshdr(section, &h) || h.sh_type == SHT_NOBITS ||
	    h.sh_flags & SHF_COMPRESSED || h.sh_size > SECTION_BYTES_MAX || is_promised_only(img, h.sh_size) ||
	    h.sh_offset > img->bytes || h.sh_size > img->bytes - h.sh_offset)
		return NULL;
	return elf_getdata(section, NULL);
}

struct elf_strings elf_image_strings(const struct elf_image *img, size_t section)
{
	const Elf_Data *data = elf_image_data(img, elf_getscn(img->elf, section));
	struct elf_strings s = { 0 };
	const char *last;

	if (!data || !data->d_buf)
		return s;
	last = memrchr(data->d_buf, 0, data->d_size);
	if (!last)
		return s;
	s.data = data->d_buf;
	s.bytes = last + 1 - s.data;
	return s;
}

Elf_Scn *elf_image_section(const struct elf_image *img, const char *name, uint32_t type)
{
	struct elf_strings names = { 0 };
	Elf_Scn *section = NULL;
	GElf_Shdr h;
	size_t i;

	if (name && !elf_getshdrstrndx(img->elf, &i))
		names = elf_image_strings(img, i);
	while ((section = elf_nextscn(img->elf, section))) {
		if (!gelf_getshdr(section, &h) || (type != SHT_NULL && h.sh_type != type))
			continue;
		if (!name || (h.sh_name < names.bytes && !strcmp(names.data + h.sh_name, name)))
			return section;
	}
	return NULL;
}

/* ---- notes --------------------------------------------------------------------- */

bool elf_note_next(Elf_Data *data, size_t *pos, struct elf_note *note)
{
	size_t name, desc, next;
	const char *buf = data->d_buf;
	GElf_Nhdr h;

	while (*pos < data->d_size) {
		next = gelf_getnote(data, *pos, &h, &name, &desc);
		if (next <= *pos || name > data->d_size || h.n_namesz > data->d_size - name ||
		    desc > data->d_size || h.n_descsz > data->d_size - desc)
			return false;
		*pos = next;
		if (!h.n_namesz || buf[name + h.n_namesz - 1])
			continue;
		*note = (struct elf_note){ .name = buf + name, .desc = buf + desc,
					   .desc_bytes = h.n_descsz, .type = h.n_type };
		return true;
	}
	return false;
}

static bool find_build_id(Elf_Data *data, char *hex)
{
	struct elf_note note;
	size_t pos = 0, i;

	while (data && elf_note_next(data, &pos, &note)) {
		if (note.type != NT_GNU_BUILD_ID || strcmp(note.name, ELF_NOTE_GNU) ||
		    !note.desc_bytes || note.desc_bytes > ELF_BUILD_ID_BYTES_MAX)
			continue;
		for (i = 0; i < note.desc_bytes; i++)
			sprintf(hex + 2 * i, "%02x", (unsigned char)note.desc[i]);
		return true;
	}
	return false;
}

static Elf_Data *segment_notes(const struct elf_image *img, const GElf_Phdr *p)
{
	if (p->p_type != PT_NOTE || p->p_filesz > NOTES_BYTES_MAX || p->p_offset > img->bytes ||
	    p->p_filesz > img->bytes - p->p_offset)
		return NULL;
	return elf_getdata_rawchunk(img->elf, p->p_offset, p->p_filesz,
				    p->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
}

/* By its section, because segments of debug files may point anywhere; or by its segment. */
void elf_image_build_id(const struct elf_image *img, char *hex)
{
	Elf_Scn *section = elf_image_section(img, ".note.gnu.build-id", SHT_NOTE);
	size_t cnt, i, tried = 0;
	Elf_Data *data;
	GElf_Phdr p;

	*hex = 0;
	if (find_build_id(elf_image_data(img, section), hex) || elf_getphdrnum(img->elf, &cnt))
		return;
	for (i = 0; i < cnt && tried < NOTE_SEGMENTS_MAX; i++) {
		if (!gelf_getphdr(img->elf, (int)i, &p))
			return;
		data = segment_notes(img, &p);
		if (find_build_id(data, hex))
			return;
		tried += data != NULL;
	}
}
