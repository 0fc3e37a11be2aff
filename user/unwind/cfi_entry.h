/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Entries of .eh_frame and .debug_frame: common information entries (CIE) and frame description entries
 * (FDE), as DWARF 5, 6.4.1, and the Linux Standard Base, 10.6, describe them. Nothing in them is trusted.
 */
#ifndef UNWIND_CFI_ENTRY_H
#define UNWIND_CFI_ENTRY_H

#include "code_file.h"
#include "cursor.h"

#define CFI_ENTRY_BYTES_MAX	(64U << 10)	/* longer ones are not read */

/* Exception header encodings of addresses. */
#define CFI_ABSOLUTE		0x00
#define CFI_RELATIVE		0x10		/* to the address of the number itself */
#define CFI_DATA_RELATIVE	0x30
#define CFI_UDATA4		0x03
#define CFI_SDATA4		0x0b

struct cfi_section {
	const struct code_file *file;
	struct code_section place;
	const uint8_t *loaded;	/* all of it; NULL: it is read entry by entry */
	bool is_eh;		/* .eh_frame, which differs a little */
};

struct cfi_buffer {
	uint8_t bytes[CFI_ENTRY_BYTES_MAX];
};

struct cfi_entry {
	uint64_t pos, next;		/* in the section: this one, the one after it */
	uint64_t id_pos, id;		/* the field that says whether it is a CIE; what comes after it is: */
	struct cursor data;
	bool is_wide;			/* of the 64-bit format */
};

struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;			/* the column of the return address */
	uint8_t encoding;		/* of addresses in its FDEs */
	bool is_signal, has_data;	/* augmentations S and z */
	struct cursor instructions;
};

struct cfi_fde {
	uint64_t start, bytes;		/* addresses it is about */
	struct cursor instructions;
};

/*
 * The entry at @pos, its content in @b unless the section is loaded; false: there is none, or it is too long.
 * e->next is right also for one that is too long, and 0 if there can be none after it.
 */
bool cfi_entry_read(const struct cfi_section *s, uint64_t pos, struct cfi_buffer *b, struct cfi_entry *e);
bool cfi_entry_is_cie(const struct cfi_section *s, const struct cfi_entry *e);
/* Where the CIE of an FDE is; UINT64_MAX: nowhere. */
uint64_t cfi_entry_cie_pos(const struct cfi_section *s, const struct cfi_entry *fde);
bool cfi_cie_parse(const struct cfi_section *s, const struct cfi_entry *e, struct cfi_cie *cie);
bool cfi_fde_parse(const struct cfi_section *s, const struct cfi_entry *e, const struct cfi_cie *cie,
		   struct cfi_fde *fde);
/* An address in an exception header encoding, the number itself being at @here; false: it is of no known form. */
bool cfi_read_address(struct cursor *c, uint8_t encoding, uint64_t here, uint64_t *address);

#endif
