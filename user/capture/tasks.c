// SPDX-License-Identifier: GPL-2.0
/*
 * Names from /proc and from the metadata ring, as kernel objects: process records
 * for every thread group, thread records for every thread. Kernel threads all
 * belong to process 0, "kernel", so that they do not clutter a viewer.
 */
#include <bpf/libbpf.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi/ids.h"
#include "bpf/abi/object.h"
#include "bpf/abi/strings.h"
#include "fxt/fxt.h"
#include "base/array.h"
#include "base/cgroup_name.h"
#include "base/clock.h"
#include "base/redact.h"
#include "capture/source.h"
#include "cgroups.h"
#include "cmdlines.h"
#include "kernel/pid_namespace.h"
#include "tasks.h"
#include "format/perfetto/packets.h"
#include "programs.h"
#include "thread_filter.h"

#define COMM_BYTES		16
#define CUT_MARK		" ..."	/* ends command lines of more than CMDLINE_BYTES_MAX */
#define PF_KTHREAD		0x00200000
#define SCAN_STEP		CMDLINES_AT_ONCE	/* processes per tasks_scan() */
#define LATE_MAX		65536U	/* that are kept in mind */

struct tasks {
	struct fxt_writer *w;
	struct programs *probes;
	struct packets *packets;
	struct cgroups *cgroups;
	struct filter *filter;		/* NULL: none */
	struct tasks_hidden hidden;
	struct ring_buffer *side;
	DIR *proc;		/* while scanning */
	uint32_t *processes;	/* by thread id: koid + 1 of the process, 0: unknown; touched where used */
	struct cmdlines *cmdlines;	/* NULL: none are read */
	uint32_t *late;		/* processes whose command line could not be read in time */
	size_t late_cnt, late_cap;
	bool scanning;
	uint64_t drained_ns, taken;
	int err;		/* of the sink, inside the metadata ring's callback */
	char cmdline[CMDLINE_BYTES_MAX + sizeof(CUT_MARK)];
	char redacted[CMDLINE_BYTES_MAX + sizeof(CUT_MARK)], joined[CMDLINE_BYTES_MAX + sizeof(CUT_MARK)];
};

/* A process as it will be written. @cmdline: arguments that each end with a NUL. */
struct traced_process {
	uint64_t koid, parent;
	const char *comm;
	const char *cgroup;	/* path, or NULL */
	const char *cmdline;
	size_t cmdline_len;
	const char *exit;	/* "exit_code" or "exit_signal"; NULL: it lives */
	int32_t exit_value;
	bool moved;		/* it may have been in another cgroup before */
};

static int write_thread(struct tasks *n, uint64_t koid, uint64_t process, const char *comm, bool exited)
{
	const struct fxt_arg args[] = { fxt_arg_koid("process", process), fxt_arg_bool("exited", true) };
	const struct fxt_object object = {
		.id = koid,
		.kind = FXT_KOBJ_THREAD,
		.name = fxt_str_inline(comm, strnlen(comm, COMM_BYTES)),
	};

	n->processes[koid % ID_GENERATION_STEP % IDS_MAX] = (uint32_t)process + 1;
	return fxt_write_kernel_object(n->w, &object, args, exited ? 2 : 1);
}

/* Arguments for @path, a cgroup, and what its name says. How many there are. */
static unsigned int cgroup_args(struct fxt_arg args[3], const char *path)
{
	const struct cgroup_part container = cgroup_container(path), unit = cgroup_unit(path);
	unsigned int cnt = 0;

	args[cnt++] = fxt_arg_str("cgroup", fxt_str_inline(path, strlen(path)));
	if (container.len)
		args[cnt++] = fxt_arg_str("container", fxt_str_inline(container.text, container.len));
	if (unit.len)
		args[cnt++] = fxt_arg_str("unit", fxt_str_inline(unit.text, unit.len));
	return cnt;
}

/* What may be written of the command line of @proc, *@len bytes, at least one, and a NUL. */
static const char *redact_cmdline(struct tasks *n, const struct traced_process *proc, size_t *len)
{
	if (!n->hidden.redact)
		return proc->cmdline;
	*len = redact_text(n->hidden.redact, proc->cmdline, *len, n->redacted, sizeof(n->redacted) - 1);
	n->redacted[*len] = 0;
	return n->redacted;
}

/* @cmdline: arguments that each end with a NUL. An empty label takes back what it had in another cgroup. */
static int add_packet(struct tasks *n, const struct traced_process *proc, const char *cmdline, size_t len)
{
	char label[CGROUP_LABEL_BYTES] = "";
	const bool is_known = proc->cgroup && !proc->exit;

	if (is_known)
		cgroup_label(label, proc->cgroup, strlen(proc->cgroup));
	return packets_add_process(n->packets, &(struct packets_process){
		.koid = proc->koid, .parent = proc->parent, .cmdline = cmdline, .cmdline_len = len,
		.label = is_known && (*label || proc->moved) ? label : NULL,
	});
}

static int write_process(struct tasks *n, const struct traced_process *proc)
{
	size_t len = proc->cmdline_len, i;
	const char *cmdline = proc->cmdline;
	struct fxt_arg args[6] = { fxt_arg_koid("parent", proc->parent) };
	unsigned int args_cnt = 1;
	const struct fxt_object object = {
		.id = proc->koid,
		.kind = FXT_KOBJ_PROCESS,
		.name = fxt_str_inline(proc->comm, strnlen(proc->comm, COMM_BYTES)),
	};
	int err;

	while (len && !cmdline[len - 1])
		len--;
	if (len)
		cmdline = redact_cmdline(n, proc, &len);
	for (i = 0; i < len; i++)
		n->joined[i] = cmdline[i] ?: ' ';
	if (proc->cgroup)
		args_cnt += cgroup_args(args + args_cnt, proc->cgroup);
	if (len)
		args[args_cnt++] = fxt_arg_str("cmdline", fxt_str_inline(n->joined, len));
	if (proc->exit)
		args[args_cnt++] = fxt_arg_i32(proc->exit, proc->exit_value);
	err = fxt_write_kernel_object(n->w, &object, args, args_cnt);
	return err || !n->packets ? err : add_packet(n, proc, cmdline, len ? len + 1 : 0);
}

static uint64_t koid_of(const struct tasks *n, uint32_t tid)
{
	return tid + programs_koid_offset(n->probes, tid);
}

/* ---- /proc --------------------------------------------------------------- */

/* Reads a small file below @dir whole; the length, NUL-terminated, or -errno. */
static ssize_t read_file(int dir, const char *path, char *buf, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t len = 0, got = 1;

	if (fd < 0)
		return -errno;
	while (got > 0 && (size_t)len < size - 1) {
		got = read(fd, buf + len, size - 1 - len);
		if (got > 0)
			len += got;
	}
	if (got < 0 && !len)
		len = -errno;
	close(fd);
	if (len >= 0)
		buf[len] = 0;
	return len;
}

/*
 * Marks n->cmdline, @len bytes, as cut. An expression may match the whole of the last argument, but not the part that is
 * here; so if there are any, it is left out.
 */
static size_t mark_cut(struct tasks *n, size_t len)
{
	while (n->hidden.redact && len && n->cmdline[len - 1])
		len--;
	memcpy(n->cmdline + len, CUT_MARK, sizeof(CUT_MARK));
	return len + sizeof(CUT_MARK);
}

/* Puts what was read into n->cmdline, cut with CUT_MARK if it is longer than we keep: its length. */
static size_t take_cmdline(struct tasks *n, ssize_t len, const char *text)
{
	if (len <= 0)
		return 0;
	memcpy(n->cmdline, text, len + 1);
	return len == CMDLINE_BYTES_MAX ? mark_cut(n, len) : (size_t)len;
}

struct stat_line {
	char comm[COMM_BYTES + 1];
	unsigned int ppid, flags;
};

/* "pid (comm) state ppid pgrp session tty tpgid flags ...": proc(5). comm may hold anything. */
static int parse_stat(const char *text, struct stat_line *out)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	size_t len;

	if (!open || !close || close < open)
		return -EINVAL;
	len = close - open - 1 < COMM_BYTES ? close - open - 1 : COMM_BYTES;
	memcpy(out->comm, open + 1, len);
	out->comm[len] = 0;
	if (sscanf(close + 1, " %*c %u %*d %*d %*d %*d %u", &out->ppid, &out->flags) != 2)
		return -EINVAL;
	return 0;
}

static int scan_threads(struct tasks *n, uint32_t tgid, uint64_t process)
{
	char path[64], comm[COMM_BYTES + 2];
	const struct dirent *entry;
	ssize_t len;
	DIR *dir;
	int fd, err = 0;

	snprintf(path, sizeof(path), "%u/task", tgid);
	fd = openat(dirfd(n->proc), path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;	/* it has exited; its exit reported its name */
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while (!err && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%.16s/comm", entry->d_name);
		len = read_file(fd, path, comm, sizeof(comm));
		if (len <= 0)
			continue;
		comm[len - 1] = 0;	/* the newline */
		err = write_thread(n, koid_of(n, strtoul(entry->d_name, NULL, 10)), process, comm, false);
	}
	closedir(dir);
	return err;
}

static bool read_stat(const struct tasks *n, uint32_t tgid, struct stat_line *stat)
{
	char path[32], text[512];

	snprintf(path, sizeof(path), "%u/stat", tgid);
	return read_file(dirfd(n->proc), path, text, sizeof(text)) >= 0 && !parse_stat(text, stat);
}

static int write_scanned(struct tasks *n, uint32_t tgid, const struct stat_line *stat, size_t cmdline_len)
{
	const struct traced_process proc = {
		.koid = koid_of(n, tgid), .parent = koid_of(n, stat->ppid), .comm = stat->comm,
		.cgroup = cgroups_path(n->cgroups, 0, tgid), .cmdline = n->cmdline, .cmdline_len = cmdline_len,
	};

	return write_process(n, &proc);
}

static int keep_late(struct tasks *n, uint32_t tgid)
{
	if (n->late_cnt == LATE_MAX)
		return 0;
	if (array_reserve(n->late, n->late_cnt, n->late_cap, 1))
		return -ENOMEM;
	n->late[n->late_cnt++] = tgid;
	return 0;
}

/* Of a step. */
struct scan {
	uint32_t tgids[SCAN_STEP];
	struct stat_line stats[SCAN_STEP];
	size_t cnt;
};

static int scan_process(struct tasks *n, struct scan *s, uint32_t tgid)
{
	struct stat_line *stat = &s->stats[s->cnt];

	if (!read_stat(n, tgid, stat))
		return 0;
	if (stat->flags & PF_KTHREAD)
		return scan_threads(n, tgid, 0);
	s->tgids[s->cnt++] = tgid;
	return 0;
}

static int write_scan(struct tasks *n, const struct scan *s)
{
	const char *text = NULL;
	ssize_t len = 0;
	size_t i;
	int err = 0;

	if (n->cmdlines)
		cmdlines_read(n->cmdlines, s->tgids, s->cnt);
	for (i = 0; !err && i < s->cnt; i++) {
		if (n->cmdlines)
			len = cmdlines_get(n->cmdlines, i, &text);
		if (len == -EBUSY)
			err = keep_late(n, s->tgids[i]);
		err = err ?: write_scanned(n, s->tgids[i], &s->stats[i], take_cmdline(n, len, text));
		err = err ?: scan_threads(n, s->tgids[i], koid_of(n, s->tgids[i]));
	}
	return err;
}

/* Once more, now that the command line is known. */
static int write_again(struct tasks *n, uint32_t tgid, ssize_t len, const char *text)
{
	const size_t kept = take_cmdline(n, len, text);
	struct stat_line stat;
	size_t i;

	for (i = 0; i < n->late_cnt && n->late[i] != tgid; i++)
		;
	if (i < n->late_cnt)
		n->late[i] = n->late[--n->late_cnt];
	return kept && read_stat(n, tgid, &stat) ? write_scanned(n, tgid, &stat, kept) : 0;
}

static int write_late(struct tasks *n)
{
	uint32_t tgids[CMDLINES_AT_ONCE], tgid;
	size_t i, cnt = 0;
	const char *text;
	ssize_t len;
	int err = 0;

	while (!err && cmdlines_late(n->cmdlines, &tgid, &len, &text))
		err = write_again(n, tgid, len, text);
	/* Those that no thread has tried. */
	for (i = 0; i < n->late_cnt && cnt < CMDLINES_AT_ONCE; i++)
		if (!cmdlines_is_stuck(n->cmdlines, n->late[i]))
			tgids[cnt++] = n->late[i];
	cmdlines_read(n->cmdlines, tgids, cnt);
	for (i = 0; !err && i < cnt; i++) {
		len = cmdlines_get(n->cmdlines, i, &text);
		err = len == -EBUSY ? 0 : write_again(n, tgids[i], len, text);
	}
	return err;
}

bool tasks_late(const struct tasks *n, struct source_late *late)
{
	*late = (struct source_late){ .name = "command lines" };
	if (!n->late_cnt)
		return false;
	snprintf(late->why, sizeof(late->why), "of %zu process%s; the kernel lets whoever reads that of PID %u wait",
		 n->late_cnt, n->late_cnt == 1 ? "" : "es", n->late[0]);
	return true;
}

/* Process 0 holds the kernel's threads; thread 0 is whichever CPU's idle thread. */
static int write_kernel(struct tasks *n)
{
	const struct fxt_object kernel = {
		.id = 0, .kind = FXT_KOBJ_PROCESS, .name = fxt_str("kernel"),
	};
	int err = fxt_write_kernel_object(n->w, &kernel, NULL, 0);

	return err ?: write_thread(n, 0, 0, "swapper", false);
}

int tasks_scan(struct tasks *n)
{
	const struct dirent *entry = NULL;
	struct scan scan = { .cnt = 0 };
	unsigned int i;
	int err = 0;

	if (!n->proc) {
		n->proc = opendir("/proc");
		if (!n->proc)
			return -errno;
		err = write_kernel(n);
	}
	if (!n->scanning)
		n->late_cnt = 0;
	n->scanning = true;
	for (i = 0; !err && i < SCAN_STEP && pid_namespace_is_initial(); i++) {
		entry = readdir(n->proc);
		if (!entry)
			break;
		if (isdigit((unsigned char)entry->d_name[0]))
			err = scan_process(n, &scan, strtoul(entry->d_name, NULL, 10));
	}
	err = err ?: write_scan(n, &scan);
	if (!err && entry)
		return 1;
	rewinddir(n->proc);
	n->scanning = false;
	return err;
}

/* ---- the metadata ring --------------------------------------------------- */

/* A process at exec: what the kernel took of the command line, or all of it from /proc. */
static int write_exec(struct tasks *n, struct traced_process *proc, const uint64_t *rec)
{
	const size_t max = OBJECT_CMDLINE_WORDS * 8;
	const uint32_t pid = proc->koid % ID_GENERATION_STEP;
	const char *text;
	ssize_t len;

	proc->cmdline = (const char *)(rec + OBJECT_CMDLINE);
	proc->cmdline_len = max;
	if (rec[OBJECT_CMDLINE_BYTES] <= max)
		return write_process(n, proc);
	cmdlines_read(n->cmdlines, &pid, 1);
	len = cmdlines_get(n->cmdlines, 0, &text);
	proc->cmdline_len = take_cmdline(n, len, text);
	proc->cmdline = n->cmdline;
	if (proc->cmdline_len < max) {
		/* Gone, another program already, or not to be read now. */
		memcpy(n->cmdline, rec + OBJECT_CMDLINE, max);
		proc->cmdline_len = mark_cut(n, max);
	}
	return write_process(n, proc);
}

static void take_exit(struct traced_process *proc, uint64_t arg)
{
	proc->exit = FXT_GET(arg, FXT_F_ARG_NAME) == STR_EXIT_SIGNAL ? "exit_signal" : "exit_code";
	proc->exit_value = (int32_t)FXT_GET(arg, FXT_F_ARG_VALUE32);
}

/* One record of bpf/names.bpf.c, or a notification, which is a zero word. */
static int take_metadata(void *ctx, void *data, size_t len)
{
	struct tasks *n = ctx;
	const uint64_t *rec = data;
	const char *comm = (const char *)(rec + OBJECT_NAME);
	struct traced_process proc;

	if (len < OBJECT_WORDS * 8)
		return 0;
	if (len == CGROUP_MADE_WORDS * 8 && !rec[0]) {
		filter_cgroup_made(n->filter, (const char *)(rec + CGROUP_MADE_PATH), rec[CGROUP_MADE_ID]);
		return 0;
	}
	n->taken++;
	if (n->err)
		return 0;
	if (FXT_GET(rec[OBJECT_HEADER], FXT_F_KOBJ_TYPE) == FXT_KOBJ_THREAD) {
		n->err = write_thread(n, rec[OBJECT_KOID], rec[OBJECT_ARG + 1], comm, len == OBJECT_LAST_WORDS * 8);
		return 0;
	}
	if (len < OBJECT_PROCESS_WORDS * 8)
		return 0;
	proc = (struct traced_process){
		.koid = rec[OBJECT_KOID], .parent = rec[OBJECT_ARG + 1], .comm = comm,
		.moved = len == OBJECT_PROCESS_WORDS * 8,
	};
	if (rec[OBJECT_CGROUP])
		proc.cgroup = cgroups_path(n->cgroups, rec[OBJECT_CGROUP], proc.koid % ID_GENERATION_STEP);
	if (len == OBJECT_EXIT_WORDS * 8)
		take_exit(&proc, rec[OBJECT_EXIT]);
	if (len >= OBJECT_EXEC_WORDS * 8 && !n->hidden.cmdlines)
		n->err = write_exec(n, &proc, rec);
	else
		n->err = write_process(n, &proc);
	return 0;
}

int tasks_drain(struct tasks *n)
{
	int err;

	n->drained_ns = clock_ns(CLOCK_BOOTTIME);
	err = ring_buffer__consume(n->side);
	if (err < 0)
		return err;
	filter_look(n->filter, n->cgroups);
	if (n->late_cnt && !n->scanning && !n->err)
		n->err = write_late(n);
	return n->err;
}

int tasks_fd(const struct tasks *n)
{
	return ring_buffer__epoll_fd(n->side);
}

uint64_t tasks_taken(const struct tasks *n)
{
	return n->taken;
}

uint64_t tasks_drained_ns(const struct tasks *n)
{
	return n->drained_ns;
}

bool tasks_find(const struct tasks *n, uint32_t tid, struct fxt_thread *out)
{
	const uint32_t process = tid < IDS_MAX ? n->processes[tid] : 0;

	*out = (struct fxt_thread){ .thread = koid_of(n, tid) };
	out->process = process ? process - 1 : out->thread;
	return process;
}

int tasks_open(struct tasks **out, const struct tasks_cfg *cfg)
{
	struct tasks *n = calloc(1, sizeof(*n));
	int err;

	if (!n)
		return -ENOMEM;
	n->w = cfg->w;
	n->probes = cfg->probes;
	n->packets = cfg->packets;
	n->filter = cfg->filter;
	n->hidden = cfg->hidden;
	n->processes = calloc(IDS_MAX, sizeof(*n->processes));
	n->side = ring_buffer__new(programs_metadata_fd(n->probes), take_metadata, n, NULL);
	err = !n->side ? -errno : n->processes ? 0 : -ENOMEM;
	err = err ?: cgroups_open(&n->cgroups);
	if (!err && !n->hidden.cmdlines)
		err = cmdlines_open(&n->cmdlines, &cfg->reader);
	if (err) {
		tasks_close(n);
		return err;
	}
	*out = n;
	return 0;
}

void tasks_close(struct tasks *n)
{
	if (!n)
		return;
	ring_buffer__free(n->side);
	cmdlines_close(n->cmdlines);
	if (n->proc)
		closedir(n->proc);
	cgroups_close(n->cgroups);
	free(n->processes);
	free(n->late);
	free(n);
}
