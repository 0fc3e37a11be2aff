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

#include "feature.h"
#include "func_via.h"
#include "kernel_btf.h"
#include "names.h"
#include "probes.h"
#include "tracefs.h"

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

static bool have_file(const struct feature *f, char *why, size_t size)
{
	/* Opened, since for some (/dev/kmsg) the mode of the file says little. */
	int fd = open(f->arg, O_RDONLY | O_NONBLOCK | O_CLOEXEC), err = fd < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return explain(err, why, size);
}

static bool have_tracefs(const struct feature *f, char *why, size_t size)
{
	char path[256];
	const struct feature file = { .arg = path };

	return tracefs_find(path, sizeof(path), f->arg) ? have_file(&file, why, size) : explain(ENOENT, why, size);
}

static bool have_tracepoint(const struct feature *f, char *why, size_t size)
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
	snprintf(why, size, "the kernel's BTF does not tell where it is");
	return kernel_btf_has_preempt_count();
}

static bool have_initial_pid_namespace(const struct feature *f, char *why, size_t size)
{
	(void)f;
	snprintf(why, size, "/proc shows other ids than the kernel's own");
	return names_ids_match();
}

static bool have_via(const struct feature *f, char *why, size_t size)
{
	return func_vias[f->number].have(why, size);
}

/* All of it at once: the programs themselves, attached and let go. */
static bool have_programs(const struct feature *f, char *why, size_t size)
{
	const uint32_t cpu = 0;
	const struct probes_cfg cfg = { .ring_bytes = 4096, .cpus = &cpu, .cpus_cnt = 1 };
	const char *what = NULL;
	struct probes *p = NULL;
	int err = probes_open(&p, &cfg, &what);

	(void)f;
	err = err ?: probes_attach(p, &what);
	probes_close(p);
	if (err)
		snprintf(why, size, "%s: %s", what ?: "attaching", strerror(-err));
	return !err;
}

/* Name, use and remedy are the mechanism's own; see feature_table(). */
#define MECHANISM(id)	{ NULL, NULL, NULL, false, have_via, NULL, id }

#define TRACEPOINT_OF(required, name, nargs, what) \
	{ "tracepoint " name, what, "kernel 5.18 or later with CONFIG_DEBUG_INFO_BTF=y", required, \
	  have_tracepoint, name, nargs }
#define RIGHTS	"run as root, or once: setcap cap_bpf,cap_perfmon+ep kfxt"
#define TRACEPOINT(name, nargs, what)	TRACEPOINT_OF(true, name, nargs, what)

static struct feature features[] = {
	{ "CAP_BPF", "loading programs", RIGHTS, true, have_capability, NULL, CAP_BPF },
	{ "CAP_PERFMON", "attaching to tracepoints", RIGHTS, true, have_capability, NULL, CAP_PERFMON },
	{ "kernel BTF", "finding the fields of kernel structures", "kernel with CONFIG_DEBUG_INFO_BTF=y",
	  true, have_file, "/sys/kernel/btf/vmlinux", 0 },
	TRACEPOINT("sched_switch", 4, "context switches"),
	TRACEPOINT("sched_waking", 1, "wakeups"),
	TRACEPOINT("sched_wakeup_new", 1, "first wakeups of new threads"),
	TRACEPOINT("task_newtask", 2, "names of new threads"),
	TRACEPOINT("task_rename", 2, "new names of threads"),
	TRACEPOINT("sched_process_exec", 3, "command lines of new programs"),
	TRACEPOINT("sched_process_exit", 1, "names of threads that end at once, recycled ids"),
	{ "memory-mapped BPF arrays", "the rings", "kernel 5.5 or later", true, have_mmapable_array, NULL, 0 },
	{ "BPF ring buffer", "names, waking the recorder", "kernel 5.8 or later", true, have_ringbuf, NULL, 0 },
	{ "the programs", "everything", "see kfxt record -v for the kernel's reason", true, have_programs,
	  NULL, 0 },
	{ "preempt_count", "telling that an interrupt, not a thread, was the waker",
	  "kernel with per-CPU variables in its BTF", false, have_preempt_count, NULL, 0 },
	TRACEPOINT_OF(false, "console", 2, "the kernel's log"),
	{ "/dev/kmsg", "levels of the kernel's log", "run as root, or with CAP_SYSLOG", false, have_file,
	  "/dev/kmsg", 0 },
	TRACEPOINT_OF(false, "sys_exit", 2, "markers, where the kernel makes no copies of them"),
	{ "tracefs", "tracepoints by name, signal, migrate, system calls, markers",
	  "as root: mount -t tracefs tracefs /sys/kernel/tracing", false, have_tracefs,
	  "events", 0 },
	{ "copies of markers", "markers at no cost, without -e marker", "run as root on kernel 6.16 or later", false,
	  have_tracefs, "options/copy_trace_marker", 0 },
	TRACEPOINT_OF(false, "irq_handler_entry", 2, "-e irq"),
	TRACEPOINT_OF(false, "workqueue_execute_start", 1, "-e workqueue"),
	TRACEPOINT_OF(false, "cpu_idle", 2, "-e power"),
	TRACEPOINT_OF(false, "block_rq_issue", 1, "-e block"),
	{ "pressure", "-e psi", "kernel with CONFIG_PSI=y, started with psi=1", false, have_file,
	  "/proc/pressure/cpu", 0 },
	{ "initial PID namespace", "names of threads that ran before the start", "run outside of the container",
	  false, have_initial_pid_namespace, NULL, 0 },
	{ "/proc", "names of threads that ran before the start", "mount -t proc proc /proc", false, have_file,
	  "/proc/self/task", 0 },
	MECHANISM(FUNC_VIA_SESSION), MECHANISM(FUNC_VIA_MULTI), MECHANISM(FUNC_VIA_MODULE),
	MECHANISM(FUNC_VIA_FENTRY), MECHANISM(FUNC_VIA_KPROBE),
	MECHANISM(FUNC_VIA_UPROBE_MULTI), MECHANISM(FUNC_VIA_UPROBE),
};

const struct feature *feature_table(unsigned int *cnt)
{
	unsigned int i;

	*cnt = sizeof(features) / sizeof(features[0]);
	for (i = 0; i < *cnt; i++) {
		if (features[i].have != have_via)
			continue;
		features[i].name = func_vias[features[i].number].name;
		features[i].used_for = func_vias[features[i].number].used_for;
		features[i].remedy = func_vias[features[i].number].remedy;
	}
	return features;
}

bool feature_have(const struct feature *f, char *why, size_t size)
{
	why[0] = 0;
	return f->have(f, why, size);
}
