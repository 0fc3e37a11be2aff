// SPDX-License-Identifier: GPL-2.0
/*
 * Which capability is needed is tried: without any, may we write to the directory?
 *
 * A hook is to have the rights that it would have if the user who started the recorder ran it. It inherits the bounding
 * set, no_new_privs and a filter of system calls: where there is a hook, these stay as they are.
 */
#include "rights.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Those of @keep that there are, and no other; none is inheritable. */
static int set_capabilities(const cap_value_t *keep, int cnt, bool effective)
{
	cap_t had = cap_get_proc(), caps = cap_init();
	cap_flag_value_t value;
	int i, err = had && caps ? 0 : -ENOMEM;

	for (i = 0; i < cnt && !err; i++) {
		if (cap_get_flag(had, keep[i], CAP_PERMITTED, &value) || value != CAP_SET)
			continue;
		err = cap_set_flag(caps, CAP_PERMITTED, 1, &keep[i], CAP_SET);
		if (effective)
			err = err ?: cap_set_flag(caps, CAP_EFFECTIVE, 1, &keep[i], CAP_SET);
	}
	if (!err && cap_set_proc(caps))
		err = -errno;
	cap_free(had);
	cap_free(caps);
	return err;
}

static int drop_capabilities(int dir, bool hooks)
{
	static const cap_value_t all[] = { CAP_KILL, CAP_DAC_OVERRIDE };
	int err = set_capabilities(all, 2, false);
	bool may;

	if (err)
		return err;
	may = !faccessat(dir, ".", W_OK | X_OK, AT_EACCESS);
	return set_capabilities(hooks ? all : all + 1, (hooks ? 1 : 0) + (may ? 0 : 1), true);
}

static const int calls[] = {
	/* Files, their names, the directory. */
	SCMP_SYS(openat), SCMP_SYS(close), SCMP_SYS(flock), SCMP_SYS(fchmod), SCMP_SYS(ftruncate), SCMP_SYS(pread64),
	SCMP_SYS(fsync), SCMP_SYS(fdatasync), SCMP_SYS(utimensat),
	SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(lseek), SCMP_SYS(getdents64), SCMP_SYS(fcntl),
	SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(unlinkat), SCMP_SYS(fstat), SCMP_SYS(newfstatat),
	SCMP_SYS(statx), SCMP_SYS(fstatfs), SCMP_SYS(dup3),
	/* The recorder. */
	SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(clock_gettime),
	/* libc: memory, the identity that files must have, the end. */
	SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect), SCMP_SYS(madvise),
	SCMP_SYS(geteuid), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(tgkill), SCMP_SYS(futex), SCMP_SYS(getrandom),
	SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
	SCMP_SYS(restart_syscall), SCMP_SYS(sched_yield), SCMP_SYS(exit), SCMP_SYS(exit_group),
};

/* Where the kernel or libseccomp cannot, it works without. */
static void filter_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	size_t i;
	int err = filter ? seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)) : -ENOMEM;

	err = err ?: seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	for (i = 0; i < sizeof(calls) / sizeof(*calls) && !err; i++)
		if (calls[i] >= 0)	/* those below 0 are not of this architecture */
			err = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, calls[i], 0, NULL);
	if (!err)
		seccomp_load(filter);
	seccomp_release(filter);
}

int rights_drop(int dir, bool hooks)
{
	return drop_capabilities(dir, hooks);
}

int rights_filter(bool hooks)
{
	if (hooks)
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	filter_calls();
	return 0;
}
