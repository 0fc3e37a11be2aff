// SPDX-License-Identifier: GPL-2.0
/*
 * From selectors to what the BPF programs compare threads with.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "bpf/abi/ids.h"
#include "base/array.h"
#include "base/num.h"
#include "cgroup_filter.h"
#include "kernel/bpf_sys.h"
#include "kernel/pid_namespace.h"
#include "thread_filter.h"
#include "kfxt.skel.h"

/* An id, and what it was asked for as. */
struct filter_id {
	uint32_t id;
	uint8_t verdict;	/* VERDICT_PID or VERDICT_TID */
};

struct filter {
	uint8_t *verdicts;		/* by id, shared with the kernel side; NULL: not there yet */
	struct filter_id *ids;
	unsigned int ids_cnt, ids_cap;
	struct comm_glob *comms;
	unsigned int comms_cnt;
	struct cgroup_filter cgroups;
	bool follow;
	int follow_fd;		/* the program that filter_follow() runs */
	char text[1024];
};

/* ---- names ---------------------------------------------------------------------- */

/* The set that begins after the '[' at @p, into @set; where it ends, or NULL if it does not. */
static const char *parse_set(const char *p, bool set[256])
{
	const bool not = *p == '!' || *p == '^';
	const char *first = p += not;
	unsigned int c, last;

	for (c = 0; c < 256; c++)
		set[c] = not && c;
	for (; *p && (*p != ']' || p == first); p++) {
		c = last = (unsigned char)*p;
		if (p[1] == '-' && p[2] && p[2] != ']') {
			last = (unsigned char)p[2];
			p += 2;
		}
		for (; c <= last; c++)
			set[c] = !not;
	}
	return *p ? p + 1 : NULL;
}

/* One element of a glob, the bytes that match it into @set; where the next one begins. */
static const char *parse_element(const char *p, bool set[256])
{
	const char *end = *p == '[' ? parse_set(p + 1, set) : NULL;
	const bool any = *p == '?';
	unsigned int c;

	if (end)
		return end;
	if (*p == '\\' && p[1])
		p++;
	for (c = 0; c < 256; c++)
		set[c] = any ? c != 0 : c == (unsigned char)*p;
	return p + 1;
}

int filter_compile_comm(struct comm_glob *glob, const char *pattern)
{
	unsigned int state = 0, c;
	bool set[256];

	memset(glob, 0, sizeof(*glob));
	while (*pattern) {
		if (*pattern == '*') {
			glob->stays |= 1U << state;
			pattern++;
			continue;
		}
		if (state == COMM_BYTES_MAX - 1)
			return -EINVAL;
		pattern = parse_element(pattern, set);
		for (c = 0; c < 256; c++)
			glob->steps[c] |= (uint32_t)set[c] << state;
		state++;
	}
	/* The end of the name; what follows does not matter. */
	glob->steps[0] |= 1U << state;
	glob->matched = 1U << (state + 1);
	glob->stays |= glob->matched;
	return 0;
}

static int add_comm(struct filter *f, const char *pattern, char *why, size_t size)
{
	int err;

	if (!*pattern) {
		snprintf(why, size, "--comm: is empty (give a thread name or a glob)");
		return -EINVAL;
	}
	err = filter_compile_comm(&f->comms[f->comms_cnt++], pattern);
	if (err)
		snprintf(why, size, "--comm %s: matches nothing, thread names have at most 15 characters", pattern);
	return err;
}

/* ---- ids ------------------------------------------------------------------------ */

/* The process that thread @tid belongs to; 0: there is no such thread. */
static uint64_t process_of(uint64_t tid)
{
	unsigned long long tgid = 0;
	char line[256];
	FILE *file;

	snprintf(line, sizeof(line), "/proc/%llu/status", (unsigned long long)tid);
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %llu", &tgid) == 1)
			break;
	if (file)
		fclose(file);
	return tgid;
}

static int add_id(struct filter *f, const char *text, uint8_t verdict, char *why, size_t size)
{
	const char *option = verdict == VERDICT_PID ? "-p" : "-t", *bad;
	uint64_t id, process;

	if (num_parse_u64(text, &id, &bad)) {
		snprintf(why, size, "%s %s: %s", option, text, bad);
		return -EINVAL;
	}
	process = process_of(id);
	if (!process) {
		snprintf(why, size, "no %s %s", verdict == VERDICT_PID ? "process" : "thread", text);
		return -EINVAL;
	}
	if (verdict == VERDICT_PID && process != id) {
		snprintf(why, size, "no process %s: it is a thread of process %llu (-t)", text,
			 (unsigned long long)process);
		return -EINVAL;
	}
	if (array_reserve(f->ids, f->ids_cnt, f->ids_cap, 1))
		return -ENOMEM;
	f->ids[f->ids_cnt++] = (struct filter_id){ (uint32_t)id, verdict };
	return 0;
}

/* "12,34" */
static int add_ids(struct filter *f, const char *list, uint8_t verdict, char *why, size_t size)
{
	char *copy = strdup(list), *rest = copy, *text;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (text = strsep(&rest, ",")))
		err = add_id(f, text, verdict, why, size);
	free(copy);
	return err;
}

/* ---- the whole ------------------------------------------------------------------- */

/* Words for one kind of selector. */
static void describe(struct filter *f, const char *what, const struct filter_list *list)
{
	size_t len = strlen(f->text);
	unsigned int i;

	for (i = 0; i < list->cnt && len < sizeof(f->text); i++)
		len += snprintf(f->text + len, sizeof(f->text) - len, "%s%s %s", len ? ", " : "", what, list->items[i]);
}

static int add_all(struct filter *f, const struct filter_cfg *cfg, char *why, size_t size)
{
	unsigned int i;
	int err = 0;

	if ((cfg->pids.cnt || cfg->tids.cnt) && !pid_namespace_is_initial()) {
		snprintf(why, size, "-p and -t: in a PID namespace, whose ids are not the kernel's (run outside of the container)");
		return -ENOTSUP;
	}
	for (i = 0; !err && i < cfg->pids.cnt; i++)
		err = add_ids(f, cfg->pids.items[i], VERDICT_PID, why, size);
	for (i = 0; !err && i < cfg->tids.cnt; i++)
		err = add_ids(f, cfg->tids.items[i], VERDICT_TID, why, size);
	for (i = 0; !err && i < cfg->comms.cnt; i++)
		err = add_comm(f, cfg->comms.items[i], why, size);
	for (i = 0; !err && i < cfg->cgroups.cnt; i++)
		err = cgroup_filter_add(&f->cgroups, cfg->cgroups.items[i], cfg->stays, why, size);
	describe(f, "pid", &cfg->pids);
	describe(f, "tid", &cfg->tids);
	describe(f, "comm", &cfg->comms);
	describe(f, "cgroup", &cfg->cgroups);
	if (cfg->follow)
		describe(f, "follow", &(struct filter_list){ (const char *const[]){ "command" }, 1 });
	return err;
}

int filter_open(struct filter **out, const struct filter_cfg *cfg, char *why, size_t why_size)
{
	struct filter *f;
	int err;

	*out = NULL;
	if (!cfg->pids.cnt && !cfg->tids.cnt && !cfg->comms.cnt && !cfg->cgroups.cnt && !cfg->follow)
		return 0;
	snprintf(why, why_size, "%s", strerror(ENOMEM));
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->follow = cfg->follow;
	f->comms = calloc(cfg->comms.cnt + 1, sizeof(*f->comms));
	err = f->comms ? add_all(f, cfg, why, why_size) : -ENOMEM;
	if (err) {
		filter_close(f);
		return err;
	}
	*out = f;
	return 0;
}

const char *filter_absent(const struct filter *f)
{
	return f ? f->cgroups.absent : NULL;
}

const char *filter_text(const struct filter *f)
{
	return f->text;
}

int filter_prepare(const struct filter *f, struct kfxt_bpf *skel)
{
	const bool has_words = f && f->cgroups.words_cnt;
	int err;

	bpf_program__set_autoload(skel->progs.on_cgroup_mkdir, has_words);
	bpf_program__set_autoload(skel->progs.on_cgroup_rmdir, has_words);
	bpf_program__set_autoload(skel->progs.filter_follow, f && f->follow);
	bpf_program__set_autoattach(skel->progs.filter_follow, false);
	if (!f)
		return 0;
	skel->rodata->cfg_filter = true;
	skel->rodata->cfg_filter_comms = f->comms_cnt;
	skel->rodata->cfg_filter_cgroups = cgroup_filter_places(&f->cgroups);
	err = bpf_map__set_max_entries(skel->maps.filter_comms, f->comms_cnt ?: 1);
	return err ?: bpf_map__set_max_entries(skel->maps.verdicts, IDS_MAX / VERDICTS_PER_PAGE);
}

int filter_fill(struct filter *f, struct kfxt_bpf *skel)
{
	uint32_t i;
	int err = 0;

	if (!f)
		return 0;
	f->follow_fd = bpf_program__fd(skel->progs.filter_follow);
	cgroup_filter_share(&f->cgroups, skel->bss->filter_cgroups, &skel->bss->cgroups_unreported);
	f->verdicts = bpf_call_map(skel->maps.verdicts, IDS_MAX, PROT_READ | PROT_WRITE);
	if (!f->verdicts)
		return -errno;
	for (i = 0; i < f->ids_cnt; i++)
		if (f->ids[i].id < IDS_MAX)
			f->verdicts[f->ids[i].id] |= f->ids[i].verdict;
	for (i = 0; !err && i < f->comms_cnt; i++)
		err = bpf_map__update_elem(skel->maps.filter_comms, &i, sizeof(i), &f->comms[i], sizeof(f->comms[i]), 0);
	return err;
}

int filter_follow(const struct filter *f)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return f && f->follow ? bpf_prog_test_run_opts(f->follow_fd, &opts) : 0;
}

void filter_cgroup_made(struct filter *f, const char *path, uint64_t id)
{
	if (f)
		cgroup_filter_made(&f->cgroups, path, id);
}

void filter_look(struct filter *f, const struct cgroups *all)
{
	if (f)
		cgroup_filter_look(&f->cgroups, all);
}

bool filter_late(const struct filter *f, struct source_late *late)
{
	return f && cgroup_filter_late(&f->cgroups, late);
}

bool filter_selected(const struct filter *f, uint32_t tid)
{
	return !f || (tid < IDS_MAX && __atomic_load_n(&f->verdicts[tid], __ATOMIC_RELAXED) & VERDICT_ANY);
}

void filter_close(struct filter *f)
{
	if (!f)
		return;
	if (f->verdicts)
		munmap(f->verdicts, IDS_MAX);
	cgroup_filter_close(&f->cgroups);
	free(f->ids);
	free(f->comms);
	free(f);
}
