/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An ELF file as far as unwinding needs it: which of its bytes are loaded where, and the sections with
 * call frame information. The file is not trusted: whatever its headers say, only bytes that are in it are
 * read, and no more than asked for. It is not mapped, because a file that is cut while it is read would
 * kill us.
 */
#ifndef UNWIND_CODE_FILE_H
#define UNWIND_CODE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_SEGMENTS_MAX	64
#define CODE_BUILD_ID_BYTES_MAX	64

struct code_segment {
	uint64_t address, bytes, offset;	/* @bytes: of the file */
};

/* Bytes of the file; none: bytes 0. */
struct code_section {
	uint64_t offset, bytes;
	uint64_t address;	/* where it is loaded; 0: it is not */
};

struct code_file {
	int fd;			/* -1: in memory */
	const uint8_t *memory;
	uint64_t bytes;
	uint64_t entry;		/* address where the kernel begins to run it, or 0 */
	struct code_segment segments[CODE_SEGMENTS_MAX];
	unsigned int segment_cnt;
	struct code_section eh_frame_hdr;	/* as a segment */
	struct code_section eh_frame, debug_frame;	/* as sections; loaded ones that are compressed are left out */
	char build_id[2 * CODE_BUILD_ID_BYTES_MAX + 1];	/* in hex; "": none */
};

/* Takes over @fd, of a regular file for @elf_machine of 64 bits. 0 or -errno; -ENOEXEC: it is none, @fd is closed. */
int code_file_open(struct code_file *f, int fd, uint16_t elf_machine);
/* The same of a file in memory, borrowed: the vdso. */
int code_file_open_memory(struct code_file *f, const void *memory, uint64_t bytes, uint16_t elf_machine);
void code_file_close(struct code_file *f);
/* All @bytes at @offset, or false. */
bool code_file_read(const struct code_file *f, uint64_t offset, void *to, size_t bytes);
/* Between offsets in the file and the addresses that the file itself uses; false: not loaded. */
bool code_file_address(const struct code_file *f, uint64_t offset, uint64_t *address);
bool code_file_offset(const struct code_file *f, uint64_t address, uint64_t *offset);
/* The part of the segment that @address is in, from there to its end; bytes 0: not loaded. */
struct code_section code_file_from(const struct code_file *f, uint64_t address);

#endif
