// SPDX-License-Identifier: GPL-2.0
/*
 * A software event that never counts anything carries the records. Those of one CPU are in order of
 * time, those of all CPUs are sorted; what is not older than the reader's own look at the clock waits,
 * since an older record of another CPU may follow.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "mmap_events.h"
#include "mmap_records.h"

#define RING_PAGES	64U	/* and one: with perf_event_mlock_kb as it is by default, others can have as many */
#define RECORD_BYTES_MAX	65536U

struct cpu_ring {
	int fd;
	struct perf_event_mmap_page *page;
};

struct waiting {
	struct mmap_event event;	/* its path is freed with it */
	uint64_t number;		/* by arrival: for those of the same time */
};

struct mmap_events {
	struct cpu_ring *rings;
	unsigned int cnt;
	size_t page_bytes;
	struct waiting *waiting;
	unsigned int waiting_cnt, waiting_cap;
	uint64_t numbers, lost;
	uint64_t record[RECORD_BYTES_MAX / 8];
};

/* ---- records --------------------------------------------------------------------------- */

static int take_record(struct mmap_events *m, const struct perf_event_header *h)
{
	struct mmap_event e;
	int ret = mmap_record_decode(h, &e, &m->lost);

	if (ret <= 0)
		return ret;
	if (array_reserve(m->waiting, m->waiting_cnt, m->waiting_cap, 1)) {
		free((char *)e.file.path);
		return -ENOMEM;
	}
	m->waiting[m->waiting_cnt++] = (struct waiting){ e, m->numbers++ };
	return 0;
}

/* Copies @bytes at @pos, which may go around the ring's end. */
static void copy_out(const struct mmap_events *m, const struct cpu_ring *ring, uint64_t pos, void *to, size_t bytes)
{
	const size_t ring_bytes = RING_PAGES * m->page_bytes, at = pos % ring_bytes;
	const char *data = (const char *)ring->page + m->page_bytes;
	const size_t first = bytes < ring_bytes - at ? bytes : ring_bytes - at;

	memcpy(to, data + at, first);
	memcpy((char *)to + first, data, bytes - first);
}

/* The acquire and the release are partners of the kernel's: see perf_output_put_handle(). */
static int read_ring(struct mmap_events *m, const struct cpu_ring *ring)
{
	const uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	struct perf_event_header *h = (struct perf_event_header *)m->record;
	uint64_t tail = ring->page->data_tail;
	int err = 0;

	while (!err && tail < head) {
		copy_out(m, ring, tail, h, sizeof(*h));
		if (!mmap_record_has_size(h) || h->size > head - tail) {
			m->lost++;	/* no record: nothing after it can be found */
			tail = head;
			break;
		}
		copy_out(m, ring, tail, h, h->size);
		tail += h->size;
		err = take_record(m, h);
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->event.ts != y->event.ts)
		return x->event.ts < y->event.ts ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

int mmap_events_read(struct mmap_events *m, uint64_t until_ns, mmap_event_fn fn, void *ctx)
{
	unsigned int i, n;
	int err = 0;

	for (i = 0; !err && i < m->cnt; i++)
		err = read_ring(m, &m->rings[i]);
	if (m->waiting_cnt)
		qsort(m->waiting, m->waiting_cnt, sizeof(*m->waiting), by_time);
	for (n = 0; n < m->waiting_cnt && m->waiting[n].event.ts < until_ns; n++) {
		err = err ?: fn(ctx, &m->waiting[n].event);
		free((char *)m->waiting[n].event.file.path);
	}
	m->waiting_cnt -= n;
	if (n)
		memmove(m->waiting, m->waiting + n, m->waiting_cnt * sizeof(*m->waiting));
	return err;
}

uint64_t mmap_events_lost(const struct mmap_events *m)
{
	return m ? m->lost : 0;
}

/* ---- rings ------------------------------------------------------------------------------- */

static int open_ring(struct mmap_events *m, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME, .sample_id_all = 1, .mmap = 1, .mmap2 = 1, .build_id = 1,
		.task = 1, .comm = 1, .comm_exec = 1, .use_clockid = 1, .clockid = CLOCK_BOOTTIME, .disabled = 1,
	};
	struct cpu_ring *ring = &m->rings[m->cnt];
	void *page;
	int err;

	ring->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0)
		return errno == ENODEV ? 0 : -errno;	/* a CPU that is offline */
	page = mmap(NULL, (RING_PAGES + 1) * m->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (page == MAP_FAILED) {
		err = -errno;
		close(ring->fd);
		return err;
	}
	ring->page = page;
	m->cnt++;
	return 0;
}

int mmap_events_open(struct mmap_events **out)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct mmap_events *m = calloc(1, sizeof(*m));
	int err = 0, cpu;

	if (!m)
		return -ENOMEM;
	m->page_bytes = sysconf(_SC_PAGESIZE);
	m->rings = calloc(cpus > 0 ? cpus : 1, sizeof(*m->rings));
	if (!m->rings)
		err = -ENOMEM;
	for (cpu = 0; !err && cpu < cpus; cpu++)
		err = open_ring(m, cpu);
	if (err) {
		mmap_events_close(m);
		return err;
	}
	*out = m;
	return 0;
}

int mmap_events_begin(struct mmap_events *m)
{
	unsigned int i;

	for (i = 0; i < m->cnt; i++)
		if (ioctl(m->rings[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			return -errno;
	return 0;
}

void mmap_events_close(struct mmap_events *m)
{
	unsigned int i;

	if (!m)
		return;
	for (i = 0; i < m->cnt; i++) {
		munmap(m->rings[i].page, (RING_PAGES + 1) * m->page_bytes);
		close(m->rings[i].fd);
	}
	for (i = 0; i < m->waiting_cnt; i++)
		free((char *)m->waiting[i].event.file.path);
	free(m->waiting);
	free(m->rings);
	free(m);
}
