// SPDX-License-Identifier: GPL-2.0
/*
 * The table of events of ftrace. A format is text in which %N and a letter is field N: d signed, u
 * unsigned, x hexadecimal, p a pointer, s a string, k an address or a symbol, D a device, q the name of a
 * softirq, m the kind of memory, b "begin" or "end", a all numbers of a repeated field, o nothing: the word that
 * follows is left out if there is no such field. The text is that of the kernel, by which the import of ftrace text
 * knows what an event means.
 */
#include <stdio.h>

#include "ftrace.h"

static const struct pf_ftrace_row rows[] = {
	{ 11, "power", "cpu_frequency", "state=%1u cpu_id=%2u" },
	{ 12, "power", "cpu_frequency_limits", "min=%1u max=%2u cpu_id=%3u" },
	{ 13, "power", "cpu_idle", "state=%1u cpu_id=%2u" },
	{ 14, "power", "clock_enable", "%1s state=%2u cpu_id=%3u" },
	{ 15, "power", "clock_disable", "%1s state=%2u cpu_id=%3u" },
	{ 16, "power", "clock_set_rate", "%1s state=%2u cpu_id=%3u" },
	{ 18, "sched", "sched_blocked_reason", "pid=%1d iowait=%3d caller=%2k" },
	{ 19, "sched", "sched_cpu_hotplug", "affected_cpu=%1d error=%2d status=%3d" },
	{ 21, "ipi", "ipi_entry", "(%1s)" },
	{ 22, "ipi", "ipi_exit", "(%1s)" },
	{ 23, "ipi", "ipi_raise", "target_mask=%1x (%2s)" },
	{ 24, "irq", "softirq_entry", "vec=%1u [action=%1q]" },
	{ 25, "irq", "softirq_exit", "vec=%1u [action=%1q]" },
	{ 26, "irq", "softirq_raise", "vec=%1u [action=%1q]" },
	{ 36, "irq", "irq_handler_entry", "irq=%1d name=%2s" },
	{ 37, "irq", "irq_handler_exit", "irq=%1d ret=%2d" },
	{ 45, "block", "block_rq_issue", "%1D %5s %4u (%7s) %2u + %3u [%6s]" },
	{ 50, "binder", "binder_transaction", "transaction=%1d dest_node=%2d dest_proc=%3d dest_thread=%4d reply=%5d "
	  "flags=0x%7x code=0x%6x" },
	{ 51, "binder", "binder_transaction_received", "transaction=%1d" },
	{ 56, "workqueue", "workqueue_activate_work", "work struct %1p" },
	{ 57, "workqueue", "workqueue_execute_end", "work struct %1p: function %2k" },
	{ 58, "workqueue", "workqueue_execute_start", "work struct %1p: function %2k" },
	{ 59, "workqueue", "workqueue_queue_work", "work struct=%1p function=%2k workqueue=%6s req_cpu=%4d cpu=%5d" },
	{ 113, "power", "suspend_resume", "%1s[%2d] %3b" },
	{ 117, "block", "block_bio_complete", "%1D %5s %2u + %3u [%4d]" },
	{ 119, "block", "block_bio_queue", "%1D %4s %2u + %3u [%5s]" },
	{ 120, "block", "block_bio_remap", "%1D %6s %2u + %3u <- (%4D) %5u" },
	{ 125, "block", "block_rq_complete", "%1D %5s (%6s) %2u + %3u [%4d]" },
	{ 126, "block", "block_rq_insert", "%1D %5s %4u (%7s) %2u + %3u [%6s]" },
	{ 235, "task", "task_newtask", "pid=%1d comm=%2s clone_flags=%3x oom_score_adj=%4d" },
	{ 236, "task", "task_rename", "pid=%1d oldcomm=%2s newcomm=%3s oom_score_adj=%4d" },
	{ 237, "sched", "sched_process_exec", "filename=%1s pid=%2d old_pid=%3d" },
	{ 238, "sched", "sched_process_exit", "comm=%1s pid=%2d prio=%4d" },
	{ 239, "sched", "sched_process_fork", "comm=%1s pid=%2d child_comm=%3s child_pid=%4d" },
	{ 240, "sched", "sched_process_free", "comm=%1s pid=%2d prio=%3d" },
	{ 241, "sched", "sched_process_hang", "comm=%1s pid=%2d" },
	{ 242, "sched", "sched_process_wait", "comm=%1s pid=%2d prio=%3d" },
	{ 320, "clk", "clk_enable", "%1s" },
	{ 321, "clk", "clk_disable", "%1s" },
	{ 322, "clk", "clk_set_rate", "%1s %2u" },
	{ 324, "signal", "signal_deliver", "sig=%3d code=%1d sa_flags=%2x" },
	{ 325, "signal", "signal_generate", "sig=%6d code=%1d comm=%2s pid=%4d grp=%3d res=%5d" },
	{ 326, "oom", "oom_score_adj_update", "pid=%3d comm=%1s oom_score_adj=%2d" },
	{ PF_FTRACE_SYS_ENTER, "raw_syscalls", "sys_enter", "NR %1d (%2a)" },
	{ PF_FTRACE_SYS_EXIT, "raw_syscalls", "sys_exit", "NR %1d = %2d" },
	{ 332, "power", "gpu_frequency", "gpu_id=%1u state=%2u" },
	{ 334, "oom", "mark_victim", "pid=%1d" },
	{ 353, "sched", "sched_pi_setprio", "comm=%1s pid=%4d oldprio=%3d newprio=%2d" },
	{ 404, "power", "wakeup_source_activate", "%1s state=%2x" },
	{ 405, "power", "wakeup_source_deactivate", "%1s state=%2x" },
	{ 408, "printk", "console", "%1s" },
	{ 491, "sched", "sched_migrate_task", "comm=%1s pid=%2d prio=%3d orig_cpu=%4d dest_cpu=%5d" },
	{ PF_FTRACE_KPROBE, "kprobes", "", "" },	/* an instant, which has its own name */
	{ 546, "block", "block_io_start", "%1D %6s %4u (%8s) %2u + %3u [%7s]" },
	{ 547, "block", "block_io_done", "%1D %6s %4u (%8s) %2u + %3u [%7s]" },
	{ 551, "timer", "hrtimer_start", "hrtimer=%1p function=%2k expires=%3d softexpires=%4d" },
	{ 552, "timer", "hrtimer_cancel", "hrtimer=%1p" },
	{ 553, "timer", "hrtimer_expire_entry", "hrtimer=%1p function=%3k now=%2d" },
	{ 554, "timer", "hrtimer_expire_exit", "hrtimer=%1p" },
	{ 555, "timer", "timer_start", "timer=%1p function=%2k expires=%3u" },
	{ 556, "timer", "timer_cancel", "timer=%1p" },
	{ 557, "timer", "timer_expire_entry", "timer=%1p function=%3k now=%2u" },
	{ 558, "timer", "timer_expire_exit", "timer=%1p" },
	{ 559, "irq_vectors", "local_timer_entry", "vector=%1d" },
	{ 560, "irq_vectors", "local_timer_exit", "vector=%1d" },
};

#define ROWS	(sizeof(rows) / sizeof(rows[0]))

/* ---- values ---------------------------------------------------------------- */

static void put_address(struct pf_reader *r, const struct pf_sequence *q, uint64_t value)
{
	const struct pf_entry_data *e = q ? pf_sequence_find(q, PF_INTERNED_KERNEL_SYMBOLS, value) : NULL;
	struct fxt_str s = pf_pool_str(&r->pool, e ? e->string : PF_NO_STRING);

	if (s.len)
		pf_text_add(r, s.data, s.len);
	else
		pf_text_print(r, "0x%llx", (unsigned long long)value);
}

static void put_all(struct pf_reader *r, struct pf_cursor m, uint32_t number)
{
	uint64_t values[16];
	struct pf_field f;
	size_t cnt = 0, i;

	while (pf_next(&m, &f) > 0)
		if (f.number == number)
			cnt = pf_numbers(&f, PF_VARINT, values, cnt, 16);
	for (i = 0; i < cnt; i++)
		pf_text_print(r, "%s%llx", i ? ", " : "", (unsigned long long)values[i]);
}

static void put_softirq(struct pf_reader *r, uint64_t vec)
{
	static const char *const names[] = {
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
	};

	pf_text_print(r, "%s", vec < sizeof(names) / sizeof(names[0]) ? names[vec] : "");
}

static void put_memory(struct pf_reader *r, uint64_t kind)
{
	static const char *const names[] = { "MM_FILEPAGES", "MM_ANONPAGES", "MM_SWAPENTS", "MM_SHMEMPAGES" };

	if (kind < sizeof(names) / sizeof(names[0]))
		pf_text_print(r, "%s", names[kind]);
	else
		pf_text_print(r, "%llu", (unsigned long long)kind);
}

/* A line ends a record of text, so a string has none in it but at its end. */
static void put_string(struct pf_reader *r, const struct pf_field *f)
{
	size_t len = f->wire == PF_BYTES ? f->len : 0;

	while (len && (f->data[len - 1] == '\n' || f->data[len - 1] == '\0'))
		len--;
	pf_text_add(r, f->data, len);
}

static void put_field(struct pf_reader *r, const struct pf_sequence *q, struct pf_cursor m, uint32_t number,
		      char letter)
{
	struct pf_field f = { 0 }, found;

	while (pf_next(&m, &found) > 0)
		if (found.number == number)
			f = found;
	switch (letter) {
	case 'd':
		pf_text_print(r, "%lld", (long long)f.value);
		break;
	case 'u':
		pf_text_print(r, "%llu", (unsigned long long)f.value);
		break;
	case 'x':
		pf_text_print(r, "%llx", (unsigned long long)f.value);
		break;
	case 'p':
		pf_text_print(r, "%016llx", (unsigned long long)f.value);
		break;
	case 's':
		put_string(r, &f);
		break;
	case 'k':
		put_address(r, q, f.value);
		break;
	case 'D':
		pf_text_print(r, "%u,%u", (unsigned int)(f.value >> 20), (unsigned int)(f.value & 0xfffff));
		break;
	case 'q':
		put_softirq(r, f.value);
		break;
	case 'm':
		put_memory(r, f.value);
		break;
	case 'b':
		pf_text_print(r, "%s", f.value ? "begin" : "end");
		break;
	default:
		break;
	}
}

/* The last character of a format that is done when 'o' at @format is: it or the blank after the next word. */
static const char *end_of_optional(struct pf_cursor m, uint32_t number, const char *format)
{
	const size_t len = strcspn(format, " ");
	struct pf_field f;

	while (pf_next(&m, &f) > 0)
		if (f.number == number)
			return format;
	return format + len - !format[len];
}

static void put_format(struct pf_reader *r, const struct pf_sequence *q, struct pf_cursor m, const char *format)
{
	uint32_t number;

	for (; *format; format++) {
		if (*format != '%') {
			pf_text_add(r, format, 1);
			continue;
		}
		for (number = 0; format[1] >= '0' && format[1] <= '9'; format++)
			number = number * 10 + (uint32_t)(format[1] - '0');
		format++;
		if (*format == 'a')
			put_all(r, m, number);
		else if (*format == 'o')
			format = end_of_optional(m, number, format);
		else
			put_field(r, q, m, number, *format);
	}
}

/* Fields whose names are not in the trace. */
static void put_unnamed(struct pf_reader *r, struct pf_cursor m)
{
	struct pf_field f;

	while (pf_next(&m, &f) > 0) {
		pf_text_print(r, "%sf%u=", r->text_len ? " " : "", f.number);
		if (f.wire == PF_BYTES)
			put_string(r, &f);
		else
			pf_text_print(r, "%llu", (unsigned long long)f.value);
	}
}

/* "len=-5 dev=sda", of an event that names its fields. */
static void put_generic(struct pf_reader *r, struct pf_cursor m)
{
	enum { FIELD = 2, NAME = 1, STRING = 3, INT = 4, UINT = 5 };
	struct pf_field f, name, value;

	while (pf_next(&m, &f) > 0) {
		if (!pf_is(&f, FIELD, PF_BYTES) || !pf_find(pf_inner(&f), NAME, PF_BYTES, &name))
			continue;
		if (r->text_len)
			pf_text_add(r, " ", 1);
		put_string(r, &name);
		pf_text_add(r, "=", 1);
		if (pf_find(pf_inner(&f), STRING, PF_BYTES, &value))
			put_string(r, &value);
		else if (pf_find(pf_inner(&f), INT, PF_VARINT, &value))
			pf_text_print(r, "%lld", (long long)value.value);
		else if (pf_find(pf_inner(&f), UINT, PF_VARINT, &value))
			pf_text_print(r, "%llu", (unsigned long long)value.value);
	}
}

/* NULL: no event of that number is known. */
static const struct pf_ftrace_row *find_row(const struct pf_ftrace_row *all, size_t cnt, uint32_t number)
{
	size_t low = 0, high = cnt, mid;

	while (high - low > 1) {
		mid = low + (high - low) / 2;
		if (all[mid].number <= number)
			low = mid;
		else
			high = mid;
	}
	return all[low].number == number ? &all[low] : NULL;
}

/* As the kernel's own event of that system call, if its name is known. */
static bool put_syscall(struct pf_reader *r, const struct pf_sequence *q, uint32_t number, struct pf_cursor message,
			struct fxt_str *name)
{
	const bool enters = number == PF_FTRACE_SYS_ENTER;
	struct pf_field id;
	const char *call;

	if ((!enters && number != PF_FTRACE_SYS_EXIT) || !pf_find(message, 1, PF_VARINT, &id))
		return false;
	call = pf_syscall_name(r, id.value);
	if (!call)
		return false;
	snprintf(r->syscalls.event, sizeof(r->syscalls.event), "%s%s", enters ? "sys_enter_" : "sys_exit_", call);
	*name = fxt_str(r->syscalls.event);
	put_format(r, q, message, enters ? "%2a" : "%2d");
	return true;
}

bool pf_ftrace_text(struct pf_reader *r, const struct pf_sequence *q, uint32_t number, struct pf_cursor message,
		    struct fxt_str *name, struct fxt_str *system)
{
	const struct pf_ftrace_row *row;

	pf_text_clear(r);
	*name = *system = fxt_str_n("", 0);
	if (number >= PF_FTRACE_FIRST_DESCRIBED && pf_described_text(r, number, message, name, system))
		return true;
	if (number == PF_FTRACE_GENERIC) {
		put_generic(r, message);
		return true;
	}
	row = find_row(rows, ROWS, number);
	if (!row)
		row = find_row(pf_more_ftrace_rows, pf_more_ftrace_cnt, number);
	if (!row) {
		put_unnamed(r, message);
		return false;
	}
	*system = fxt_str(row->system);
	if (put_syscall(r, q, number, message, name))
		return true;
	*name = fxt_str(row->name);
	if (row->format)
		put_format(r, q, message, row->format);
	else
		put_unnamed(r, message);
	return true;
}

/* ---- markers ----------------------------------------------------------------------- */

/*
 * Drivers with events of their own for what others write to trace_marker: begins, ends, instants and counters by
 * process. The fields of such an event; 0: it has none of that kind.
 */
static const struct mark_row {
	uint32_t number;
	uint8_t pid, name, begins, type, value;	/* @type: a letter as in markers, or a bit; without it @begins says which */
	uint8_t other_name;			/* where there is no @name */
} mark_rows[] = {
	{ 80, 1, 2, 3, 0, 0, 0 }, { 331, 3, 2, 0, 1, 4, 0 }, { 333, 1, 2, 5, 3, 4, 0 }, { 348, 1, 2, 3, 5, 6, 4 },
	{ 349, 1, 4, 0, 5, 6, 0 }, { 350, 2, 1, 0, 3, 4, 0 }, { 467, 3, 4, 0, 2, 5, 0 }, { 484, 1, 2, 3, 4, 5, 0 },
	{ 490, 1, 2, 3, 5, 6, 4 },
};

static uint64_t number_of(struct pf_cursor m, uint8_t field)
{
	struct pf_field f;

	return field && pf_find(m, field, PF_VARINT, &f) ? f.value : 0;
}

/* The letters of markers, by the bits that drivers of Qualcomm have for them. */
static uint64_t letter_of(uint64_t type)
{
	return type == 1 ? 'B' : type == 2 ? 'E' : type == 4 ? 'C' : type;
}

bool pf_driver_mark(struct pf_reader *r, uint32_t number, struct pf_cursor message)
{
	const struct mark_row *row = NULL;
	struct pf_field name;
	uint64_t type;
	size_t i;

	for (i = 0; i < sizeof(mark_rows) / sizeof(mark_rows[0]) && !row; i++)
		row = mark_rows[i].number == number ? &mark_rows[i] : NULL;
	if (!row)
		return false;
	type = letter_of(number_of(message, row->type));
	if (!type)
		type = number_of(message, row->begins) ? 'B' : 'E';
	if (type != 'B' && type != 'E' && type != 'I' && type != 'C')
		return false;
	if (!pf_find(message, row->name, PF_BYTES, &name) && row->other_name)
		pf_find(message, row->other_name, PF_BYTES, &name);
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
