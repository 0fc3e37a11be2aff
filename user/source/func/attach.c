// SPDX-License-Identifier: GPL-2.0
/*
 * Attaching the functions' BPF programs: one function per mechanism.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kmod/kfxt.h"
#include "kernel/bpf_sys.h"
#include "kernel/btf.h"
#include "base/array.h"
#include "base/clock.h"
#include "programs.h"
#include "set.h"
#include "func_p.h"
#include "kfxt.skel.h"

#define MULTI_TRIES	256	/* links made in search of a function that the kernel refuses */

/* One attaching, under way. */
struct attach {
	struct funcs *f;
	struct kfxt_bpf *skel;
	progress_fn progress;
	void *ctx;
	unsigned int done;
	unsigned int tries;
};

static bool go_on(const struct attach *a)
{
	return !a->progress || a->progress(a->ctx, "attaching", a->done, a->f->cnt, "functions");
}

/* The program for each of the @user's or the kernel's functions. */
static struct bpf_program *program_of(const struct attach *a, bool user, bool is_return)
{
	if (user)
		return is_return ? a->skel->progs.func_uretprobe : a->skel->progs.func_uprobe;
	switch (a->f->via[false]) {
	case FUNC_VIA_SESSION:
		return a->skel->progs.func_session;
	case FUNC_VIA_MULTI:
		return is_return ? a->skel->progs.func_multi_return : a->skel->progs.func_multi;
	case FUNC_VIA_FENTRY:
		return is_return ? a->skel->progs.func_fexit : a->skel->progs.func_fentry;
	default:
		return is_return ? a->skel->progs.func_kretprobe : a->skel->progs.func_kprobe;
	}
}

static int keep(struct funcs *f, struct bpf_link *link, int fd)
{
	if (array_reserve(f->attached, f->attached_cnt, f->attached_cap, 1))
		return -ENOMEM;
	f->attached[f->attached_cnt++] = (struct attachment){ link, fd, -1 };
	return 0;
}

static void refuse(struct attach *a, struct func *func)
{
	func->refused = true;
	a->f->counts.refused++;
}

#define ENOTSUPP	524	/* of the kernel only: a uprobe cannot replace the instruction */

/* Errors that one function among many can be the reason of. */
static bool is_refusal(int err)
{
	return err == -EINVAL || err == -ENOENT || err == -ESRCH || err == -EADDRNOTAVAIL || err == -EBUSY ||
	       err == -EILSEQ || err == -ENOEXEC || err == -ENOTSUPP;
}

/* One link over those of @cnt functions from the @from'th that are not refused; 0 if all are. */
static int link_functions(const struct attach *a, unsigned int from, unsigned int cnt, bool is_return,
			  unsigned int *linked)
{
	const struct funcs *f = a->f;
	const bool user = f->funcs[from].kind == FUNC_USER;
	const int prog = bpf_program__fd(program_of(a, user, is_return));
	uint64_t *addrs = calloc(cnt * 2, sizeof(*addrs)), *ids = addrs + cnt;
	unsigned int i, n = 0;
	int fd = 0;

	if (!addrs)
		return -ENOMEM;
	for (i = from; i < from + cnt; i++) {
		if (f->funcs[i].refused)
			continue;
		addrs[n] = user ? f->funcs[i].addr : f->funcs[i].entry;
		ids[n++] = i;
	}
	if (n && user)
		fd = bpf_call_uprobe_multi(prog, f->funcs[from].where, addrs, ids, n, is_return);
	else if (n)
		fd = bpf_call_kprobe_multi(prog, f->via[false] == FUNC_VIA_SESSION ? ATTACH_KPROBE_SESSION :
					   ATTACH_KPROBE_MULTI, addrs, NULL, n, is_return);
	free(addrs);
	*linked = n;
	return fd;
}

/*
 * Attaches to @cnt functions from the @from'th at once, to those of one file if they are
 * a program's. The kernel takes all or none: where it takes none, each half is tried.
 */
static int attach_many(struct attach *a, unsigned int from, unsigned int cnt, bool is_return)
{
	const unsigned int half = cnt / 2;
	unsigned int linked = 0;
	int fd = link_functions(a, from, cnt, is_return, &linked);

	if (fd >= 0 && !linked)
		return 0;
	if (fd >= 0) {
		a->done += is_return ? 0 : linked;
		return keep(a->f, NULL, fd);
	}
	if (!is_refusal(fd) || ++a->tries > MULTI_TRIES)
		return fd;
	if (cnt == 1) {
		refuse(a, &a->f->funcs[from]);
		return 0;
	}
	if (!go_on(a))
		return -ECANCELED;
	fd = attach_many(a, from, half, is_return);
	return fd ?: attach_many(a, from + half, cnt - half, is_return);
}

/*
 * Returns before entries: the kernel calls what came last first, and once a return is
 * awaited the caller's address is no longer where a function finds it.
 */
static int attach_kprobe_multi(struct attach *a)
{
	const unsigned int cnt = a->f->counts.kernel;
	unsigned int from = 0;
	int err = 0;

	while (from < cnt && !a->f->funcs[from].entry)
		refuse(a, &a->f->funcs[from++]);	/* in the list, but nowhere in the kernel */
	if (from == cnt)
		return 0;
	if (a->f->via[false] == FUNC_VIA_MULTI && a->f->cfg.returns)
		err = attach_many(a, from, cnt - from, true);
	return err ?: attach_many(a, from, cnt - from, false);
}

static int attach_module(struct attach *a)
{
	const struct func_set_cfg cfg = {
		.globs = a->f->cfg.globs, .globs_cnt = a->f->cfg.globs_cnt,
		.no_excludes = a->f->cfg.no_excludes,
	};
	struct kfxt_filter filter = { 0 };
	size_t bytes;
	char *text;
	int fd, err;

	a->f->device = open(KFXT_DEVICE, O_RDWR | O_CLOEXEC);
	if (a->f->device < 0)
		return -errno;
	fd = bpf_raw_tracepoint_open(KFXT_TP_FUNC_ENTRY, bpf_program__fd(a->skel->progs.func_module));
	if (fd < 0)
		return fd;
	err = keep(a->f, NULL, fd);
	text = func_set_filter_text(&cfg, a->f->symbols, &bytes);
	if (!text)
		return -ENOMEM;
	filter.text = (uintptr_t)text;
	filter.bytes = bytes;
	if (!err && ioctl(a->f->device, KFXT_IOC_FUNC_START, &filter))
		err = -errno;
	free(text);
	a->done = a->f->counts.kernel;
	return err;
}

static int attach_kprobe(struct attach *a, struct func *func, uint64_t id, bool is_return)
{
	/* By address, since names are not unique; by name where addresses are hidden. */
	LIBBPF_OPTS(bpf_kprobe_opts, opts, .bpf_cookie = id, .retprobe = is_return, .offset = func->addr);
	struct bpf_link *link = bpf_program__attach_kprobe_opts(program_of(a, false, is_return),
								func->addr ? NULL : func->name, &opts);

	return link ? keep(a->f, link, -1) : -errno;
}

/* A program of its own for each function, all with the instructions of the first. */
static int attach_trampoline(struct attach *a, struct func *func, uint64_t id, bool is_return)
{
	const struct bpf_program *first = program_of(a, false, is_return);
	const enum bpf_attach_type type = is_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
	LIBBPF_OPTS(bpf_prog_load_opts, load_opts, .expected_attach_type = type);
	LIBBPF_OPTS(bpf_link_create_opts, opts, .tracing.cookie = id);
	int btf_id = kernel_btf_function(func->name), prog, fd, err;

	if (btf_id < 0 || func->where)
		return -ENOENT;
	load_opts.attach_btf_id = btf_id;
	prog = bpf_prog_load(BPF_PROG_TYPE_TRACING, is_return ? "func_fexit" : "func_fentry", "GPL",
			     bpf_program__insns(first), bpf_program__insn_cnt(first), &load_opts);
	if (prog < 0)
		return prog;
	fd = bpf_link_create(prog, 0, type, &opts);
	err = fd < 0 ? fd : keep(a->f, NULL, fd);
	if (err)
		close(prog);
	else	/* for what it missed */
		a->f->attached[a->f->attached_cnt - 1].prog = prog;
	return err;
}

static int attach_uprobe(struct attach *a, struct func *func, uint64_t id, bool is_return)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = id, .retprobe = is_return);
	struct bpf_link *link = bpf_program__attach_uprobe_opts(program_of(a, true, is_return), -1, func->where,
								func->addr, &opts);

	return link ? keep(a->f, link, -1) : -errno;
}

static int attach_single(struct attach *a, struct func *func, uint64_t id, bool is_return)
{
	if (func->kind == FUNC_USER)
		return attach_uprobe(a, func, id, is_return);
	if (a->f->via[false] == FUNC_VIA_FENTRY)
		return attach_trampoline(a, func, id, is_return);
	return attach_kprobe(a, func, id, is_return);
}

/* Functions @from to @to one by one: each return before its entry, so that none is missed. */
static int attach_singles(struct attach *a, unsigned int from, unsigned int to)
{
	int err = 0;

	for (; !err && from < to; from++) {
		struct func *func = &a->f->funcs[from];

		if (func->kind == FUNC_USDT || func->refused)
			continue;
		if (!go_on(a))
			err = -ECANCELED;
		if (!err && a->f->cfg.returns)
			err = attach_single(a, func, from, true);
		err = err ?: attach_single(a, func, from, false);
		a->done++;
		if (is_refusal(err)) {
			refuse(a, func);
			err = 0;
		}
	}
	return err;
}

/* User functions are in order of their files. */
static int attach_user_multi(struct attach *a)
{
	const unsigned int end = a->f->counts.kernel + a->f->counts.user;
	unsigned int from, to;
	int err = 0;

	for (from = a->f->counts.kernel; !err && from < end; from = to) {
		for (to = from + 1; to < end && a->f->funcs[to].where == a->f->funcs[from].where; to++)
			;
		if (a->f->cfg.returns)
			err = attach_many(a, from, to - from, true);
		err = err ?: attach_many(a, from, to - from, false);
	}
	return err;
}

static int attach_usdt(struct attach *a, struct func *func, unsigned int id)
{
	LIBBPF_OPTS(bpf_usdt_opts, opts, .usdt_cookie = id);
	struct bpf_link *link = bpf_program__attach_usdt(a->skel->progs.func_usdt, -1, func->where,
							 func->usdt->provider, func->usdt->name, &opts);

	return link ? keep(a->f, link, -1) : -errno;
}

static int attach_usdts(struct attach *a)
{
	unsigned int id;
	int err = 0;

	for (id = a->f->counts.kernel; !err && id < a->f->cnt; id++) {
		if (a->f->funcs[id].kind != FUNC_USDT)
			continue;
		if (!go_on(a))
			return -ECANCELED;
		err = attach_usdt(a, &a->f->funcs[id], id);
		a->done++;
		if (is_refusal(err)) {
			refuse(a, &a->f->funcs[id]);
			err = 0;
		}
	}
	return err;
}

static int attach_kernel(struct attach *a)
{
	if (!a->f->counts.kernel)
		return 0;
	switch (a->f->via[false]) {
	case FUNC_VIA_SESSION:
	case FUNC_VIA_MULTI:
		return attach_kprobe_multi(a);
	case FUNC_VIA_MODULE:
		return attach_module(a);
	default:
		return attach_singles(a, 0, a->f->counts.kernel);
	}
}

/*
 * The kernel looks at an instruction with a VEX or EVEX prefix as if there were none,
 * refuses some of them and emulates others as the jumps that their opcode is otherwise:
 * the program then goes wrong. Seen on 6.18 (__strchrnul_evex of glibc).
 */
static bool is_misread(unsigned char first)
{
#ifdef __x86_64__
	return first == 0x62 || first == 0xc4 || first == 0xc5;
#else
	(void)first;
	return false;
#endif
}

static void refuse_misread(struct attach *a)
{
	const unsigned int end = a->f->counts.kernel + a->f->counts.user;
	const char *path = NULL;
	unsigned char first;
	unsigned int id;
	int fd = -1;

	for (id = a->f->counts.kernel; id < end; id++) {
		struct func *func = &a->f->funcs[id];

		if (func->where != path) {
			path = func->where;
			if (fd >= 0)
				close(fd);
			fd = open(path, O_RDONLY | O_CLOEXEC);
		}
		if (fd >= 0 && pread(fd, &first, 1, func->addr) == 1 && is_misread(first))
			refuse(a, func);
	}
	if (fd >= 0)
		close(fd);
}

static int attach_user(struct attach *a)
{
	int err = 0;

	refuse_misread(a);
	if (a->f->via[true] == FUNC_VIA_UPROBE_MULTI)
		err = attach_user_multi(a);
	else if (a->f->via[true] == FUNC_VIA_UPROBE)
		err = attach_singles(a, a->f->counts.kernel, a->f->cnt);
	return err ?: attach_usdts(a);
}

int func_probes_attach(struct funcs *f, struct kfxt_bpf *skel, progress_fn progress, void *ctx)
{
	struct attach a = { .f = f, .skel = skel, .progress = progress, .ctx = ctx };
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	int err;

	if (!f)
		return 0;
	if (!go_on(&a))
		return -ECANCELED;
	err = attach_kernel(&a);
	err = err ?: attach_user(&a);
	f->counts.attach_ns = clock_ns(CLOCK_MONOTONIC) - begin;
	if (!err && !go_on(&a))
		err = -ECANCELED;
	if (!err && f->counts.refused == f->cnt)
		err = -ENOENT;
	return err;
}
