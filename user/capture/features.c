// SPDX-License-Identifier: GPL-2.0
/*
 * The table of features and how each is tried. Rights come first, since most of
 * the rest fails without them.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "bpf/abi/ring.h"
#include "features.h"
#include "kernel/btf.h"
#include "programs.h"
#include "sources.h"
#include "kernel/pid_namespace.h"
#include "kernel/tracefs.h"

static bool explain(int err, char *why, size_t size)
{
	snprintf(why, size, "%s", err ? strerror(err) : "");
	return !err;
}

static bool have_capability(const struct feature *f, char *why, size_t size)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &header, data))
		return explain(errno, why, size);
	return data[f->number / 32].effective & (1U << f->number % 32) ||
	       data[CAP_SYS_ADMIN / 32].effective & (1U << CAP_SYS_ADMIN % 32);
}

bool feature_have_file(const struct feature *f, char *why, size_t size)
{
	/* Opened, since for some (/dev/kmsg) the mode of the file says little. */
	int fd = open(f->arg, O_RDONLY | O_NONBLOCK | O_CLOEXEC), err = fd < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return explain(err, why, size);
}

bool feature_have_tracefs(const struct feature *f, char *why, size_t size)
{
	char path[256];
	const struct feature file = { .arg = path };

	return tracefs_find(path, sizeof(path), f->arg) ? feature_have_file(&file, why, size) : explain(ENOENT, why, size);
}

bool feature_have_tracepoint(const struct feature *f, char *why, size_t size)
{
	if (kernel_btf_has_tracepoint(f->arg, 0)) {
		snprintf(why, size, "it has fewer than %u arguments", f->number);
		return kernel_btf_has_tracepoint(f->arg, f->number);
	}
	return false;
}

static bool have_mmapable_array(const struct feature *f, char *why, size_t size)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	size_t len = RING_CHUNK_BYTES_MAX + RING_SLACK_BYTES;
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "kfxt_check", 4, len, 1, &opts), err;
	void *mem;

	(void)f;
	if (fd < 0)
		return explain(errno, why, size);
	mem = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	err = mem == MAP_FAILED ? errno : 0;
	if (!err)
		munmap(mem, len);
	close(fd);
	return explain(err, why, size);
}

static bool have_ringbuf(const struct feature *f, char *why, size_t size)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "kfxt_check", 0, 0, sysconf(_SC_PAGESIZE), NULL);

	(void)f;
	if (fd < 0)
		return explain(errno, why, size);
	close(fd);
	return true;
}

static bool have_preempt_count(const struct feature *f, char *why, size_t size)
{
	(void)f;
	snprintf(why, size, "not in the kernel's BTF");
	return kernel_btf_has_preempt_count();
}

static bool have_initial_pid_namespace(const struct feature *f, char *why, size_t size)
{
	(void)f;
	snprintf(why, size, "/proc shows other ids than the kernel's own");
	return pid_namespace_is_initial();
}

/* All of it at once: the programs themselves, attached and let go. */
static bool have_programs(const struct source_ops *const *table, char *why, size_t size)
{
	const uint32_t cpu = 0;
	struct programs_cfg cfg = { .ring_bytes = 4096, .cpus = &cpu, .cpus_cnt = 1 };
	const char *what = NULL;
	struct programs *p = NULL;
	int err = sources_open(&cfg.sources, table);

	err = err ?: programs_open(&p, &cfg, &what);
	err = err ?: programs_attach(p, &what);
	programs_close(p);
	sources_close(cfg.sources);
	if (err)
		snprintf(why, size, "%s: %s", what ?: "attaching", strerror(-err));
	return !err;
}

#define RIGHTS	"run as root, or once: setcap cap_bpf,cap_perfmon+ep kfxt"
#define REQUIRED_TRACEPOINT(tp, nargs, what) \
	{ .name = "tracepoint " tp, .used_for = what, .required = true, .have = feature_have_tracepoint, .arg = tp, \
	  .number = nargs, .remedy = "kernel 5.18 or later with CONFIG_DEBUG_INFO_BTF=y" }

/* Those of any recording. */
static const struct feature features[] = {
	{ .name = "CAP_BPF", .used_for = "loading programs", .remedy = RIGHTS, .required = true,
	  .have = have_capability, .number = CAP_BPF },
	{ .name = "CAP_PERFMON", .used_for = "attaching to tracepoints", .remedy = RIGHTS, .required = true,
	  .have = have_capability, .number = CAP_PERFMON },
	{ .name = "kernel BTF", .used_for = "finding the fields of kernel structures", .required = true,
	  .remedy = "kernel with CONFIG_DEBUG_INFO_BTF=y", .have = feature_have_file, .arg = "/sys/kernel/btf/vmlinux" },
	REQUIRED_TRACEPOINT("sched_switch", 4, "context switches"),
	REQUIRED_TRACEPOINT("sched_waking", 1, "wakeups"),
	REQUIRED_TRACEPOINT("sched_wakeup_new", 1, "first wakeups of new threads"),
	REQUIRED_TRACEPOINT("task_newtask", 2, "names of new threads"),
	REQUIRED_TRACEPOINT("task_rename", 2, "new names of threads"),
	REQUIRED_TRACEPOINT("sched_process_exec", 3, "command lines of new programs"),
	REQUIRED_TRACEPOINT("sched_process_exit", 1, "names of short-lived threads, reused thread ids"),
	{ .name = "memory-mapped BPF arrays", .used_for = "the rings", .remedy = "kernel 5.5 or later",
	  .required = true, .have = have_mmapable_array },
	{ .name = "BPF ring buffer", .used_for = "names, waking the recorder", .remedy = "kernel 5.8 or later",
	  .required = true, .have = have_ringbuf },
	{ .name = "the programs", .used_for = "everything", .remedy = "see kfxt record -v for the kernel's reason",
	  .required = true, .locked = true },
	{ .name = "preempt_count", .used_for = "marking wakeups made by interrupts",
	  .remedy = "kernel with per-CPU variables in its BTF", .have = have_preempt_count },
	{ .name = "initial PID namespace", .used_for = "names of threads that ran before the start",
	  .remedy = "run outside of the container", .have = have_initial_pid_namespace },
	{ .name = "/proc", .used_for = "names of threads that ran before the start",
	  .remedy = "mount -t proc proc /proc", .have = feature_have_file, .arg = "/proc/self/task" },
};
#define FEATURES	(sizeof(features) / sizeof(*features))

const struct feature *feature_at(const struct source_ops *const *sources, unsigned int i)
{
	const struct feature *f;
	unsigned int kind;

	if (i < FEATURES)
		return &features[i];
	i -= FEATURES;
	for (kind = 0; kind < RAW_KIND_CNT; kind++)
		for (f = sources[kind]->features; f && f->name; f++)
			if (!i--)
				return f;
	return NULL;
}

bool feature_have(const struct feature *f, const struct source_ops *const *sources, char *why, size_t size)
{
	why[0] = 0;
	return f->have ? f->have(f, why, size) : have_programs(sources, why, size);
}
