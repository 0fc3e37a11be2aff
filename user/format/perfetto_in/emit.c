// SPDX-License-Identifier: GPL-2.0
/*
 * Makes records and gives them their place in time. Those whose clock is not known yet wait for a
 * snapshot until the file ends, in the order of the file.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "reader_p.h"

/* Before each record that waits. */
struct waiting {
	uint64_t clock_key, ns, packet, offset;
	uint32_t rank;
	bool is_part;		/* see pf_emit_part() */
};

/* ---- a record -------------------------------------------------------------- */

static int reserve(struct pf_reader *r, size_t words)
{
	return array_reserve(r->record, r->record_words, r->record_cap, words);
}

static inline void copy_record(void *to, const void *record, size_t words)
{
	/* Nearly all are of that size: no call. */
	if (words == sizeof(struct pf_record) / 8)
		memcpy(to, record, sizeof(struct pf_record));
	else
		memcpy(to, record, words * 8);
}

int pf_record_begin(struct pf_reader *r, const void *head, size_t size)
{
	r->record_words = 0;
	if (reserve(r, size / 8))
		return -ENOMEM;
	copy_record(r->record, head, size / 8);
	*(uint8_t *)r->record |= r->record_flag;
	r->record_words = size / 8;
	return 0;
}

int pf_record_put(struct pf_reader *r, enum pf_piece_kind kind, uint32_t name, uint64_t value)
{
	struct pf_piece piece = {
		.kind = (uint8_t)kind, .is_member = name != PF_NO_STRING, .name = name, .value = value,
	};

	if (reserve(r, sizeof(piece) / 8))
		return -ENOMEM;
	memcpy(r->record + r->record_words, &piece, sizeof(piece));
	r->record_words += sizeof(piece) / 8;
	return 0;
}

size_t pf_cut_len(struct pf_reader *r, const void *data, size_t len, size_t max)
{
	const uint8_t *bytes = data;

	if (len <= max)
		return len;
	r->counts.cut_strings++;
	for (len = max; len > max - 4 && (bytes[len] & 0xc0) == 0x80; len--)
		;
	return len;
}

int pf_record_put_text(struct pf_reader *r, enum pf_piece_kind kind, uint32_t name, const void *data, size_t len)
{
	size_t words;
	int err;

	if (kind != PF_PIECE_LOG)
		len = pf_cut_len(r, data, len, PF_STRING_BYTES_MAX);
	words = pf_padded(len) / 8;
	err = pf_record_put(r, kind, name, len);
	if (err || !len)
		return err;
	if (reserve(r, words))
		return -ENOMEM;
	r->record[r->record_words + words - 1] = 0;
	memcpy(r->record + r->record_words, data, len);
	r->record_words += words;
	return 0;
}

/* ---- its time -------------------------------------------------------------- */

int pf_emit_ns(struct pf_reader *r, uint64_t ns, enum pf_rank rank)
{
	const struct event_sort_key key = { .ts = ns, .rank = rank };
	void *to;
	int err;

	if (ns > INT64_MAX)
		return PF_BAD_TIME;
	if (ns > r->latest_ns)
		r->latest_ns = ns;
	err = event_sort_add_empty(r->sort, key, r->record_words * 8, &to);
	if (!err)
		copy_record(to, r->record, r->record_words);
	return err ? err : PF_USED;
}

static int wait_for_clock(struct pf_reader *r, uint64_t clock_key, uint64_t ns, enum pf_rank rank, bool is_part)
{
	const struct waiting w = { clock_key, ns, r->packet_number, r->packet_offset, rank, is_part };
	const struct event_sort_key key = { 0 };
	int err = r->waiting ? 0 : event_sort_open(&r->waiting, PF_WAITING_BYTES);
	void *to;

	err = err ? err : event_sort_add_empty(r->waiting, key, sizeof(w) + r->record_words * 8, &to);
	if (err)
		return err;
	memcpy(to, &w, sizeof(w));
	memcpy((char *)to + sizeof(w), r->record, r->record_words * 8);
	return PF_USED;
}

static bool is_wall_clock(uint64_t clock_key)
{
	return clock_key == PF_CLOCK_REALTIME || clock_key == PF_CLOCK_REALTIME_COARSE;
}

static int emit_at(struct pf_reader *r, enum pf_convert converted, uint64_t clock_key, uint64_t ns, enum pf_rank rank,
		   bool is_part)
{
	r->has_machine_time |= !is_wall_clock(clock_key);
	switch (converted) {
	case PF_CONVERTED:
		r->clocks.is_used |= !r->clocks.sort_key;
		return pf_emit_ns(r, ns, rank);
	case PF_CLOCK_UNKNOWN:
		return wait_for_clock(r, clock_key, ns, rank, is_part);
	default:
		return PF_BAD_CLOCK;
	}
}

int pf_emit(struct pf_reader *r, uint64_t clock_key, uint64_t value, enum pf_rank rank)
{
	uint64_t ns;
	enum pf_convert converted = pf_clocks_time(&r->clocks, clock_key, value, &ns);

	return emit_at(r, converted, clock_key, ns, rank, false);
}

int pf_emit_part(struct pf_reader *r, uint64_t clock_key, uint64_t value, enum pf_rank rank)
{
	uint64_t ns;
	enum pf_convert converted = pf_clocks_time(&r->clocks, clock_key, value, &ns);

	return emit_at(r, converted, clock_key, ns, rank, true);
}

void pf_packet_time(struct pf_reader *r, struct pf_packet_info *p)
{
	uint32_t clock_id = p->has_clock ? p->clock_id : p->q ? p->q->clock_id : 0;

	p->clock_key = clock_id ? pf_clock_key(clock_id, p->sequence_id) : PF_CLOCK_OF_TRACE;
	if (p->has_timestamp)
		p->converted = pf_clocks_time(&r->clocks, p->clock_key, p->timestamp, &p->ns);
}

int pf_emit_packet(struct pf_reader *r, const struct pf_packet_info *p, enum pf_rank rank)
{
	return p->has_timestamp ? emit_at(r, p->converted, p->clock_key, p->ns, rank, false) : PF_NO_TIME;
}

/* Of several records of a packet the first one costs it, *@last; events of ftrace have a count of their own. */
static void drop_waiting(struct pf_reader *r, const struct waiting *w, enum pf_fate fate, uint64_t *last)
{
	const struct pf_record *record = (const struct pf_record *)r->record;

	if (!w->is_part && w->packet != *last)
		pf_unuse(r, fate, w->packet, w->offset);
	*last = w->packet;
	if (!w->is_part || pf_kind(record->kind) == PF_RECORD_LOST)
		return;
	r->counts.ftrace_events--;
	pf_drop_part(r, w->packet, w->offset, pf_fate_name(fate));
}

/* Without any snapshot there is one clock only, beside that of the wall. */
static bool is_of_trace(struct pf_reader *r, struct waiting *w)
{
	if (!r->clocks.snapshots)
		return !r->has_machine_time || !is_wall_clock(w->clock_key);
	return pf_clocks_convert(&r->clocks, w->clock_key, &w->ns) == PF_CONVERTED;
}

static int release(struct pf_reader *r, const struct event_sort_item *item, uint64_t *last)
{
	const struct pf_record *head;
	int fate = PF_BAD_CLOCK;
	struct waiting w;

	memcpy(&w, item->data, sizeof(w));
	if (pf_record_begin(r, (const char *)item->data + sizeof(w), item->len - sizeof(w)))
		return -ENOMEM;
	if (is_of_trace(r, &w))
		fate = pf_emit_ns(r, w.ns, w.rank);
	head = (const struct pf_record *)r->record;
	if (fate == PF_USED && pf_kind(head->kind) == PF_RECORD_EVENT)
		pf_note_slice(r, head->track, head->type, w.ns);
	if (fate > PF_USED)
		drop_waiting(r, &w, fate, last);
	return fate < 0 ? fate : 0;
}

int pf_release(struct pf_reader *r)
{
	struct event_sort_item item;
	uint64_t last = 0;
	int got = 0, err = 0;

	while (r->waiting && !err && (got = event_sort_next(r->waiting, &item)) > 0)
		err = release(r, &item, &last);
	r->waiting_runs = r->waiting ? event_sort_runs(r->waiting) : 0;
	event_sort_close(r->waiting);
	r->waiting = NULL;
	return err ? err : got;
}

/* ---- strings --------------------------------------------------------------- */

uint32_t pf_string(struct pf_reader *r, const void *data, size_t len)
{
	uint32_t number = pf_pool_add(&r->pool, data, len);

	if (number != PF_POOL_FULL)
		return number;
	if (!r->counts.strings_dropped++)
		pf_note(r, r->packet_number, r->packet_offset, "more names than there is space for");
	return PF_NO_STRING;
}

uint32_t pf_string_of(struct pf_reader *r, const struct pf_field *f)
{
	return pf_string(r, f->data, f->len);
}

uint32_t pf_word(struct pf_reader *r, const char *text)
{
	return pf_string(r, text, strlen(text));
}

int pf_put_counter(struct pf_reader *r, enum pf_piece_kind kind, uint64_t value)
{
	uint32_t name = pf_string(r, r->text, r->text_len);

	return name ? pf_record_put(r, kind, name, value) : 0;
}

/* ---- text ------------------------------------------------------------------ */

void pf_text_clear(struct pf_reader *r)
{
	r->text_len = 0;
}

void pf_text_add(struct pf_reader *r, const void *data, size_t len)
{
	size_t space = sizeof(r->text) - r->text_len;

	len = len < space ? len : space;
	if (len)
		memcpy(r->text + r->text_len, data, len);
	r->text_len += len;
}

void pf_text_print(struct pf_reader *r, const char *format, ...)
{
	char buf[128];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(buf, sizeof(buf), format, ap);
	va_end(ap);
	if (n > 0)
		pf_text_add(r, buf, (size_t)n < sizeof(buf) ? (size_t)n : sizeof(buf) - 1);
}
