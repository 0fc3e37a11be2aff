// SPDX-License-Identifier: GPL-2.0
/*
 * Names of system calls, of which traces have numbers: those of the machine that SystemInfo names. (A 32-bit program
 * on a 64-bit kernel has other numbers; traces do not say which one that is.)
 */
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>

#include "reader_p.h"

void pf_syscalls_machine(struct pf_reader *r, const struct pf_field *machine)
{
	static const struct {
		const char *name;
		uint32_t arch;
	} machines[] = {
		{ "x86_64", SCMP_ARCH_X86_64 }, { "aarch64", SCMP_ARCH_AARCH64 }, { "i686", SCMP_ARCH_X86 },
		{ "armv7l", SCMP_ARCH_ARM }, { "armv8l", SCMP_ARCH_ARM }, { "riscv64", SCMP_ARCH_RISCV64 },
		{ "ppc64le", SCMP_ARCH_PPC64LE }, { "s390x", SCMP_ARCH_S390X },
	};
	size_t i;

	for (i = 0; i < sizeof(machines) / sizeof(machines[0]) && !r->syscalls.arch; i++)
		if (machine->len == strlen(machines[i].name) && !memcmp(machine->data, machines[i].name, machine->len))
			r->syscalls.arch = machines[i].arch;
}

const char *pf_syscall_name(struct pf_reader *r, uint64_t number)
{
	char **name = &r->syscalls.names[number < PF_SYSCALLS_MAX ? number : 0];

	if (!r->syscalls.arch || number >= PF_SYSCALLS_MAX)
		return NULL;
	if (!*name)
		*name = seccomp_syscall_resolve_num_arch(r->syscalls.arch, (int)number);
	return *name;
}

void pf_syscalls_fini(struct pf_reader *r)
{
	size_t i;

	for (i = 0; i < PF_SYSCALLS_MAX; i++)
		free(r->syscalls.names[i]);
}
