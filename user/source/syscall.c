// SPDX-License-Identifier: GPL-2.0
/*
 * The choice of system calls, and their slices.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/glob.h"
#include "kernel/bpf_sys.h"
#include "bpf/abi/raw.h"
#include "bpf/abi/syscall.h"
#include "capture/source.h"
#include "fxt/fxt.h"
#include "base/suggest.h"
#include "kfxt.skel.h"
#include "kernel/kmsg.h"
#include "kernel/syscalls.h"
#include "syscall.h"
#include "table.h"
#include "kernel/tracefs.h"

#define WORD	"syscalls"

/* By number, once for programs of 64 bits, once for those of 32. */
struct syscalls {
	bool selected[2][SYSCALL_NUMBERS];
	bool unknown;		/* numbers that have no name are selected too */
	struct syscall_proto protos[2][SYSCALL_NUMBERS];
	const struct bpf_map *open;
	struct bpf_link *links[2];	/* in the process that attaches */
};

/* ---- the choice ------------------------------------------------------------------------ */

bool syscalls_are_meant(const char *word)
{
	const size_t len = strlen(WORD);

	if (strncmp(word, WORD, len) || (word[len] && word[len] != ':'))
		return false;
	return strncmp(word + len, ":sys_enter_", 11) && strncmp(word + len, ":sys_exit_", 10);
}

static void set_all(struct syscalls *s, bool selected)
{
	memset(s->selected, selected, sizeof(s->selected));
	s->unknown = selected;
}

/* Returns whether there are such calls. */
static bool set_matching(struct syscalls *s, const char *glob, bool selected)
{
	bool found = false;
	const char *name;
	unsigned int nr;
	int compat;

	for (compat = 0; compat < 2; compat++) {
		for (nr = 0; nr < SYSCALL_NUMBERS; nr++) {
			name = syscall_name(compat, nr);
			if (!name || syscall_is_probe(compat, nr) || !glob_match(glob, name))
				continue;
			s->selected[compat][nr] = selected;
			found = true;
		}
	}
	return found;
}

static int no_such_call(const char *glob, char *why, size_t size)
{
	const char *names[SYSCALL_NUMBERS];
	unsigned int cnt = 0, nr;
	char near[SUGGEST_CNT][SUGGEST_BYTES], text[SUGGEST_TEXT_BYTES];

	for (nr = 0; nr < SYSCALL_NUMBERS; nr++)
		if (syscall_name(false, nr) && !syscall_is_probe(false, nr))
			names[cnt++] = syscall_name(false, nr);
	suggest_names(glob, names, cnt, near);
	snprintf(why, size, WORD ":%s: no such system call%s", glob, suggest_text(text, "", near));
	return -EINVAL;
}

int syscalls_choose(struct syscalls **calls, const char *word, bool out, char *why, size_t size)
{
	const char *list = word + strlen(WORD), *end;
	struct syscalls *s = *calls ?: calloc(1, sizeof(*s));
	char glob[64], path[256];
	bool except;
	int err;

	*calls = s;
	if (!s)
		return -ENOMEM;
	/* The programs are attached by the number in it. */
	err = tracefs_find(path, sizeof(path), "events/raw_syscalls/sys_enter/id") ? 0 : -ENOENT;
	err = err ?: faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) ? -errno : 0;
	if (!out && err) {
		snprintf(why, size, "%s: %s (%s)", word, strerror(-err), tracefs_remedy(err));
		return -ENOTSUP;
	}
	/* All, or all but some. */
	if (!*list || (list[1] == '!' && !out))
		set_all(s, !out);
	while (*list) {
		except = *++list == '!';
		list += except;
		end = strchrnul(list, ',');
		snprintf(glob, sizeof(glob), "%.*s", (int)(end - list), list);
		if (!set_matching(s, glob, !except && !out))
			return no_such_call(glob, why, size);
		list = end;
	}
	return 0;
}

int syscalls_need(struct syscalls **calls, const char *word, char *why, size_t size)
{
	struct syscalls *meant = NULL, *s = *calls;
	int err = syscalls_choose(&meant, word, false, why, size);
	size_t i;

	if (err || !s) {
		*calls = err ? s : meant;
		if (err)
			free(meant);
		return err;
	}
	for (i = 0; i < sizeof(s->selected); i++)
		((bool *)s->selected)[i] |= ((const bool *)meant->selected)[i];
	s->unknown |= meant->unknown;
	free(meant);
	return 0;
}

bool syscalls_have(const struct syscalls *s, const char *word)
{
	struct syscalls *meant = NULL;
	char why[256];
	bool have = false;
	size_t i;

	if (!syscalls_choose(&meant, word, false, why, sizeof(why)))
		for (i = 0; i < sizeof(meant->selected); i++)
			have |= ((const bool *)meant->selected)[i] && ((const bool *)s->selected)[i];
	free(meant);
	return have;
}

bool syscalls_any(const struct syscalls *s)
{
	return s && (s->unknown || memchr(s->selected, true, sizeof(s->selected)));
}

/* ---- the programs ------------------------------------------------------------------------ */

/* What the programs are to know of a call. */
static uint16_t info_of(struct syscalls *s, bool compat, unsigned int nr)
{
	const char *name = syscall_name(compat, nr);
	struct syscall_proto *proto = &s->protos[compat][nr];
	uint16_t info = s->selected[compat][nr] ? SYSCALL_SELECTED : 0;
	unsigned int i, texts = 0;

	/* Where it would have been recorded it is counted. */
	if (syscall_is_probe(compat, nr))
		return s->unknown ? SYSCALL_PROBE : 0;
	if (!name)
		return s->unknown ? SYSCALL_SELECTED : 0;
	if (!strcmp(name, "execve") || !strcmp(name, "execveat"))
		info |= SYSCALL_EXEC;
	if (info & SYSCALL_SELECTED)
		syscall_proto_read(proto, name);
	for (i = 0; i < proto->args_cnt; i++) {
		if (proto->args[i].type != FXT_ARG_STRING)
			continue;
		if (texts < SYSCALL_TEXTS_MAX)
			info |= FXT_PUT(i + 1, SYSCALL_TEXT_ARG(texts));
		else
			proto->args[i].type = FXT_ARG_POINTER;
		texts++;
	}
	return info;
}

void syscalls_prepare(struct syscalls *s, struct kfxt_bpf *skel)
{
	unsigned int compat, nr;

	skel->rodata->cfg_syscalls = true;
	skel->rodata->cfg_syscall_unknown = s->unknown ? SYSCALL_SELECTED : 0;
	for (compat = 0; compat < 2; compat++)
		for (nr = 0; nr < SYSCALL_NUMBERS; nr++)
			skel->rodata->cfg_syscall[compat * SYSCALL_NUMBERS + nr] = info_of(s, compat, nr);
	bpf_map__set_max_entries(skel->maps.open_syscalls, 1 << OPEN_SYSCALLS_SHIFT);
	s->open = skel->maps.open_syscalls;
}

/* ---- slices -------------------------------------------------------------------------------- */

/* A slice as it is put together. */
struct draft {
	struct fxt_event event;
	struct fxt_arg args[SYSCALL_ARGS_MAX + 3];
	unsigned int nargs;
	char name[32];		/* of a number without one */
	char texts[SYSCALL_TEXTS_MAX][4 * SYSCALL_TEXT_MAX + 4];	/* escaped, and "..." */
};

/* What the C library calls an error, and those that only the kernel itself sees. */
static const char *error_name(int err)
{
	switch (err) {
	case 512:
		return "ERESTARTSYS";
	case 513:
		return "ERESTARTNOINTR";
	case 514:
		return "ERESTARTNOHAND";
	case 516:
		return "ERESTART_RESTARTBLOCK";
	}
	return strerrorname_np(err);
}

/* The text of so many bytes, NUL included; what is longer than it may be ends with "...". */
static struct fxt_str text_of(const void *text, size_t bytes, char *escaped)
{
	size_t len = bytes - 1, kept = len < SYSCALL_TEXT_MAX ? len : SYSCALL_TEXT_MAX;

	kept = kmsg_escape(escaped, text, kept);
	if (len > SYSCALL_TEXT_MAX)
		memcpy(escaped + kept, "...", 3);
	return fxt_str_inline(escaped, kept + 3 * (len > SYSCALL_TEXT_MAX));
}

static struct fxt_arg value_of(const struct syscall_arg *arg, uint64_t value, bool compat)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
		return fxt_arg_i32(arg->name, (int32_t)value);
	case FXT_ARG_UINT32:
		return fxt_arg_u32(arg->name, (uint32_t)value);
	case FXT_ARG_INT64:
		return fxt_arg_i64(arg->name, compat ? (int32_t)value : (int64_t)value);
	case FXT_ARG_UINT64:
		return fxt_arg_u64(arg->name, value);
	default:
		return fxt_arg_ptr(arg->name, value);
	}
}

static void add_args(struct draft *d, const struct syscall_proto *proto, const uint64_t *rec)
{
	static const struct syscall_proto unknown = {
		.args_cnt = SYSCALL_ARGS_MAX,
		.args = { { FXT_ARG_POINTER, "arg1" }, { FXT_ARG_POINTER, "arg2" }, { FXT_ARG_POINTER, "arg3" },
			  { FXT_ARG_POINTER, "arg4" }, { FXT_ARG_POINTER, "arg5" }, { FXT_ARG_POINTER, "arg6" } },
	};
	const uint64_t *text = rec + SYSCALL_TEXT, *end = rec + FXT_GET(rec[RAW_HEADER], FXT_F_SIZE);
	uint64_t lens = rec[SYSCALL_TEXT_LEN];
	unsigned int i, texts = 0;
	uint32_t len;

	if (!proto || !proto->known)
		proto = &unknown;
	for (i = 0; i < proto->args_cnt; i++) {
		const struct syscall_arg *arg = &proto->args[i];

		len = arg->type == FXT_ARG_STRING ? (uint32_t)lens : 0;
		if (arg->type == FXT_ARG_STRING)
			lens >>= 32;
		if (!len || len > (size_t)(end - text) * 8) {
			d->args[d->nargs++] = value_of(arg, rec[SYSCALL_ARGS + i], rec[SYSCALL_CALL] & SYSCALL_COMPAT);
			continue;
		}
		d->args[d->nargs++] = fxt_arg_str(arg->name, text_of(text, len, d->texts[texts++]));
		text += (len + 7) / 8;
	}
}

/* A call that returns an address can return an error all the same. */
static void add_return(struct draft *d, const char *name, int64_t value)
{
	static const char *const pointers[] = { "mmap", "mmap2", "mremap", "brk", "shmat" };
	const bool failed = value < 0 && value >= -4095;
	const char *error = failed ? error_name((int)-value) : NULL;
	bool is_pointer = false;
	unsigned int i;

	for (i = 0; name && i < sizeof(pointers) / sizeof(pointers[0]); i++)
		is_pointer |= !strcmp(name, pointers[i]);
	d->args[d->nargs++] = is_pointer && !failed ? fxt_arg_ptr("return", value) : fxt_arg_i64("return", value);
	if (error)
		d->args[d->nargs++] = fxt_arg_str("error", fxt_str(error));
}

int syscalls_write(struct syscalls *s, struct fxt_writer *w, const uint64_t *rec, unsigned int *written)
{
	const bool compat = rec[SYSCALL_CALL] & SYSCALL_COMPAT;
	const int32_t nr = SYSCALL_NR(rec[SYSCALL_CALL]);
	const char *name = syscall_name(compat, nr);
	struct draft d = {
		.event = {
			.type = FXT_DURATION_COMPLETE, .ts = rec[RAW_TS], .id = rec[SYSCALL_END_TS],
			.thread = { .process = rec[RAW_PROCESS], .thread = rec[RAW_THREAD] },
			.category = fxt_str(WORD),
		},
	};
	int err;

	if (!name)
		snprintf(d.name, sizeof(d.name), "%s_%d", compat ? "compat" : "syscall", nr);
	d.event.name = fxt_str(name ?: d.name);
	add_args(&d, name ? &s->protos[compat][nr] : NULL, rec);
	if (rec[SYSCALL_CALL] & SYSCALL_UNFINISHED)
		d.args[d.nargs++] = fxt_arg_bool("unfinished", true);
	else
		add_return(&d, name, (int64_t)rec[SYSCALL_RETURN]);
	if (rec[SYSCALL_CALL] & SYSCALL_CONTINUES)
		d.args[d.nargs++] = fxt_arg_bool("continues", true);
	err = fxt_write_event(w, &d.event, d.args, d.nargs);
	*written = !err;
	return err;
}

/* None is open while its words are filled in, and each has another time. False: its call has ended meanwhile, or there was none. */
static bool copy_slot(const struct open_syscall *slot, struct open_syscall *copy)
{
	const uint64_t ts = __atomic_load_n(&slot->ts, __ATOMIC_ACQUIRE), call = __atomic_load_n(&slot->call, __ATOMIC_ACQUIRE);

	if (!call || !slot->task)
		return false;
	*copy = *slot;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&slot->ts, __ATOMIC_RELAXED) == ts && __atomic_load_n(&slot->call, __ATOMIC_RELAXED) == call &&
	       copy->ts == ts && copy->call == call;
}

int syscalls_write_unfinished(struct syscalls *s, struct fxt_writer *w, uint64_t end_ns, bool continues, uint64_t *written)
{
	const size_t bytes = sizeof(struct open_syscall) << OPEN_SYSCALLS_SHIFT;
	struct open_syscall *slots = bpf_call_map(s->open, bytes, PROT_READ), *slot, open;
	uint64_t rec[SYSCALL_TEXT] = { RAW_RECORD(RAW_SYSCALL, SYSCALL_TEXT) };
	unsigned int one;
	int err = 0;

	if (!slots)
		return -errno;
	for (slot = slots; !err && slot < slots + (1 << OPEN_SYSCALLS_SHIFT); slot++) {
		if (!copy_slot(slot, &open) || (continues && open.ts >= end_ns))
			continue;
		rec[RAW_TS] = open.ts;
		rec[RAW_PROCESS] = open.process;
		rec[RAW_THREAD] = open.thread;
		rec[SYSCALL_END_TS] = end_ns > open.ts ? end_ns : open.ts + 1;
		rec[SYSCALL_CALL] = (open.call & ~SYSCALL_OPEN) | SYSCALL_UNFINISHED | (continues ? SYSCALL_CONTINUES : 0);
		memcpy(rec + SYSCALL_ARGS, open.args, sizeof(open.args));
		err = syscalls_write(s, w, rec, &one);
		*written += one;
	}
	munmap(slots, bytes);
	return err;
}

void syscalls_close(struct syscalls *s)
{
	free(s);
}

static int select_syscalls(void **s, const char *word, bool out, char *why, size_t size)
{
	struct syscalls *calls = *s;
	int err = syscalls_choose(&calls, word, out, why, size);

	*s = calls;
	return err ?: syscalls_any(calls);
}

static int need_syscalls(void **s, const char *word, char *why, size_t size)
{
	struct syscalls *calls = *s;
	int err = syscalls_need(&calls, word, why, size);

	*s = calls;
	return err ?: syscalls_any(calls);
}

static bool have_syscalls(const void *s, const char *word)
{
	return syscalls_have(s, word);
}

static int prepare_syscalls(void *s, struct source_ctx *c)
{
	syscalls_prepare(s, c->skel);
	bpf_program__set_autoattach(c->skel->progs.on_sys_enter, false);
	bpf_program__set_autoattach(c->skel->progs.on_sys_exit, false);
	return 0;
}

/* Nothing comes back. */
static size_t share_nothing(const void *s)
{
	(void)s;
	return 1;
}

/* As perf events, for which the kernel takes locks of its tracers. */
static int attach_syscalls(void *s, struct source_ctx *c, const char **which)
{
	struct bpf_program *progs[] = { c->skel->progs.on_sys_enter, c->skel->progs.on_sys_exit };
	struct syscalls *calls = s;
	size_t i;

	*which = "attaching to system calls";
	for (i = 0; i < 2; i++) {
		calls->links[i] = bpf_program__attach(progs[i]);
		if (!calls->links[i])
			return -errno;
	}
	return 0;
}

/* Without tracefs it does not know what their arguments are. */
static bool syscalls_lack_names(const void *s, struct source_late *late)
{
	(void)s;
	snprintf(late->why, sizeof(late->why), "names of arguments, since %s", TRACEFS_BUSY);
	return tracefs_is_busy();
}

static int decode_syscall(void *s, struct source_ctx *c, const uint64_t *rec, unsigned int *written)
{
	return syscalls_write(s, c->w, rec, written);
}

static int poll_syscalls(void *s, struct source_ctx *c, uint64_t now_ns, bool final)
{
	return final ? syscalls_write_unfinished(s, c->w, now_ns, false, &c->events) : 0;
}

static int write_open_syscalls(void *s, struct source_ctx *c, uint64_t cut_ns, uint64_t *written)
{
	return syscalls_write_unfinished(s, c->w, cut_ns, true, written);
}

static void close_syscalls(void *s)
{
	syscalls_close(s);
}

const struct source_ops source_syscall = {
	.name = "syscalls",
	.about = "system calls with arguments and results; syscalls:openat,read these only",
	.shows = "slices on the threads that call; needs tracefs",
	.tracepoints = { { "sys_enter", 2 }, { "sys_exit", 2 } },
	.programs = { "on_sys_enter", "on_sys_exit" },
	.class = LEDGER_EVENTS, .raw_words_min = SYSCALL_TEXT,
	.typical_ns = 92, .shed_class = SHED_SYSCALLS, .shed_runs = 2,
	.takes = syscalls_are_meant, .select = select_syscalls, .need = need_syscalls, .has = have_syscalls, .prepare = prepare_syscalls,
	.aside = share_nothing, .attach_aside = attach_syscalls, .late = syscalls_lack_names, .decode = decode_syscall, .poll = poll_syscalls,
	.write_open = write_open_syscalls, .close = close_syscalls,
};
