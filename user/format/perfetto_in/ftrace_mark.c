// SPDX-License-Identifier: GPL-2.0
/*
 * Drivers with events of their own for what others write to trace_marker: begins, ends, instants and counters by process.
 */
#include "ftrace.h"

/* Fields of such an event; 0: it has none of that kind. */
static const struct mark_row {
	uint32_t number;
	uint8_t pid, name, begins, type, value;	/* @type: a letter as in markers; without it @begins tells */
} rows[] = {
	{ 80, 1, 2, 3, 0, 0 }, { 333, 1, 2, 5, 3, 4 }, { 348, 1, 2, 3, 5, 6 }, { 349, 1, 4, 0, 5, 6 }, { 350, 2, 1, 0, 3, 4 },
	{ 467, 3, 4, 0, 2, 5 }, { 484, 1, 2, 3, 4, 5 },
};

static uint64_t number_of(struct pf_cursor m, uint8_t field)
{
	struct pf_field f;

	return field && pf_find(m, field, PF_VARINT, &f) ? f.value : 0;
}

bool pf_driver_mark(struct pf_reader *r, uint32_t number, struct pf_cursor message)
{
	enum { DPU = 348, DPU_NAME = 4 };
	const struct mark_row *row = NULL;
	struct pf_field name;
	uint64_t type;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]) && !row; i++)
		row = rows[i].number == number ? &rows[i] : NULL;
	if (!row)
		return false;
	type = number_of(message, row->type);
	if (!type)
		type = number_of(message, row->begins) ? 'B' : 'E';
	if (type != 'B' && type != 'E' && type != 'I' && type != 'C')
		return false;
	if (!pf_find(message, row->name, PF_BYTES, &name) && number == DPU)
		pf_find(message, DPU_NAME, PF_BYTES, &name);
	pf_text_clear(r);
	pf_text_print(r, "%c|%d", (char)type, (int32_t)number_of(message, row->pid));
	if (type == 'E')
		return true;
	pf_text_add(r, "|", 1);
	pf_text_add(r, name.data, name.len);
	if (type == 'C')
		pf_text_print(r, "|%lld", (long long)(int32_t)number_of(message, row->value));
	return true;
}
