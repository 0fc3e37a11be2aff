// SPDX-License-Identifier: GPL-2.0
/*
 * Life of the functions' BPF programs but for their attaching (attach.c): which are
 * selected, what they look up, what they missed.
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
#include <unistd.h>

#include "bpf/abi/patch.h"
#include "bpf/abi/strings.h"
#include "kmod/kfxt.h"
#include "fxt/format.h"
#include "kernel/bpf_sys.h"
#include "base/clock.h"
#include "programs.h"
#include "set.h"
#include "func_p.h"
#include "kernel/btf.h"
#include "kernel/symbols.h"
#include "kfxt.skel.h"

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
	want_program(skel->progs.record_inside, f && f->misses, 0);
}

/* Slots for every address that a function may be reported with: its own and ftrace's. */
static unsigned int slots_shift(const struct funcs *f)
{
	unsigned int shift = 6;

	while ((1U << shift) < f->counts.kernel * 6)
		shift++;
	return shift;
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

	if (f)
		f->misses = f->cfg.returns && f->counts.kernel && f->via[false] != FUNC_VIA_SESSION;
	choose_programs(f, skel);
	if (!f)
		return 0;
	f->cpus = cpus;
	skel->rodata->cfg_func_exit = f->cfg.returns;
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
		err = bpf_call_link_kfunc(skel->progs.func_session, CALL_SESSION_IS_RETURN,
					  "bpf_session_is_return");
	if (!err && f->via[false] == FUNC_VIA_FENTRY) {
		err = bpf_program__set_attach_target(skel->progs.func_fentry, 0, first);
		if (!err && f->cfg.returns)
			err = bpf_program__set_attach_target(skel->progs.func_fexit, 0, first);
	}
	return err;
}

/* ---- what the programs look up -------------------------------------------------------- */

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
	return false;	/* reported by its address instead: slower, no less true */
}

static int fill_slots(struct funcs *f, struct kfxt_bpf *skel)
{
	const unsigned int shift = skel->rodata->cfg_func_slots_shift;
	const size_t bytes = sizeof(uint64_t) << shift;
	uint64_t *slots = bpf_call_map(skel->maps.func_slots, bytes, PROT_READ | PROT_WRITE);
	unsigned int id;

	if (!slots)
		return -errno;
	for (id = 0; id < f->counts.kernel; id++) {
		const struct func *func = &f->funcs[id];

		if (func->addr)
			add_slot(slots, shift, func->addr, id);
		if (func->entry && func->entry != func->addr)
			add_slot(slots, shift, func->entry, id);
		/* ftrace's address is not known: it may be after the endbr64 that IBT asks for. */
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
	uint64_t *infos = bpf_call_map(skel->maps.func_infos, bytes, PROT_READ | PROT_WRITE);
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
		f->open = bpf_call_map(skel->maps.open_calls, OPEN_SLOTS * sizeof(*f->open), PROT_READ);
		err = f->open ? 0 : -errno;
	}
	if (!err && f->cfg.max_rate) {
		f->rates = bpf_call_map(skel->maps.func_rates, (size_t)f->cnt * f->cpus * sizeof(*f->rates),
				      PROT_READ);
		err = f->rates ? 0 : -errno;
	}
	return err;
}

/* ---- detaching ------------------------------------------------------------------------- */

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
void func_probes_count_missed(struct funcs *f)
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

void func_probes_detach(struct funcs *f)
{
	unsigned int i;

	if (f->device >= 0)
		ioctl(f->device, KFXT_IOC_FUNC_STOP);
	for (i = 0; i < f->attached_cnt; i++) {
		bpf_link__destroy(f->attached[i].link);
		if (f->attached[i].fd >= 0)
			close(f->attached[i].fd);
		if (f->attached[i].prog >= 0)
			close(f->attached[i].prog);
	}
	free(f->attached);
	f->attached = NULL;
	f->attached_cnt = f->attached_cap = 0;
	if (f->device >= 0)
		close(f->device);
	f->device = -1;
}

/* ---- from one process to another ------------------------------------------------------------- */

/* The words are written in any order, by one process, while the other may read them. */
struct func_results {
	_Atomic uint64_t attach_ns, missed;
	_Atomic unsigned int refused_cnt;
	_Atomic bool refused[];
};

size_t func_results_bytes(const struct funcs *f)
{
	return sizeof(struct func_results) + f->cnt * sizeof(bool);
}

void func_results_give(const struct funcs *f, struct func_results *to)
{
	unsigned int i;

	for (i = 0; i < f->cnt; i++)
		to->refused[i] = f->funcs[i].refused;
	to->refused_cnt = f->counts.refused;
	to->attach_ns = f->counts.attach_ns;
	to->missed = f->counts.missed;
}

void func_results_take(struct funcs *f, const struct func_results *from)
{
	unsigned int i;

	if (!from->attach_ns)
		return;
	if (f->counts.refused != from->refused_cnt)
		for (i = 0; i < f->cnt; i++)
			f->funcs[i].refused = from->refused[i];
	f->counts.refused = from->refused_cnt;
	f->counts.attach_ns = from->attach_ns;
	f->counts.missed = from->missed;
}
