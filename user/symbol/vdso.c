// SPDX-License-Identifier: GPL-2.0
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "elf/elf.h"
#include "vdso.h"

struct elf_file *vdso_open(void)
{
	const ElfW(Ehdr) *h = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct elf_file *vdso;
	const char *why;

	if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG))
		return NULL;
	/* The kernel's linker script puts the section headers last. */
	return elf_file_open_memory(&vdso, h, h->e_shoff + (size_t)h->e_shnum * h->e_shentsize, &why) ? NULL : vdso;
}
