// SPDX-License-Identifier: GPL-2.0
/*
 * bpf(2) by hand. The structures are those of include/uapi/linux/bpf.h, which is ABI;
 * the headers of Debian 12 are too old to have them.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf_sys.h"
#include "btf.h"

#define MULTI_RETURN	1U	/* BPF_F_KPROBE_MULTI_RETURN, BPF_F_UPROBE_MULTI_RETURN */

static int bpf_call(int cmd, void *attr, size_t size)
{
	long ret = syscall(SYS_bpf, cmd, attr, size);

	return ret < 0 ? -errno : (int)ret;
}

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

int bpf_call_kprobe_multi(int prog_fd, uint32_t attach_type, const uint64_t *addrs,
			  const char *const *names, uint32_t cnt, int is_return)
{
	struct {
		uint32_t prog_fd, target_fd, attach_type, flags;
		uint32_t multi_flags, cnt;
		uint64_t syms, addrs, cookies;
	} attr = {
		.prog_fd = prog_fd, .attach_type = attach_type,
		.multi_flags = is_return ? MULTI_RETURN : 0, .cnt = cnt,
		.syms = addrs ? 0 : address(names), .addrs = address(addrs),
	};

	return bpf_call(BPF_LINK_CREATE, &attr, sizeof(attr));
}

int bpf_call_uprobe_multi(int prog_fd, const char *path, const uint64_t *offsets,
			  const uint64_t *cookies, uint32_t cnt, int is_return)
{
	struct {
		uint32_t prog_fd, target_fd, attach_type, flags;
		uint64_t path, offsets, ref_ctr_offsets, cookies;
		uint32_t cnt, multi_flags, pid, pad;
	} attr = {
		.prog_fd = prog_fd, .attach_type = ATTACH_UPROBE_MULTI,
		.path = address(path), .offsets = address(offsets), .cookies = address(cookies),
		.cnt = cnt, .multi_flags = is_return ? MULTI_RETURN : 0,
	};

	return bpf_call(BPF_LINK_CREATE, &attr, sizeof(attr));
}

int bpf_call_load_nothing(uint32_t prog_type, uint32_t attach_type, uint32_t btf_id)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = prog_type;
	attr.expected_attach_type = attach_type;
	attr.attach_btf_id = btf_id;
	attr.insns = address(insns);
	attr.insn_cnt = 2;
	attr.license = address("GPL");
	memcpy(attr.prog_name, "kfxt_try", sizeof("kfxt_try"));
	return bpf_call(BPF_PROG_LOAD, &attr, sizeof(attr));
}

int bpf_call_put(struct bpf_program *prog, int32_t number, int32_t value)
{
	const size_t cnt = bpf_program__insn_cnt(prog);
	struct bpf_insn *insns = calloc(cnt, sizeof(*insns));
	size_t i;
	int err;

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(prog), cnt * sizeof(*insns));
	for (i = 0; i < cnt; i++) {
		if (insns[i].imm != number)
			continue;
		if (insns[i].code == (BPF_JMP | BPF_CALL))
			insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		else if (insns[i].code == (BPF_LD | BPF_DW | BPF_IMM))
			insns[i].src_reg = BPF_PSEUDO_MAP_VALUE;
		else if (insns[i].code != (BPF_ALU64 | BPF_MOV | BPF_K))
			continue;
		insns[i].imm = value;
	}
	err = bpf_program__set_insns(prog, insns, cnt);
	free(insns);
	return err;
}

int bpf_call_link_kfunc(struct bpf_program *prog, int32_t number, const char *name)
{
	const int id = kernel_btf_function(name);

	return id < 0 ? id : bpf_call_put(prog, number, id);
}

int bpf_call_create_value(struct bpf_map *map, size_t bytes)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, bpf_map__name(map), sizeof(uint32_t), bytes, 1, &opts), err;

	if (fd < 0)
		return fd;
	err = bpf_map__reuse_fd(map, fd);
	close(fd);
	return err;
}

/* struct bpf_link_info up to the count of missed hits of a link to many functions. */
struct link_info {
	uint32_t type, id, prog_id, pad;
	uint64_t addrs;
	uint32_t cnt, flags;
	uint64_t missed;
	uint64_t more[8];
};

uint64_t bpf_call_link_missed(int link_fd)
{
	struct link_info info = { 0 };
	struct {
		uint32_t fd, len;
		uint64_t info;
	} attr = { .fd = link_fd, .len = sizeof(info), .info = address(&info) };

	if (bpf_call(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) || info.type != 8)
		return 0;
	return attr.len >= offsetof(struct link_info, more) ? info.missed : 0;
}

int bpf_call_iterate(const struct bpf_program *prog, struct bpf_link **link)
{
	int fd;

	*link = bpf_program__attach(prog);
	if (!*link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(*link));
	return fd < 0 ? -errno : fd;
}

void *bpf_call_map(const struct bpf_map *map, size_t bytes, int prot)
{
	void *mem = mmap(NULL, bytes, prot, MAP_SHARED, bpf_map__fd(map), 0);

	return mem == MAP_FAILED ? NULL : mem;
}
