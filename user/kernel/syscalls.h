/* SPDX-License-Identifier: GPL-2.0 */
/*
 * System calls: their numbers, and of what type their arguments are.
 */
#ifndef KERNEL_SYSCALLS_H
#define KERNEL_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/abi/syscall.h"
#include "fxt/fxt.h"

struct syscall_arg {
	enum fxt_arg_type type;		/* FXT_ARG_STRING: a text at that address */
	char name[28];
};

/* What the kernel says of a call. */
struct syscall_proto {
	bool known;
	unsigned int args_cnt;
	struct syscall_arg args[SYSCALL_ARGS_MAX];
};

/* The name of a call's number, that of 32-bit programs with @compat; NULL: none is known. */
const char *syscall_name(bool compat, unsigned int nr);
/* Is it made by the kernel's trampolines of uprobes? Never recorded. */
bool syscall_is_probe(bool compat, unsigned int nr);
/* The arguments that a format file lists, into an empty @proto. 0, -EINVAL: it is none; -ENOMEM. */
int syscall_proto_parse(struct syscall_proto *proto, const char *text, size_t len);
/* The same for the call @name, by the file in tracefs, if that is there. */
void syscall_proto_read(struct syscall_proto *proto, const char *name);

#endif
