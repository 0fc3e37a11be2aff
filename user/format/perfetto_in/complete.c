// SPDX-License-Identifier: GPL-2.0
/*
 * Slices that were one record of FXT: their begin and their end are packets that follow each other, and the end
 * refers to no state. They are one record again; what a program began and ended by itself is two.
 */
#include <errno.h>

#include "reader_p.h"

static void swap_records(struct pf_reader *r)
{
	struct pf_begun *b = &r->begun;
	uint64_t *record = r->record;
	const size_t words = r->record_words, cap = r->record_cap;

	r->record = b->record;
	r->record_words = b->words;
	r->record_cap = b->cap;
	b->record = record;
	b->words = words;
	b->cap = cap;
}

void pf_hold_begin(struct pf_reader *r, const struct pf_packet_info *p, uint64_t uuid)
{
	swap_records(r);
	r->begun.is_held = true;
	r->begun.uuid = uuid;
	r->begun.p = *p;
}

/* Puts the record that is kept in its place in time. */
static int emit_held(struct pf_reader *r)
{
	int fate;

	r->begun.is_held = false;
	fate = pf_emit_packet(r, &r->begun.p, PF_RANK_OTHER);
	if (fate > PF_USED)
		pf_unuse(r, (enum pf_fate)fate, r->begun.p.number, r->begun.p.offset);
	return fate < 0 ? fate : 0;
}

int pf_end_held(struct pf_reader *r, const struct pf_packet_info *p, uint64_t uuid)
{
	const struct pf_packet_info *begin = &r->begun.p;
	struct pf_record head;
	int err;

	if (!r->begun.is_held || r->begun.uuid != uuid || begin->sequence_id != p->sequence_id || p->flags ||
	    begin->converted != PF_CONVERTED || p->converted != PF_CONVERTED || p->ns < begin->ns)
		return 0;
	swap_records(r);
	memcpy(&head, r->record, sizeof(head));
	head.type = 'X';
	head.number = (int64_t)(p->ns - begin->ns);
	memcpy(r->record, &head, sizeof(head));
	err = emit_held(r);
	return err ? err : PF_USED;
}

int pf_release_begin(struct pf_reader *r)
{
	if (!r->begun.is_held)
		return 0;
	swap_records(r);
	return emit_held(r);
}
