// SPDX-License-Identifier: GPL-2.0
#include "module_probe.h"

#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "module_use.h"

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

#define INSN(op, d, s, o, i) \
	{ .code = (op), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }
#define LOAD_IMM(d, i)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define EXIT		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
/* r7 = the map's only value, hits raised. Two instructions load its address. */
#define HIT(map)	INSN(BPF_LD | BPF_IMM | BPF_DW, 7, BPF_PSEUDO_MAP_VALUE, 0, map), \
			INSN(0, 0, 0, 0, 0), \
			LOAD_IMM(1, 1), \
			INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 7, 1, 0, BPF_ADD)

static int load_program(const struct bpf_insn *insns, size_t count)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (uintptr_t)insns,
		.insn_cnt = count,
		.license = (uintptr_t)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

static int make_program(int map)
{
	const struct bpf_insn count[] = { HIT(map), LOAD_IMM(0, 0), EXIT };

	return load_program(count, sizeof(count) / sizeof(*count));
}

struct probe probe_attach(const char *tracepoint)
{
	struct probe probe;
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = sizeof(struct seen),
		.max_entries = 1,
		.map_flags = BPF_F_MMAPABLE,
	};

	probe.map = bpf(BPF_MAP_CREATE, &attr);
	if (probe.map < 0)
		give_up("BPF_MAP_CREATE");
	probe.seen = mmap(NULL, sizeof(struct seen), PROT_READ | PROT_WRITE, MAP_SHARED, probe.map, 0);
	if (probe.seen == MAP_FAILED)
		give_up("mmap of a map");
	probe.prog = make_program(probe.map);
	if (probe.prog < 0)
		give_up("BPF_PROG_LOAD");
	attr = (union bpf_attr){
		.raw_tracepoint = { .name = (uintptr_t)tracepoint, .prog_fd = probe.prog },
	};
	probe.link = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
	if (probe.link < 0)
		give_up("BPF_RAW_TRACEPOINT_OPEN");
	return probe;
}

void probe_detach(struct probe *probe)
{
	close(probe->link);
	close(probe->prog);
	munmap(probe->seen, sizeof(*probe->seen));
	close(probe->map);
}

uint64_t probe_hits(const struct probe *probe)
{
	return __atomic_load_n(&probe->seen->hits, __ATOMIC_ACQUIRE);
}

uint64_t probe_misses(const struct probe *probe)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr = {
		.info = { .bpf_fd = probe->prog, .info_len = sizeof(info), .info = (uintptr_t)&info },
	};

	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr))
		give_up("BPF_OBJ_GET_INFO_BY_FD");
	return info.recursion_misses;
}
