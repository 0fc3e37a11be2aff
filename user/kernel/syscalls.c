// SPDX-License-Identifier: GPL-2.0
/*
 * The numbers of system calls: those of the headers kfxt was compiled with, made into lists
 * by the Makefile, and those that came later and are the same for all programs.
 */
#include <asm/unistd.h>
#include <stddef.h>

#include "syscalls.h"

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

/*
 * The headers know them once they are as new as the kernel that has them. Other architectures have none:
 * there, uprobes trap. A program cannot use them: outside of a trampoline, uretprobe raises SIGILL and
 * uprobe fails with ENXIO, and kernels that have neither fail both with ENOSYS.
 */
bool syscall_is_probe(bool compat, unsigned int nr)
{
#ifdef __x86_64__
#ifndef __NR_uretprobe
#define __NR_uretprobe	335	/* 6.11, ff474a78cef5 */
#endif
#ifndef __NR_uprobe
#define __NR_uprobe	336	/* 6.18, 56101b69c919 */
#endif
	return !compat && (nr == __NR_uretprobe || nr == __NR_uprobe);
#else
	(void)compat, (void)nr;
	return false;
#endif
}

const char *syscall_name(bool compat, unsigned int nr)
{
	if (nr >= SYSCALL_NUMBERS)
		return NULL;
	if (!names[compat][nr] && nr >= LATER_FROM && nr < LATER_FROM + LATER_CNT)
		return later[nr - LATER_FROM];
	return names[compat][nr];
}
