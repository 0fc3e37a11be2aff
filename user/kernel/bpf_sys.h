/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What libbpf 1.1 does not do: links over many functions (file descriptors or -errno),
 * maps in our memory.
 */
#ifndef KERNEL_BPF_SYS_H
#define KERNEL_BPF_SYS_H

#include <stddef.h>
#include <stdint.h>

struct bpf_link;
struct bpf_map;
struct bpf_program;

/* enum bpf_attach_type in include/uapi/linux/bpf.h; part of the ABI. */
#define ATTACH_KPROBE_MULTI	42
#define ATTACH_UPROBE_MULTI	48	/* 6.6 */
#define ATTACH_KPROBE_SESSION	56	/* 6.10 */

/* Functions by address, or, where @addrs is NULL, by name. @attach_type: one of the two for kprobes. */
int bpf_call_kprobe_multi(int prog_fd, uint32_t attach_type, const uint64_t *addrs,
			  const char *const *names, uint32_t cnt, int is_return);
/* Offsets in one file, with a cookie each. */
int bpf_call_uprobe_multi(int prog_fd, const char *path, const uint64_t *offsets,
			  const uint64_t *cookies, uint32_t cnt, int is_return);
/* A program that does nothing, of a type and expected attach type. */
int bpf_call_load_nothing(uint32_t prog_type, uint32_t attach_type, uint32_t btf_id);
/*
 * Makes calls of function @number (bpf/abi/patch.h) in @prog, not loaded yet, those of this kernel's
 * function @name. 0 or -errno: it has none, or -ENOMEM.
 */
int bpf_call_link_kfunc(struct bpf_program *prog, int32_t number, const char *name);
/*
 * Puts @value in the place of @number (bpf/abi/patch.h) in @prog, not loaded yet and without its
 * subprograms: the id of a function where it is called; the descriptor of a map where an address
 * is loaded, that of the map's first value; else the value itself. 0 or -ENOMEM.
 */
int bpf_call_put(struct bpf_program *prog, int32_t number, int32_t value);
/* Creates @map, of an object not loaded yet: an mmap-able array of one value of @bytes. 0 or -errno. */
int bpf_call_create_value(struct bpf_map *map, size_t bytes);
/*
 * Attaches an iterator and opens it, to be read once: the descriptor, or -errno. *@link is the caller's, also after an error;
 * NULL: none.
 */
int bpf_call_iterate(const struct bpf_program *prog, struct bpf_link **link);
/* Hits that the kernel could not hand to the link's program: since 6.7; 0 where it does not report them. */
uint64_t bpf_call_link_missed(int link_fd);
/* The memory of a map with BPF_F_MMAPABLE, shared; for munmap(). NULL with errno. @prot: as mmap()'s. */
void *bpf_call_map(const struct bpf_map *map, size_t bytes, int prot);

#endif
