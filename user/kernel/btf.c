// SPDX-License-Identifier: GPL-2.0
/*
 * Facts about the running kernel, read from its BTF.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fxt/format.h"
#include "btf.h"

static struct btf *cached;

/* The kernel's own BTF, or NULL: errno says why. */
static const struct btf *vmlinux(void)
{
	if (!cached)
		cached = btf__load_vmlinux_btf();
	return cached;
}

void kernel_btf_release(void)
{
	btf__free(cached);
	cached = NULL;
}

/* libbpf looks in other places too, but does not report why it found none in the first. */
int kernel_btf_find(void)
{
	int err;

	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		return 0;
	err = -errno;
	return vmlinux() ? 0 : err;
}

/* The offset of per-CPU variable @name in the per-CPU area, or -1. */
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

/* The offset of member @name in @t, also of anonymous members; -1: there is none. */
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

/* The same, looking into all of them. */
static bool has_member(const struct btf *btf, uint32_t id, const char *name)
{
	const struct btf_type *t = btf__type_by_id(btf, btf__resolve_type(btf, id));
	const struct btf_member *m;
	int i;

	if (!t || !btf_is_composite(t))
		return false;
	m = btf_members(t);
	for (i = 0; i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, m[i].name_off), name) || has_member(btf, m[i].type, name))
			return true;
	return false;
}

/* 6.7 does (commit dd8657894c11); the same series gave link infos a member for the numbers. */
bool kernel_btf_counts_skipped_tracepoints(void)
{
	const struct btf *btf = vmlinux();
	int id = btf ? btf__find_by_name_kind(btf, "bpf_link_info", BTF_KIND_STRUCT) : -1;
	bool counts = id > 0 && has_member(btf, id, "missed");

	return counts;
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

static bool enumerator_of(const struct btf *btf, const struct btf_type *t, const char *name, int64_t *value)
{
	const struct btf_enum *e = btf_enum(t);
	const struct btf_enum64 *e64 = btf_enum64(t);
	int i;

	for (i = 0; i < btf_vlen(t); i++) {
		if (btf_is_enum(t) && !strcmp(btf__name_by_offset(btf, e[i].name_off), name)) {
			*value = e[i].val;
			return true;
		}
		if (btf_is_enum64(t) && !strcmp(btf__name_by_offset(btf, e64[i].name_off), name)) {
			*value = (int64_t)btf_enum64_value(&e64[i]);
			return true;
		}
	}
	return false;
}

bool kernel_btf_enumerator(const char *name, int64_t *value)
{
	const struct btf *btf = vmlinux();
	const struct btf_type *t;
	uint32_t id;

	for (id = 1; btf && id < btf__type_cnt(btf); id++) {
		t = btf__type_by_id(btf, id);
		if (btf_is_any_enum(t) && enumerator_of(btf, t, name, value))
			return true;
	}
	return false;
}

int64_t kernel_btf_preempt_count_from_rq(void)
{
	const struct btf *btf = vmlinux();
	int64_t rq, hot, distance = 0;

	if (!btf)
		return 0;
	rq = percpu_offset(btf, "runqueues");
	hot = preempt_count_offset(btf);
	if (rq >= 0 && hot >= 0)
		distance = hot - rq;
	return distance;
}

bool kernel_btf_has_preempt_count(void)
{
	const struct btf *btf = vmlinux();
	int id = btf ? btf__find_by_name_kind(btf, "thread_info", BTF_KIND_STRUCT) : -1;
	bool has = id > 0 && member_offset(btf, btf__type_by_id(btf, id), "preempt_count") >= 0;

	return has || kernel_btf_preempt_count_from_rq();
}

static bool has_tracepoint(const struct btf *btf, const char *name, unsigned int nargs)
{
	const struct btf_type *t;
	char type_name[128];
	int id;

	snprintf(type_name, sizeof(type_name), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, type_name, BTF_KIND_TYPEDEF);
	if (id <= 0)
		return false;
	/* typedef to a pointer to a function whose first argument is the probe's data */
	t = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
	t = btf__type_by_id(btf, t->type);
	return btf_is_func_proto(t) && btf_vlen(t) > nargs;
}

bool kernel_btf_has_tracepoint(const char *name, unsigned int nargs)
{
	const struct btf *btf = vmlinux();
	bool has = btf && has_tracepoint(btf, name, nargs);

	return has;
}

void kernel_btf_have_tracepoints(const char *const *names, unsigned int cnt, bool *has)
{
	const struct btf *btf = vmlinux();
	unsigned int i;

	for (i = 0; i < cnt; i++)
		has[i] = btf && names[i] && has_tracepoint(btf, names[i], 1);
}

int kernel_btf_function(const char *name)
{
	const struct btf *btf = vmlinux();
	int id = btf ? btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) : -ENOENT;

	return id;
}

/* Of what a function returns, as it is in a register; narrow integers leave part of it undefined. */
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
	return strcmp(key, *(const char *const *)member);
}

void kernel_btf_return_types(const char *const *names, unsigned int cnt, uint8_t *types)
{
	const struct btf *btf = vmlinux();
	const uint32_t all = btf ? btf__type_cnt(btf) : 0;
	const char *const *name;
	const struct btf_type *t;
	uint32_t id;

	for (id = 1; id < all; id++) {
		t = btf__type_by_id(btf, id);
		if (!btf_is_func(t))
			continue;
		name = bsearch(btf__name_by_offset(btf, t->name_off), names, cnt, sizeof(*names), compare_name);
		if (name)
			types[name - names] = return_type(btf, btf__type_by_id(btf, t->type));
	}
}
