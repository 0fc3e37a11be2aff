/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module's tracepoint. Its arguments are what BPF programs rely on, by the
 * name and prototype in kfxt.h.
 *
 * TRACE_EVENT and not DECLARE_TRACE: a bare tracepoint is called differently on
 * newer kernels, and perf and tracefs can read this one as well.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kfxt

#if !defined(KFXT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KFXT_TRACE_H

#include <linux/tracepoint.h>

/*
 * @ip is what ftrace says, which is not always the function's symbol: where the
 * function begins with endbr64 it is 4 bytes further.
 */
TRACE_EVENT(kfxt_func_entry,
	TP_PROTO(unsigned long ip, unsigned long parent_ip),
	TP_ARGS(ip, parent_ip),
	TP_STRUCT__entry(
		__field(unsigned long, ip)
		__field(unsigned long, parent_ip)
	),
	TP_fast_assign(
		__entry->ip = ip;
		__entry->parent_ip = parent_ip;
	),
	TP_printk("%ps <- %ps", (void *)__entry->ip, (void *)__entry->parent_ip)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
