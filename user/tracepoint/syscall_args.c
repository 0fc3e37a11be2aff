// SPDX-License-Identifier: GPL-2.0
/*
 * The arguments of system calls are the fields of tracepoints syscalls:sys_enter_NAME.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/syscalls.h"
#include "kernel/tracefs.h"
#include "tracepoint.h"

/* Integers by their C type; what is not here is as wide as a register and unsigned. */
static const struct {
	const char *name;
	enum fxt_arg_type type;
} types[] = {
	{ "int", FXT_ARG_INT32 }, { "__s32", FXT_ARG_INT32 }, { "pid_t", FXT_ARG_INT32 },
	{ "clockid_t", FXT_ARG_INT32 }, { "timer_t", FXT_ARG_INT32 }, { "mqd_t", FXT_ARG_INT32 },
	{ "key_t", FXT_ARG_INT32 }, { "key_serial_t", FXT_ARG_INT32 }, { "rwf_t", FXT_ARG_INT32 },
	{ "unsigned", FXT_ARG_UINT32 }, { "unsigned int", FXT_ARG_UINT32 }, { "u32", FXT_ARG_UINT32 },
	{ "__u32", FXT_ARG_UINT32 }, { "uid_t", FXT_ARG_UINT32 }, { "gid_t", FXT_ARG_UINT32 },
	{ "umode_t", FXT_ARG_UINT32 }, { "qid_t", FXT_ARG_UINT32 },
	{ "long", FXT_ARG_INT64 }, { "off_t", FXT_ARG_INT64 }, { "loff_t", FXT_ARG_INT64 },
	{ "cap_user_header_t", FXT_ARG_POINTER }, { "cap_user_data_t", FXT_ARG_POINTER },
};

static bool ends_with(const char *text, const char *end)
{
	const size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

static enum fxt_arg_type type_of(const char *type, const char *name)
{
	const bool is_const = !strncmp(type, "const ", 6);
	unsigned int i;

	if (strchr(type, '*'))
		return !strcmp(type + 6 * is_const, "char *") && strcmp(name, "shmaddr") ? FXT_ARG_STRING :
											   FXT_ARG_POINTER;
	if (!strcmp(name, "fd"))	/* mmap has an unsigned long */
		return FXT_ARG_INT32;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type + 6 * is_const, types[i].name))
			return types[i].type;
	/* Addresses that are declared as numbers. */
	return ends_with(name, "addr") || ends_with(name, "brk") || !strcmp(name, "start") ? FXT_ARG_POINTER :
											      FXT_ARG_UINT64;
}

/* The length of the argument before it: that one is then no string but so many bytes. */
static bool is_length(const char *name)
{
	return ends_with(name, "len") || ends_with(name, "size") || !strcmp(name, "count") || !strcmp(name, "bufsiz");
}

/* What the kernel calls it, where that is not the name of its number. */
static const char *own_name(const char *name)
{
	static const char *const others[][2] = {
		{ "stat", "newstat" }, { "fstat", "newfstat" }, { "lstat", "newlstat" }, { "uname", "newuname" },
		{ "sendfile", "sendfile64" }, { "umount2", "umount" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(name, others[i][0]))
			return others[i][1];
	return name;
}

int syscall_proto_parse(struct syscall_proto *proto, const char *text, size_t len)
{
	const struct tracepoint_field *fields;
	struct tracepoint_format *format;
	unsigned int cnt, i;
	int err = tracepoint_format_open(&format, "syscalls", text, len, NULL, NULL);

	if (err)
		return err;
	fields = tracepoint_format_fields(format, &cnt);
	for (i = 0; i < cnt && proto->args_cnt < SYSCALL_ARGS_MAX; i++) {
		struct syscall_arg *arg = &proto->args[proto->args_cnt];

		/* 7.x has what texts were, too. */
		if (!strcmp(fields[i].name, "__syscall_nr") || fields[i].is_dynamic)
			continue;
		if (proto->args_cnt++ && arg[-1].type == FXT_ARG_STRING && is_length(fields[i].name))
			arg[-1].type = FXT_ARG_POINTER;
		arg->type = type_of(fields[i].type, fields[i].name);
		snprintf(arg->name, sizeof(arg->name), "%s", fields[i].name);
	}
	proto->known = true;
	tracepoint_format_close(format);
	return 0;
}

void syscall_proto_read(struct syscall_proto *proto, const char *name)
{
	char event[64], *text;
	size_t len;

	snprintf(event, sizeof(event), "sys_enter_%s", own_name(name));
	if (tracefs_format(&(struct tracefs_event){ "syscalls", event }, &text, &len))
		return;
	syscall_proto_parse(proto, text, len);
	free(text);
}
