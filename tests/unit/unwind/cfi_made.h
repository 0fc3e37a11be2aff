/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Small ELF files with call frame information that is made by hand: functions of 256 bytes each, of which each
 * has an FDE. Offsets in the file are its addresses, and it is mapped as a whole.
 */
#ifndef UNWIND_CFI_MADE_H
#define UNWIND_CFI_MADE_H

#include <stddef.h>
#include <stdint.h>

#define CFI_MADE_FUNCTIONS_MAX	8
#define CFI_MADE_FUNCTION_BYTES	0x100U
#define CFI_MADE_CODE		0x1000U	/* where the first one is */
#define CFI_MADE_BYTES		0x2000U	/* of the file */
#define CFI_MADE_START		0x400000ULL	/* where cfi_made_maps() says that it is mapped */
/* An address of function @i as a process has it. */
#define CFI_MADE_PC(i, offset)	(CFI_MADE_START + CFI_MADE_CODE + (i) * CFI_MADE_FUNCTION_BYTES + (offset))

struct cfi_made_bytes {
	const uint8_t *bytes;
	size_t cnt;
};
#define CFI_BYTES(...)	{ (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }) }

struct cfi_made {
	uint16_t machine;		/* e_machine */
	uint8_t ra;			/* the column of the return address */
	const char *augmentation;	/* NULL: "zR" */
	struct cfi_made_bytes cie;	/* instructions */
	struct cfi_made_bytes functions[CFI_MADE_FUNCTIONS_MAX];	/* until one without bytes */
	struct cfi_made_bytes code;	/* of the function after the last one */
};

/* Writes the file to @file, of CFI_MADE_BYTES. */
void cfi_made_build(const struct cfi_made *m, uint8_t *file);
/* A new file in memory with @bytes at @file; its descriptor. */
int cfi_made_open(const void *file, size_t bytes);
/* The line of /proc/PID/maps for it, at CFI_MADE_START. */
void cfi_made_maps(int fd, size_t bytes, char line[160]);

#endif
