// SPDX-License-Identifier: GPL-2.0
/*
 * A process has a list of mappings in order of time. At a fork or an exec there is
 * a boundary in it: what is before that does not hold any more. munmap(2) is not reported, but what is
 * mapped in its place later is found first.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "bpf/abi/ids.h"
#include "base/array.h"
#include "base/clock.h"
#include "living_thread.h"
#include "mapped_file.h"
#include "mmap_events.h"
#include "process_maps.h"

#define MAPPINGS_MAX	8192U	/* of a process */
#define COPIED_MAX	(2U << 20)	/* while there are more of all processes, a child's are read from /proc if they are asked for */
#define EXITED_MAX	1024U	/* processes that have ended are kept until so many others have */
#define AGAIN_NS	100000000ULL
/* What reading /proc may take of the time, one in so many, and how much at once: some have tens of thousands of mappings. */
#define SHARE		20
#define BURST_NS	250000000ULL
#define LOOK_AGAIN_NS	10000000000ULL	/* for files that no process has mapped, if most have one */

struct mapped_process {
	uint32_t pid;
	unsigned int cnt, cap;
	struct mapping *mappings;
	uint64_t koid;		/* of the process /proc was read for, without records */
	uint64_t read_ns;	/* when; 0: never */
	uint64_t exit_ns;	/* 0: it has not ended */
};

struct exited {
	struct exited *next;
	uint32_t pid;
	uint64_t ts;
};

struct process_maps {
	void *processes;	/* by pid */
	struct mapped_files *files;
	struct mmap_events *events;	/* NULL: there are none */
	struct exited *first, **last;
	unsigned int exited_cnt;
	uint64_t read_ns, last_read_ns;	/* of the latest process_maps_read() and the one before */
	uint64_t looked_ns;		/* for files that no process has mapped; 0: never */
	uint64_t mappings;		/* of all processes */
	struct time_share asked;
};

static bool is_boundary(const struct mapping *m)
{
	return m->start == m->end;
}

static int by_pid(const void *a, const void *b)
{
	const struct mapped_process *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static struct mapped_process *find_process(struct process_maps *m, uint32_t pid, bool make)
{
	const struct mapped_process key = { .pid = pid };
	struct mapped_process **found = tfind(&key, &m->processes, by_pid), *p;

	if (found || !make)
		return found ? *found : NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	if (tsearch(p, &m->processes, by_pid))
		return p;
	free(p);
	return NULL;
}

static void free_process(void *process)
{
	struct mapped_process *p = process;

	free(p->mappings);
	free(p);
}

/* ---- lists ------------------------------------------------------------------------------- */

static void drop_first(struct process_maps *m, struct mapped_process *p, unsigned int cnt)
{
	if (!cnt)
		return;
	p->cnt -= cnt;
	m->mappings -= cnt;
	memmove(p->mappings, p->mappings + cnt, p->cnt * sizeof(*p->mappings));
}

static int push(struct process_maps *m, struct mapped_process *p, const struct mapping *mapping)
{
	if (p->cnt == MAPPINGS_MAX)
		drop_first(m, p, MAPPINGS_MAX / 4);
	if (array_reserve(p->mappings, p->cnt, p->cap, 1))
		return -ENOMEM;
	p->mappings[p->cnt++] = *mapping;
	m->mappings++;
	return 0;
}

static bool is_same(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset && a->file == b->file;
}

/* JITs make the same pages writable and executable again and again. One of no bytes would be a boundary. */
static int add_mapping(struct process_maps *m, struct mapped_process *p, const struct mapping *mapping)
{
	unsigned int i = p->cnt;

	if (mapping->start >= mapping->end)
		return 0;
	while (i-- > 0 && !is_boundary(&p->mappings[i])) {
		const struct mapping *old = &p->mappings[i];

		if (is_same(old, mapping))
			return 0;
		if (old->start < mapping->end && mapping->start < old->end)
			break;
	}
	return push(m, p, mapping);
}

/* Of what was before the boundary that is there already, all that can be asked for has been. */
static int add_boundary(struct process_maps *m, struct mapped_process *p, uint64_t ts)
{
	unsigned int i = p->cnt;

	while (i-- > 0)
		if (is_boundary(&p->mappings[i]) && p->mappings[i].ts < m->last_read_ns) {
			drop_first(m, p, i);
			break;
		}
	p->exit_ns = 0;
	return push(m, p, &(struct mapping){ .ts = ts, .file = MAPPED_FILE_NONE });
}

static const struct mapping *search(const struct mapped_process *p, uint64_t ts, uint64_t addr)
{
	unsigned int i = p->cnt;

	while (i-- > 0) {
		const struct mapping *mapping = &p->mappings[i];

		if (mapping->ts > ts)
			continue;
		if (is_boundary(mapping))
			break;
		if (addr >= mapping->start && addr < mapping->end)
			return mapping;
	}
	return NULL;
}

/* ---- /proc ------------------------------------------------------------------------------- */

/* "start-end perms offset dev inode path": proc(5); executable ones count. */
static int add_line(struct process_maps *m, struct mapped_process *p, uint64_t ts, const char *line)
{
	struct mapping mapping = { .ts = ts };
	struct mapped_file file = { 0 };
	unsigned int major, minor;
	char perms[5] = "";
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &mapping.start, &mapping.end,
		   perms, &mapping.offset, &major, &minor, &file.inode, &at) < 7 || perms[2] != 'x')
		return 0;
	file.dev = makedev(major, minor);
	file.path = line + at;
	mapping.file = mapped_files_add(m->files, &file);
	return add_mapping(m, p, &mapping);
}

/* What is there now held at @ts, as far as is known. */
static int read_proc(struct process_maps *m, struct mapped_process *p, uint64_t ts)
{
	char path[32], *line = NULL;
	size_t size = 0;
	int err = 0;
	FILE *f;

	p->read_ns = clock_ns(CLOCK_MONOTONIC);
	snprintf(path, sizeof(path), "/proc/%u/maps", living_thread(p->pid));
	f = fopen(path, "re");
	if (!f)
		return 0;	/* gone; what was known of it still holds */
	if (!m->events)
		drop_first(m, p, p->cnt);
	while (!err && getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		err = add_line(m, p, ts, line);
	}
	free(line);
	fclose(f);
	return err;
}

static int read_all(struct process_maps *m)
{
	const struct dirent *entry;
	DIR *dir = opendir("/proc");
	struct mapped_process *p;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		p = find_process(m, strtoul(entry->d_name, NULL, 10), true);
		err = p ? read_proc(m, p, 0) : -ENOMEM;
	}
	closedir(dir);
	return err;
}

/* ---- perf's records ---------------------------------------------------------------------- */

/* The child has what its parent has. */
static int take_fork(struct process_maps *m, const struct mmap_event *e)
{
	const struct mapped_process *parent = find_process(m, e->parent, false);
	struct mapped_process *child = find_process(m, e->pid, true);
	unsigned int from = parent ? parent->cnt : 0;
	struct mapping mapping;
	int err = child ? add_boundary(m, child, e->ts) : -ENOMEM;

	while (from > 0 && !is_boundary(&parent->mappings[from - 1]))
		from--;
	for (; !err && parent && from < parent->cnt && m->mappings < COPIED_MAX; from++) {
		mapping = parent->mappings[from];
		mapping.ts = e->ts;
		err = push(m, child, &mapping);
	}
	return err;
}

static int take_exit(struct process_maps *m, const struct mmap_event *e)
{
	struct mapped_process *p = find_process(m, e->pid, false);
	struct exited *exited = p ? malloc(sizeof(*exited)) : NULL;

	if (!exited)
		return p ? -ENOMEM : 0;
	p->exit_ns = e->ts;
	*exited = (struct exited){ .pid = e->pid, .ts = e->ts };
	*m->last = exited;
	m->last = &exited->next;
	m->exited_cnt++;
	return 0;
}

static int take_event(void *ctx, const struct mmap_event *e)
{
	struct process_maps *m = ctx;
	struct mapped_process *p;

	if (e->kind == MMAP_EVENT_FORK)
		return take_fork(m, e);
	if (e->kind == MMAP_EVENT_EXIT)
		return take_exit(m, e);
	p = find_process(m, e->pid, true);
	if (!p)
		return -ENOMEM;
	if (e->kind == MMAP_EVENT_EXEC)
		return add_boundary(m, p, e->ts);
	return add_mapping(m, p, &(struct mapping){
		.ts = e->ts, .start = e->start, .end = e->end, .offset = e->offset,
		.file = mapped_files_add(m->files, &e->file),
	});
}

/* Those that ended before the last read but one, unless their id has another owner by now. */
static void forget_exited(struct process_maps *m)
{
	struct exited *exited;
	struct mapped_process *p;

	while (m->exited_cnt > EXITED_MAX && m->first->ts < m->last_read_ns) {
		exited = m->first;
		m->first = exited->next;
		if (!m->first)
			m->last = &m->first;
		m->exited_cnt--;
		p = find_process(m, exited->pid, false);
		if (p && p->exit_ns == exited->ts) {
			tdelete(p, &m->processes, by_pid);
			m->mappings -= p->cnt;
			free_process(p);
		}
		free(exited);
	}
}

static void mark_files(const void *node, VISIT visit, void *used)
{
	const struct mapped_process *p = *(struct mapped_process *const *)node;
	unsigned int i;

	if (visit != postorder && visit != leaf)
		return;
	for (i = 0; i < p->cnt; i++)
		if (p->mappings[i].file != MAPPED_FILE_NONE)
			((bool *)used)[p->mappings[i].file] = true;
}

/*
 * A machine that builds and tests has new files all the time. Without records nobody says that a process has ended:
 * all are forgotten then, and read again when they are asked for.
 */
static void forget_files(struct process_maps *m)
{
	bool *used;

	if (!mapped_files_are_many(m->files) || (m->looked_ns && m->read_ns - m->looked_ns < LOOK_AGAIN_NS))
		return;
	used = calloc(MAPPED_FILES_MAX, sizeof(*used));
	if (!used)
		return;
	if (!m->events) {
		tdestroy(m->processes, free_process);
		m->processes = NULL;
		m->mappings = 0;
	}
	twalk_r(m->processes, mark_files, used);
	mapped_files_forget(m->files, used);
	m->looked_ns = m->read_ns;
	free(used);
}

int process_maps_read(struct process_maps *m)
{
	m->last_read_ns = m->read_ns;
	m->read_ns = clock_ns(CLOCK_BOOTTIME);
	forget_files(m);
	if (!m->events)
		return 0;
	forget_exited(m);
	return mmap_events_read(m->events, m->read_ns, take_event, m);
}

/* ---- questions --------------------------------------------------------------------------- */

/* Of a process that has executed another program since, /proc does not have the mappings from before. */
static bool can_ask(struct process_maps *m, struct mapped_process *p, uint64_t koid, uint64_t ts)
{
	unsigned int i;

	if (!m->events && p->koid != koid) {
		p->koid = koid;
		drop_first(m, p, p->cnt);
		p->read_ns = 0;
	}
	for (i = 0; i < p->cnt; i++)
		if (is_boundary(&p->mappings[i]) && p->mappings[i].ts > ts)
			return false;
	if (p->read_ns && clock_ns(CLOCK_MONOTONIC) - p->read_ns <= AGAIN_NS)
		return false;
	return time_share_is_left(&m->asked, SHARE, BURST_NS);
}

static int ask(struct process_maps *m, struct mapped_process *p, uint64_t ts)
{
	const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	int err = read_proc(m, p, ts);

	time_share_take(&m->asked, clock_ns(CLOCK_MONOTONIC) - begin_ns);
	return err;
}

const struct mapping *process_maps_find(struct process_maps *m, uint64_t koid, uint64_t ts, uint64_t addr)
{
	struct mapped_process *p = find_process(m, koid % ID_GENERATION_STEP, true);
	const struct mapping *found;

	if (!p)
		return NULL;
	found = m->events || p->koid == koid ? search(p, ts, addr) : NULL;
	if (!found && can_ask(m, p, koid, ts) && !ask(m, p, m->events ? ts : 0))
		found = search(p, ts, addr);
	return found;
}

uint64_t process_maps_lost(const struct process_maps *m)
{
	return mmap_events_lost(m->events);
}

int process_maps_open(struct process_maps **out, struct mapped_files *files, int *events_err)
{
	struct process_maps *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->files = files;
	m->last = &m->first;
	*events_err = mmap_events_open(&m->events);
	*out = m;
	return 0;
}

/* The records first: what is mapped while /proc is read is then in both. */
int process_maps_begin(struct process_maps *m)
{
	int err = m->events ? mmap_events_begin(m->events) : 0;

	return err || !m->events ? err : read_all(m);
}

void process_maps_close(struct process_maps *m)
{
	struct exited *next;

	if (!m)
		return;
	mmap_events_close(m->events);
	tdestroy(m->processes, free_process);
	for (; m->first; m->first = next) {
		next = m->first->next;
		free(m->first);
	}
	free(m);
}
