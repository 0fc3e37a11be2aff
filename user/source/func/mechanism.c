// SPDX-License-Identifier: GPL-2.0
/*
 * Mechanisms are tried, never inferred from a version: each is put on one function
 * that every kernel has, with a program that does nothing, and taken off again; where the kernel says so without that,
 * on one that it does not have.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kmod/kfxt.h"
#include "kernel/bpf_sys.h"
#include "mechanism.h"
#include "kernel/btf.h"

#define TRIED		"vfs_read"	/* since 2.2, exported until 5.8, called by all */
#define FEW		16		/* fentry: a program for each, 150 ms to detach */
#define CAP		200		/* single probes: 10 to 80 ms each to detach */
#define MANY		1000		/* from here on the module's lower price counts */

#define ENOTSUPP	524	/* the kernel's own: errno.h does not have it */

static bool explain(int err, char *why, size_t size)
{
	snprintf(why, size, "%s", err == -ENOTSUPP ? "the kernel does not support it" : err ? strerror(-err) : "");
	return !err;
}

#define NO_PROGRAM	(-4096)	/* no errno */

/* Closes what was tried; the result is @fd's, or @prog's if that failed. */
static bool tried(int prog, int fd, char *why, size_t size)
{
	int err = prog < 0 && prog != NO_PROGRAM ? prog : fd < 0 ? fd : 0;

	if (fd >= 0)
		close(fd);
	if (prog >= 0)
		close(prog);
	return explain(err, why, size);
}

static bool have_multi_of(uint32_t attach_type, char *why, size_t size)
{
	const char *const none[] = { "no function of kfxt" }, *const names[] = { TRIED };
	int prog = bpf_call_load_nothing(BPF_PROG_TYPE_KPROBE, attach_type, 0);
	int fd = prog < 0 ? prog : bpf_call_kprobe_multi(prog, attach_type, NULL, none, 1, 0);

	/* Only a kernel that knows this link looks for the function, and there is nothing to detach, for which it would wait. */
	if (prog >= 0 && fd == -ESRCH) {
		close(prog);
		return explain(0, why, size);
	}
	/* Before 6.0 it is the same error as of a link that is not known. */
	if (fd == -EINVAL)
		fd = bpf_call_kprobe_multi(prog, attach_type, NULL, names, 1, 0);
	if (prog >= 0 && fd == -EOPNOTSUPP) {
		tried(prog, fd, why, size);
		snprintf(why, size, "the kernel has no CONFIG_FPROBE");
		return false;
	}
	return tried(prog, fd, why, size);
}

static bool have_session(char *why, size_t size)
{
	return have_multi_of(ATTACH_KPROBE_SESSION, why, size);
}

static bool have_multi(char *why, size_t size)
{
	return have_multi_of(ATTACH_KPROBE_MULTI, why, size);
}

static bool have_module(char *why, size_t size)
{
	int prog, fd, device;
	__u32 version = 0;
	bool good;

	prog = bpf_call_load_nothing(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0);
	fd = prog < 0 ? prog : bpf_raw_tracepoint_open(KFXT_TP_FUNC_ENTRY, prog);
	if (prog >= 0 && fd == -ENOENT) {
		close(prog);
		snprintf(why, size, "the module is not loaded");
		return false;
	}
	if (!tried(prog, fd, why, size))
		return false;
	device = open(KFXT_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0) {
		snprintf(why, size, "%s: %s", KFXT_DEVICE,
			 errno == EBUSY ? "another recording uses it" : strerror(errno));
		return false;
	}
	good = !ioctl(device, KFXT_IOC_VERSION, &version) && version == KFXT_ABI_VERSION;
	if (!good)
		snprintf(why, size, "the loaded module has version %u, this kfxt needs %u", version,
			 KFXT_ABI_VERSION);
	close(device);
	return good;
}

static bool have_fentry(char *why, size_t size)
{
	int id = kernel_btf_function(TRIED);
	int prog = id < 0 ? id : bpf_call_load_nothing(BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, id);
	int fd = prog < 0 ? prog : bpf_raw_tracepoint_open(NULL, prog);

	return tried(prog, fd, why, size);
}

/* A perf event of the PMU @pmu ("kprobe") on @config1, @config2. */
static int open_probe(const char *pmu, uint64_t config1, uint64_t config2)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .config1 = config1, .config2 = config2 };
	char path[64];
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	n = fscanf(f, "%u", &attr.type);
	fclose(f);
	if (n != 1)
		return -EINVAL;
	n = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return n < 0 ? -errno : n;
}

static bool have_kprobe(char *why, size_t size)
{
	return tried(NO_PROGRAM, open_probe("kprobe", (uintptr_t)TRIED, 0), why, size);
}

static bool have_uprobe(char *why, size_t size)
{
	/* The file's first byte is never code, so nothing is patched. */
	return tried(NO_PROGRAM, open_probe("uprobe", (uintptr_t)"/proc/self/exe", 0), why, size);
}

static bool have_uprobe_multi(char *why, size_t size)
{
	const uint64_t offset = 0;
	int prog = bpf_call_load_nothing(BPF_PROG_TYPE_KPROBE, ATTACH_UPROBE_MULTI, 0);
	int fd = prog < 0 ? prog : bpf_call_uprobe_multi(prog, "/", &offset, NULL, 1, 0);

	/* A directory cannot be probed, and only a kernel that knows this link looks at it. */
	if (prog >= 0 && fd == -EBADF) {
		close(prog);
		return explain(0, why, size);
	}
	return tried(prog, fd, why, size);
}

static bool have_mechanism(const struct feature *f, char *why, size_t size)
{
	return func_vias[f->number].have(why, size);
}

#define MECHANISM(id, what, for_what, how) \
	[id] = { .name = what, .used_for = for_what, .remedy = how, .have = have_mechanism, .number = id, \
		 .locked = (id) == FUNC_VIA_KPROBE }

const struct feature func_features[FUNC_VIA_CNT + 1] = {
	MECHANISM(FUNC_VIA_SESSION, "kprobe.session", "kernel functions with their returns (--returns), any number",
		  "kernel 6.10 or later with CONFIG_FPROBE=y"),
	MECHANISM(FUNC_VIA_MULTI, "kprobe.multi", "kernel functions, any number",
		  "kernel 5.18 or later with CONFIG_FPROBE=y"),
	MECHANISM(FUNC_VIA_MODULE, "module", "kernel functions, any number, at lower cost",
		  "make module modules_install && modprobe kfxt (see kmod/README.md)"),
	MECHANISM(FUNC_VIA_FENTRY, "fentry", "a few kernel functions",
		  "kernel with CONFIG_DEBUG_INFO_BTF=y and CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS=y"),
	MECHANISM(FUNC_VIA_KPROBE, "kprobe", "some kernel functions", "kernel with CONFIG_KPROBES=y"),
	MECHANISM(FUNC_VIA_UPROBE_MULTI, "uprobe.multi", "functions of programs, any number",
		  "kernel 6.6 or later with CONFIG_UPROBES=y"),
	MECHANISM(FUNC_VIA_UPROBE, "uprobe", "some functions of programs, USDT probes",
		  "kernel with CONFIG_UPROBES=y"),
};

const struct func_via func_vias[] = {
	[FUNC_VIA_SESSION] = {
		.sees_return = true, .sees_parent = true, .by_address = true, .have = have_session },
	[FUNC_VIA_MULTI] = {
		.entry = true, .sees_return = true, .sees_parent = true, .by_address = true, .have = have_multi },
	[FUNC_VIA_MODULE] = {
		.entry = true, .sees_parent = true, .by_address = true, .have = have_module },
	[FUNC_VIA_FENTRY] = {
		.entry = true, .sees_return = true, .no_globs = true, .max = FEW, .have = have_fentry },
	[FUNC_VIA_KPROBE] = {
		.entry = true, .sees_return = true, .sees_parent = true, .max = CAP, .have = have_kprobe },
	[FUNC_VIA_UPROBE_MULTI] = {
		.user = true, .entry = true, .sees_return = true, .sees_parent = true, .have = have_uprobe_multi },
	[FUNC_VIA_UPROBE] = {
		.user = true, .entry = true, .sees_return = true, .sees_parent = true, .max = CAP, .have = have_uprobe },
};

enum func_via_id func_via_by_name(const char *name)
{
	unsigned int i;

	for (i = 0; i < FUNC_VIA_CNT; i++)
		if (!strcmp(func_features[i].name, name))
			break;
	return i;
}

static bool is_forced(const struct func_want *want, const struct func_via *via)
{
	unsigned int i;
	bool any = false;

	for (i = 0; i < want->forced_cnt; i++) {
		enum func_via_id id = func_via_by_name(want->forced[i]);

		if (id == FUNC_VIA_CNT || func_vias[id].user != want->user)
			continue;
		any = true;
		if (&func_vias[id] == via)
			return true;
	}
	return !any;
}

/* Why @via will not do for @want, whether or not the kernel has it; NULL: it will. */
static const char *misfit(const struct func_want *want, const struct func_via *via)
{
	if (!want->returns && !via->entry)
		return "is for --returns";
	if (want->returns && !via->sees_return)
		return "does not report returns";
	if (want->parents && !via->sees_parent)
		return "does not report callers";
	if (want->comms && via->no_globs)
		return "does not support --comm";
	if (via->by_address && !want->addresses)
		return "needs addresses, which the kernel hides (sysctl kernel.kptr_restrict=1)";
	if (via->max && want->cnt > via->max)
		return "is for fewer functions";
	return NULL;
}

enum func_via_id func_via_choose(const struct func_want *want, char *why, size_t size)
{
	/* In the order to try: by rank, but for wide globs the module is best. */
	enum func_via_id order[FUNC_VIA_CNT];
	unsigned int i, n = 0;
	size_t len = 0;

	if (want->wide && want->cnt >= MANY)
		order[n++] = FUNC_VIA_MODULE;
	for (i = 0; i < FUNC_VIA_CNT; i++)
		if (n == 0 || order[0] != FUNC_VIA_MODULE || i != FUNC_VIA_MODULE)
			order[n++] = i;
	why[0] = 0;
	for (i = 0; i < n; i++) {
		const struct func_via *via = &func_vias[order[i]];
		char reason[256] = "";
		const char *text = misfit(want, via);

		if (via->user != want->user || !is_forced(want, via))
			continue;
		if (!text && via->have(reason, sizeof(reason)))
			return order[i];
		if (len < size)
			len += snprintf(why + len, size - len, "%s%s: %s", len ? "; " : "", func_features[order[i]].name,
					text ?: reason);
	}
	return FUNC_VIA_CNT;
}
