// SPDX-License-Identifier: GPL-2.0
/*
 * Functions as a source. They are chosen by options of their own, so the command opens and closes
 * them: funcs.h.
 */
#include <seccomp.h>

#include "capture/source.h"
#include "elf/mapped_file.h"
#include "func_p.h"
#include "inside.h"
#include "kernel/pid_namespace.h"
#include "kmod/kfxt.h"
#include "programs.h"
#include "source/table.h"

static int prepare_funcs(void *s, struct source_ctx *c)
{
	c->calls_are_slices = funcs_are_slices(s);
	return func_probes_prepare(s, c->skel, c->cpus_cnt);
}

static int fill_funcs(void *s, struct source_ctx *c)
{
	return func_probes_fill(s, c->skel);
}

static size_t share_results(const void *s)
{
	return func_results_bytes(s);
}

static int attach_funcs(void *s, struct source_ctx *c, const char **which)
{
	int err;

	*which = "attaching to the functions";
	err = func_probes_attach(s, c->skel, c->progress, c->progress_ctx);
	func_results_give(s, c->aside);
	return err;
}

static int attach_iterator(void *s, struct source_ctx *c, const char **which)
{
	*which = "attaching to the threads";
	return inside_attach(s, c->skel);
}

static void detach_iterator(void *s, struct source_ctx *c)
{
	(void)c;
	inside_detach(s);
}

static void count_missed(void *s, struct source_ctx *c)
{
	func_probes_count_missed(s);
	func_results_give(s, c->aside);
}

static void detach_funcs(void *s, struct source_ctx *c)
{
	(void)c;
	func_probes_detach(s);
}

static void take_results(void *s, const struct source_ctx *c)
{
	func_results_take(s, c->aside);
}

static int write_names(void *s, struct fxt_writer *w)
{
	return funcs_write_strings(s, w);
}

/* In a PID namespace mappings would be those of other processes. */
static int start_funcs(void **s, struct source_ctx *c)
{
	(void)c;
	return pid_namespace_is_initial() ? funcs_begin(*s) : 0;
}

static int read_mappings(void *s)
{
	return funcs_read_maps(s);
}

/* A call that ended with its thread is no record of the ledger's. */
static int decode_call(void *s, struct source_ctx *c, const uint64_t *rec, unsigned int *written)
{
	int err = funcs_write(s, c->w, rec);

	*written = !err && !(rec[FUNC_ID] & FUNC_UNFINISHED);
	return err;
}

/* Mappings of any process are read, and the files that are mapped. */
static uint64_t func_capabilities(const void *s)
{
	return funcs_have_user_parents(s) ? MAPPED_FILES_CAPABILITIES : 0;
}

static const struct source_call calls[] = {
	{ SCMP_SYS(ioctl), 1, UINT32_MAX, KFXT_IOC_FUNC_STOP },
	{ SCMP_SYS(ioctl), 1, UINT32_MAX, KFXT_IOC_COUNTS },
	{ .call = SOURCE_LAST_CALL },
};

static int poll_funcs(void *s, struct source_ctx *c, uint64_t now_ns, bool final)
{
	return final ? funcs_write_unfinished(s, c->w, now_ns) : 0;
}

static int write_open_calls(void *s, struct source_ctx *c, uint64_t cut_ns, uint64_t *written)
{
	return funcs_write_open(s, c->w, cut_ns, written);
}

static void count_funcs(const void *s, const struct source_ctx *c, struct source_counts *counts)
{
	const struct funcs *f = s;

	(void)c;
	counts->unreturned += f->counts.unreturned;
	counts->skipped += f->counts.missed;
}

const struct source_ops source_func = {
	.class = LEDGER_CALLS, .counts_skipped = true, .raw_words_min = FUNC_WORDS,
	/* By fentry, of all functions but the first. */
	.loads_copies = true,
	.many = "functions", .shed_class = SHED_CALLS, .shed_runs = 1,
	.programs = { "func_session", "func_multi", "func_multi_return", "func_module", "func_fentry", "func_fexit",
		      "func_kprobe", "func_kretprobe", "func_uprobe", "func_uretprobe", "func_usdt", "record_inside" },
	.maps = { "open_stacks" },
	.features = func_features, .calls = calls, .capabilities = func_capabilities,
	.prepare = prepare_funcs, .loaded = fill_funcs, .attach = attach_iterator, .header = write_names,
	.aside = share_results, .attach_aside = attach_funcs, .count_aside = count_missed, .detach_aside = detach_funcs, .take_aside = take_results,
	.start = start_funcs, .after_look = read_mappings, .decode = decode_call, .poll = poll_funcs, .write_open = write_open_calls,
	.count = count_funcs, .detach = detach_iterator,
};
