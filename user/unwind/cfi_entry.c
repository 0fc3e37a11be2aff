// SPDX-License-Identifier: GPL-2.0
#include "cfi_entry.h"

#define FIRST_READ_BYTES	256U	/* most entries are shorter: one read */
#define WIDE_LENGTH		0xffffffffU
#define OMITTED			0xff
#define INDIRECT		0x80

/* ---- where it is ---------------------------------------------------------------------------- */

/* @bytes of the section from @pos in one piece; NULL: they are not there. */
static const uint8_t *section_bytes(const struct cfi_section *s, uint64_t pos, size_t bytes, struct cfi_buffer *b)
{
	if (pos > s->place.bytes || bytes > s->place.bytes - pos)
		return NULL;
	if (s->loaded)
		return s->loaded + pos;
	return code_file_read(s->file, s->place.offset + pos, b->bytes, bytes) ? b->bytes : NULL;
}

/* The length before an entry, 4 or 12 bytes; false: the end. */
static bool read_length(struct cursor *c, struct cfi_entry *e, uint64_t *length)
{
	*length = cursor_number(c, 4);
	e->is_wide = *length == WIDE_LENGTH;
	if (e->is_wide)
		*length = cursor_number(c, 8);
	return *length && !c->is_bad;
}

bool cfi_entry_read(const struct cfi_section *s, uint64_t pos, struct cfi_buffer *b, struct cfi_entry *e)
{
	const uint64_t left = pos < s->place.bytes ? s->place.bytes - pos : 0;
	const size_t first = left < FIRST_READ_BYTES ? left : FIRST_READ_BYTES;
	const uint8_t *data = section_bytes(s, pos, first, b);
	struct cursor c = { .at = data };
	uint64_t length, before;

	*e = (struct cfi_entry){ .pos = pos };
	if (!data)
		return false;
	c.end = data + first;
	if (!read_length(&c, e, &length))
		return false;
	before = c.at - data;
	if (length > left - before)
		return false;
	e->next = pos + before + length;
	if (before + length > CFI_ENTRY_BYTES_MAX)
		return false;
	if (before + length > first)
		data = section_bytes(s, pos, before + length, b);
	if (!data)
		return false;
	e->id_pos = pos + before;
	e->data = (struct cursor){ .at = data + before, .end = data + before + length };
	e->id = cursor_number(&e->data, e->is_wide && !s->is_eh ? 8 : 4);
	return !e->data.is_bad;
}

bool cfi_entry_is_cie(const struct cfi_section *s, const struct cfi_entry *e)
{
	if (s->is_eh)
		return !e->id;
	return e->id == (e->is_wide ? UINT64_MAX : UINT32_MAX);
}

uint64_t cfi_entry_cie_pos(const struct cfi_section *s, const struct cfi_entry *fde)
{
	if (!s->is_eh)
		return fde->id;
	return fde->id <= fde->id_pos ? fde->id_pos - fde->id : UINT64_MAX;
}

/* ---- what is in it -------------------------------------------------------------------------- */

bool cfi_read_address(struct cursor *c, uint8_t encoding, uint64_t here, uint64_t *address)
{
	const uint8_t relative = encoding & 0x70;

	if (encoding & INDIRECT || (relative != CFI_ABSOLUTE && relative != CFI_RELATIVE))
		return false;
	switch (encoding & 0x0f) {
	case 0x00: case 0x04: case 0x0c:
		*address = cursor_number(c, 8);
		break;
	case 0x01:
		*address = cursor_uleb(c);
		break;
	case 0x02:
		*address = cursor_number(c, 2);
		break;
	case CFI_UDATA4:
		*address = cursor_number(c, 4);
		break;
	case 0x09:
		*address = (uint64_t)cursor_sleb(c);
		break;
	case 0x0a:
		*address = (uint64_t)cursor_signed(c, 2);
		break;
	case CFI_SDATA4:
		*address = (uint64_t)cursor_signed(c, 4);
		break;
	default:
		return false;
	}
	*address += relative == CFI_RELATIVE ? here : 0;
	return !c->is_bad;
}

/* The personality routine is not needed, but its length is. */
static bool skip_personality(struct cursor *c)
{
	const uint8_t encoding = (uint8_t)cursor_number(c, 1);
	uint64_t address;

	return encoding != 0x50 && cfi_read_address(c, encoding & 0x0f, 0, &address);
}

/* The augmentation's text and data. One of the unknown letters ends what can be understood of the data. */
static bool parse_augmentation(const char *text, struct cursor *c, struct cfi_cie *cie)
{
	struct cursor data;
	uint64_t bytes;

	if (*text != 'z')
		return !*text;
	cie->has_data = true;
	bytes = cursor_uleb(c);
	data.at = cursor_take(c, bytes);
	if (!data.at)
		return false;
	data = (struct cursor){ .at = data.at, .end = c->at };
	while (*++text && !data.is_bad) {
		if (*text == 'R')
			cie->encoding = (uint8_t)cursor_number(&data, 1);
		else if (*text == 'L')
			cursor_number(&data, 1);
		else if (*text == 'P' && !skip_personality(&data))
			return false;
		else if (*text == 'S')
			cie->is_signal = true;
		else if (!strchr("PB", *text))	/* B: return addresses are signed with the B key */
			return false;
	}
	return !data.is_bad;
}

bool cfi_cie_parse(const struct cfi_section *s, const struct cfi_entry *e, struct cfi_cie *cie)
{
	struct cursor c = e->data;
	const uint8_t version = (uint8_t)cursor_number(&c, 1);
	const char *augmentation = (const char *)c.at;

	*cie = (struct cfi_cie){ 0 };
	if (!cfi_entry_is_cie(s, e) || (version != 1 && version != 3 && version != 4) ||
	    !memchr(c.at, 0, c.end - c.at))
		return false;
	cursor_take(&c, strlen(augmentation) + 1);
	/* Sizes of addresses and of segment selectors. */
	if (version == 4 && (cursor_number(&c, 1) != 8 || cursor_number(&c, 1) != 0))
		return false;
	cie->code_align = cursor_uleb(&c);
	cie->data_align = cursor_sleb(&c);
	cie->ra = version == 1 ? cursor_number(&c, 1) : cursor_uleb(&c);
	if (!parse_augmentation(augmentation, &c, cie))
		return false;
	cie->instructions = c;
	return !c.is_bad;
}

bool cfi_fde_parse(const struct cfi_section *s, const struct cfi_entry *e, const struct cfi_cie *cie,
		   struct cfi_fde *fde)
{
	struct cursor c = e->data;
	const uint64_t here = s->place.address + e->id_pos + (e->is_wide && !s->is_eh ? 8 : 4);

	if (cie->encoding == OMITTED || !cfi_read_address(&c, cie->encoding, here, &fde->start) ||
	    !cfi_read_address(&c, cie->encoding & 0x0f, 0, &fde->bytes))
		return false;
	if (cie->has_data)
		cursor_take(&c, cursor_uleb(&c));
	fde->instructions = c;
	return !c.is_bad;
}
