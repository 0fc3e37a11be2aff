// SPDX-License-Identifier: GPL-2.0
/*
 * An ELF file's probes, once read: what they are, and which function an offset lies in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf_p.h"

#define NESTED_MAX	16	/* functions that begin inside another one, before an offset */

char *elf_file_keep(struct elf_file *f, const void *data, size_t bytes)
{
	char *copy;

	if (f->kept_cnt == ELF_KEPT_MAX)
		return NULL;
	copy = malloc(bytes ?: 1);
	if (!copy)
		return NULL;
	if (bytes)
		memcpy(copy, data, bytes);
	f->kept[f->kept_cnt++] = copy;
	f->bytes += bytes;
	return copy;
}

bool elf_file_translate(const struct elf_file *f, uint64_t address, bool is_code, uint64_t *offset)
{
	const struct elf_segment *s;

	for (s = f->segments; s < f->segments + f->segment_cnt; s++) {
		if (address < s->address || address - s->address >= s->bytes ||
		    (is_code && !s->is_code))
			continue;
		*offset = address - s->address + s->offset;
		return true;
	}
	return false;
}

bool elf_file_address(const struct elf_file *f, uint64_t offset, uint64_t *address)
{
	const struct elf_segment *s;

	for (s = f->segments; s < f->segments + f->segment_cnt; s++) {
		if (!s->is_code || offset < s->offset || offset - s->offset >= s->bytes)
			continue;
		*address = offset - s->offset + s->address;
		return true;
	}
	return false;
}

/* Keeps of a PT_LOAD what is in the file. */
static void add_segment(struct elf_file *f, const struct elf_image *img, const GElf_Phdr *p)
{
	struct elf_segment *s = &f->segments[f->segment_cnt++];

	s->address = p->p_vaddr;
	s->offset = p->p_offset;
	s->is_code = p->p_flags & PF_X;
	if (p->p_offset < img->bytes)
		s->bytes = p->p_filesz;
	if (s->bytes > img->bytes - p->p_offset)
		s->bytes = img->bytes - p->p_offset;
}

/* What is wrong with them, or NULL. */
static const char *read_segments(struct elf_file *f, const struct elf_image *img)
{
	bool has_code = false;
	GElf_Phdr p;
	size_t cnt, i;

	if (elf_getphdrnum(img->elf, &cnt))
		return "damaged: its program headers lie outside the file";
	for (i = 0; i < cnt; i++) {
		if (!gelf_getphdr(img->elf, (int)i, &p))
			return "damaged: its program headers lie outside the file";
		if (p.p_type != PT_LOAD || !p.p_filesz)
			continue;
		if (f->segment_cnt == ELF_SEGMENTS_MAX)
			return "damaged: it has too many segments";
		add_segment(f, img, &p);
		has_code |= f->segments[f->segment_cnt - 1].is_code;
	}
	return has_code ? NULL : "it has no code";
}

static int read_functions(struct elf_file *f, const struct elf_image *img, const char *debug_dir,
			  const char **why)
{
	int err = elf_symbols_add(f, img, SHT_DYNSYM), full = 0;

	if (err >= 0)
		err = full = elf_symbols_add(f, img, SHT_SYMTAB);
	if (err == -ENOEXEC)
		*why = "damaged: a symbol table lies outside the file, or is too large";
	if (!err)
		err = full = elf_debug_add(f, img, debug_dir);
	if (!err)
		err = full = elf_debugdata_add(f, img);
	f->is_stripped = !full;
	if (!err)
		err = elf_eh_frame_read(f, img);
	return err < 0 ? err : elf_symbols_finish(f);
}

/* Reads it from @img, which is closed. */
static int read_file(struct elf_file **out, struct elf_image *img, const char *debug_dir, const char **why)
{
	struct elf_file *f = calloc(1, sizeof(*f));
	int err = -ENOMEM;

	if (!f)
		goto close_image;
	elf_image_build_id(img, f->build_id);
	*why = read_segments(f, img);
	err = *why ? -ENOEXEC : read_functions(f, img, debug_dir, why);
	err = err ?: elf_usdt_read(f, img);
	f->bytes += f->func_cnt * sizeof(*f->funcs) + f->range_cnt * sizeof(*f->ranges);
	if (err)
		elf_file_close(f);
	else
		*out = f;
close_image:
	elf_image_close(img);
	return err;
}

int elf_file_open_with(struct elf_file **out, const char *path, const char *debug_dir,
		       const char **why)
{
	struct elf_image img;
	int err = elf_image_open(&img, path, why);

	return err ?: read_file(out, &img, debug_dir, why);
}

int elf_file_open_memory(struct elf_file **out, const void *data, size_t bytes, const char **why)
{
	struct elf_image img;
	int err = elf_image_open_memory(&img, (void *)data, bytes, why);

	return err ?: read_file(out, &img, NULL, why);
}

int elf_file_open(struct elf_file **out, const char *path, const char **why)
{
	return elf_file_open_with(out, path, ELF_DEBUG_DIR, why);
}

void elf_file_close(struct elf_file *f)
{
	if (!f)
		return;
	while (f->kept_cnt)
		free(f->kept[--f->kept_cnt]);
	free(f->usdts);
	free(f->ranges);
	free(f->is_local);
	free(f->funcs);
	free(f->symbols);
	free(f);
}

uint64_t elf_file_bytes(const struct elf_file *f)
{
	return f->bytes;
}

const struct elf_func *elf_file_functions(const struct elf_file *f, unsigned int *cnt)
{
	*cnt = f->func_cnt;
	return f->funcs;
}

const struct elf_usdt *elf_file_usdts(const struct elf_file *f, unsigned int *cnt)
{
	*cnt = f->usdt_cnt;
	return f->usdts;
}

const char *elf_file_build_id(const struct elf_file *f)
{
	return f->build_id;
}

bool elf_file_is_stripped(const struct elf_file *f)
{
	return f->is_stripped;
}

/* ---- which function ------------------------------------------------------------- */

/* How many functions begin at or before @offset. */
static unsigned int count_until(const struct elf_file *f, uint64_t offset)
{
	unsigned int low = 0, high = f->func_cnt, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (f->funcs[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether to call it by @a rather than @b: not local, short, and the same each time. */
static bool is_better(const struct elf_file *f, unsigned int a, unsigned int b)
{
	size_t a_len = strlen(f->funcs[a].name), b_len = strlen(f->funcs[b].name);

	if (f->is_local[a] != f->is_local[b])
		return !f->is_local[a];
	if (a_len != b_len)
		return a_len < b_len;
	return strcmp(f->funcs[a].name, f->funcs[b].name) < 0;
}

/* One of unknown size ends where the next one begins. */
static bool contains(const struct elf_func *func, uint64_t offset, bool is_last)
{
	return func->size ? offset - func->offset < func->size : is_last;
}

const struct elf_func *elf_file_find(const struct elf_file *f, uint64_t offset)
{
	unsigned int end = count_until(f, offset), i = end, best = f->func_cnt;
	unsigned int starts = 0;

	while (i-- > 0) {
		if (i + 1 == end || f->funcs[i].offset != f->funcs[i + 1].offset)
			starts++;
		if (best < f->func_cnt ? f->funcs[i].offset != f->funcs[best].offset
				       : starts > NESTED_MAX)
			break;
		if (contains(&f->funcs[i], offset, starts == 1) &&
		    (best == f->func_cnt || is_better(f, i, best)))
			best = i;
	}
	return best < f->func_cnt ? &f->funcs[best] : NULL;
}
