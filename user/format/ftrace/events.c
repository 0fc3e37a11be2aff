// SPDX-License-Identifier: GPL-2.0
/*
 * Events by name: what begins and ends something, log lines, and the
 * instants that all others are.
 */
#include "import_p.h"

#include <errno.h>
#include <string.h>

#include "model/builder.h"
#include "model/tracks.h"

/* The type and where of an event of that kind. */
static struct fxt_event event_of(struct builder *b, const struct record *r,
				 enum fxt_event_type type)
{
	return (struct fxt_event){
		.type = type, .ts = r->ts, .thread = place_of(b, r), .category = r->kind->category,
		.name = r->kind->name,
	};
}

/* ---- instants -------------------------------------------------------------- */

int on_instant(struct builder *b, const struct record *r)
{
	struct fxt_event e = event_of(b, r, FXT_INSTANT);
	struct fxt_arg args[ARGS_TYPED + 1];
	int err = build_event(b, &e, args, args_of(r->ev, args));

	return err ? err : OUT_INSTANT;
}

static int put_text(struct builder *b, const struct record *r, const char *category,
		    struct fxt_str name, const char *key)
{
	struct model_text text = r->ev->args;
	size_t len = text.len < TEXT_BYTES_MAX ? text.len : TEXT_BYTES_MAX;
	struct fxt_arg args[2] = {
		fxt_arg_str(key, fxt_str_inline(text.data, len)),
		fxt_arg_u64("text_bytes", text.len),
	};
	struct fxt_event e = {
		.type = FXT_INSTANT, .ts = r->ts, .thread = place_of(b, r),
		.category = fxt_str(category), .name = name,
	};
	int err = build_event(b, &e, args, len < text.len ? 2 : text.len > 0);

	/* A record has no space for more: the whole of it is a BLOB. */
	if (!err && len < text.len)
		err = fxt_write_blob(b->w, FXT_BLOB_DATA, name, text.data, text.len);
	return err ? err : OUT_INSTANT;
}

/* A body of no known form, or of another kind of record than events. */
int on_text(struct builder *b, const struct record *r)
{
	struct fxt_str name = build_str(b, r->ev->name);

	return put_text(b, r, "ftrace", name.len ? name : fxt_str("text"), "text");
}

/* A stack that belongs to no record. */
int on_stack(struct builder *b, const struct record *r)
{
	const char *name = r->ev->kind == FTRACE_USER_STACK ? "user_stack" : "stack";

	return put_text(b, r, "ftrace", fxt_str(name), name);
}

/* "f <-g": a call, in a trace of the function tracer. */
int on_function(struct builder *b, const struct record *r)
{
	struct fxt_event e = {
		.type = FXT_INSTANT, .ts = r->ts, .thread = place_of(b, r),
		.category = fxt_str("function"), .name = build_str(b, r->ev->name),
	};
	struct fxt_arg args[2];
	unsigned int n = 0;
	int err;

	if (r->ev->args.len)
		args[n++] = fxt_arg_str("parent", build_str(b, r->ev->args));
	if (r->ev->kind == FTRACE_FUNCTION_REPEATS)
		args[n++] = fxt_arg_u64("repeats", r->ev->count);
	err = build_event(b, &e, args, n);
	return err ? err : OUT_INSTANT;
}

int on_raw_marker(struct builder *b, const struct record *r)
{
	const struct ftrace_event *ev = r->ev;
	struct fxt_arg args[2] = {
		arg_typed((struct model_text){ "id", 2 }, ev->name),
		fxt_arg_str("data", fxt_str_inline(ev->args.data, ev->args.len < TEXT_BYTES_MAX ?
						   ev->args.len : TEXT_BYTES_MAX)),
	};
	struct fxt_event e = {
		.type = FXT_INSTANT, .ts = r->ts, .thread = place_of(b, r),
		.category = fxt_str("ftrace"), .name = fxt_str("raw_data"),
	};
	int err;

	if (args[0].type == FXT_ARG_STRING)
		args[0].str = build_str(b, ev->name);
	err = build_event(b, &e, args, 2);
	return err ? err : OUT_INSTANT;
}

/* Viewers do not show log records: it is an instant too. */
static int on_console(struct builder *b, const struct record *r)
{
	struct model_text text = r->ev->args;
	int err = fxt_write_log(b->w, r->ts, place_of(b, r), fxt_str_n(text.data, text.len));
	int out = err ? err : put_text(b, r, "log", r->kind->name, "text");

	return out < 0 ? out : OUT_LOG;
}

/* ---- slices ---------------------------------------------------------------- */

static int unmatched(struct builder *b, const struct record *r)
{
	int out = on_instant(b, r);

	return out < 0 ? out : OUT_UNMATCHED;
}

static int end_slice(struct builder *b, const struct record *r, struct track *tr,
		     const struct slice *s)
{
	struct fxt_arg args[ARGS_TYPED + 1];
	int out;

	r->im->pairs[s->key % PAIRS_MAX] |= PAIR_ENDS;
	out = slice_end(b, tr, r->ts, s, args, args_of(r->ev, args));

	return out == OUT_UNMATCHED ? unmatched(b, r) : out;
}

/*
 * A trace of beginnings only would have slices that never end. The second
 * beginning of one name in a row, with no end of that name in the whole trace,
 * shows that: from then on they are instants. Interrupts do not nest in themselves, so
 * there a second beginning says that the end between was lost.
 */
static int end_stale(struct builder *b, const struct record *r, struct track *tr, const struct slice *s,
		     bool *alone)
{
	uint8_t *seen = &r->im->pairs[s->key % PAIRS_MAX];
	uint64_t ts = r->ts;
	int out = 0;

	*alone = *seen == PAIR_ALONE;
	if (*seen == (PAIR_ENDS | PAIR_ALONE))
		*seen = PAIR_ENDS;
	if (*alone || (*seen == PAIR_ENDS && s->family != FAMILY_IRQ) || !slice_is_open(tr, s))
		return 0;
	if (!*seen) {
		*seen = PAIR_ALONE;
		*alone = true;
		ts = tr->last;
	}
	out = slice_close(b, tr, ts, s);
	return out < 0 ? out : 0;
}

static int begin_slice(struct builder *b, const struct record *r, struct track *tr,
		       const struct slice *s)
{
	struct fxt_arg args[ARGS_TYPED + 1];
	bool alone;
	int err;

	if (!tr)
		return -ENOMEM;
	err = end_stale(b, r, tr, s, &alone);
	if (err)
		return err;
	if (alone)
		return on_instant(b, r);
	return slice_begin(b, tr, r->ts, s, args, args_of(r->ev, args));
}

/* The name without its ending; with what it is about, if the arguments say. */
static struct fxt_str base_name(const struct record *r)
{
	struct fxt_str name = r->kind->name;
	const char *bar = memrchr(name.data, '_', name.len);

	if (bar && bar > name.data)
		name.len = (size_t)(bar - name.data);
	return name;
}

static struct slice slice_of(const struct record *r, enum family family, struct fxt_str name)
{
	return (struct slice){
		.family = family, .key = r->kind->key, .category = r->kind->category, .name = name,
	};
}

int on_pair_begin(struct builder *b, const struct record *r)
{
	struct slice s = slice_of(r, FAMILY_PAIR, base_name(r));

	return begin_slice(b, r, track_of(b, r), &s);
}

int on_pair_end(struct builder *b, const struct record *r)
{
	struct slice s = slice_of(r, FAMILY_PAIR, base_name(r));

	return end_slice(b, r, track_of(b, r), &s);
}

/* A name like "IRQ (ata1)", or @fallback without the argument. */
static struct fxt_str name_with(char *buf, size_t size, const char *prefix, struct model_text what,
				struct fxt_str fallback)
{
	size_t len = strlen(prefix);

	if (!what.len || len + what.len + 3 > size)
		return fallback;
	memcpy(buf, prefix, len);
	buf[len] = '(';
	memcpy(buf + len + 1, what.data, what.len);
	buf[len + 1 + what.len] = ')';
	return fxt_str_n(buf, len + what.len + 2);
}

/* "irq=24 name=ata1" */
static int on_irq_begin(struct builder *b, const struct record *r)
{
	struct model_text name = { 0 };
	struct slice s;
	char buf[128];

	text_find(r->ev->args, "name", &name);
	s = slice_of(r, FAMILY_IRQ, name_with(buf, sizeof(buf), "IRQ ", name, base_name(r)));
	return begin_slice(b, r, track_of_cpu(b, r->cpu, PSEUDO_IRQ), &s);
}

static int on_irq_end(struct builder *b, const struct record *r)
{
	struct slice s = slice_of(r, FAMILY_IRQ, base_name(r));

	return end_slice(b, r, track_of_cpu(b, r->cpu, PSEUDO_IRQ), &s);
}

/* "vec=1 [action=TIMER]" */
static int on_softirq_begin(struct builder *b, const struct record *r)
{
	struct model_text action = { 0 };
	struct slice s = slice_of(r, FAMILY_IRQ, base_name(r));

	if (text_between(r->ev->args, "action=", "]", &action) && action.len)
		s.name = build_str(b, action);
	return begin_slice(b, r, track_of_cpu(b, r->cpu, PSEUDO_SOFTIRQ), &s);
}

static int on_softirq_end(struct builder *b, const struct record *r)
{
	struct slice s = slice_of(r, FAMILY_IRQ, base_name(r));

	return end_slice(b, r, track_of_cpu(b, r->cpu, PSEUDO_SOFTIRQ), &s);
}

/* "(Rescheduling interrupts)", or "vector=236" of one that has its own event */
static int on_ipi_begin(struct builder *b, const struct record *r)
{
	struct model_text why = { 0 };
	struct slice s;
	char buf[128];

	text_between(r->ev->args, "(", ")", &why);
	s = slice_of(r, FAMILY_IRQ, name_with(buf, sizeof(buf), "IPI ", why, base_name(r)));
	return begin_slice(b, r, track_of_cpu(b, r->cpu, PSEUDO_IRQ), &s);
}

/* "hrtimer=0000000081575a75 function=hrtimer_wakeup now=2187328571200" */
static int on_timer_begin(struct builder *b, const struct record *r)
{
	struct slice s = slice_of(r, FAMILY_PAIR, base_name(r));
	struct model_text function;

	if (text_find(r->ev->args, "function", &function) && function.len)
		s.name = build_str(b, function);
	return begin_slice(b, r, track_of_interrupt(b, r), &s);
}

static int on_timer_end(struct builder *b, const struct record *r)
{
	struct slice s = slice_of(r, FAMILY_PAIR, base_name(r));

	return end_slice(b, r, track_of_interrupt(b, r), &s);
}

/* "work struct 00000000897c91b4: function delayed_vfree_work" */
static int on_work_begin(struct builder *b, const struct record *r)
{
	static const char word[] = "function ";
	struct model_text args = r->ev->args;
	struct slice s = slice_of(r, FAMILY_PAIR, base_name(r));
	const char *at = memmem(args.data, args.len, word, sizeof(word) - 1);
	struct model_text name;

	if (at) {
		at += sizeof(word) - 1;
		name = (struct model_text){ at, (size_t)(args.data + args.len - at) };
		while (name.len && name.data[name.len - 1] == ' ')
			name.len--;
		s.name = build_str(b, name);
	}
	return begin_slice(b, r, track_of(b, r), &s);
}

/* Interrupts or preemption are off from one to the other, "caller=... parent=..." */
static enum pseudo off_track(const struct record *r)
{
	return r->kind->name.data[0] == 'i' ? PSEUDO_IRQSOFF : PSEUDO_PREEMPT;
}

static int on_off_begin(struct builder *b, const struct record *r)
{
	struct slice s = slice_of(r, FAMILY_PAIR, r->kind->name);

	s.key = off_track(r);
	return begin_slice(b, r, track_of_cpu(b, r->cpu, off_track(r)), &s);
}

static int on_off_end(struct builder *b, const struct record *r)
{
	struct slice s = slice_of(r, FAMILY_PAIR, r->kind->name);

	s.key = off_track(r);
	return end_slice(b, r, track_of_cpu(b, r->cpu, off_track(r)), &s);
}

/* Of the whole machine; live it is of the thread, as there is no track for it. */
static int place_of_machine(struct builder *b, const struct record *r, struct fxt_thread *at)
{
	const struct model_track spec = { .kind = MODEL_TRACK_GLOBAL };
	const struct thread *t;
	uint32_t track;
	int err;

	*at = place_of(b, r);
	if (r->im->live)
		return 0;
	err = builder_track(b, &spec, &track);
	t = err ? NULL : track_thread(b, track_at(b, track));
	if (t)
		*at = (struct fxt_thread){ .process = t->process, .thread = t->koid };
	return err ? err : t ? 0 : -ENOMEM;
}

/* What both ends share: "dpm_suspend[2]", but of the freeze the number is of a CPU that may be another one at its end. */
static uint64_t suspend_key(struct model_text what)
{
	static const char freeze[] = "timekeeping_freeze[";

	if (what.len >= sizeof(freeze) - 1 && !memcmp(what.data, freeze, sizeof(freeze) - 1))
		what.len = sizeof(freeze) - 1;
	return text_hash_of('s', what.data, what.len) | 1;
}

/* "dpm_suspend[2] begin": phases of the machine, which may end on another thread. */
static int on_suspend(struct builder *b, const struct record *r)
{
	struct model_text what = r->ev->args;
	struct fxt_event e = { .ts = r->ts, .category = r->kind->category };
	bool begins = what.len > 6 && !memcmp(what.data + what.len - 6, " begin", 6);
	int err;

	if (!begins && (what.len <= 4 || memcmp(what.data + what.len - 4, " end", 4)))
		return OUT_OTHER;
	what.len -= begins ? 6 : 4;
	e.name = build_str(b, what);
	err = place_of_machine(b, r, &e.thread);
	if (err)
		return err;
	return begins ? async_begin(b, &e, suspend_key(what), NULL, 0) : async_end(b, &e, suspend_key(what), NULL, 0);
}

/* ---- the table ------------------------------------------------------------- */

#define IRQ_VECTOR(name) \
	{ name "_entry", "irq_vectors", on_ipi_begin, NULL, NULL, NULL }, \
	{ name "_exit", "irq_vectors", on_irq_end, NULL, NULL, NULL }
#define ROW(name, fn)	{ name, NULL, fn, NULL, NULL, NULL }

const struct handler event_handlers[] = {
	ROW("sched_switch", on_switch),
	ROW("sched_waking", on_waking),
	ROW("sched_wakeup", on_wakeup),
	ROW("sched_wakeup_new", on_wakeup_new),
	ROW("sched_process_fork", on_fork),
	ROW("sched_process_exit", on_exit_thread),
	ROW("sched_process_free", on_free_thread),
	ROW("sched_process_exec", on_exec),
	ROW("task_newtask", on_newtask),
	ROW("task_rename", on_rename),
	ROW("irq_handler_entry", on_irq_begin),
	ROW("irq_handler_exit", on_irq_end),
	ROW("softirq_entry", on_softirq_begin),
	ROW("softirq_exit", on_softirq_end),
	ROW("ipi_entry", on_ipi_begin),
	ROW("ipi_exit", on_irq_end),
	IRQ_VECTOR("local_timer"), IRQ_VECTOR("reschedule"), IRQ_VECTOR("call_function"),
	IRQ_VECTOR("call_function_single"), IRQ_VECTOR("irq_work"), IRQ_VECTOR("thermal_apic"),
	IRQ_VECTOR("threshold_apic"), IRQ_VECTOR("deferred_error_apic"), IRQ_VECTOR("error_apic"),
	IRQ_VECTOR("spurious_apic"), IRQ_VECTOR("x86_platform_ipi"),
	ROW("timer_expire_entry", on_timer_begin),
	ROW("timer_expire_exit", on_timer_end),
	ROW("hrtimer_expire_entry", on_timer_begin),
	ROW("hrtimer_expire_exit", on_timer_end),
	ROW("workqueue_execute_start", on_work_begin),
	ROW("workqueue_execute_end", on_pair_end),
	ROW("preempt_disable", on_off_begin),
	ROW("preempt_enable", on_off_end),
	ROW("irq_disable", on_off_begin),
	ROW("irq_enable", on_off_end),
	ROW("suspend_resume", on_suspend),
	ROW("console", on_console),
	ROW("sys_enter", on_raw_syscall),
	ROW("sys_exit", on_raw_syscall),
	ROW("block_rq_issue", on_block_begin),
	ROW("block_rq_complete", on_block_end),
	ROW("block_io_start", on_block_io_start),
	ROW("block_io_done", on_block_io_done),
	ROW("binder_transaction", on_binder),
	ROW("binder_transaction_received", on_binder),
	ROW("tracing_mark_write", on_marker),
	ROW("print", on_marker),
	{ 0 },
};
