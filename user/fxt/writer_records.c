/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One function per record of the specification: the header's fields and the
 * order of what follows. Each quotes the section it encodes.
 */
#include "writer.h"

#include <errno.h>
#include <string.h>

#include "table.h"

#define LARGE_WORDS_MAX		0xffffffffULL	/* 32-bit size */

/* A record that is one word. */
static int write_word(struct fxt_writer *w, uint64_t word)
{
	uint64_t *at;

	if (w->err)
		return w->err;
	at = fxt_writer_reserve(w, 1);
	if (!at)
		return w->err;
	*at = word;
	return 0;
}

/* "Magic number record" */
int fxt_write_magic(struct fxt_writer *w)
{
	return write_word(w, FXT_MAGIC);
}

/*
 * "Provider section metadata": a reader keeps tables for each provider. What
 * was registered for another one does not count here, except that the fixed
 * indexes must mean the same everywhere.
 */
static int change_provider(struct fxt_writer *w, uint32_t id)
{
	const void *key;
	unsigned int i;
	size_t len;

	w->provider = id;
	fxt_table_forget(w->strings);
	fxt_table_forget(w->threads);
	for (i = 1; i <= fxt_table_last(w->strings) && !w->err; i++) {
		key = fxt_table_fixed(w->strings, i, &len);
		if (key)
			fxt_put_string_record(w, i, key, len);
	}
	for (i = 1; i <= fxt_table_last(w->threads) && !w->err; i++) {
		key = fxt_table_fixed(w->threads, i, &len);
		if (key)
			fxt_put_thread_record(w, i, key);
	}
	return w->err;
}

/* "Provider info metadata" */
int fxt_write_provider_info(struct fxt_writer *w, uint32_t id, struct fxt_str name)
{
	struct fxt_text *text;
	struct fxt_draft d;
	uint64_t *at;

	fxt_draft_begin(&d, w, 1);
	text = fxt_draft_plain(&d, name, FXT_PROVIDER_NAME_MAX);
	at = fxt_draft_place(&d);
	if (!at)
		return d.err;
	*at++ = FXT_HEADER(FXT_METADATA, d.words) |
		FXT_PUT(FXT_META_PROVIDER_INFO, FXT_F_META_TYPE) |
		FXT_PUT(id, FXT_F_META_PROVIDER) | FXT_PUT(text->len, FXT_F_META_NAME_LEN);
	fxt_put_text(at, text);
	return change_provider(w, id);
}

/* "Provider section metadata" */
int fxt_write_provider_section(struct fxt_writer *w, uint32_t id)
{
	int err = write_word(w, FXT_HEADER(FXT_METADATA, 1) |
				FXT_PUT(FXT_META_PROVIDER_SECTION, FXT_F_META_TYPE) |
				FXT_PUT(id, FXT_F_META_PROVIDER));

	if (!err && id != w->provider)
		err = change_provider(w, id);
	return err;
}

/* "Provider event metadata" */
int fxt_write_provider_event(struct fxt_writer *w, uint32_t id, uint8_t event)
{
	if (event > FXT_GET(~0ULL, FXT_F_META_EVENT))
		return w->err ? w->err : -EINVAL;
	return write_word(w, FXT_HEADER(FXT_METADATA, 1) |
			     FXT_PUT(FXT_META_PROVIDER_EVENT, FXT_F_META_TYPE) |
			     FXT_PUT(id, FXT_F_META_PROVIDER) | FXT_PUT(event, FXT_F_META_EVENT));
}

/* "Initialization record" */
int fxt_write_initialization(struct fxt_writer *w, uint64_t ticks_per_second)
{
	struct fxt_draft d;
	uint64_t *at;

	fxt_draft_begin(&d, w, 2);
	fxt_draft_require(&d, ticks_per_second != 0);
	at = fxt_draft_place(&d);
	if (!at)
		return d.err;
	at[0] = FXT_HEADER(FXT_INITIALIZATION, 2);
	at[1] = ticks_per_second;
	return 0;
}

int fxt_write_string(struct fxt_writer *w, uint16_t index, struct fxt_str s)
{
	struct fxt_text *text;
	struct fxt_draft d;

	fxt_draft_begin(&d, w, 1);
	text = fxt_draft_plain(&d, s, FXT_STRING_BYTES_MAX);
	if (!d.err)
		d.err = fxt_table_add_fixed(w->strings, index, text->data, text->len);
	if (d.err)
		return d.err;
	w->stats.strings_cut += d.cut;
	w->stats.strings_repaired += d.repaired;
	return fxt_put_string_record(w, index, text->data, text->len);
}

int fxt_write_thread(struct fxt_writer *w, uint8_t index, struct fxt_thread t)
{
	uint64_t key[2] = { t.process, t.thread };
	int err = w->err;

	if (!err)
		err = fxt_table_add_fixed(w->threads, index, key, sizeof(key));
	return err ? err : fxt_put_thread_record(w, index, key);
}

/* "Event record" */
int fxt_write_event(struct fxt_writer *w, const struct fxt_event *e,
		    const struct fxt_arg *args, unsigned int nargs)
{
	bool has_id = fxt_event_has_id(e->type);
	struct fxt_text *category, *name;
	struct fxt_draft_thread *thread;
	struct fxt_draft d;
	uint64_t *at;

	if (fxt_put_event(w, e, args, nargs))
		return 0;
	fxt_draft_begin(&d, w, 2 + has_id);
	fxt_draft_require(&d, (unsigned int)e->type <= FXT_FLOW_END);
	thread = fxt_draft_thread(&d, e->thread);
	category = fxt_draft_string(&d, e->category);
	name = fxt_draft_string(&d, e->name);
	fxt_draft_args(&d, args, nargs);
	at = fxt_draft_place(&d);
	if (!at)
		return d.err;
	*at++ = FXT_HEADER(FXT_EVENT, d.words) | FXT_PUT(e->type, FXT_F_EVENT_TYPE) |
		FXT_PUT(nargs, FXT_F_EVENT_NARGS) | FXT_PUT(thread->ref, FXT_F_EVENT_THREAD) |
		FXT_PUT(category->ref, FXT_F_EVENT_CATEGORY) | FXT_PUT(name->ref, FXT_F_EVENT_NAME);
	*at++ = e->ts;
	at = fxt_put_thread(at, thread);
	at = fxt_put_text(at, category);
	at = fxt_put_text(at, name);
	at = fxt_put_args(at, name + 1, args, nargs);
	if (has_id)
		*at = e->id;
	return 0;
}

/* "Context Switch Record" */
int fxt_write_switch(struct fxt_writer *w, const struct fxt_switch *s,
		     const struct fxt_arg *args, unsigned int nargs)
{
	struct fxt_draft d;
	uint64_t *at;

	fxt_draft_begin(&d, w, FXT_SWITCH_WORDS);
	fxt_draft_require(&d, (unsigned int)s->state <= FXT_STATE_DEAD);
	fxt_draft_args(&d, args, nargs);
	at = fxt_draft_place(&d);
	if (!at)
		return d.err;
	FXT_PUT_SWITCH(at, d.words, nargs, s->cpu, s->state, s->ts, s->out, s->in);
	fxt_put_args(at + FXT_SWITCH_WORDS, d.texts, args, nargs);
	return 0;
}

/* "Thread Wakeup Record" */
int fxt_write_wakeup(struct fxt_writer *w, const struct fxt_wakeup *s,
		     const struct fxt_arg *args, unsigned int nargs)
{
	struct fxt_draft d;
	uint64_t *at;

	fxt_draft_begin(&d, w, FXT_WAKEUP_WORDS);
	fxt_draft_args(&d, args, nargs);
	at = fxt_draft_place(&d);
	if (!at)
		return d.err;
	FXT_PUT_WAKEUP(at, d.words, nargs, s->cpu, s->ts, s->thread);
	fxt_put_args(at + FXT_WAKEUP_WORDS, d.texts, args, nargs);
	return 0;
}

/* "Legacy Context Switch Record" */
int fxt_write_legacy_switch(struct fxt_writer *w, const struct fxt_legacy_switch *s)
{
	struct fxt_draft_thread *out, *in;
	struct fxt_draft d;
	uint64_t *at;

	fxt_draft_begin(&d, w, 2);
	/* "any of the values below except running" */
	fxt_draft_require(&d, (unsigned int)s->state <= FXT_STATE_DEAD &&
			      s->state != FXT_STATE_RUNNING);
	out = fxt_draft_thread(&d, s->out);
	in = fxt_draft_thread(&d, s->in);
	at = fxt_draft_place(&d);
	if (!at)
		return d.err;
	*at++ = FXT_HEADER(FXT_SCHEDULING, d.words) | FXT_PUT(FXT_SCHED_LEGACY, FXT_F_SCHED_TYPE) |
		FXT_PUT(s->cpu, FXT_F_LEGACY_CPU) | FXT_PUT(s->state, FXT_F_LEGACY_STATE) |
		FXT_PUT(out->ref, FXT_F_LEGACY_OUT) | FXT_PUT(in->ref, FXT_F_LEGACY_IN) |
		FXT_PUT(s->out_priority, FXT_F_LEGACY_OUT_PRIO) |
		FXT_PUT(s->in_priority, FXT_F_LEGACY_IN_PRIO);
	*at++ = s->ts;
	at = fxt_put_thread(at, out);
	fxt_put_thread(at, in);
	return 0;
}

/* "Userspace object record": of an inline process only the process id is there. */
int fxt_write_userspace_object(struct fxt_writer *w, const struct fxt_object *o,
			       const struct fxt_arg *args, unsigned int nargs)
{
	struct fxt_draft_thread *process;
	struct fxt_text *name;
	struct fxt_draft d;
	uint64_t *at;
	bool in_place;

	fxt_draft_begin(&d, w, 2);
	process = fxt_draft_thread(&d, o->process);
	in_place = !process->ref && !process->pending;
	d.words -= in_place;
	name = fxt_draft_string(&d, o->name);
	fxt_draft_args(&d, args, nargs);
	at = fxt_draft_place(&d);
	if (!at)
		return d.err;
	*at++ = FXT_HEADER(FXT_USERSPACE_OBJECT, d.words) |
		FXT_PUT(process->ref, FXT_F_UOBJ_PROCESS) | FXT_PUT(name->ref, FXT_F_UOBJ_NAME) |
		FXT_PUT(nargs, FXT_F_UOBJ_NARGS);
	*at++ = o->id;
	if (in_place)
		*at++ = o->process.process;
	at = fxt_put_text(at, name);
	fxt_put_args(at, name + 1, args, nargs);
	return 0;
}

/* "Kernel object record" */
int fxt_write_kernel_object(struct fxt_writer *w, const struct fxt_object *o,
			    const struct fxt_arg *args, unsigned int nargs)
{
	struct fxt_text *name;
	struct fxt_draft d;
	uint64_t *at;

	fxt_draft_begin(&d, w, 2);
	name = fxt_draft_string(&d, o->name);
	fxt_draft_args(&d, args, nargs);
	at = fxt_draft_place(&d);
	if (!at)
		return d.err;
	*at++ = FXT_HEADER(FXT_KERNEL_OBJECT, d.words) | FXT_PUT(o->kind, FXT_F_KOBJ_TYPE) |
		FXT_PUT(name->ref, FXT_F_KOBJ_NAME) | FXT_PUT(nargs, FXT_F_KOBJ_NARGS);
	*at++ = o->id;
	at = fxt_put_text(at, name);
	fxt_put_args(at, name + 1, args, nargs);
	return 0;
}

/* "Log record" */
int fxt_write_log(struct fxt_writer *w, uint64_t ts, struct fxt_thread t, struct fxt_str text)
{
	struct fxt_draft_thread *thread;
	struct fxt_text *message;
	struct fxt_draft d;
	uint64_t *at;

	fxt_draft_begin(&d, w, 2);
	thread = fxt_draft_thread(&d, t);
	message = fxt_draft_plain(&d, text, FXT_STRING_BYTES_MAX);
	at = fxt_draft_place(&d);
	if (!at)
		return d.err;
	*at++ = FXT_HEADER(FXT_LOG, d.words) | FXT_PUT(message->len, FXT_F_LOG_BYTES) |
		FXT_PUT(thread->ref, FXT_F_LOG_THREAD);
	*at++ = ts;
	at = fxt_put_thread(at, thread);
	fxt_put_text(at, message);
	return 0;
}

/* "BLOB record": one, of as much of the data as fits. */
static int put_blob(struct fxt_writer *w, enum fxt_blob_type type, struct fxt_str name,
		    const void *data, size_t *len)
{
	struct fxt_text *text;
	struct fxt_draft d;
	uint64_t *at;
	size_t space;

	fxt_draft_begin(&d, w, 1);
	fxt_draft_require(&d, type >= FXT_BLOB_DATA && type <= FXT_BLOB_PERFETTO);
	fxt_draft_require(&d, data || !*len);
	text = fxt_draft_string(&d, name);
	if (d.err)
		return d.err;
	/* A name has at most 4000 words, so there is always space. */
	space = (FXT_RECORD_WORDS_MAX - d.words) * FXT_WORD;
	if (*len > space)
		*len = space;
	d.words += fxt_words(*len);
	at = fxt_draft_place(&d);
	if (!at)
		return d.err;
	*at++ = FXT_HEADER(FXT_BLOB, d.words) | FXT_PUT(text->ref, FXT_F_BLOB_NAME) |
		FXT_PUT(*len, FXT_F_BLOB_BYTES) | FXT_PUT(type, FXT_F_BLOB_TYPE);
	at = fxt_put_text(at, text);
	fxt_put_bytes(at, data, *len);
	return 0;
}

/* "BLOB record": more of the same name appends. */
int fxt_write_blob(struct fxt_writer *w, enum fxt_blob_type type, struct fxt_str name,
		   const void *data, size_t len)
{
	const char *at = data;
	size_t piece;
	int err;

	do {
		piece = len;
		err = put_blob(w, type, name, at, &piece);
		if (err)
			return err;
		len -= piece;
		if (len)
			at += piece;
	} while (len);
	return 0;
}

/* "Module Record", "Mmap Record": the thread koid "will constantly be 0". */
static struct fxt_thread process_only(struct fxt_thread t)
{
	t.thread = 0;
	return t;
}

/* "Module Record" */
int fxt_write_module(struct fxt_writer *w, const struct fxt_module *m)
{
	struct fxt_draft_thread *thread;
	struct fxt_text *name;
	struct fxt_draft d;
	uint64_t *at;

	fxt_draft_begin(&d, w, 2 + fxt_words(m->build_id_len));
	fxt_draft_require(&d, m->build_id || !m->build_id_len);
	thread = fxt_draft_thread(&d, process_only(m->thread));
	name = fxt_draft_plain(&d, m->name, FXT_MODULE_NAME_MAX);
	at = fxt_draft_place(&d);
	if (!at)
		return d.err;
	*at++ = FXT_HEADER(FXT_PROFILER, d.words) | FXT_PUT(FXT_PROF_MODULE, FXT_F_PROF_TYPE) |
		FXT_PUT(thread->ref, FXT_F_PROF_THREAD) | FXT_PUT(m->id, FXT_F_PROF_MODULE) |
		FXT_PUT(name->len, FXT_F_PROF_NAME_LEN) |
		FXT_PUT(m->build_id_len, FXT_F_PROF_BUILD_LEN);
	*at++ = m->ts;
	at = fxt_put_thread(at, thread);
	at = fxt_put_text(at, name);
	fxt_put_bytes(at, m->build_id, m->build_id_len);
	return 0;
}

/* "Mmap Record" */
int fxt_write_mmap(struct fxt_writer *w, const struct fxt_mmap *m)
{
	struct fxt_draft_thread *thread;
	struct fxt_draft d;
	uint64_t *at;

	fxt_draft_begin(&d, w, 5);
	fxt_draft_require(&d, m->flags <= FXT_GET(~0ULL, FXT_F_PROF_FLAGS));
	thread = fxt_draft_thread(&d, process_only(m->thread));
	at = fxt_draft_place(&d);
	if (!at)
		return d.err;
	*at++ = FXT_HEADER(FXT_PROFILER, d.words) | FXT_PUT(FXT_PROF_MMAP, FXT_F_PROF_TYPE) |
		FXT_PUT(thread->ref, FXT_F_PROF_THREAD) | FXT_PUT(m->module, FXT_F_PROF_MODULE) |
		FXT_PUT(m->flags, FXT_F_PROF_FLAGS);
	*at++ = m->ts;
	at = fxt_put_thread(at, thread);
	at[0] = m->start;
	at[1] = m->range;
	at[2] = m->vaddr;
	return 0;
}

/* "Backtrace Record" */
int fxt_write_backtrace(struct fxt_writer *w, const struct fxt_backtrace *b)
{
	struct fxt_draft_thread *thread;
	struct fxt_draft d;
	uint64_t *at;

	fxt_draft_begin(&d, w, 2 + b->frames_cnt);
	fxt_draft_require(&d, b->frames || !b->frames_cnt);
	thread = fxt_draft_thread(&d, b->thread);
	at = fxt_draft_place(&d);
	if (!at)
		return d.err;
	*at++ = FXT_HEADER(FXT_PROFILER, d.words) | FXT_PUT(FXT_PROF_BACKTRACE, FXT_F_PROF_TYPE) |
		FXT_PUT(thread->ref, FXT_F_PROF_THREAD) | FXT_PUT(b->frames_cnt, FXT_F_PROF_FRAMES);
	*at++ = b->ts;
	at = fxt_put_thread(at, thread);
	fxt_put_bytes(at, b->frames, b->frames_cnt * FXT_WORD);
	return 0;
}

/* "Large BLOB record": the payload goes to the sink as it is, the last word padded. */
static int put_payload(struct fxt_writer *w, const char *data, size_t len)
{
	size_t tail = len % FXT_WORD;
	uint64_t last;
	int err;

	if (!len)
		return 0;
	err = fxt_writer_pass(w, data, len - tail);
	if (!err && tail) {
		fxt_put_bytes(&last, data + len - tail, tail);
		err = fxt_writer_pass(w, &last, sizeof(last));
	}
	return err;
}

/* "In Band Large Blob Record With Metadata", "... No Metadata" */
int fxt_write_large_blob(struct fxt_writer *w, const struct fxt_large_blob *b,
			 const struct fxt_arg *args, unsigned int nargs)
{
	bool metadata = b->format == FXT_LARGE_WITH_METADATA;
	struct fxt_draft_thread *thread = NULL;
	struct fxt_text *category, *name;
	struct fxt_draft d;
	uint64_t *at;

	fxt_draft_begin(&d, w, 3);
	fxt_draft_require(&d, metadata || b->format == FXT_LARGE_NO_METADATA);
	fxt_draft_require(&d, b->data || !b->len);
	category = fxt_draft_string(&d, b->category);
	name = fxt_draft_string(&d, b->name);
	if (metadata) {
		d.words++;
		thread = fxt_draft_thread(&d, b->thread);
		fxt_draft_args(&d, args, nargs);
	}
	if (!d.err && (b->len > SIZE_MAX || fxt_words(b->len) > LARGE_WORDS_MAX - d.words))
		d.err = -EMSGSIZE;
	at = fxt_draft_place(&d);
	if (!at)
		return d.err;
	*at++ = FXT_PUT(FXT_LARGE, FXT_F_TYPE) |
		FXT_PUT(d.words + fxt_words(b->len), FXT_F_LARGE_SIZE) |
		FXT_PUT(FXT_LARGE_BLOB, FXT_F_LARGE_TYPE) | FXT_PUT(b->format, FXT_F_LARGE_FORMAT);
	*at = FXT_PUT(category->ref, FXT_F_LBLOB_CATEGORY) | FXT_PUT(name->ref, FXT_F_LBLOB_NAME);
	if (metadata)
		*at |= FXT_PUT(nargs, FXT_F_LBLOB_NARGS) | FXT_PUT(thread->ref, FXT_F_LBLOB_THREAD);
	at = fxt_put_text(at + 1, category);
	at = fxt_put_text(at, name);
	if (metadata) {
		*at++ = b->ts;
		at = fxt_put_thread(at, thread);
		at = fxt_put_args(at, name + 1, args, nargs);
	}
	*at = b->len;
	return put_payload(w, b->data, b->len);
}
