// SPDX-License-Identifier: GPL-2.0
/*
 * The numbers of system calls: those of the headers kfxt was compiled with, made into lists
 * by the Makefile, and those that came later and are the same for all programs.
 */
#include <asm/unistd.h>
#include <stddef.h>

#include "syscall_table.h"

static const char *const names[][SYSCALL_NUMBERS] = {
	{
#include "syscalls_native.h"
	}, {
#include "syscalls_compat.h"
	},
};

/* arch/x86/entry/syscalls/syscall_64.tbl and scripts/syscall.tbl of Linux 7.2, from 451 on. */
static const char *const later[] = {
	"cachestat", "fchmodat2", "map_shadow_stack", "futex_wake", "futex_wait", "futex_requeue",
	"statmount", "listmount", "lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "mseal",
	"setxattrat", "getxattrat", "listxattrat", "removexattrat", "open_tree_attr", "file_getattr",
	"file_setattr", "listns",
};
#define LATER_FROM	451
#define LATER_CNT	(sizeof(later) / sizeof(later[0]))

const char *syscall_name(bool compat, unsigned int nr)
{
	if (nr >= SYSCALL_NUMBERS)
		return NULL;
	if (!names[compat][nr] && nr >= LATER_FROM && nr < LATER_FROM + LATER_CNT)
		return later[nr - LATER_FROM];
	return names[compat][nr];
}
