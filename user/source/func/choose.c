// SPDX-License-Identifier: GPL-2.0
/*
 * Which functions globs mean, and which ones they had better not.
 */
#include <string.h>

#include "base/glob.h"
#include "list.h"
#include "set.h"

/* Of one glob. */
#define MATCHED		0x04

const char *const *func_set_excludes(void)
{
	/*
	 * What BPF programs call on their way to writing a record: traced, each event would
	 * cause several more, and before 6.15 a ring buffer's lock would be taken twice. Of
	 * many kernels each has a few of these only.
	 */
	static const char *const excludes[] = {
		"bpf_*", "__bpf_*", "___bpf_*",
		/* entering and leaving a program */
		"__rcu_read_lock", "__rcu_read_unlock", "rcu_read_unlock*_special",
		"rcu_is_watching", "*migrate_disable", "*migrate_enable", "trace_call_bpf*",
		"preempt_count_add", "preempt_count_sub", "in_lock_functions",
		"__this_cpu_preempt_check", "debug_smp_processor_id",
		/* the hook itself */
		"kprobe_multi_link_*", "fprobe_*", "rethook_*", "arch_rethook_*",
		"is_endbr", "*ftrace_get_symaddr",
		/* helpers: reading memory, time */
		"copy_from_kernel_nofault*", "copy_from_user_nofault", "strncpy_from_*_nofault",
		"nmi_uaccess_okay", "ktime_get_*fast*",
		/* ring buffers and their locks, waking the reader */
		"ringbuf_map_*", "_raw_spin_*", "*spin_lock_slowpath", "*spin_unlock_slowpath",
		"resilient_tas_spin_lock", "irq_work_*", "__irq_work_*", "arch_irq_work_raise",
		/* the tracepoints of system calls, whose slices begin and end inside of these */
		"syscall_trace_enter", "trace_syscall_e*", "syscall_exit_*",
		"__traceiter_sys_e*", "perf_trace_sys_e*", "perf_trace_run_bpf_submit",
		/* maps */
		"array_map_*", "percpu_array_map_*", "htab_*map_*", "__htab_*map_*",
		"alloc_htab_elem", "free_htab_elem", "lookup_elem_raw", "lookup_nulls_elem_raw",
		"*pcpu_freelist_*",
		NULL,
	};

	return excludes;
}

static bool is_excluded(const struct kernel_func *func)
{
	const char *const *exclude;

	if (func->module && !strcmp(func->module, "kfxt"))
		return true;
	for (exclude = func_set_excludes(); *exclude; exclude++)
		if (glob_match(*exclude, func->name))
			return true;
	return false;
}

static unsigned int match_name(const struct func_list *list, const char *name, uint8_t *marks)
{
	unsigned int cnt = 0;
	uint32_t i;

	for (i = name_index_first(&list->index, name); i != NAME_INDEX_NONE;
	     i = name_index_next(&list->index, i), cnt++)
		marks[i] |= MATCHED;
	return cnt;
}

/* Of several names at one address (__x64_sys_getpid, __do_sys_getpid) one is listed: for @name that one. */
static const char *listed_name(const struct func_list *list, const char *name)
{
	const struct kernel_symbol *all, *symbol;
	unsigned int cnt, i;

	if (!list->symbols || list->source == FUNC_SOURCE_SYMBOLS)	/* which has them all */
		return name;
	all = kernel_symbols_all(list->symbols, &cnt);
	for (i = 0; i < cnt; i++) {
		if (!kernel_symbol_is_code(&all[i]) || strcmp(all[i].name, name) != 0)
			continue;
		symbol = kernel_symbols_find(list->symbols, all[i].addr);
		return symbol ? symbol->name : name;
	}
	return name;
}

/* Marks what @glob matches; how many. */
static unsigned int match(const struct func_list *list, const char *glob, uint8_t *marks)
{
	unsigned int cnt = 0;
	uint32_t i;

	if (!glob_has_wildcard(glob) && !strchr(glob, '\\')) {
		cnt = match_name(list, glob, marks);
		return cnt ? cnt : match_name(list, listed_name(list, glob), marks);
	}
	for (i = 0; i < list->cnt; i++) {
		if (glob_match(glob, list->names[i])) {
			marks[i] |= MATCHED;
			cnt++;
		}
	}
	return cnt;
}

/* Marks those of the @matched ones that stay out; none if all would: they are what is meant. */
static void leave_excluded(const struct func_list *list, uint8_t *marks, unsigned int matched)
{
	unsigned int i, left = 0;

	for (i = 0; i < list->cnt; i++) {
		if ((marks[i] & MATCHED) && is_excluded(&list->funcs[i])) {
			marks[i] |= FUNC_LEFT;
			left++;
		}
	}
	for (i = 0; i < list->cnt && left == matched; i++)
		if (marks[i] & MATCHED)
			marks[i] &= (uint8_t)~FUNC_LEFT;
}

static unsigned int take_matches(const struct func_list *list, const char *glob, bool excludes,
			 uint8_t *marks)
{
	unsigned int matched = match(list, glob, marks), i;

	if (excludes && glob_has_wildcard(glob))
		leave_excluded(list, marks, matched);
	else
		excludes = false;
	for (i = 0; i < list->cnt; i++) {
		if (!(marks[i] & MATCHED))
			continue;
		marks[i] &= (uint8_t)~MATCHED;
		if (!excludes)
			marks[i] &= (uint8_t)~FUNC_LEFT;
		if (!(marks[i] & FUNC_LEFT))
			marks[i] |= FUNC_TAKEN;
	}
	return matched;
}

static void take_out(const struct func_list *list, const char *glob, uint8_t *marks)
{
	unsigned int i;

	if (!match(list, glob, marks))
		return;
	for (i = 0; i < list->cnt; i++)
		if (marks[i] & MATCHED)
			marks[i] = 0;
}

const char *func_list_choose(const struct func_list *list, const struct func_set_cfg *cfg,
			     uint8_t *marks)
{
	const char *glob;
	unsigned int i;

	for (i = 0; i < cfg->globs_cnt; i++) {
		glob = cfg->globs[i];
		if (*glob == '!')
			take_out(list, glob + 1, marks);
		else if (!take_matches(list, glob, !cfg->no_excludes, marks))
			return glob;
	}
	return NULL;
}
