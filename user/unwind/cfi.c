// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "base/array.h"
#include "cfi.h"
#include "cfi_rule.h"

#define ENTRY_BYTES		16		/* up to the first call there */
#define SECTION_BYTES_MAX	(64U << 20)	/* of one that an index is made of */
#define SECTION_ENTRIES_MAX	(2 * CFI_INDEX_ENTRIES_MAX)	/* looked at, of any kind: some 50 ms */
#define HDR_BYTES		4		/* version, three encodings */
#define HDR_TABLE_ENTRY		(2 * sizeof(int32_t))
#define HDR_BLOCK_ENTRIES	64U		/* read at once at the end of a search */

/* ---- one FDE --------------------------------------------------------------------------------- */

/* Whether the FDE at @pos is about @address; its rule then. */
static bool rule_at(struct cfi_reader *r, const struct cfi_section *s, uint64_t pos, uint64_t address,
		    struct unwind_rule *rule)
{
	struct cfi_entry fde_entry, cie_entry;
	struct cfi_cie cie;
	struct cfi_fde fde;

	if (!cfi_entry_read(s, pos, &r->fde, &fde_entry) || cfi_entry_is_cie(s, &fde_entry) ||
	    !cfi_entry_read(s, cfi_entry_cie_pos(s, &fde_entry), &r->cie, &cie_entry) ||
	    !cfi_cie_parse(s, &cie_entry, &cie) || !cfi_fde_parse(s, &fde_entry, &cie, &fde) ||
	    address - fde.start >= fde.bytes)
		return false;
	cfi_rule_make(r->machine, &cie, &fde, address, rule);
	return true;
}

/* ---- .eh_frame_hdr --------------------------------------------------------------------------- */

/* Of {address, FDE}, 4 bytes each, relative to the header, in order of address. */
struct hdr_table {
	uint64_t offset, cnt;		/* in the file */
	uint64_t base;
	struct cfi_section section;	/* .eh_frame from what the header names to the end of its segment */
};

static bool open_hdr(const struct code_file *f, struct hdr_table *t)
{
	const struct code_section *hdr = &f->eh_frame_hdr;
	uint8_t bytes[32] = { 0 };
	struct cursor c = { .at = bytes + HDR_BYTES, .end = bytes + sizeof(bytes) };
	uint64_t eh_frame;

	if (hdr->bytes < HDR_BYTES ||
	    !code_file_read(f, hdr->offset, bytes, hdr->bytes < sizeof(bytes) ? hdr->bytes : sizeof(bytes)) ||
	    bytes[0] != 1 || bytes[2] != CFI_UDATA4 || bytes[3] != (CFI_DATA_RELATIVE | CFI_SDATA4) ||
	    !cfi_read_address(&c, bytes[1], hdr->address + HDR_BYTES, &eh_frame))
		return false;
	t->cnt = cursor_number(&c, 4);
	t->offset = hdr->offset + (c.at - bytes);
	t->base = hdr->address;
	t->section = (struct cfi_section){ .file = f, .place = code_file_from(f, eh_frame), .is_eh = true };
	return !c.is_bad && t->section.place.bytes && t->cnt &&
	       (uint64_t)(c.at - bytes) + t->cnt * HDR_TABLE_ENTRY <= hdr->bytes;
}

/* Of the @cnt entries in @entries the last one that begins at or before @address; UINT64_MAX: none. */
static uint64_t search_block(const int32_t (*entries)[2], unsigned int cnt, const struct hdr_table *t,
			     uint64_t address)
{
	uint64_t found = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < cnt; i++)
		if (t->base + (uint64_t)(int64_t)entries[i][0] <= address)
			found = t->base + (uint64_t)(int64_t)entries[i][1];
	return found;
}

/* The address of the FDE that may be about @address; UINT64_MAX: there is none. */
static uint64_t search_hdr(const struct code_file *f, const struct hdr_table *t, uint64_t address)
{
	int32_t entries[HDR_BLOCK_ENTRIES][2], start;
	uint64_t low = 0, high = t->cnt, middle;

	while (high - low > HDR_BLOCK_ENTRIES) {
		middle = low + (high - low) / 2;
		if (!code_file_read(f, t->offset + middle * HDR_TABLE_ENTRY, &start, sizeof(start)))
			return UINT64_MAX;
		if (t->base + (uint64_t)(int64_t)start <= address)
			low = middle;
		else
			high = middle;
	}
	if (!code_file_read(f, t->offset + low * HDR_TABLE_ENTRY, entries, (high - low) * HDR_TABLE_ENTRY))
		return UINT64_MAX;
	return search_block(entries, high - low, t, address);
}

static bool rule_by_hdr(struct cfi_reader *r, const struct code_file *f, const struct hdr_table *t, uint64_t address,
			struct unwind_rule *rule)
{
	const uint64_t fde = search_hdr(f, t, address), pos = fde - t->section.place.address;

	return fde != UINT64_MAX && pos < t->section.place.bytes && rule_at(r, &t->section, pos, address, rule);
}

/* ---- indexes --------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct cfi_index_entry *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* The last CIE that was parsed: that of most FDEs is the one before them. */
struct last_cie {
	uint64_t pos;
	bool is_good;
	struct cfi_cie cie;
};

static void index_entry(struct cfi_index *index, const struct cfi_section *s, const struct cfi_entry *e,
			struct last_cie *last)
{
	const uint64_t pos = cfi_entry_cie_pos(s, e);
	struct cfi_entry cie;
	struct cfi_fde fde;

	if (pos != last->pos) {
		last->pos = pos;
		last->is_good = cfi_entry_read(s, pos, NULL, &cie) && cfi_cie_parse(s, &cie, &last->cie);
	}
	/* Functions that were left out when linking have no bytes, or begin at 0. */
	if (!last->is_good || !cfi_fde_parse(s, e, &last->cie, &fde) || !fde.bytes || !fde.start ||
	    array_reserve(index->entries, index->cnt, index->cap, 1))
		return;
	index->entries[index->cnt++] = (struct cfi_index_entry){ fde.start, e->pos };
}

static void index_loaded(struct cfi_index *index, const struct cfi_section *s)
{
	struct last_cie last = { .pos = UINT64_MAX };
	struct cfi_entry e;
	unsigned int i;
	uint64_t pos = 0;

	for (i = 0; i < SECTION_ENTRIES_MAX && index->cnt < CFI_INDEX_ENTRIES_MAX; i++) {
		if (cfi_entry_read(s, pos, NULL, &e) && !cfi_entry_is_cie(s, &e))
			index_entry(index, s, &e, &last);
		if (e.next <= pos)
			break;
		pos = e.next;
	}
	if (index->cnt)
		qsort(index->entries, index->cnt, sizeof(*index->entries), by_start);
}

/* Reads all of the section, once. */
static void make_index(struct cfi_reader *r, struct cfi_index *index, struct cfi_section s)
{
	uint8_t *bytes;

	index->is_made = true;
	if (!s.place.bytes || s.place.bytes > SECTION_BYTES_MAX ||
	    r->indexed_cnt > CFI_INDEXED_ENTRIES_MAX - CFI_INDEX_ENTRIES_MAX)
		return;
	bytes = malloc(s.place.bytes);
	if (bytes && code_file_read(s.file, s.place.offset, bytes, s.place.bytes)) {
		s.loaded = bytes;
		index_loaded(index, &s);
		r->indexed_cnt += index->cnt;
	}
	free(bytes);
}

/* The last one that begins at or before @address; NULL: none. */
static const struct cfi_index_entry *search_index(const struct cfi_index *index, uint64_t address)
{
	unsigned int low = 0, high = index->cnt, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (index->entries[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &index->entries[low - 1] : NULL;
}

static bool rule_by_index(struct cfi_reader *r, struct cfi_index *index, const struct cfi_section *s,
			  uint64_t address, struct unwind_rule *rule)
{
	const struct cfi_index_entry *e;

	if (!index->is_made)
		make_index(r, index, *s);
	e = search_index(index, address);
	return e && rule_at(r, s, e->pos, address, rule);
}

/* ---- both ------------------------------------------------------------------------------------ */

static bool find_rule(struct cfi_reader *r, struct cfi_file *f, uint64_t address, struct unwind_rule *rule)
{
	const struct cfi_section eh = { .file = &f->file, .place = f->file.eh_frame, .is_eh = true };
	const struct cfi_section debug = { .file = &f->file, .place = f->file.debug_frame };
	struct hdr_table t;

	if (open_hdr(&f->file, &t) ? rule_by_hdr(r, &f->file, &t, address, rule)
				   : rule_by_index(r, &f->eh, &eh, address, rule))
		return true;
	return rule_by_index(r, &f->debug, &debug, address, rule);
}

/* What is known by its instructions; @address may be that of a call before them. */
static void rule_by_code(const struct unwind_machine *m, const struct code_file *f, uint64_t address,
			 struct unwind_rule *rule)
{
	uint32_t code[MACHINE_CODE_WORDS];
	uint64_t offset;

	if (m->rule_by_code && code_file_offset(f, (address + 3) & ~3ULL, &offset) &&
	    code_file_read(f, offset - MACHINE_CODE_BEFORE * sizeof(*code), code, sizeof(code)))
		m->rule_by_code(code, rule);
}

void cfi_find_rule(struct cfi_reader *r, struct cfi_file *f, uint64_t address, struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){ .cfa = RULE_NONE };
	if (find_rule(r, f, address, rule))
		return;
	rule_by_code(r->machine, &f->file, address, rule);
	/* What the kernel begins to run was called by nobody; glibc's dynamic linker has no rule for it. */
	if (rule->cfa == RULE_NONE && f->file.entry && address - f->file.entry < ENTRY_BYTES)
		rule->ra = SAVED_UNDEFINED;
}

void cfi_file_close(struct cfi_reader *r, struct cfi_file *f)
{
	r->indexed_cnt -= f->eh.cnt + f->debug.cnt;
	free(f->eh.entries);
	free(f->debug.entries);
	f->eh = f->debug = (struct cfi_index){ 0 };
	code_file_close(&f->file);
}
