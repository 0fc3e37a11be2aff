// SPDX-License-Identifier: GPL-2.0
/*
 * The fields of each kind of record, named as in libfxt.
 */
#include "dump.h"

/* Where fields are collected; each kind has few, see DUMP_FIELDS_MAX. */
struct fields {
	struct fxt_arg *args;
	unsigned int cnt;
};

static void add_field(struct fields *f, struct fxt_arg arg)
{
	f->args[f->cnt++] = arg;
}

static void add_thread(struct fields *f, const char *process, const char *thread,
		       struct fxt_thread t)
{
	add_field(f, fxt_arg_koid(process, t.process));
	add_field(f, fxt_arg_koid(thread, t.thread));
}

/* A state the specification does not have is shown as the number it is. */
static void add_state(struct fields *f, enum fxt_thread_state state)
{
	if (state <= FXT_STATE_DEAD)
		add_field(f, fxt_arg_str("state", fxt_str(fxt_thread_state_name(state))));
	else
		add_field(f, fxt_arg_u32("state", (uint32_t)state));
}

static void add_event(struct fields *f, const struct fxt_event *e)
{
	if (e->type <= FXT_FLOW_END)
		add_field(f, fxt_arg_str("type", fxt_str(fxt_event_type_name(e->type))));
	else
		add_field(f, fxt_arg_u32("type", (uint32_t)e->type));
	add_thread(f, "process", "thread", e->thread);
	add_field(f, fxt_arg_str("category", e->category));
	add_field(f, fxt_arg_str("name", e->name));
	switch (e->type) {
	case FXT_INSTANT:
	case FXT_DURATION_BEGIN:
	case FXT_DURATION_END:
		break;
	case FXT_DURATION_COMPLETE:
		add_field(f, fxt_arg_u64("end_ticks", e->id));
		break;
	default:
		add_field(f, fxt_arg_u64("id", e->id));
	}
}

static void add_object(struct fields *f, const struct fxt_record *rec)
{
	const struct fxt_object *o = &rec->object;

	if (rec->kind == FXT_KIND_USERSPACE_OBJECT) {
		add_field(f, fxt_arg_ptr("pointer", o->id));
		add_field(f, fxt_arg_koid("process", o->process.process));
	} else {
		if (o->kind == FXT_KOBJ_PROCESS || o->kind == FXT_KOBJ_THREAD)
			add_field(f, fxt_arg_str("type", fxt_str(o->kind == FXT_KOBJ_PROCESS ?
							   "process" : "thread")));
		else
			add_field(f, fxt_arg_u32("type", o->kind));
		add_field(f, fxt_arg_koid("koid", o->id));
	}
	add_field(f, fxt_arg_str("name", o->name));
}

static void add_switch(struct fields *f, const struct fxt_switch *s)
{
	add_field(f, fxt_arg_u32("cpu", s->cpu));
	add_field(f, fxt_arg_koid("out", s->out));
	add_state(f, s->state);
	add_field(f, fxt_arg_koid("in", s->in));
}

static void add_legacy_switch(struct fields *f, const struct fxt_legacy_switch *s)
{
	add_field(f, fxt_arg_u32("cpu", s->cpu));
	add_thread(f, "out_process", "out", s->out);
	add_field(f, fxt_arg_u32("out_priority", s->out_priority));
	add_state(f, s->state);
	add_thread(f, "in_process", "in", s->in);
	add_field(f, fxt_arg_u32("in_priority", s->in_priority));
}

static void add_module(struct fields *f, const struct fxt_module *m)
{
	add_thread(f, "process", "thread", m->thread);
	add_field(f, fxt_arg_u32("id", m->id));
	add_field(f, fxt_arg_str("name", m->name));
	add_field(f, fxt_arg_blob("build_id", m->build_id, m->build_id_len));
}

static void add_mmap(struct fields *f, const struct fxt_mmap *m)
{
	add_thread(f, "process", "thread", m->thread);
	add_field(f, fxt_arg_u32("module", m->module));
	add_field(f, fxt_arg_u32("flags", m->flags));
	add_field(f, fxt_arg_ptr("start", m->start));
	add_field(f, fxt_arg_u64("range", m->range));
	add_field(f, fxt_arg_ptr("vaddr", m->vaddr));
}

static void add_large_blob(struct fields *f, const struct fxt_large_blob *b)
{
	add_field(f, fxt_arg_str("category", b->category));
	add_field(f, fxt_arg_str("name", b->name));
	if (b->format == FXT_LARGE_WITH_METADATA)
		add_thread(f, "process", "thread", b->thread);
	add_field(f, fxt_arg_u64("bytes", b->len));
}

static void add_provider(struct fields *f, const struct fxt_record *rec)
{
	add_field(f, fxt_arg_u32("id", rec->provider.id));
	if (rec->kind == FXT_KIND_PROVIDER_INFO)
		add_field(f, fxt_arg_str("name", rec->provider.name));
	if (rec->kind == FXT_KIND_PROVIDER_EVENT)
		add_field(f, fxt_arg_u32("event", rec->provider.event));
}

static void add_reference(struct fields *f, const struct fxt_record *rec)
{
	add_field(f, fxt_arg_u32("index", rec->kind == FXT_KIND_STRING ? rec->string.index : rec->thread.index));
	if (rec->kind == FXT_KIND_STRING)
		add_field(f, fxt_arg_str("value", rec->string.value));
	else
		add_thread(f, "process", "thread", rec->thread.value);
}

static void add_blob(struct fields *f, const struct fxt_record *rec)
{
	add_field(f, fxt_arg_u32("type", (uint32_t)rec->blob.type));
	add_field(f, fxt_arg_str("name", rec->blob.name));
	add_field(f, fxt_arg_blob("data", rec->blob.data, rec->blob.len));
}

static void add_wakeup(struct fields *f, const struct fxt_record *rec)
{
	add_field(f, fxt_arg_u32("cpu", rec->wakeup.cpu));
	add_field(f, fxt_arg_koid("thread", rec->wakeup.thread));
}

static void add_log(struct fields *f, const struct fxt_record *rec)
{
	add_thread(f, "process", "thread", rec->log.thread);
	add_field(f, fxt_arg_str("text", rec->log.text));
}

unsigned int dump_fields(const struct fxt_record *rec, struct fxt_arg fields[DUMP_FIELDS_MAX])
{
	struct fields f = { .args = fields };

	switch (rec->kind) {
	case FXT_KIND_PROVIDER_INFO:
	case FXT_KIND_PROVIDER_SECTION:
	case FXT_KIND_PROVIDER_EVENT:
		add_provider(&f, rec);
		break;
	case FXT_KIND_INITIALIZATION:
		add_field(&f, fxt_arg_u64("ticks_per_second", rec->ticks_per_second));
		break;
	case FXT_KIND_STRING:
	case FXT_KIND_THREAD:
		add_reference(&f, rec);
		break;
	case FXT_KIND_EVENT:
		add_event(&f, &rec->event);
		break;
	case FXT_KIND_BLOB:
		add_blob(&f, rec);
		break;
	case FXT_KIND_USERSPACE_OBJECT:
	case FXT_KIND_KERNEL_OBJECT:
		add_object(&f, rec);
		break;
	case FXT_KIND_LEGACY_SWITCH:
		add_legacy_switch(&f, &rec->legacy_switch);
		break;
	case FXT_KIND_SWITCH:
		add_switch(&f, &rec->context_switch);
		break;
	case FXT_KIND_WAKEUP:
		add_wakeup(&f, rec);
		break;
	case FXT_KIND_LOG:
		add_log(&f, rec);
		break;
	case FXT_KIND_MODULE:
		add_module(&f, &rec->module);
		break;
	case FXT_KIND_MMAP:
		add_mmap(&f, &rec->mmap);
		break;
	case FXT_KIND_BACKTRACE:
		add_thread(&f, "process", "thread", rec->backtrace.thread);
		break;
	case FXT_KIND_LARGE_BLOB:
		add_large_blob(&f, &rec->large_blob);
		break;
	case FXT_KIND_DAMAGED:
		add_field(&f, fxt_arg_str("reason", fxt_str(rec->damage.reason)));
		break;
	default:
		break;
	}
	return f.cnt;
}
