// SPDX-License-Identifier: GPL-2.0
/*
 * Facts about the running kernel, read from its BTF.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fxt/format.h"
#include "funcs.h"
#include "kernel_btf.h"

/* Where per-CPU variable @name stands in the per-CPU area, or -1. */
static int64_t percpu_offset(const struct btf *btf, const char *name)
{
	const struct btf_type *section, *var;
	const struct btf_var_secinfo *info;
	int id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	int i;

	if (id < 0)
		return -1;
	section = btf__type_by_id(btf, id);
	info = btf_var_secinfos(section);
	for (i = 0; i < btf_vlen(section); i++) {
		var = btf__type_by_id(btf, info[i].type);
		if (!strcmp(btf__name_by_offset(btf, var->name_off), name))
			return info[i].offset;
	}
	return -1;
}

/* Where member @name stands in @t, looking into anonymous members too; -1 if it does not. */
static int64_t member_offset(const struct btf *btf, const struct btf_type *t, const char *name)
{
	const struct btf_member *m = btf_members(t);
	int64_t inner;
	int i;

	if (!btf_is_composite(t))
		return -1;
	for (i = 0; i < btf_vlen(t); i++) {
		if (!strcmp(btf__name_by_offset(btf, m[i].name_off), name))
			return btf_member_bit_offset(t, i) / 8;
		if (m[i].name_off)
			continue;
		inner = member_offset(btf, btf__type_by_id(btf, m[i].type), name);
		if (inner >= 0)
			return btf_member_bit_offset(t, i) / 8 + inner;
	}
	return -1;
}

/* 6.2 (commit 64701838bf05) to 6.14 (46e8fff6d45f) keep it in struct pcpu_hot. */
static int64_t preempt_count_offset(const struct btf *btf)
{
	int64_t hot = percpu_offset(btf, "__preempt_count"), member;
	int id;

	if (hot >= 0)
		return hot;
	hot = percpu_offset(btf, "pcpu_hot");
	id = btf__find_by_name_kind(btf, "pcpu_hot", BTF_KIND_STRUCT);
	if (hot < 0 || id < 0)
		return -1;
	member = member_offset(btf, btf__type_by_id(btf, id), "preempt_count");
	return member < 0 ? -1 : hot + member;
}

int64_t kernel_btf_preempt_count_from_rq(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int64_t rq, hot, distance = 0;

	if (!btf)
		return 0;
	rq = percpu_offset(btf, "runqueues");
	hot = preempt_count_offset(btf);
	if (rq >= 0 && hot >= 0)
		distance = hot - rq;
	btf__free(btf);
	return distance;
}

bool kernel_btf_has_preempt_count(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id = btf ? btf__find_by_name_kind(btf, "thread_info", BTF_KIND_STRUCT) : -1;
	bool has = id > 0 && member_offset(btf, btf__type_by_id(btf, id), "preempt_count") >= 0;

	btf__free(btf);
	return has || kernel_btf_preempt_count_from_rq();
}

bool kernel_btf_has_tracepoint(const char *name, unsigned int nargs)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *t;
	char type_name[128];
	bool has = false;
	int id;

	if (!btf)
		return false;
	snprintf(type_name, sizeof(type_name), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, type_name, BTF_KIND_TYPEDEF);
	if (id > 0) {
		/* typedef to a pointer to a function whose first argument is the probe's data */
		t = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
		t = btf__type_by_id(btf, t->type);
		has = btf_is_func_proto(t) && btf_vlen(t) > nargs;
	}
	btf__free(btf);
	return has;
}

int kernel_btf_function(const char *name)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id = btf ? btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) : -ENOENT;

	btf__free(btf);
	return id;
}

bool kernel_btf_has_function(const char *name)
{
	return kernel_btf_function(name) > 0;
}

/* Of what a function returns, as it stands in a register; narrow integers leave part of it undefined. */
static uint8_t return_type(const struct btf *btf, const struct btf_type *proto)
{
	const struct btf_type *t = btf__type_by_id(btf, proto->type);
	bool is_signed;

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	if (!t || !proto->type || btf_is_void(t))
		return 0;
	if (btf_is_ptr(t))
		return FXT_ARG_POINTER;
	if (btf_is_enum(t) && t->size == 4)
		return FXT_ARG_INT32;
	if (!btf_is_int(t))
		return 0;
	if (btf_int_encoding(t) & BTF_INT_BOOL)
		return FXT_ARG_BOOL;
	is_signed = btf_int_encoding(t) & BTF_INT_SIGNED;
	if (t->size == 8)
		return is_signed ? FXT_ARG_INT64 : FXT_ARG_UINT64;
	return t->size != 4 ? 0 : is_signed ? FXT_ARG_INT32 : FXT_ARG_UINT32;
}

static int compare_name(const void *key, const void *member)
{
	const struct func *const *func = member;

	return strcmp(key, (*func)->name);
}

void kernel_btf_return_types(struct func *const *funcs, unsigned int cnt)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *t;
	struct func *const *func;
	uint32_t id, all;

	if (!btf)
		return;
	all = btf__type_cnt(btf);
	for (id = 1; id < all; id++) {
		t = btf__type_by_id(btf, id);
		if (!btf_is_func(t))
			continue;
		func = bsearch(btf__name_by_offset(btf, t->name_off), funcs, cnt, sizeof(*funcs),
			       compare_name);
		if (func)
			(*func)->return_type = return_type(btf, btf__type_by_id(btf, t->type));
	}
	btf__free(btf);
}
