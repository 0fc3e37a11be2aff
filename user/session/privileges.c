// SPDX-License-Identifier: GPL-2.0
/*
 * Which capabilities and which system calls are left. A call that is not in the list fails with
 * ENOSYS, as on a kernel that does not have it: libc then falls back on an older one, and what
 * has no fallback shows as an error, never as a sudden end of the recording.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "privileges.h"
#include "capture/sources.h"
#include "base/file.h"

#define MOUNTS_BYTES_MAX	(1U << 20)
#define BIT(cap)		(1ULL << (cap))

/* ---- capabilities ----------------------------------------------------------------- */

static int set_flag(cap_t caps, cap_flag_t flag, uint64_t set)
{
	cap_value_t cap;
	int err = 0;

	for (cap = 0; cap < cap_max_bits() && !err; cap++)
		if (set & BIT(cap))
			err = cap_set_flag(caps, flag, 1, &cap, CAP_SET);
	return err;
}

/* Never more than there is; none is inheritable. */
static int set_capabilities(uint64_t permitted, uint64_t effective)
{
	cap_t caps = cap_init();
	int err = 0;

	if (!caps)
		return -ENOMEM;
	if (set_flag(caps, CAP_PERMITTED, permitted) || set_flag(caps, CAP_EFFECTIVE, effective) || cap_set_proc(caps))
		err = -errno;
	cap_free(caps);
	return err;
}

static uint64_t permitted_now(void)
{
	cap_t caps = cap_get_proc();
	cap_flag_value_t value;
	uint64_t set = 0;
	cap_value_t cap;

	for (cap = 0; caps && cap < cap_max_bits(); cap++)
		if (!cap_get_flag(caps, cap, CAP_PERMITTED, &value) && value == CAP_SET)
			set |= BIT(cap);
	cap_free(caps);
	return set;
}

/* Takes CAP_SETPCAP. Without it there are none but those of files, which no_new_privs keeps away. */
static void drop_bounds(uint64_t keep)
{
	cap_value_t cap;

	cap_reset_ambient();
	for (cap = 0; cap < cap_max_bits(); cap++)
		if (!(keep & BIT(cap)))
			cap_drop_bound(cap);
}

/* /proc mounted to show processes to their owners only: what others are called takes a right. */
static bool proc_hides(void)
{
	char *text;
	size_t len;
	bool hides;

	if (text_file_read("/proc/mounts", MOUNTS_BYTES_MAX, &text, &len))
		return false;
	hides = strstr(text, "hidepid=");
	free(text);
	return hides;
}

/* Before 5.19 (c8644cd0efe7), kernel.unprivileged_bpf_disabled meant every call, not just those that make things. */
static bool bpf_takes_capability(void)
{
	struct bpf_prog_info info;
	uint32_t len = sizeof(info);

	return bpf_obj_get_info_by_fd(-1, &info, &len) && errno == EPERM;
}

/* The table of docs/design.md. */
static uint64_t needed(const struct privileges_cfg *cfg)
{
	uint64_t keep = 0;

	if (cfg->command)
		keep |= BIT(CAP_KILL);
	if (cfg->sources)
		keep |= sources_capabilities(cfg->sources);
	if (proc_hides())
		keep |= BIT(CAP_SYS_PTRACE);
	return keep;
}

static void name_kept(uint64_t kept, char *text, size_t size)
{
	cap_value_t cap;
	size_t len = 0;
	char *name;

	text[0] = 0;
	for (cap = 0; cap < cap_max_bits() && len < size; cap++) {
		name = kept & BIT(cap) ? cap_to_name(cap) : NULL;
		if (name)
			len += snprintf(text + len, size - len, "%s%s", len ? "," : "", name);
		cap_free(name);
	}
}

static int drop_capabilities(const struct privileges_cfg *cfg, struct confined *out)
{
	const uint64_t had = permitted_now();
	uint64_t keep = had & needed(cfg);
	int err = set_capabilities(had, had & ~(BIT(CAP_BPF) | BIT(CAP_SYS_ADMIN)));

	if (!err && bpf_takes_capability())
		keep |= had & BIT(CAP_BPF);
	drop_bounds(keep);
	err = err ?: set_capabilities(keep, keep);
	name_kept(keep, out->kept, sizeof(out->kept));
	return err;
}

int privileges_drop_all(void)
{
	return set_capabilities(0, 0);
}

int privileges_keep_proc(void)
{
	const uint64_t keep = proc_hides() ? permitted_now() & BIT(CAP_SYS_PTRACE) : 0;

	return set_capabilities(keep, keep);
}

int privileges_keep_one(int cap)
{
	const uint64_t keep = permitted_now() & BIT(cap);

	return set_capabilities(keep, keep);
}

/* ---- system calls ------------------------------------------------------------------ */

static const int calls[] = {
	/* The rings, the trace, the metadata ring, what comes from elsewhere. */
	SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(readv), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(lseek),
	SCMP_SYS(ftruncate), SCMP_SYS(fallocate), SCMP_SYS(fsync), SCMP_SYS(fdatasync), SCMP_SYS(close), SCMP_SYS(fcntl),
	SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_ctl),
	SCMP_SYS(timerfd_create), SCMP_SYS(timerfd_settime),
	/* Names from /proc. */
	SCMP_SYS(getdents64), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(access), SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2), SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(fstat), SCMP_SYS(newfstatat),
	SCMP_SYS(statx), SCMP_SYS(statfs), SCMP_SYS(fstatfs),
	/* A thread drops what is left; one that was made before may get to that only now, and one compresses the next file. */
	SCMP_SYS(capget), SCMP_SYS(capset),
	/* The command. */
	SCMP_SYS(wait4), SCMP_SYS(waitid),
	/* Each CPU is begun and ended from one CPU. */
	SCMP_SYS(sched_getaffinity), SCMP_SYS(sched_setaffinity), SCMP_SYS(getcpu), SCMP_SYS(sched_yield),
	/* How urgently it runs, within what CAP_SYS_NICE or RLIMIT_RTPRIO allow. */
	SCMP_SYS(sched_setscheduler),
	/* libc: memory, clocks, threads, signals, the end. */
	SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(membarrier),
	SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(time),
	SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep), SCMP_SYS(futex), SCMP_SYS(set_robust_list),
	SCMP_SYS(rseq), SCMP_SYS(getrandom), SCMP_SYS(sysinfo), SCMP_SYS(uname), SCMP_SYS(getpid),
	SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid),
	SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
	SCMP_SYS(getrusage), SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group),
#ifdef __SANITIZE_ADDRESS__
	/* The leak checker at exit stops and reads its own process. */
	SCMP_SYS(clone), SCMP_SYS(ptrace), SCMP_SYS(prctl), SCMP_SYS(getppid), SCMP_SYS(getdents),
	SCMP_SYS(process_vm_readv), SCMP_SYS(mmap), SCMP_SYS(mprotect), SCMP_SYS(prlimit64),
#endif
};

#define WHOLE	UINT32_MAX

static const struct source_call rules[] = {
	/* Files are opened for reading only. */
	{ SCMP_SYS(open), 1, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY },
	{ SCMP_SYS(openat), 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY },
	/* No new code; clone makes threads, and clone3, whose flags cannot be seen here, is refused. */
	{ SCMP_SYS(mmap), 2, PROT_EXEC, 0 },
	{ SCMP_SYS(mprotect), 2, PROT_EXEC, 0 },
	{ SCMP_SYS(clone), 0, CLONE_VM | CLONE_THREAD, CLONE_VM | CLONE_THREAD },
	{ SCMP_SYS(prctl), 0, WHOLE, PR_SET_NAME },
	{ SCMP_SYS(prlimit64), 2, UINT64_MAX, 0 },
	/* What is attached is looked at and ended. */
	{ SCMP_SYS(bpf), 0, WHOLE, BPF_MAP_LOOKUP_ELEM },
	{ SCMP_SYS(bpf), 0, WHOLE, BPF_MAP_GET_NEXT_KEY },
	{ SCMP_SYS(bpf), 0, WHOLE, BPF_PROG_TEST_RUN },
	{ SCMP_SYS(bpf), 0, WHOLE, BPF_OBJ_GET_INFO_BY_FD },
	{ SCMP_SYS(bpf), 0, WHOLE, BPF_LINK_DETACH },
	{ SCMP_SYS(ioctl), 1, WHOLE, PERF_EVENT_IOC_DISABLE },
	{ SCMP_SYS(ioctl), 1, WHOLE, TCGETS },
};

static int allow(scmp_filter_ctx filter, const struct source_call *r)
{
	const struct scmp_arg_cmp arg = { r->arg, SCMP_CMP_MASKED_EQ, r->mask, r->value };

	/* Those below 0 are not of this architecture. */
	return r->call < 0 ? 0 : seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, r->call, r->mask ? 1 : 0, &arg);
}

/*
 * Clients are accepted on that socket only. Which numbers their connections will have is not known: there are no other
 * sockets than these and the broker's, since none can be made. Answers are written by write(2).
 */
static int add_control(scmp_filter_ctx filter, int fd)
{
	const struct source_call control[] = {
		{ SCMP_SYS(accept4), 0, WHOLE, fd },
		{ SCMP_SYS(recvmsg), 2, WHOLE, MSG_CMSG_CLOEXEC | MSG_DONTWAIT },
		{ SCMP_SYS(getsockopt), 2, WHOLE, SO_PEERCRED },
		{ SCMP_SYS(getsockopt), 2, WHOLE, SO_PEERGROUPS },
	};
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(control) / sizeof(*control) && !err; i++)
		err = allow(filter, &control[i]);
	return err;
}

static int add_rules(scmp_filter_ctx filter, const struct privileges_cfg *cfg)
{
	/* Signals go to the command, to its process group and, when libc aborts, to ourselves. */
	const struct source_call signals[] = {
		{ SCMP_SYS(kill), 0, WHOLE, cfg->command },
		{ SCMP_SYS(kill), 0, WHOLE, (uint32_t)-cfg->command },
		{ SCMP_SYS(tgkill), 0, WHOLE, getpid() },
	};
	const struct source_call *call;
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(calls) / sizeof(*calls) && !err; i++)
		err = allow(filter, &(struct source_call){ .call = calls[i] });
	for (i = 0; i < sizeof(rules) / sizeof(*rules) && !err; i++)
		err = allow(filter, &rules[i]);
	for (i = 0; cfg->sources && (call = sources_call(cfg->sources, i)) && !err; i++)
		err = allow(filter, call);
	if (cfg->broker_fd && !err)
		err = allow(filter, &(struct source_call){ SCMP_SYS(recvmsg), 0, WHOLE, cfg->broker_fd });
	if (cfg->control_fd && !err)
		err = add_control(filter, cfg->control_fd);
	for (i = cfg->command ? 0 : 2; i < sizeof(signals) / sizeof(*signals) && !err; i++)
		err = allow(filter, &signals[i]);
	return err;
}

static int filter_calls(const struct privileges_cfg *cfg)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int err;

	if (!filter)
		return -ENOMEM;
	err = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
	err = err ?: seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	err = err ?: seccomp_attr_set(filter, SCMP_FLTATR_API_SYSRAWRC, 1);
	/* A search by halves: the calls of the drain are made often. */
	err = err ?: seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	err = err ?: add_rules(filter, cfg);
	err = err ?: seccomp_load(filter);
	seccomp_release(filter);
	return err;
}

int privileges_confine(const struct privileges_cfg *cfg, struct confined *out)
{
	int err;

	*out = (struct confined){ 0 };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	err = drop_capabilities(cfg, out);
	if (!err)
		out->filter_err = filter_calls(cfg);
	return err;
}
