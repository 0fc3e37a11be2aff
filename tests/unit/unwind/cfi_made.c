// SPDX-License-Identifier: GPL-2.0
#include "cfi_made.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define HDR		0x200U
#define EH_FRAME	0x300U

struct out {
	uint8_t *file;
	size_t at;
};

static void put(struct out *o, const void *bytes, size_t cnt)
{
	if (cnt)
		memcpy(o->file + o->at, bytes, cnt);
	o->at += cnt;
}

static void put_byte(struct out *o, uint8_t byte)
{
	put(o, &byte, 1);
}

static void put_word(struct out *o, uint32_t word)
{
	put(o, &word, sizeof(word));
}

static void put_headers(const struct cfi_made *m, uint8_t *file)
{
	const Elf64_Ehdr h = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_DYN,
		.e_machine = m->machine, .e_version = EV_CURRENT, .e_phoff = sizeof(h), .e_ehsize = sizeof(h),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2,
	};
	const Elf64_Phdr p[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = CFI_MADE_BYTES, .p_memsz = CFI_MADE_BYTES },
		{ .p_type = PT_GNU_EH_FRAME, .p_offset = HDR, .p_vaddr = HDR, .p_filesz = EH_FRAME - HDR },
	};
	struct out o = { file, 0 };

	put(&o, &h, sizeof(h));
	put(&o, p, sizeof(p));
}

/* An entry's length is filled in when it is whole. */
static void end_entry(struct out *o, size_t start)
{
	uint32_t length;

	while (o->at % 8)
		put_byte(o, 0);		/* DW_CFA_nop */
	length = (uint32_t)(o->at - start - sizeof(length));
	memcpy(o->file + start, &length, sizeof(length));
}

static void put_cie(struct out *o, const struct cfi_made *m)
{
	const char *augmentation = m->augmentation ?: "zR";
	const size_t start = o->at;

	put_word(o, 0);
	put_word(o, 0);
	put_byte(o, 1);			/* version */
	put(o, augmentation, strlen(augmentation) + 1);
	put_byte(o, 1);			/* code alignment */
	put_byte(o, 0x78);		/* data alignment: -8 */
	put_byte(o, m->ra);
	put_byte(o, 1);			/* bytes of augmentation data */
	put_byte(o, 0x03);		/* R: absolute, 4 bytes without a sign */
	put(o, m->cie.bytes, m->cie.cnt);
	end_entry(o, start);
}

/* Returns where it is. */
static size_t put_fde(struct out *o, uint32_t address, const struct cfi_made_bytes *instructions)
{
	const size_t start = o->at;

	put_word(o, 0);
	put_word(o, (uint32_t)(o->at - EH_FRAME));
	put_word(o, address);
	put_word(o, CFI_MADE_FUNCTION_BYTES);
	put_byte(o, 0);			/* bytes of augmentation data */
	put(o, instructions->bytes, instructions->cnt);
	end_entry(o, start);
	return start;
}

void cfi_made_build(const struct cfi_made *m, uint8_t *file)
{
	struct out eh = { file, EH_FRAME }, hdr = { file, HDR };
	uint32_t i, cnt = 0;

	memset(file, 0, CFI_MADE_BYTES);
	put_headers(m, file);
	put_cie(&eh, m);
	while (cnt < CFI_MADE_FUNCTIONS_MAX && m->functions[cnt].bytes)
		cnt++;
	put_word(&hdr, 0x3b030301);	/* version 1, absolute address, 4 bytes, table relative to this */
	put_word(&hdr, EH_FRAME);
	put_word(&hdr, cnt);
	for (i = 0; i < cnt; i++) {
		put_word(&hdr, CFI_MADE_CODE + i * CFI_MADE_FUNCTION_BYTES - HDR);
		put_word(&hdr, (uint32_t)put_fde(&eh, CFI_MADE_CODE + i * CFI_MADE_FUNCTION_BYTES,
						 &m->functions[i]) - HDR);
	}
	if (m->code.cnt)
		memcpy(file + CFI_MADE_CODE + cnt * CFI_MADE_FUNCTION_BYTES, m->code.bytes, m->code.cnt);
}

int cfi_made_open(const void *file, size_t bytes)
{
	const int fd = memfd_create("cfi_made", MFD_CLOEXEC);

	if (fd < 0 || write(fd, file, bytes) != (ssize_t)bytes)
		abort();
	return fd;
}

void cfi_made_maps(int fd, size_t bytes, char line[160])
{
	const unsigned long long end = CFI_MADE_START + ((bytes + 0xfff) & ~0xfffULL);
	struct stat st;

	if (fstat(fd, &st))
		abort();
	snprintf(line, 160, "%llx-%llx r-xp 00000000 %02x:%02x %lu /proc/self/fd/%d\n", CFI_MADE_START, end,
		 major(st.st_dev), minor(st.st_dev), (unsigned long)st.st_ino, fd);
}
