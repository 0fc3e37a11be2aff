/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One record's words and what they mean. No length or count is trusted:
 * everything is taken from the words at hand or not at all. Strings and data
 * are pointed to, not copied.
 */
#include "reader.h"

#include <string.h>

#define TOO_SHORT	"record shorter than its fields"
#define STRING_LONG	"string longer than its record"
#define DATA_LONG	"data longer than its record"

/* The next words, or NULL if they are not there. */
static inline const uint64_t *take_words(struct fxt_decoder *d, size_t words)
{
	const uint64_t *at = d->at;

	if (words > (size_t)(d->end - at))
		return NULL;
	d->at = at + words;
	return at;
}

static inline bool take_word(struct fxt_decoder *d, uint64_t *word)
{
	const uint64_t *at = take_words(d, 1);

	if (at)
		*word = *at;
	return at;
}

static bool take_bytes(struct fxt_decoder *d, size_t len, const void **data)
{
	*data = take_words(d, fxt_words(len));
	return *data;
}

/* A string of a length given elsewhere. */
static bool take_plain(struct fxt_decoder *d, size_t len, struct fxt_str *s)
{
	const void *data;

	if (!take_bytes(d, len, &data))
		return false;
	s->data = data;
	s->len = len;
	s->inlined = true;
	return true;
}

/* "String references" */
static inline bool take_string(struct fxt_decoder *d, struct fxt_record *rec, unsigned int ref,
			       struct fxt_str *s)
{
	const struct fxt_provider *p = d->tables;

	if (ref & FXT_STR_INLINE)
		return take_plain(d, ref & FXT_STRING_INDEX_MAX, s);
	s->inlined = false;
	if (ref < p->strings_cnt && p->strings[ref].data) {
		s->data = p->strings[ref].data;
		s->len = p->strings[ref].len;
		return true;
	}
	s->data = "";
	s->len = 0;
	rec->unresolved += ref != 0;
	return true;
}

/* "Thread references" */
static void find_thread(struct fxt_decoder *d, struct fxt_record *rec, unsigned int ref,
			struct fxt_thread *t)
{
	*t = d->tables->threads[ref];
	rec->unresolved += !d->tables->threads_known[ref];
}

static inline bool take_thread(struct fxt_decoder *d, struct fxt_record *rec, unsigned int ref,
			       struct fxt_thread *t)
{
	if (ref) {
		find_thread(d, rec, ref, t);
		return true;
	}
	t->inlined = true;
	return take_word(d, &t->process) && take_word(d, &t->thread);
}

static inline bool take_ts(struct fxt_decoder *d, struct fxt_record *rec, uint64_t *ts)
{
	if (!take_word(d, &rec->ts))
		return false;
	*ts = rec->ts;
	rec->has_ts = true;
	return true;
}

/* The value of an argument, by "Argument types"; its words end where @d does. */
static const char *take_value(struct fxt_decoder *d, struct fxt_record *rec, uint64_t head,
			      struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_NULL:
		return NULL;
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
		arg->u32 = FXT_GET(head, FXT_F_ARG_VALUE32);
		return NULL;
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_DOUBLE:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		return take_word(d, &arg->u64) ? NULL : "argument shorter than its value";
	case FXT_ARG_STRING:
		return take_string(d, rec, FXT_GET(head, FXT_F_ARG_STRING), &arg->str) ?
		       NULL : "string longer than its argument";
	case FXT_ARG_BOOL:
		arg->b = FXT_GET(head, FXT_F_ARG_BOOL);
		return NULL;
	case FXT_ARG_BLOB:
		arg->blob.len = FXT_GET(head, FXT_F_ARG_VALUE32);
		return take_bytes(d, arg->blob.len, &arg->blob.data) ?
		       NULL : "data longer than its argument";
	default:
		arg->blob.data = d->at;
		arg->blob.len = (d->end - d->at) * FXT_WORD;
		return NULL;
	}
}

/* "Argument header": an argument's own size says where the next one is. */
static inline const char *take_arg(struct fxt_decoder *d, struct fxt_record *rec,
				   struct fxt_arg *arg)
{
	const uint64_t *end = d->end, *next;
	const char *reason;
	uint64_t head, words;

	if (!take_word(d, &head))
		return "record shorter than its arguments";
	words = FXT_GET(head, FXT_F_ARG_SIZE);
	if (!words)
		return "argument of size 0";
	if (words - 1 > (uint64_t)(end - d->at))
		return "argument longer than its record";
	next = d->at + words - 1;
	d->end = next;
	arg->type = FXT_GET(head, FXT_F_ARG_TYPE);
	reason = take_string(d, rec, FXT_GET(head, FXT_F_ARG_NAME), &arg->name) ?
		 take_value(d, rec, head, arg) : "string longer than its argument";
	d->at = next;
	d->end = end;
	return reason;
}

static const char *take_args(struct fxt_decoder *d, struct fxt_record *rec, unsigned int nargs)
{
	const char *reason = NULL;
	unsigned int i;

	for (i = 0; i < nargs && !reason; i++)
		reason = take_arg(d, rec, &rec->args[i]);
	rec->nargs = i;
	return reason;
}

/* Of a type or subtype the specification does not have: only its size is known. */
static const char *take_unknown(struct fxt_decoder *d, struct fxt_record *rec)
{
	rec->kind = FXT_KIND_UNKNOWN;
	d->at = d->end;
	return NULL;
}

/* "Metadata record" */
static const char *decode_metadata(struct fxt_decoder *d, struct fxt_record *rec, uint64_t head)
{
	rec->provider.id = FXT_GET(head, FXT_F_META_PROVIDER);
	rec->provider.event = 0;
	rec->provider.name = fxt_str_n("", 0);
	switch (FXT_GET(head, FXT_F_META_TYPE)) {
	case FXT_META_PROVIDER_INFO:
		rec->kind = FXT_KIND_PROVIDER_INFO;
		return take_plain(d, FXT_GET(head, FXT_F_META_NAME_LEN), &rec->provider.name) ?
		       NULL : STRING_LONG;
	case FXT_META_PROVIDER_SECTION:
		rec->kind = FXT_KIND_PROVIDER_SECTION;
		return NULL;
	case FXT_META_PROVIDER_EVENT:
		rec->kind = FXT_KIND_PROVIDER_EVENT;
		rec->provider.event = FXT_GET(head, FXT_F_META_EVENT);
		return NULL;
	case FXT_META_TRACE_INFO:
		if (FXT_GET(head, FXT_F_META_INFO))
			return take_unknown(d, rec);
		rec->kind = FXT_KIND_MAGIC;
		return head == FXT_MAGIC ? NULL : "wrong magic number";
	default:
		return take_unknown(d, rec);
	}
}

/* "Initialization record" */
static const char *decode_initialization(struct fxt_decoder *d, struct fxt_record *rec)
{
	rec->kind = FXT_KIND_INITIALIZATION;
	if (!take_word(d, &rec->ticks_per_second))
		return TOO_SHORT;
	/* Jane Street's writer adds two words: a base tick and its wall clock time. */
	if (d->end - d->at == 2)
		d->at = d->end;
	return rec->ticks_per_second ? NULL : "initialization with 0 ticks per second";
}

/* "String record" */
static const char *decode_string(struct fxt_decoder *d, struct fxt_record *rec, uint64_t head)
{
	rec->kind = FXT_KIND_STRING;
	rec->string.index = FXT_GET(head, FXT_F_STRING_INDEX);
	return take_plain(d, FXT_GET(head, FXT_F_STRING_LEN), &rec->string.value) ?
	       NULL : STRING_LONG;
}

/* "Thread record" */
static const char *decode_thread(struct fxt_decoder *d, struct fxt_record *rec, uint64_t head)
{
	rec->kind = FXT_KIND_THREAD;
	rec->thread.index = FXT_GET(head, FXT_F_THREAD_INDEX);
	return take_thread(d, rec, 0, &rec->thread.value) ? NULL : TOO_SHORT;
}

/* "Event record" */
static const char *decode_event(struct fxt_decoder *d, struct fxt_record *rec, uint64_t head)
{
	struct fxt_event *e = &rec->event;
	const char *reason;

	e->type = FXT_GET(head, FXT_F_EVENT_TYPE);
	if (e->type > FXT_FLOW_END)
		return take_unknown(d, rec);
	rec->kind = FXT_KIND_EVENT;
	if (!take_ts(d, rec, &e->ts) ||
	    !take_thread(d, rec, FXT_GET(head, FXT_F_EVENT_THREAD), &e->thread))
		return TOO_SHORT;
	if (!take_string(d, rec, FXT_GET(head, FXT_F_EVENT_CATEGORY), &e->category) ||
	    !take_string(d, rec, FXT_GET(head, FXT_F_EVENT_NAME), &e->name))
		return STRING_LONG;
	reason = take_args(d, rec, FXT_GET(head, FXT_F_EVENT_NARGS));
	if (reason)
		return reason;
	e->id = 0;
	if (fxt_event_has_id(e->type) && !take_word(d, &e->id))
		return TOO_SHORT;
	return NULL;
}

/* "BLOB record" */
static const char *decode_blob(struct fxt_decoder *d, struct fxt_record *rec, uint64_t head)
{
	rec->kind = FXT_KIND_BLOB;
	rec->blob.type = FXT_GET(head, FXT_F_BLOB_TYPE);
	rec->blob.len = FXT_GET(head, FXT_F_BLOB_BYTES);
	if (!take_string(d, rec, FXT_GET(head, FXT_F_BLOB_NAME), &rec->blob.name))
		return STRING_LONG;
	return take_bytes(d, rec->blob.len, &rec->blob.data) ? NULL : DATA_LONG;
}

/* "Userspace object record": of an inline process only the process id is there. */
static const char *decode_userspace_object(struct fxt_decoder *d, struct fxt_record *rec,
					   uint64_t head)
{
	unsigned int ref = FXT_GET(head, FXT_F_UOBJ_PROCESS);
	struct fxt_object *o = &rec->object;

	rec->kind = FXT_KIND_USERSPACE_OBJECT;
	o->kind = 0;
	o->process = (struct fxt_thread){ .inlined = !ref };
	if (!take_word(d, &o->id))
		return TOO_SHORT;
	if (ref)
		find_thread(d, rec, ref, &o->process);
	else if (!take_word(d, &o->process.process))
		return TOO_SHORT;
	if (!take_string(d, rec, FXT_GET(head, FXT_F_UOBJ_NAME), &o->name))
		return STRING_LONG;
	return take_args(d, rec, FXT_GET(head, FXT_F_UOBJ_NARGS));
}

/* "Kernel object record" */
static const char *decode_kernel_object(struct fxt_decoder *d, struct fxt_record *rec,
					uint64_t head)
{
	struct fxt_object *o = &rec->object;

	rec->kind = FXT_KIND_KERNEL_OBJECT;
	o->kind = FXT_GET(head, FXT_F_KOBJ_TYPE);
	o->process = (struct fxt_thread){ .inlined = false };
	if (!take_word(d, &o->id))
		return TOO_SHORT;
	if (!take_string(d, rec, FXT_GET(head, FXT_F_KOBJ_NAME), &o->name))
		return STRING_LONG;
	return take_args(d, rec, FXT_GET(head, FXT_F_KOBJ_NARGS));
}

/* "Legacy Context Switch Record" */
static const char *decode_legacy_switch(struct fxt_decoder *d, struct fxt_record *rec,
					uint64_t head)
{
	struct fxt_legacy_switch *s = &rec->legacy_switch;

	rec->kind = FXT_KIND_LEGACY_SWITCH;
	s->cpu = FXT_GET(head, FXT_F_LEGACY_CPU);
	s->state = FXT_GET(head, FXT_F_LEGACY_STATE);
	s->out_priority = FXT_GET(head, FXT_F_LEGACY_OUT_PRIO);
	s->in_priority = FXT_GET(head, FXT_F_LEGACY_IN_PRIO);
	if (!take_ts(d, rec, &s->ts) ||
	    !take_thread(d, rec, FXT_GET(head, FXT_F_LEGACY_OUT), &s->out) ||
	    !take_thread(d, rec, FXT_GET(head, FXT_F_LEGACY_IN), &s->in))
		return TOO_SHORT;
	return NULL;
}

/* "Context Switch Record" */
static const char *decode_switch(struct fxt_decoder *d, struct fxt_record *rec, uint64_t head)
{
	struct fxt_switch *s = &rec->context_switch;
	const uint64_t *at = take_words(d, 3);

	rec->kind = FXT_KIND_SWITCH;
	if (!at)
		return TOO_SHORT;
	rec->has_ts = true;
	rec->ts = at[0];
	s->ts = at[0];
	s->out = at[1];
	s->in = at[2];
	s->cpu = FXT_GET(head, FXT_F_SCHED_CPU);
	s->state = FXT_GET(head, FXT_F_SCHED_STATE);
	return take_args(d, rec, FXT_GET(head, FXT_F_SCHED_NARGS));
}

/* "Thread Wakeup Record" */
static const char *decode_wakeup(struct fxt_decoder *d, struct fxt_record *rec, uint64_t head)
{
	struct fxt_wakeup *s = &rec->wakeup;
	const uint64_t *at = take_words(d, 2);

	rec->kind = FXT_KIND_WAKEUP;
	if (!at)
		return TOO_SHORT;
	rec->has_ts = true;
	rec->ts = at[0];
	s->ts = at[0];
	s->thread = at[1];
	s->cpu = FXT_GET(head, FXT_F_SCHED_CPU);
	return take_args(d, rec, FXT_GET(head, FXT_F_SCHED_NARGS));
}

/* "Scheduling Record" */
static const char *decode_scheduling(struct fxt_decoder *d, struct fxt_record *rec, uint64_t head)
{
	switch (FXT_GET(head, FXT_F_SCHED_TYPE)) {
	case FXT_SCHED_LEGACY:
		return decode_legacy_switch(d, rec, head);
	case FXT_SCHED_SWITCH:
		return decode_switch(d, rec, head);
	case FXT_SCHED_WAKEUP:
		return decode_wakeup(d, rec, head);
	default:
		return take_unknown(d, rec);
	}
}

/* "Log record" */
static const char *decode_log(struct fxt_decoder *d, struct fxt_record *rec, uint64_t head)
{
	uint64_t ts;

	rec->kind = FXT_KIND_LOG;
	if (!take_ts(d, rec, &ts) ||
	    !take_thread(d, rec, FXT_GET(head, FXT_F_LOG_THREAD), &rec->log.thread))
		return TOO_SHORT;
	return take_plain(d, FXT_GET(head, FXT_F_LOG_BYTES), &rec->log.text) ? NULL : STRING_LONG;
}

/* "Module Record" */
static const char *decode_module(struct fxt_decoder *d, struct fxt_record *rec, uint64_t head)
{
	struct fxt_module *m = &rec->module;

	rec->kind = FXT_KIND_MODULE;
	m->id = FXT_GET(head, FXT_F_PROF_MODULE);
	m->build_id_len = FXT_GET(head, FXT_F_PROF_BUILD_LEN);
	if (!take_ts(d, rec, &m->ts) ||
	    !take_thread(d, rec, FXT_GET(head, FXT_F_PROF_THREAD), &m->thread))
		return TOO_SHORT;
	if (!take_plain(d, FXT_GET(head, FXT_F_PROF_NAME_LEN), &m->name))
		return STRING_LONG;
	return take_bytes(d, m->build_id_len, &m->build_id) ? NULL : DATA_LONG;
}

/* "Mmap Record" */
static const char *decode_mmap(struct fxt_decoder *d, struct fxt_record *rec, uint64_t head)
{
	struct fxt_mmap *m = &rec->mmap;

	rec->kind = FXT_KIND_MMAP;
	m->module = FXT_GET(head, FXT_F_PROF_MODULE);
	m->flags = FXT_GET(head, FXT_F_PROF_FLAGS);
	if (!take_ts(d, rec, &m->ts) ||
	    !take_thread(d, rec, FXT_GET(head, FXT_F_PROF_THREAD), &m->thread) ||
	    !take_word(d, &m->start) || !take_word(d, &m->range) || !take_word(d, &m->vaddr))
		return TOO_SHORT;
	return NULL;
}

/* "Backtrace Record" */
static const char *decode_backtrace(struct fxt_decoder *d, struct fxt_record *rec, uint64_t head)
{
	struct fxt_backtrace *b = &rec->backtrace;

	rec->kind = FXT_KIND_BACKTRACE;
	b->frames_cnt = FXT_GET(head, FXT_F_PROF_FRAMES);
	if (!take_ts(d, rec, &b->ts) ||
	    !take_thread(d, rec, FXT_GET(head, FXT_F_PROF_THREAD), &b->thread))
		return TOO_SHORT;
	b->frames = take_words(d, b->frames_cnt);
	return b->frames ? NULL : DATA_LONG;
}

/* "Profiler record" */
static const char *decode_profiler(struct fxt_decoder *d, struct fxt_record *rec, uint64_t head)
{
	switch (FXT_GET(head, FXT_F_PROF_TYPE)) {
	case FXT_PROF_MODULE:
		return decode_module(d, rec, head);
	case FXT_PROF_MMAP:
		return decode_mmap(d, rec, head);
	case FXT_PROF_BACKTRACE:
		return decode_backtrace(d, rec, head);
	default:
		return take_unknown(d, rec);
	}
}

/*
 * The end of a large record. Its payload need not be at hand; that it fits is
 * checked against the size in the header, and so is the opposite: a payload far
 * smaller than its record is a size that lies, and would swallow what follows.
 */
static const char *take_payload(struct fxt_decoder *d, struct fxt_large_blob *b, uint64_t left)
{
	b->data = NULL;
	if (!take_word(d, &b->len))
		return TOO_SHORT;
	left--;
	if (b->len > left * FXT_WORD)
		return DATA_LONG;
	d->payload_words = fxt_words(b->len);
	if (left - d->payload_words > FXT_RECORD_WORDS_MAX)
		return "data much shorter than its record";
	if (d->words <= FXT_RECORD_WORDS_MAX)
		b->data = d->at;
	return NULL;
}

/* "In Band Large Blob Record With Metadata": what it has more than the other */
static const char *take_blob_metadata(struct fxt_decoder *d, struct fxt_record *rec,
				      uint64_t format_head)
{
	struct fxt_large_blob *b = &rec->large_blob;

	if (!take_ts(d, rec, &b->ts) ||
	    !take_thread(d, rec, FXT_GET(format_head, FXT_F_LBLOB_THREAD), &b->thread))
		return TOO_SHORT;
	return take_args(d, rec, FXT_GET(format_head, FXT_F_LBLOB_NARGS));
}

/* "Large BLOB record" */
static const char *decode_large(struct fxt_decoder *d, struct fxt_record *rec, uint64_t head)
{
	struct fxt_large_blob *b = &rec->large_blob;
	const uint64_t *start = d->at - 1;
	const char *reason = NULL;
	uint64_t format_head;

	b->format = FXT_GET(head, FXT_F_LARGE_FORMAT);
	if (FXT_GET(head, FXT_F_LARGE_TYPE) != FXT_LARGE_BLOB || b->format > FXT_LARGE_NO_METADATA)
		return take_unknown(d, rec);
	rec->kind = FXT_KIND_LARGE_BLOB;
	b->ts = 0;
	b->thread = (struct fxt_thread){ .inlined = false };
	if (!take_word(d, &format_head))
		return TOO_SHORT;
	if (!take_string(d, rec, FXT_GET(format_head, FXT_F_LBLOB_CATEGORY), &b->category) ||
	    !take_string(d, rec, FXT_GET(format_head, FXT_F_LBLOB_NAME), &b->name))
		return STRING_LONG;
	if (b->format == FXT_LARGE_WITH_METADATA)
		reason = take_blob_metadata(d, rec, format_head);
	return reason ? reason : take_payload(d, b, d->words - (d->at - start));
}

const char *fxt_decode(struct fxt_decoder *d, struct fxt_record *rec)
{
	uint64_t head = *d->at++;

	d->payload_words = 0;
	rec->has_ts = false;
	rec->ts = 0;
	rec->nargs = 0;
	rec->unresolved = 0;
	switch (FXT_GET(head, FXT_F_TYPE)) {
	case FXT_METADATA:
		return decode_metadata(d, rec, head);
	case FXT_INITIALIZATION:
		return decode_initialization(d, rec);
	case FXT_STRING:
		return decode_string(d, rec, head);
	case FXT_THREAD:
		return decode_thread(d, rec, head);
	case FXT_EVENT:
		return decode_event(d, rec, head);
	case FXT_BLOB:
		return decode_blob(d, rec, head);
	case FXT_USERSPACE_OBJECT:
		return decode_userspace_object(d, rec, head);
	case FXT_KERNEL_OBJECT:
		return decode_kernel_object(d, rec, head);
	case FXT_SCHEDULING:
		return decode_scheduling(d, rec, head);
	case FXT_LOG:
		return decode_log(d, rec, head);
	case FXT_PROFILER:
		return decode_profiler(d, rec, head);
	case FXT_LARGE:
		return decode_large(d, rec, head);
	default:
		return take_unknown(d, rec);
	}
}
