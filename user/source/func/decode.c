// SPDX-License-Identifier: GPL-2.0
/*
 * Function events that the kernel side could not finish: names beyond the string
 * table, callers, arguments of USDT probes, calls still under way at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fxt/fxt.h"
#include "func_p.h"
#include "inside.h"
#include "kernel/symbols.h"
#include "elf/user_symbols.h"

#define NAME_BYTES	64

/* One event as it is put together. */
struct draft {
	struct fxt_event event;
	struct fxt_arg args[FUNC_ARGS_MAX + 3];
	unsigned int nargs;
	char name[NAME_BYTES];	/* of a function without a symbol */
	char arg_names[FUNC_ARGS_MAX][8];
};

static const struct func *func_by_id(const struct funcs *f, uint64_t id)
{
	return id < f->cnt ? &f->funcs[id] : NULL;
}

static void set_name(struct funcs *f, struct draft *d, const struct func *func, uint64_t addr)
{
	const struct kernel_symbol *symbol;

	d->event.category = fxt_str(func && func->kind == FUNC_USDT ? "usdt" : "function");
	if (func) {
		d->event.name = fxt_str(func->name);
		return;
	}
	symbol = f->symbols ? kernel_symbols_find_late(f->symbols, addr) : NULL;
	if (!symbol)
		snprintf(d->name, sizeof(d->name), "0x%llx", (unsigned long long)addr);
	d->event.name = fxt_str(symbol ? symbol->name : d->name);
}

static void add_parent(struct funcs *f, struct draft *d, const struct func *func, uint64_t parent)
{
	const struct kernel_symbol *symbol;
	const char *name = NULL;

	if (!parent)
		return;
	if (func && func->kind == FUNC_USER) {
		name = user_symbols_find_caller(f->user_symbols, d->event.thread.process, d->event.ts, parent);
	} else if (f->symbols) {
		symbol = kernel_symbols_find_late(f->symbols, parent);
		name = symbol ? symbol->name : NULL;
	}
	d->args[d->nargs++] = name ? fxt_arg_str("parent", fxt_str(name)) : fxt_arg_ptr("parent", parent);
}

static void add_return(struct draft *d, const struct func *func, uint64_t value)
{
	switch (func ? func->return_type : 0) {
	case FXT_ARG_INT32:
		d->args[d->nargs++] = fxt_arg_i32("return", value);
		break;
	case FXT_ARG_UINT32:
		d->args[d->nargs++] = fxt_arg_u32("return", value);
		break;
	case FXT_ARG_INT64:
		d->args[d->nargs++] = fxt_arg_i64("return", value);
		break;
	case FXT_ARG_UINT64:
		d->args[d->nargs++] = fxt_arg_u64("return", value);
		break;
	case FXT_ARG_POINTER:
		d->args[d->nargs++] = fxt_arg_ptr("return", value);
		break;
	case FXT_ARG_BOOL:
		d->args[d->nargs++] = fxt_arg_bool("return", value & 1);
		break;
	}
}

/* "arg1" and so on, of the size and sign that the file's note gives them. */
static void add_usdt_args(struct draft *d, const struct elf_usdt *usdt, const uint64_t *values)
{
	unsigned int i;

	for (i = 0; i < usdt->args_cnt && i < FUNC_ARGS_MAX; i++) {
		const struct elf_usdt_arg *type = &usdt->args[i];
		const char *name = d->arg_names[i];
		struct fxt_arg *arg = &d->args[d->nargs++];

		snprintf(d->arg_names[i], sizeof(d->arg_names[i]), "arg%u", i + 1);
		if (type->is_float)
			*arg = fxt_arg_null(name);
		else if (type->bytes == 8)
			*arg = type->is_signed ? fxt_arg_i64(name, values[i]) : fxt_arg_u64(name, values[i]);
		else
			*arg = type->is_signed ? fxt_arg_i32(name, values[i]) : fxt_arg_u32(name, values[i]);
	}
}

int funcs_write(struct funcs *f, struct fxt_writer *w, const uint64_t *rec)
{
	const size_t words = FXT_GET(rec[RAW_HEADER], FXT_F_SIZE);
	const bool unfinished = rec[FUNC_ID] & FUNC_UNFINISHED;
	const struct func *func = func_by_id(f, rec[FUNC_ID] & FUNC_ID_NONE);
	struct draft d = {
		.event = {
			.type = rec[FUNC_END_TS] ? FXT_DURATION_COMPLETE : FXT_INSTANT, .ts = rec[RAW_TS],
			.thread = { .process = rec[RAW_PROCESS], .thread = rec[RAW_THREAD] },
			.id = rec[FUNC_END_TS],
		},
	};

	set_name(f, &d, func, rec[FUNC_ADDR]);
	add_parent(f, &d, func, rec[FUNC_PARENT]);
	if (unfinished) {
		d.args[d.nargs++] = fxt_arg_bool("unfinished", true);
		f->counts.unfinished++;
	}
	if (!unfinished && d.event.type == FXT_DURATION_COMPLETE)
		add_return(&d, func, rec[FUNC_RETURN]);
	if (func && func->usdt && words >= FUNC_ARGS + FUNC_ARGS_MAX)
		add_usdt_args(&d, func->usdt, rec + FUNC_ARGS);
	return fxt_write_event(w, &d.event, d.args, d.nargs);
}

/* ---- calls still under way at the end ----------------------------------------------- */

static int write_open_call(struct funcs *f, struct fxt_writer *w, struct fxt_thread thread, const struct open_call *call,
			   uint64_t stop_ns, bool continues)
{
	const struct func *func = func_by_id(f, call->addr);
	struct draft d = {
		.event = {
			.type = FXT_DURATION_COMPLETE, .ts = call->start_ns, .thread = thread,
			.id = stop_ns > call->start_ns ? stop_ns : call->start_ns,
		},
	};

	set_name(f, &d, func, call->addr);
	add_parent(f, &d, func, call->parent);
	d.args[d.nargs++] = fxt_arg_bool("unfinished", true);
	if (continues)
		d.args[d.nargs++] = fxt_arg_bool("continues", true);
	return fxt_write_event(w, &d.event, d.args, d.nargs);
}

int funcs_write_unfinished(struct funcs *f, struct fxt_writer *w, uint64_t stop_ns)
{
	unsigned int slot, i, depth;
	uint64_t *inside = NULL;
	int err = 0;

	/* What cannot be read is not known. */
	if (f->misses && f->open && inside_read(f, &inside)) {
		free(inside);
		inside = NULL;
	}
	for (slot = 0; !err && f->open && slot < OPEN_SLOTS; slot++) {
		const struct fxt_thread thread = { .process = f->open[slot].process, .thread = f->open[slot].thread };

		depth = OPEN_DEPTH(f->open[slot].owner);
		for (i = 0; !err && i < depth && i < OPEN_CALLS; i++) {
			const struct open_call *call = &f->open[slot].calls[i];
			const struct func *func = func_by_id(f, call->addr);

			if (call->addr == OPEN_ENDED || call->start_ns == OPEN_SHED)
				continue;
			/* One of a thread that runs may have returned as well. */
			if (f->misses && func && func->kind == FUNC_KERNEL && !(inside && inside[slot] >> i & 1)) {
				f->counts.unreturned++;
				continue;
			}
			err = write_open_call(f, w, thread, call, stop_ns, false);
			f->counts.unfinished += !err;
		}
	}
	free(inside);
	return err;
}

/*
 * The @i'th call of a slot that programs may be writing to. Another one in its place clears the time first, and sets it last, to
 * one that the thread has not had. False: there is none, or it has returned meanwhile.
 */
static bool copy_call(const struct open_calls *slot, unsigned int i, struct fxt_thread *thread, struct open_call *copy)
{
	const uint64_t owner = __atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE);
	const struct open_call *call = &slot->calls[i];
	uint64_t now;

	if (i >= OPEN_DEPTH(owner))
		return false;
	copy->start_ns = __atomic_load_n(&call->start_ns, __ATOMIC_ACQUIRE);
	copy->addr = __atomic_load_n(&call->addr, __ATOMIC_RELAXED);
	copy->parent = __atomic_load_n(&call->parent, __ATOMIC_RELAXED);
	thread->process = __atomic_load_n(&slot->process, __ATOMIC_RELAXED);
	thread->thread = __atomic_load_n(&slot->thread, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	now = __atomic_load_n(&slot->owner, __ATOMIC_RELAXED);
	return OPEN_WHO(now) == OPEN_WHO(owner) && i < OPEN_DEPTH(now) &&
	       __atomic_load_n(&call->start_ns, __ATOMIC_RELAXED) == copy->start_ns;
}

static bool goes_on(const struct funcs *f, const struct open_call *call, uint64_t cut_ns)
{
	if (call->addr == OPEN_ENDED || call->start_ns == OPEN_SHED || call->start_ns >= cut_ns)
		return false;
	return !f->misses || (call->addr >= f->counts.kernel && call->addr < f->cnt);
}

int funcs_write_open(struct funcs *f, struct fxt_writer *w, uint64_t cut_ns, uint64_t *written)
{
	struct fxt_thread thread = { 0 };
	struct open_call call;
	unsigned int slot, i;
	int err = 0;

	for (slot = 0; f->open && !err && slot < OPEN_SLOTS; slot++)
		for (i = 0; !err && i < OPEN_CALLS && i < OPEN_DEPTH(f->open[slot].owner); i++) {
			if (!copy_call(&f->open[slot], i, &thread, &call) || !goes_on(f, &call, cut_ns))
				continue;
			err = write_open_call(f, w, thread, &call, cut_ns, true);
			*written += !err;
		}
	return err;
}

uint64_t funcs_ratelimited(const struct funcs *f, unsigned int id)
{
	uint64_t calls = 0;
	unsigned int cpu;

	for (cpu = 0; f->rates && cpu < f->cpus; cpu++)
		calls += f->rates[(size_t)cpu * f->cnt + id].ratelimited;
	return calls;
}
