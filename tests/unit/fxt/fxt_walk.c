/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a trace from end to end; see fxt_walk.h. */
#include "fxt_walk.h"

#include <errno.h>
#include <string.h>

#include "fxt_mem.h"

struct state {
	struct fxt_walk *walk;
	struct fxt_mem_source source;
	struct fxt_reader *reader;
	uint64_t expected;		/* offset of the next record */
};

static void add_bytes(struct fxt_walk *walk, const void *data, size_t len)
{
	const unsigned char *at = data;

	for (; len; at++, len--)
		walk->digest = (walk->digest ^ *at) * 0x100000001b3ULL;
}

static void add_word(struct fxt_walk *walk, uint64_t word)
{
	walk->digest = (walk->digest ^ word) * 0x100000001b3ULL;
	walk->digest ^= walk->digest >> 29;
}

static void add_str(struct fxt_walk *walk, const struct fxt_str *s)
{
	add_word(walk, s->len | (uint64_t)s->inlined << 32);
	add_bytes(walk, s->data, s->len);
}

static void add_thread(struct fxt_walk *walk, const struct fxt_thread *t)
{
	add_word(walk, t->process);
	add_word(walk, t->thread);
	add_word(walk, t->inlined);
}

static void add_arg(struct fxt_walk *walk, const struct fxt_arg *arg)
{
	add_word(walk, arg->type);
	add_str(walk, &arg->name);
	switch (arg->type) {
	case FXT_ARG_NULL:
		break;
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
		add_word(walk, arg->u32);
		break;
	case FXT_ARG_STRING:
		add_str(walk, &arg->str);
		break;
	case FXT_ARG_BOOL:
		add_word(walk, arg->b);
		break;
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_DOUBLE:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		add_word(walk, arg->u64);
		break;
	default:
		add_word(walk, arg->blob.len);
		add_bytes(walk, arg->blob.data, arg->blob.len);
	}
}

static void add_profiler(struct fxt_walk *walk, const struct fxt_record *rec)
{
	if (rec->kind == FXT_KIND_MODULE) {
		add_thread(walk, &rec->module.thread);
		add_word(walk, rec->module.id);
		add_str(walk, &rec->module.name);
		add_bytes(walk, rec->module.build_id, rec->module.build_id_len);
	} else if (rec->kind == FXT_KIND_MMAP) {
		add_thread(walk, &rec->mmap.thread);
		add_word(walk, rec->mmap.module | (uint64_t)rec->mmap.flags << 16);
		add_word(walk, rec->mmap.start);
		add_word(walk, rec->mmap.range);
		add_word(walk, rec->mmap.vaddr);
	} else {
		add_thread(walk, &rec->backtrace.thread);
		add_bytes(walk, rec->backtrace.frames, 8 * rec->backtrace.frames_cnt);
	}
}

static void add_scheduling(struct fxt_walk *walk, const struct fxt_record *rec)
{
	if (rec->kind == FXT_KIND_SWITCH) {
		add_word(walk, rec->context_switch.cpu | rec->context_switch.state << 16);
		add_word(walk, rec->context_switch.out);
		add_word(walk, rec->context_switch.in);
	} else if (rec->kind == FXT_KIND_WAKEUP) {
		add_word(walk, rec->wakeup.cpu);
		add_word(walk, rec->wakeup.thread);
	} else {
		add_word(walk, rec->legacy_switch.cpu | rec->legacy_switch.state << 16);
		add_word(walk, rec->legacy_switch.out_priority);
		add_word(walk, rec->legacy_switch.in_priority);
		add_thread(walk, &rec->legacy_switch.out);
		add_thread(walk, &rec->legacy_switch.in);
	}
}

static void add_large(struct state *s, const struct fxt_record *rec, bool skip)
{
	const struct fxt_large_blob *b = &rec->large_blob;
	unsigned char buf[4097];
	uint64_t seen = 0;
	long n = 0;

	add_word(s->walk, b->format);
	add_str(s->walk, &b->category);
	add_thread(s->walk, &b->thread);
	add_word(s->walk, b->len);
	while (!skip && (n = fxt_reader_payload(s->reader, buf, sizeof(buf))) != 0) {
		if (n < 0 && s->source.err && n == s->source.err)
			continue;
		if (n < 0)
			break;
		add_bytes(s->walk, buf, n);
		if (b->data && memcmp(buf, (const char *)b->data + seen, n))
			s->walk->broken = "payload is not .data";
		seen += n;
	}
	if (!skip && !n && seen != b->len)
		s->walk->broken = "payload is not as long as it said";
	/* The name after the payload: it must have outlived it. */
	add_str(s->walk, &b->name);
}

static void add_tables(struct fxt_walk *walk, const struct fxt_record *rec)
{
	if (rec->kind == FXT_KIND_INITIALIZATION) {
		add_word(walk, rec->ticks_per_second);
	} else if (rec->kind == FXT_KIND_STRING) {
		add_word(walk, rec->string.index);
		add_str(walk, &rec->string.value);
	} else if (rec->kind == FXT_KIND_THREAD) {
		add_word(walk, rec->thread.index);
		add_thread(walk, &rec->thread.value);
	} else if (rec->kind != FXT_KIND_MAGIC) {
		add_word(walk, rec->provider.id | (uint64_t)rec->provider.event << 32);
		add_str(walk, &rec->provider.name);
	}
}

static void add_objects(struct fxt_walk *walk, const struct fxt_record *rec)
{
	if (rec->kind == FXT_KIND_BLOB) {
		add_word(walk, rec->blob.type);
		add_str(walk, &rec->blob.name);
		add_bytes(walk, rec->blob.data, rec->blob.len);
	} else if (rec->kind == FXT_KIND_LOG) {
		add_thread(walk, &rec->log.thread);
		add_str(walk, &rec->log.text);
	} else if (rec->kind == FXT_KIND_EVENT) {
		add_word(walk, rec->event.type);
		add_thread(walk, &rec->event.thread);
		add_str(walk, &rec->event.category);
		add_str(walk, &rec->event.name);
		add_word(walk, rec->event.id);
	} else {
		add_word(walk, rec->object.id);
		add_str(walk, &rec->object.name);
		add_word(walk, rec->object.kind);
		add_thread(walk, &rec->object.process);
	}
}

static void add_record(struct state *s, const struct fxt_record *rec, bool skip_payload)
{
	unsigned int i;

	add_word(s->walk, rec->kind);
	add_word(s->walk, rec->provider_id);
	add_word(s->walk, rec->has_ts ? rec->ts : 0);
	for (i = 0; i < rec->nargs; i++)
		add_arg(s->walk, &rec->args[i]);
	if (rec->kind <= FXT_KIND_THREAD)
		add_tables(s->walk, rec);
	else if (rec->kind >= FXT_KIND_LEGACY_SWITCH && rec->kind <= FXT_KIND_WAKEUP)
		add_scheduling(s->walk, rec);
	else if (rec->kind >= FXT_KIND_MODULE && rec->kind <= FXT_KIND_BACKTRACE)
		add_profiler(s->walk, rec);
	else if (rec->kind == FXT_KIND_LARGE_BLOB)
		add_large(s, rec, skip_payload);
	else if (rec->kind < FXT_KIND_UNKNOWN)
		add_objects(s->walk, rec);
}

/* The record as it is in the input. */
static void check_raw(struct state *s, const struct fxt_record *rec)
{
	unsigned char buf[1025];
	uint64_t seen = 0;
	long n;

	while ((n = fxt_reader_raw(s->reader, buf, sizeof(buf))) != 0) {
		if (n < 0 && s->source.err && n == s->source.err)
			continue;
		if (n < 0)
			break;
		if (memcmp(buf, s->source.data + rec->offset + seen, n) != 0)
			s->walk->broken = "raw bytes are not the input's";
		seen += n;
	}
	if (seen != (rec->kind == FXT_KIND_DAMAGED ? 0 : rec->len) && n != -ENODATA)
		s->walk->broken = "raw bytes are not as long as the record";
}

static void account(struct state *s, const struct fxt_record *rec)
{
	struct fxt_walk *walk = s->walk;
	const char *first = NULL;

	if (rec->offset != s->expected && rec->len)
		walk->broken = "a gap between records";
	if (rec->kind != FXT_KIND_DAMAGED && (!rec->len || rec->len % 8))
		walk->broken = "a record that is not whole words";
	if (rec->kind == FXT_KIND_DAMAGED) {
		if (rec->offset || rec->len)
			first = rec->damage.reason;
		walk->damage_bytes += rec->len;
		if (!rec->len && rec->offset && s->expected <= s->source.len)
			walk->broken = "damage of no length inside";
	}
	walk->kinds[rec->kind]++;
	if (!walk->first_reason)
		walk->first_reason = first;
	s->expected = rec->offset + rec->len > s->expected ? rec->offset + rec->len : s->expected;
	if (!walk->first_reason)
		walk->intact_bytes = s->expected;
}

struct fxt_walk fxt_walk(const void *data, size_t len, struct fxt_walk_options how)
{
	struct fxt_walk walk = { .digest = 0xcbf29ce484222325ULL };
	struct state s = { .walk = &walk, .source = { .data = data, .len = len,
		.chunk = how.chunk, .err = how.err } };
	struct fxt_reader_stats stats;
	struct fxt_record rec;
	uint64_t left = len / 8 + 8;
	int ret;

	if (fxt_reader_open(&s.reader, fxt_mem_read, &s.source)) {
		walk.broken = "no memory";
		return walk;
	}
	/* What is not set must not be looked at: make it visible. */
	memset(&rec, 0xa5, sizeof(rec));
	while ((ret = fxt_reader_next(s.reader, &rec)) != 0 && left) {
		if (ret == how.err)
			continue;
		if (ret < 0)
			break;
		left--;
		add_record(&s, &rec, how.skip_payload);
		if (how.skip_payload || rec.kind != FXT_KIND_LARGE_BLOB)
			check_raw(&s, &rec);
		account(&s, &rec);
	}
	fxt_reader_stats(s.reader, &stats);
	if (ret)
		walk.broken = left ? "an error from nowhere" : "no end";
	else if (s.expected < len || stats.bytes != len)
		walk.broken = "bytes not accounted for";
	else if (s.expected > len && walk.kinds[FXT_KIND_DAMAGED] == 0)
		walk.broken = "a record longer than the input";
	else if (stats.skipped_bytes != walk.damage_bytes)
		walk.broken = "damage not counted";
	fxt_reader_close(s.reader);
	return walk;
}
