// SPDX-License-Identifier: GPL-2.0
/*
 * Stack samples and names out of the records of a trace.
 */
#include "stacks.h"

static int take_sample(void *ctx, const struct profile_sample *sample)
{
	return stacks_add(ctx, sample);
}

static int read_blob(struct stacks *s, const struct fxt_record *rec)
{
	int err = s->reader ? 0 : profile_reader_open(&s->reader, take_sample, s);

	return err ? err : profile_reader_blob(s->reader, rec->blob.data, rec->blob.len);
}

/* What a process is in now; a record without a cgroup does not say, and not each cgroup is of a container or unit. */
static int read_cgroup(struct stacks *s, const struct fxt_record *rec)
{
	static const struct {
		enum stacks_named what;
		const char *arg;
	} names[] = { { STACKS_CGROUP, "cgroup" }, { STACKS_CONTAINER, "container" }, { STACKS_UNIT, "unit" } };
	const struct fxt_arg *arg;
	size_t i;
	int err = 0;

	if (!fxt_record_arg(rec, "cgroup"))
		return 0;
	for (i = 0; !err && i < sizeof(names) / sizeof(names[0]); i++) {
		arg = fxt_record_arg(rec, names[i].arg);
		err = stacks_name(s, names[i].what, rec->object.id,
				  arg && arg->type == FXT_ARG_STRING ? arg->str : fxt_str(""));
	}
	return err;
}

static int read_object(struct stacks *s, const struct fxt_record *rec)
{
	const bool is_process = rec->object.kind == FXT_KOBJ_PROCESS;
	int err = is_process ? read_cgroup(s, rec) : 0;

	if (!err && rec->object.name.len && (is_process || rec->object.kind == FXT_KOBJ_THREAD))
		err = stacks_name(s, is_process ? STACKS_PROCESS : STACKS_THREAD, rec->object.id, rec->object.name);
	return err;
}

int stacks_read(struct stacks *s, const struct fxt_record *rec)
{
	if (rec->kind == FXT_KIND_BLOB && rec->blob.type == FXT_BLOB_PERFETTO)
		return read_blob(s, rec);
	return rec->kind == FXT_KIND_KERNEL_OBJECT ? read_object(s, rec) : 0;
}
