// SPDX-License-Identifier: GPL-2.0
/*
 * Life of the functions' BPF programs: one row per program says when it is wanted,
 * one function per mechanism attaches it.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../kmod/kfxt.h"
#include "../fxt/format.h"
#include "bpf_call.h"
#include "func_probes.h"
#include "func_set.h"
#include "funcs_p.h"
#include "kernel_btf.h"
#include "kernel_symbols.h"
#include "kfxt.skel.h"

#define MULTI_TRIES	256	/* links made in search of a function that the kernel refuses */

/* ---- before loading ---------------------------------------------------------------- */

static void want_program(struct bpf_program *prog, bool wanted, uint32_t attach_type)
{
	bpf_program__set_autoload(prog, wanted);
	bpf_program__set_autoattach(prog, false);
	if (wanted && attach_type)
		bpf_program__set_expected_attach_type(prog, attach_type);
}

static void choose_programs(const struct funcs *f, struct kfxt_bpf *skel)
{
	const enum func_via_id kernel = f ? f->via[false] : FUNC_VIA_CNT;
	const enum func_via_id user = f ? f->via[true] : FUNC_VIA_CNT;
	const bool returns = f && f->cfg.returns;
	const bool users = user != FUNC_VIA_CNT;
	const uint32_t uprobe_type = user == FUNC_VIA_UPROBE_MULTI ? ATTACH_UPROBE_MULTI : 0;

	want_program(skel->progs.func_session, kernel == FUNC_VIA_SESSION, ATTACH_KPROBE_SESSION);
	want_program(skel->progs.func_multi, kernel == FUNC_VIA_MULTI, ATTACH_KPROBE_MULTI);
	want_program(skel->progs.func_multi_return, kernel == FUNC_VIA_MULTI && returns, ATTACH_KPROBE_MULTI);
	want_program(skel->progs.func_module, kernel == FUNC_VIA_MODULE, 0);
	want_program(skel->progs.func_fentry, kernel == FUNC_VIA_FENTRY, 0);
	want_program(skel->progs.func_fexit, kernel == FUNC_VIA_FENTRY && returns, 0);
	want_program(skel->progs.func_kprobe, kernel == FUNC_VIA_KPROBE, 0);
	want_program(skel->progs.func_kretprobe, kernel == FUNC_VIA_KPROBE && returns, 0);
	want_program(skel->progs.func_uprobe, users, uprobe_type);
	want_program(skel->progs.func_uretprobe, users && returns, uprobe_type);
	want_program(skel->progs.func_usdt, f && f->counts.usdt, 0);
}

/* Slots for every address a function may be told by: its own and ftrace's. */
static unsigned int slots_shift(const struct funcs *f)
{
	unsigned int shift = 6;

	while ((1U << shift) < f->counts.kernel * 6)
		shift++;
	return shift;
}

/* Puts this kernel's bpf_session_is_return() in its place (CALL_SESSION_IS_RETURN). */
static int link_session(struct bpf_program *prog)
{
	const size_t cnt = bpf_program__insn_cnt(prog);
	const int id = kernel_btf_function("bpf_session_is_return");
	struct bpf_insn *insns = calloc(cnt, sizeof(*insns));
	size_t i;
	int err;

	if (!insns || id < 0) {
		free(insns);
		return id < 0 ? id : -ENOMEM;
	}
	memcpy(insns, bpf_program__insns(prog), cnt * sizeof(*insns));
	for (i = 0; i < cnt; i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].imm != CALL_SESSION_IS_RETURN)
			continue;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].imm = id;
	}
	err = bpf_program__set_insns(prog, insns, cnt);
	free(insns);
	return err;
}

/* Where the kernel lets functions return to whose returns are probed: fprobe's, fgraph's, kprobe's. */
static void find_trampolines(const struct funcs *f, struct kfxt_bpf *skel)
{
	static const char *const names[FUNC_TRAMPOLINES] = {
		"arch_rethook_trampoline", "return_to_handler", "__kretprobe_trampoline",
	};
	unsigned int cnt = 0, i, k;
	const struct kernel_symbol *symbols = f->symbols ? kernel_symbols_all(f->symbols, &cnt) : NULL;

	for (i = 0; i < cnt; i++)
		for (k = 0; k < FUNC_TRAMPOLINES; k++)
			if (!strcmp(symbols[i].name, names[k]))
				skel->rodata->cfg_func_trampolines[k] = symbols[i].addr;
}

int func_probes_prepare(struct funcs *f, struct kfxt_bpf *skel, unsigned int cpus)
{
	const char *first = f && f->counts.kernel ? f->funcs[0].name : NULL;
	int err = 0;

	choose_programs(f, skel);
	if (!f)
		return 0;
	f->cpus = cpus;
	skel->rodata->cfg_func_exit = f->cfg.returns;
	f->misses = f->cfg.returns && f->counts.kernel && f->via[false] != FUNC_VIA_SESSION;
	skel->rodata->cfg_func_misses = f->misses;
	skel->rodata->cfg_func_user_from = f->counts.kernel;
	skel->rodata->cfg_func_parent = f->cfg.parents;
	if (f->cfg.parents && f->cfg.returns)
		find_trampolines(f, skel);
	skel->rodata->cfg_func_cnt = f->cnt;
	skel->rodata->cfg_func_slots_shift = slots_shift(f);
	err = bpf_map__set_max_entries(skel->maps.func_infos, f->cnt);
	err = err ?: bpf_map__set_max_entries(skel->maps.func_slots, 1U << slots_shift(f));
	if (!err && f->cfg.returns)
		err = bpf_map__set_max_entries(skel->maps.open_calls, OPEN_SLOTS);
	if (!err && f->cfg.max_rate) {
		/* The kernel's window is 2^26 ns. */
		uint64_t calls = (f->cfg.max_rate << 26) / 1000000000ULL;

		skel->rodata->cfg_func_rate = calls < 1 ? 1 : calls > UINT32_MAX ? UINT32_MAX : calls;
		err = bpf_map__set_max_entries(skel->maps.func_rates, f->cnt * cpus);
	}
	if (!err && f->via[false] == FUNC_VIA_SESSION)
		err = link_session(skel->progs.func_session);
	if (!err && f->via[false] == FUNC_VIA_FENTRY) {
		err = bpf_program__set_attach_target(skel->progs.func_fentry, 0, first);
		if (!err && f->cfg.returns)
			err = bpf_program__set_attach_target(skel->progs.func_fexit, 0, first);
	}
	return err;
}

/* ---- what the programs look up -------------------------------------------------------- */

static void *map_memory(const struct bpf_map *map, size_t bytes, int prot)
{
	void *mem = mmap(NULL, bytes, prot, MAP_SHARED, bpf_map__fd(map), 0);

	return mem == MAP_FAILED ? NULL : mem;
}

static bool add_slot(uint64_t *slots, unsigned int shift, uint64_t addr, uint32_t id)
{
	uint32_t key = FUNC_HASH(addr, shift), i;

	for (i = 0; i < FUNC_PROBES; i++, key++) {
		uint64_t *slot = &slots[key & ((1U << shift) - 1)];

		if (*slot && FUNC_SLOT_ADDR(*slot) != FUNC_SLOT_ADDR(FUNC_SLOT(addr, 0)))
			continue;
		*slot = FUNC_SLOT(addr, id);
		return true;
	}
	return false;	/* told by its address instead: slower, no less true */
}

static int fill_slots(struct funcs *f, struct kfxt_bpf *skel)
{
	const unsigned int shift = skel->rodata->cfg_func_slots_shift;
	const size_t bytes = sizeof(uint64_t) << shift;
	uint64_t *slots = map_memory(skel->maps.func_slots, bytes, PROT_READ | PROT_WRITE);
	unsigned int id;

	if (!slots)
		return -errno;
	for (id = 0; id < f->counts.kernel; id++) {
		const struct func *func = &f->funcs[id];

		if (func->addr)
			add_slot(slots, shift, func->addr, id);
		if (func->entry && func->entry != func->addr)
			add_slot(slots, shift, func->entry, id);
		/* Where ftrace calls from is not known: behind the endbr64 that IBT asks for. */
		if (func->addr && func->entry == func->addr)
			add_slot(slots, shift, func->addr + 4, id);
		/* The symbol is hidden (kernel.kptr_restrict): it is before the endbr64, if there is one. */
		if (func->entry && !func->addr)
			add_slot(slots, shift, func->entry - 4, id);
	}
	munmap(slots, bytes);
	return 0;
}

static int fill_infos(struct funcs *f, struct kfxt_bpf *skel)
{
	const size_t bytes = f->cnt * sizeof(uint64_t);
	uint64_t *infos = map_memory(skel->maps.func_infos, bytes, PROT_READ | PROT_WRITE);
	unsigned int id;

	if (!infos)
		return -errno;
	for (id = 0; id < f->cnt; id++) {
		const struct func *func = &f->funcs[id];

		infos[id] = func->return_type;
		if (func->string && func->kind != FUNC_USDT)
			infos[id] |= FXT_PUT(STR_FUNCTION, FXT_F_EVENT_CATEGORY) |
				     FXT_PUT(func->string, FXT_F_EVENT_NAME);
	}
	munmap(infos, bytes);
	return 0;
}

int func_probes_fill(struct funcs *f, struct kfxt_bpf *skel)
{
	int err;

	if (!f)
		return 0;
	err = fill_infos(f, skel);
	err = err ?: fill_slots(f, skel);
	if (!err && f->cfg.returns) {
		f->open = map_memory(skel->maps.open_calls, OPEN_SLOTS * sizeof(*f->open), PROT_READ);
		err = f->open ? 0 : -errno;
	}
	if (!err && f->cfg.max_rate) {
		f->rates = map_memory(skel->maps.func_rates, (size_t)f->cnt * f->cpus * sizeof(*f->rates),
				      PROT_READ);
		err = f->rates ? 0 : -errno;
	}
	return err;
}

/* ---- attaching ---------------------------------------------------------------------------- */

/* One attaching, under way. */
struct attach {
	struct funcs *f;
	struct kfxt_bpf *skel;
	funcs_progress_fn progress;
	void *ctx;
	unsigned int done;
	unsigned int tries;
};

static bool go_on(struct attach *a, const char *doing, unsigned int all)
{
	return !a->progress || a->progress(a->ctx, doing, a->done, all);
}

static int keep(struct funcs *f, struct bpf_link *link, int fd)
{
	struct attachment *more;

	if (f->attached_cnt == f->attached_room) {
		f->attached_room = f->attached_room ? f->attached_room * 2 : 16;
		more = realloc(f->attached, f->attached_room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		f->attached = more;
	}
	f->attached[f->attached_cnt++] = (struct attachment){ link, fd, -1 };
	return 0;
}

static void refuse(struct attach *a, struct func *func)
{
	func->refused = true;
	a->f->counts.refused++;
}

#define ENOTSUPP	524	/* the kernel's own: an instruction that a uprobe cannot stand in for */

/* Errors that one function among many can be the reason of. */
static bool is_refusal(int err)
{
	return err == -EINVAL || err == -ENOENT || err == -ESRCH || err == -EADDRNOTAVAIL || err == -EBUSY ||
	       err == -EILSEQ || err == -ENOEXEC || err == -ENOTSUPP;
}

/*
 * Links @cnt kernel functions from the @from'th at once. The kernel takes all or
 * none: where it takes none, each half is tried.
 */
static int attach_multi(struct attach *a, const struct bpf_program *prog, unsigned int from, unsigned int cnt,
			bool is_return)
{
	uint64_t *addrs = calloc(cnt, sizeof(*addrs));
	unsigned int i, n = 0;
	int fd;

	if (!addrs)
		return -ENOMEM;
	for (i = 0; i < cnt; i++)
		if (!a->f->funcs[from + i].refused)
			addrs[n++] = a->f->funcs[from + i].entry;
	fd = n ? bpf_call_kprobe_multi(bpf_program__fd(prog), bpf_program__expected_attach_type(prog), addrs,
				       NULL, n, is_return) : 0;
	free(addrs);
	if (!n)
		return 0;
	if (fd >= 0) {
		a->done += is_return ? 0 : n;
		return keep(a->f, NULL, fd);
	}
	if (!is_refusal(fd) || ++a->tries > MULTI_TRIES)
		return fd;
	if (cnt == 1) {
		refuse(a, &a->f->funcs[from]);
		return 0;
	}
	if (!go_on(a, "attaching", a->f->counts.kernel))
		return -ECANCELED;
	fd = attach_multi(a, prog, from, cnt / 2, is_return);
	return fd ?: attach_multi(a, prog, from + cnt / 2, cnt - cnt / 2, is_return);
}

/*
 * Returns before entries: the kernel calls what came last first, and once a return is
 * awaited the caller's address is no longer where a function finds it.
 */
static int attach_kprobe_multi(struct attach *a)
{
	const bool session = a->f->via[false] == FUNC_VIA_SESSION;
	const struct bpf_program *prog = session ? a->skel->progs.func_session : a->skel->progs.func_multi;
	const unsigned int cnt = a->f->counts.kernel;
	unsigned int from = 0;
	int err = 0;

	while (from < cnt && !a->f->funcs[from].entry)
		refuse(a, &a->f->funcs[from++]);	/* in the list, but nowhere in the kernel */
	if (from == cnt)
		return 0;
	if (!session && a->f->cfg.returns)
		err = attach_multi(a, a->skel->progs.func_multi_return, from, cnt - from, true);
	return err ?: attach_multi(a, prog, from, cnt - from, false);
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
	text = func_set_filter_text(&cfg, &bytes);
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
	struct bpf_program *prog = is_return ? a->skel->progs.func_kretprobe : a->skel->progs.func_kprobe;
	struct bpf_link *link = bpf_program__attach_kprobe_opts(prog, func->addr ? NULL : func->name, &opts);

	return link ? keep(a->f, link, -1) : -errno;
}

/* A program of its own for each function, all with the instructions of the first. */
static int attach_trampoline(struct attach *a, const struct btf *btf, struct func *func, uint64_t id, bool is_return)
{
	const struct bpf_program *first = is_return ? a->skel->progs.func_fexit : a->skel->progs.func_fentry;
	const enum bpf_attach_type type = is_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
	LIBBPF_OPTS(bpf_prog_load_opts, load_opts, .expected_attach_type = type);
	LIBBPF_OPTS(bpf_link_create_opts, opts, .tracing.cookie = id);
	int btf_id = btf__find_by_name_kind(btf, func->name, BTF_KIND_FUNC), prog, fd, err;

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
	struct bpf_program *prog = is_return ? a->skel->progs.func_uretprobe : a->skel->progs.func_uprobe;
	struct bpf_link *link = bpf_program__attach_uprobe_opts(prog, -1, func->where, func->addr, &opts);

	return link ? keep(a->f, link, -1) : -errno;
}

static int attach_single(struct attach *a, const struct btf *btf, struct func *func, uint64_t id, bool is_return)
{
	if (func->kind == FUNC_USER)
		return attach_uprobe(a, func, id, is_return);
	if (a->f->via[false] == FUNC_VIA_FENTRY)
		return attach_trampoline(a, btf, func, id, is_return);
	return attach_kprobe(a, func, id, is_return);
}

/* Functions @from to @to one by one: each return before its entry, so that none is missed. */
static int attach_singles(struct attach *a, unsigned int from, unsigned int to)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int err = 0;

	for (; !err && from < to; from++) {
		struct func *func = &a->f->funcs[from];

		if (func->kind == FUNC_USDT || func->refused)
			continue;
		if (!go_on(a, "attaching", a->f->cnt))
			err = -ECANCELED;
		if (!err && a->f->cfg.returns)
			err = attach_single(a, btf, func, from, true);
		err = err ?: attach_single(a, btf, func, from, false);
		a->done++;
		if (is_refusal(err)) {
			refuse(a, func);
			err = 0;
		}
	}
	btf__free(btf);
	return err;
}

/* Functions @from to @to, which are of one file, at once; where the kernel takes none, each half is tried. */
static int attach_uprobe_multi(struct attach *a, unsigned int from, unsigned int to, bool is_return)
{
	const struct bpf_program *prog = is_return ? a->skel->progs.func_uretprobe : a->skel->progs.func_uprobe;
	const unsigned int cnt = to - from, middle = from + cnt / 2;
	uint64_t *words = calloc(cnt * 2, sizeof(*words));
	unsigned int i, n = 0;
	int fd;

	if (!words)
		return -ENOMEM;
	for (i = 0; i < cnt; i++) {
		if (a->f->funcs[from + i].refused)
			continue;
		words[n] = a->f->funcs[from + i].addr;
		words[cnt + n++] = from + i;
	}
	fd = n ? bpf_call_uprobe_multi(bpf_program__fd(prog), a->f->funcs[from].where, words, words + cnt, n,
				       is_return) : 0;
	free(words);
	if (!n)
		return 0;
	if (fd >= 0) {
		a->done += is_return ? 0 : n;
		return keep(a->f, NULL, fd);
	}
	if (!is_refusal(fd) || ++a->tries > MULTI_TRIES)
		return fd;
	if (cnt == 1) {
		refuse(a, &a->f->funcs[from]);
		return 0;
	}
	if (!go_on(a, "attaching", a->f->cnt))
		return -ECANCELED;
	fd = attach_uprobe_multi(a, from, middle, is_return);
	return fd ?: attach_uprobe_multi(a, middle, to, is_return);
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
			err = attach_uprobe_multi(a, from, to, true);
		err = err ?: attach_uprobe_multi(a, from, to, false);
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
		if (!go_on(a, "attaching", a->f->cnt))
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

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

int func_probes_attach(struct funcs *f, struct kfxt_bpf *skel, funcs_progress_fn progress, void *ctx)
{
	struct attach a = { .f = f, .skel = skel, .progress = progress, .ctx = ctx };
	uint64_t begin = now_ns();
	int err;

	if (!f)
		return 0;
	if (!go_on(&a, "attaching", f->cnt))
		return -ECANCELED;
	err = attach_kernel(&a);
	err = err ?: attach_user(&a);
	f->counts.attach_ns = now_ns() - begin;
	if (!err && !go_on(&a, "attaching", f->cnt))
		err = -ECANCELED;
	if (!err && f->counts.refused == f->cnt)
		err = -ENOENT;
	return err;
}

/* Calls for which the kernel did not run a program, since it was running on that CPU. */
static uint64_t program_missed(int prog)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (prog < 0 || bpf_obj_get_info_by_fd(prog, &info, &len))
		return 0;
	return info.recursion_misses;
}

/* What the module and the links could not hand over. */
static void count_missed(struct funcs *f)
{
	struct kfxt_counts counts = { 0 };
	unsigned int i;

	for (i = 0; i < f->attached_cnt; i++)
		if (f->attached[i].fd >= 0)
			f->counts.missed += bpf_call_link_missed(f->attached[i].fd);
	for (i = 0; i < f->attached_cnt; i++)
		f->counts.missed += program_missed(f->attached[i].prog);
	for (i = 0; f->device >= 0; i++) {
		counts.cpu = i;
		if (ioctl(f->device, KFXT_IOC_COUNTS, &counts))
			break;
		f->counts.missed += counts.recursion + counts.unwatched;
	}
}

void func_probes_detach(struct funcs *f, funcs_progress_fn progress, void *ctx)
{
	uint64_t begin = now_ns();
	unsigned int i;

	if (!f || (!f->attached && f->device < 0))
		return;
	if (f->device >= 0)
		ioctl(f->device, KFXT_IOC_FUNC_STOP);
	count_missed(f);
	for (i = 0; i < f->attached_cnt; i++) {
		if (progress)
			progress(ctx, "detaching", i, f->attached_cnt);
		bpf_link__destroy(f->attached[i].link);
		if (f->attached[i].fd >= 0)
			close(f->attached[i].fd);
		if (f->attached[i].prog >= 0)
			close(f->attached[i].prog);
	}
	free(f->attached);
	f->attached = NULL;
	f->attached_cnt = f->attached_room = 0;
	if (f->device >= 0)
		close(f->device);
	f->device = -1;
	f->counts.detach_ns = now_ns() - begin;
}
