// SPDX-License-Identifier: GPL-2.0
/*
 * What programs write to trace_marker, where the kernel makes no copies of it. The functions it
 * goes through let nobody probe them, so it is looked for among all system calls, at their exit,
 * which says what the kernel took.
 */
#include <asm/unistd.h>
#include <linux/magic.h>

#include "abi/ctl.h"
#include "abi/marker.h"
#include "abi/raw.h"
#include "lib/event_ring.bpf.h"

#define WORD(a, b, c, d, e, f, g, h) \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | \
	 (__u64)(e) << 32 | (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)
#define PIECES_MAX	8	/* of a writev(2); the kernel makes a marker of each */

struct piece {
	__u64 text, len;	/* struct iovec */
};

/* That of the whole kernel, in the root directory of tracefs: instances have their own. */
static __always_inline bool is_trace_marker(struct file *file)
{
	struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry), *parent;
	__u64 name[2] = { 0 };

	if (BPF_CORE_READ(dentry, d_sb, s_magic) != TRACEFS_MAGIC)
		return false;
	parent = BPF_CORE_READ(dentry, d_parent);
	if (BPF_CORE_READ(parent, d_parent) != parent)
		return false;
	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(dentry, d_name.name));
	return name[0] == WORD('t', 'r', 'a', 'c', 'e', '_', 'm', 'a') && name[1] == WORD('r', 'k', 'e', 'r', 0, 0, 0, 0);
}

static __always_inline bool writes_marker(struct task_struct *me, __u32 fd)
{
	struct fdtable *fdt = me->files->fdt;
	struct file *file = NULL;

	if (fd >= fdt->max_fds)
		return false;
	bpf_probe_read_kernel(&file, sizeof(file), fdt->fd + fd);
	return file && is_trace_marker(file);
}

/* Also with a filter: a trigger is about their texts. */
const volatile bool cfg_markers_of_all = false;

static __always_inline void put_marker(struct task_struct *me, const struct piece *piece)
{
	const __u64 bytes = piece->len < MARKER_TEXT_BYTES ? piece->len : MARKER_TEXT_BYTES;
	const __u32 words = MARKER_TEXT + (bytes + 7) / 8, cpu = bpf_get_smp_processor_id();
	struct cpu_ctl *ctl = ctl_of(cpu);
	__u64 *rec;

	if (!ctl || !is_recording(ctl) || !(cfg_markers_of_all || event_selected(&ctl->raws, me)))
		return;
	rec = raw_reserve(ctl, words);
	if (!rec)
		return;
	rec[RAW_TS] = bpf_ktime_get_boot_ns();
	rec[RAW_PROCESS] = process_of(me);
	rec[RAW_THREAD] = koid_of(me->pid);
	rec[MARKER_LEN] = bytes;
	if (bpf_probe_read_user(rec + MARKER_TEXT, bytes, (void *)piece->text)) {
		rec[MARKER_LEN] = 0;
		raw_lose(ctl);
	}
	event_submit(ctl, rec, RAW_RECORD(RAW_MARKER, words));
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_marker, struct pt_regs *regs, long taken)
{
	const long nr = REGS_SYSCALL_NR(regs);
	struct task_struct *me;
	struct piece piece;

	if ((nr != __NR_write && nr != __NR_writev) || taken <= 0)
		return 0;
	me = bpf_get_current_task_btf();
	if (syscall_is_compat(me) || !writes_marker(me, REGS_SYSCALL_ARG1(regs)))
		return 0;
	if (nr == __NR_write) {
		piece = (struct piece){ REGS_SYSCALL_ARG2(regs), taken };
		put_marker(me, &piece);
		return 0;
	}
	for (int i = 0; i < PIECES_MAX && taken > 0; i++) {
		if (bpf_probe_read_user(&piece, sizeof(piece), (void *)(REGS_SYSCALL_ARG2(regs) + i * sizeof(piece))))
			break;
		if (piece.len > taken)
			piece.len = taken;
		taken -= piece.len;
		if (piece.len)
			put_marker(me, &piece);
	}
	return 0;
}
