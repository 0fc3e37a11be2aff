// SPDX-License-Identifier: GPL-2.0
/*
 * Where functions begin and end, by the ranges in .eh_frame, which a stripped file still has.
 * Names of the format: Linux Standard Base, Exception Frames; DWARF 5, section 6.4.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "elf_p.h"

#define SECTION_BYTES_MAX	(128U << 20)
#define RANGES_MAX		(2U << 20)
#define AUGMENTATION_MAX	16
#define CIE_NONE		SIZE_MAX

/* Encodings of pointers. */
#define PE_ABSPTR	0x00
#define PE_UDATA2	0x02
#define PE_UDATA4	0x03
#define PE_UDATA8	0x04
#define PE_SDATA2	0x0a
#define PE_SDATA4	0x0b
#define PE_SDATA8	0x0c
#define PE_FORM		0x0f
#define PE_PCREL	0x10
#define PE_RELATIVE	0xf0	/* to what, and whether it is the address of the value */
#define PE_OMIT		0xff

struct section {
	const uint8_t *data;
	size_t bytes;
	uint64_t address;
	unsigned int pointer_bytes;
	size_t cie;		/* the last one that was read; CIE_NONE: none */
	uint8_t encoding;	/* of addresses, by that one */
};

/* What is left of an entry. Reading beyond it gives 0 and sets @failed. */
struct cursor {
	const struct section *section;
	size_t pos, end;
	bool failed;
};

static uint64_t read_number(struct cursor *c, unsigned int bytes)
{
	uint64_t value = 0;

	if (bytes > c->end - c->pos) {
		c->failed = true;
		c->pos = c->end;
		return 0;
	}
	memcpy(&value, c->section->data + c->pos, bytes);	/* the file has our byte order */
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ && bytes)
		value >>= 8 * (8 - bytes);
	c->pos += bytes;
	return value;
}

static void skip_leb(struct cursor *c)
{
	while (read_number(c, 1) & 0x80)
		;
}

/* Bytes of a value of @encoding; 0: of a form that is not used for addresses. */
static unsigned int encoded_bytes(const struct section *s, uint8_t encoding)
{
	switch (encoding & PE_FORM) {
	case PE_ABSPTR:
		return s->pointer_bytes;
	case PE_UDATA2:
	case PE_SDATA2:
		return 2;
	case PE_UDATA4:
	case PE_SDATA4:
		return 4;
	case PE_UDATA8:
	case PE_SDATA8:
		return 8;
	default:
		return 0;
	}
}

static uint64_t read_address(struct cursor *c, uint8_t encoding)
{
	const unsigned int bytes = encoded_bytes(c->section, encoding);
	const uint64_t here = c->section->address + c->pos;
	uint64_t value = read_number(c, bytes);

	if (bytes < 8 && (encoding & PE_FORM) >= PE_SDATA2)
		value = (uint64_t)((int64_t)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes));
	return (encoding & PE_RELATIVE) == PE_PCREL ? here + value : value;
}

/* The encoding by the letters of an augmentation that begins with z. */
static uint8_t read_augmentation(struct cursor *c, const char *letters)
{
	uint8_t encoding;
	unsigned int bytes;

	skip_leb(c);
	for (letters++; *letters && !c->failed; letters++) {
		if (*letters == 'R')
			return (uint8_t)read_number(c, 1);
		if (*letters == 'L') {
			read_number(c, 1);
		} else if (*letters == 'P') {
			encoding = (uint8_t)read_number(c, 1);
			bytes = encoded_bytes(c->section, encoding);
			if (!bytes && encoding != PE_OMIT)
				return PE_OMIT;
			read_number(c, bytes);
		} else if (!strchr("SBG", *letters)) {
			return PE_OMIT;
		}
	}
	return PE_ABSPTR;
}

/* How the addresses of the CIE at @c are encoded; PE_OMIT: it cannot be read. */
static uint8_t read_cie(struct cursor *c)
{
	const uint64_t id = read_number(c, 4), version = read_number(c, 1);
	const char *letters = (const char *)c->section->data + c->pos;
	const size_t left = c->end - c->pos;
	const size_t len = strnlen(letters, left < AUGMENTATION_MAX ? left : AUGMENTATION_MAX);
	uint8_t encoding = PE_ABSPTR;

	if (id || len == left || len == AUGMENTATION_MAX || (version != 1 && version != 3 && version != 4))
		return PE_OMIT;
	c->pos += len + 1;
	if (version == 4)
		read_number(c, 2);	/* bytes of an address and of a segment */
	skip_leb(c);			/* alignment of code */
	skip_leb(c);			/* alignment of data */
	if (version == 1)
		read_number(c, 1);	/* register of the return address */
	else
		skip_leb(c);
	if (*letters)
		encoding = *letters == 'z' ? read_augmentation(c, letters) : PE_OMIT;
	if (c->failed || (encoding & PE_RELATIVE & ~PE_PCREL) || !encoded_bytes(c->section, encoding))
		return PE_OMIT;
	return encoding;
}

/* Goes to the entry at @pos: its part after the length. False: the section ends there, or is damaged. */
static bool enter(const struct section *s, size_t pos, struct cursor *c)
{
	uint64_t bytes;

	*c = (struct cursor){ .section = s, .pos = pos, .end = s->bytes };
	bytes = read_number(c, 4);
	if (bytes == UINT32_MAX)
		bytes = read_number(c, 8);
	if (c->failed || bytes < 4 || bytes > s->bytes - c->pos)
		return false;
	c->end = c->pos + bytes;
	return true;
}

static bool find_encoding(struct section *s, size_t cie)
{
	struct cursor c;

	if (cie != s->cie) {
		s->cie = cie;
		s->encoding = enter(s, cie, &c) ? read_cie(&c) : PE_OMIT;
	}
	return s->encoding != PE_OMIT;
}

/* The range of the FDE at @c; false: it is a CIE, or cannot be read. */
static bool read_fde(struct section *s, struct cursor *c, uint64_t *address, uint64_t *bytes)
{
	const size_t here = c->pos;
	const uint64_t distance = read_number(c, 4);

	if (!distance || distance > here || !find_encoding(s, here - distance))
		return false;
	*address = read_address(c, s->encoding);
	*bytes = read_number(c, encoded_bytes(s, s->encoding));
	return !c->failed && *bytes;
}

static int add_ranges(struct elf_file *f, struct section *s)
{
	uint64_t address, bytes, offset;
	struct cursor c;
	size_t pos, cap = 0;

	for (pos = 0; f->range_cnt < RANGES_MAX && enter(s, pos, &c); pos = c.end) {
		if (!read_fde(s, &c, &address, &bytes) || !elf_file_translate(f, address, true, &offset))
			continue;
		if (array_reserve(f->ranges, f->range_cnt, cap, 1))
			return -ENOMEM;
		f->ranges[f->range_cnt++] = (struct elf_range){ offset, bytes };
	}
	return 0;
}

static int by_offset(const void *a, const void *b)
{
	const struct elf_range *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

int elf_eh_frame_read(struct elf_file *f, const struct elf_image *img)
{
	Elf_Scn *scn = elf_image_section(img, ".eh_frame", SHT_NULL);
	const Elf_Data *data = elf_image_data(img, scn);
	struct section s = { .cie = CIE_NONE };
	GElf_Shdr h;
	int err;

	if (!data || !data->d_buf || data->d_size > SECTION_BYTES_MAX || !gelf_getshdr(scn, &h))
		return 0;
	s.data = data->d_buf;
	s.bytes = data->d_size;
	s.address = h.sh_addr;
	s.pointer_bytes = img->header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	err = add_ranges(f, &s);
	if (!err && f->range_cnt)
		qsort(f->ranges, f->range_cnt, sizeof(*f->ranges), by_offset);
	return err;
}

bool elf_file_function_start(const struct elf_file *f, uint64_t offset, uint64_t *start)
{
	size_t low = 0, high = f->range_cnt, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (f->ranges[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || offset - f->ranges[low - 1].offset >= f->ranges[low - 1].bytes)
		return false;
	*start = f->ranges[low - 1].offset;
	return true;
}
