/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings and arguments as values, the names of kinds, types and states, and
 * the search for an argument by its name.
 */
#include "fxt.h"

#include <string.h>

#define ENTRIES(table)	(sizeof(table) / sizeof((table)[0]))

struct fxt_str fxt_str(const char *text)
{
	return fxt_str_n(text, text ? strlen(text) : 0);
}

struct fxt_str fxt_str_n(const char *data, size_t len)
{
	return (struct fxt_str){ .data = data, .len = len };
}

struct fxt_str fxt_str_inline(const char *data, size_t len)
{
	return (struct fxt_str){ .data = data, .len = len, .inlined = true };
}

struct fxt_arg fxt_arg_null(const char *name)
{
	return (struct fxt_arg){ .type = FXT_ARG_NULL, .name = fxt_str(name) };
}

struct fxt_arg fxt_arg_i32(const char *name, int32_t v)
{
	return (struct fxt_arg){ .type = FXT_ARG_INT32, .name = fxt_str(name), .i32 = v };
}

struct fxt_arg fxt_arg_u32(const char *name, uint32_t v)
{
	return (struct fxt_arg){ .type = FXT_ARG_UINT32, .name = fxt_str(name), .u32 = v };
}

struct fxt_arg fxt_arg_i64(const char *name, int64_t v)
{
	return (struct fxt_arg){ .type = FXT_ARG_INT64, .name = fxt_str(name), .i64 = v };
}

struct fxt_arg fxt_arg_u64(const char *name, uint64_t v)
{
	return (struct fxt_arg){ .type = FXT_ARG_UINT64, .name = fxt_str(name), .u64 = v };
}

struct fxt_arg fxt_arg_f64(const char *name, double v)
{
	return (struct fxt_arg){ .type = FXT_ARG_DOUBLE, .name = fxt_str(name), .f64 = v };
}

struct fxt_arg fxt_arg_str(const char *name, struct fxt_str v)
{
	return (struct fxt_arg){ .type = FXT_ARG_STRING, .name = fxt_str(name), .str = v };
}

struct fxt_arg fxt_arg_ptr(const char *name, uint64_t v)
{
	return (struct fxt_arg){ .type = FXT_ARG_POINTER, .name = fxt_str(name), .u64 = v };
}

struct fxt_arg fxt_arg_koid(const char *name, uint64_t v)
{
	return (struct fxt_arg){ .type = FXT_ARG_KOID, .name = fxt_str(name), .u64 = v };
}

struct fxt_arg fxt_arg_bool(const char *name, bool v)
{
	return (struct fxt_arg){ .type = FXT_ARG_BOOL, .name = fxt_str(name), .b = v };
}

struct fxt_arg fxt_arg_blob(const char *name, const void *data, size_t len)
{
	return (struct fxt_arg){
		.type = FXT_ARG_BLOB, .name = fxt_str(name), .blob = { .data = data, .len = len },
	};
}

static const char *const kind_names[FXT_KIND_CNT] = {
	[FXT_KIND_MAGIC] = "magic",
	[FXT_KIND_PROVIDER_INFO] = "provider_info",
	[FXT_KIND_PROVIDER_SECTION] = "provider_section",
	[FXT_KIND_PROVIDER_EVENT] = "provider_event",
	[FXT_KIND_INITIALIZATION] = "initialization",
	[FXT_KIND_STRING] = "string",
	[FXT_KIND_THREAD] = "thread",
	[FXT_KIND_EVENT] = "event",
	[FXT_KIND_BLOB] = "blob",
	[FXT_KIND_USERSPACE_OBJECT] = "userspace_object",
	[FXT_KIND_KERNEL_OBJECT] = "kernel_object",
	[FXT_KIND_LEGACY_SWITCH] = "legacy_switch",
	[FXT_KIND_SWITCH] = "context_switch",
	[FXT_KIND_WAKEUP] = "wakeup",
	[FXT_KIND_LOG] = "log",
	[FXT_KIND_MODULE] = "module",
	[FXT_KIND_MMAP] = "mmap",
	[FXT_KIND_BACKTRACE] = "backtrace",
	[FXT_KIND_LARGE_BLOB] = "large_blob",
	[FXT_KIND_UNKNOWN] = "unknown",
	[FXT_KIND_DAMAGED] = "damaged",
};

static const char *const event_names[] = {
	[FXT_INSTANT] = "instant",
	[FXT_COUNTER] = "counter",
	[FXT_DURATION_BEGIN] = "duration_begin",
	[FXT_DURATION_END] = "duration_end",
	[FXT_DURATION_COMPLETE] = "duration_complete",
	[FXT_ASYNC_BEGIN] = "async_begin",
	[FXT_ASYNC_INSTANT] = "async_instant",
	[FXT_ASYNC_END] = "async_end",
	[FXT_FLOW_BEGIN] = "flow_begin",
	[FXT_FLOW_STEP] = "flow_step",
	[FXT_FLOW_END] = "flow_end",
};

/* "Thread States" */
static const char *const state_names[] = {
	[FXT_STATE_NEW] = "new",
	[FXT_STATE_RUNNING] = "running",
	[FXT_STATE_SUSPENDED] = "suspended",
	[FXT_STATE_BLOCKED] = "blocked",
	[FXT_STATE_DYING] = "dying",
	[FXT_STATE_DEAD] = "dead",
};

static const char *name_of(const char *const *names, size_t cnt, unsigned int value)
{
	return value < cnt ? names[value] : "unknown";
}

const char *fxt_kind_name(enum fxt_kind kind)
{
	return name_of(kind_names, ENTRIES(kind_names), kind);
}

const char *fxt_event_type_name(enum fxt_event_type type)
{
	return name_of(event_names, ENTRIES(event_names), type);
}

const char *fxt_thread_state_name(enum fxt_thread_state state)
{
	return name_of(state_names, ENTRIES(state_names), state);
}

const struct fxt_arg *fxt_record_arg(const struct fxt_record *rec, const char *name)
{
	size_t len = strlen(name);
	unsigned int i;

	for (i = 0; i < rec->nargs; i++) {
		const struct fxt_str *s = &rec->args[i].name;

		if (s->len == len && !memcmp(s->data, name, len))
			return &rec->args[i];
	}
	return NULL;
}
