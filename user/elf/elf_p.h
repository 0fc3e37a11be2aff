/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of elf_file.h share: an ELF file while it is being read (elf_image_),
 * and the loader's cache of libraries (elf_cache_).
 *
 * libelf is given nothing whose place and size were not checked against the file's size,
 * and what takes memory or time is bounded by it.
 */
#ifndef ELF_ELF_P_H
#define ELF_ELF_P_H

#include <gelf.h>

#include "elf.h"

#define ELF_DEBUG_DIR		"/usr/lib/debug"
#define ELF_NAME_BYTES_MAX	32000	/* longer ones are not taken: FXT has no longer strings */
#define ELF_BUILD_ID_BYTES_MAX	64
#define ELF_SEGMENTS_MAX	64	/* that are loaded; linkers make about four */
#define ELF_KEPT_MAX		4	/* string tables of .dynsym, .symtab; the notes */

struct elf_segment {
	uint64_t address, bytes, offset;	/* @bytes: those that are in the file */
	bool is_code;
};

/* The code of a function in the file. */
struct elf_range {
	uint64_t offset, bytes;
};

struct elf_symbol {
	struct elf_func func;
	bool is_local;
};

struct elf_file {
	struct elf_segment segments[ELF_SEGMENTS_MAX];
	unsigned int segment_cnt;
	struct elf_symbol *symbols;	/* only while reading: unsorted, with duplicates */
	size_t symbol_cnt, symbol_cap;
	struct elf_func *funcs;
	bool *is_local;			/* of each in @funcs */
	unsigned int func_cnt;
	struct elf_usdt *usdts;
	unsigned int usdt_cnt, usdt_cap;
	struct elf_range *ranges;	/* by offset; of a stripped file */
	size_t range_cnt;
	char *kept[ELF_KEPT_MAX];	/* what the names point into */
	unsigned int kept_cnt;
	uint64_t bytes;			/* in memory, about */
	char build_id[2 * ELF_BUILD_ID_BYTES_MAX + 1];
	bool is_stripped;
};

/* As elf_file_open(), with separate debug files below @debug_dir. */
int elf_file_open_with(struct elf_file **out, const char *path, const char *debug_dir,
		       const char **why);
/* A copy of @bytes at @data that lives as long as the file; NULL: no memory. */
char *elf_file_keep(struct elf_file *f, const void *data, size_t bytes);
/* Where in the file @address is loaded from; false: it is not, or it is not code but should. */
bool elf_file_translate(const struct elf_file *f, uint64_t address, bool is_code,
			uint64_t *offset);

/* ---- reading ---------------------------------------------------------------- */

struct elf_image {
	int fd;				/* -1: in memory */
	Elf *elf;
	uint64_t bytes;			/* of the file */
	uint64_t stored;		/* those that are no hole, and not compressed away */
	GElf_Ehdr header;
};

/* Strings in a section. The last byte is a NUL, so that what begins inside ends inside. */
struct elf_strings {
	const char *data;
	size_t bytes;			/* 0: there are none */
};

/* 0 or -errno; -ENOEXEC with *@why as elf_file_open(). */
int elf_image_open(struct elf_image *img, const char *path, const char **why);
/* The same for a file of @bytes at @data, which must outlive @img. */
int elf_image_open_memory(struct elf_image *img, void *data, size_t bytes, const char **why);
void elf_image_close(struct elf_image *img);
/* Made for this very machine, unlike the 32 bit programs that it runs as well. */
bool elf_image_is_native(const struct elf_image *img);
/* The first section with @name (NULL: any) and @type (SHT_NULL: any); NULL: none. */
Elf_Scn *elf_image_section(const struct elf_image *img, const char *name, uint32_t type);
/* A section's bytes; NULL: not in the file. */
Elf_Data *elf_image_data(const struct elf_image *img, Elf_Scn *section);
struct elf_strings elf_image_strings(const struct elf_image *img, size_t section);
/* In hex into @hex of 2 * ELF_BUILD_ID_BYTES_MAX + 1 bytes; "" if there is none. */
void elf_image_build_id(const struct elf_image *img, char *hex);

struct elf_note {
	const char *name, *desc;	/* @name ends with a NUL */
	size_t desc_bytes;
	uint32_t type;
};

/* The note at *@pos of @data, which moves on; false: no more. */
bool elf_note_next(Elf_Data *data, size_t *pos, struct elf_note *note);

/* The functions of the table of @type: 1, 0 if there is no such table, or -errno. */
int elf_symbols_add(struct elf_file *f, const struct elf_image *img, uint32_t type);
/* Puts what was added in order. */
int elf_symbols_finish(struct elf_file *f);
/* Those of the separate debug file of @img: 1, 0 if there is none (or no @debug_dir), or -ENOMEM. */
int elf_debug_add(struct elf_file *f, const struct elf_image *img, const char *debug_dir);
/* Those in the .gnu_debugdata of @img: 1, 0 if there are none that can be read, or -ENOMEM. */
int elf_debugdata_add(struct elf_file *f, const struct elf_image *img);
/* Fills in where functions begin and end, by .eh_frame. 0 or -ENOMEM. */
int elf_eh_frame_read(struct elf_file *f, const struct elf_image *img);
/* Fills in @f's USDT probes. 0 or -ENOMEM. */
int elf_usdt_read(struct elf_file *f, const struct elf_image *img);

/* ---- the loader's cache ------------------------------------------------------ */

struct elf_cache {
	const char *data;		/* from the header of the format "1.1" */
	size_t bytes;
	uint32_t entry_cnt;
};

/* @data must outlive it. 0 or -EINVAL. */
int elf_cache_init(struct elf_cache *c, const void *data, size_t bytes);
/* Entry @i: a library's name and path; false: not one for any processor, or damaged. */
bool elf_cache_entry(const struct elf_cache *c, uint32_t i, const char **name, const char **path);

#endif
