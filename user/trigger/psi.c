// SPDX-License-Identifier: GPL-2.0
/* See psi.h, and Documentation/accounting/psi.rst of the kernel. */
#include "psi.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

static int fail(const struct trigger_word *w, int err, char *why, size_t size)
{
	const char *hint = "";

	if (err == EINVAL)
		hint = " (without CAP_SYS_RESOURCE the window must be 2s or a multiple of it)";
	if (err == EPERM || err == EACCES)
		hint = " (CAP_SYS_RESOURCE is needed)";
	if (err == ENOENT || err == EOPNOTSUPP)
		hint = " (kernel with CONFIG_PSI=y, started with psi=1)";
	snprintf(why, size, "%.80s: /proc/pressure/%s: %s%s", w->word, w->text, strerror(err), hint);
	return -err;
}

/* Whether the kernel watches the triggers of this process by a thread of its own, and counts for them alone. */
static bool is_counted_alone(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	return !syscall(SYS_capget, &header, data) && data[0].effective & 1U << CAP_SYS_RESOURCE;
}

static bool read_total(int fd, const struct trigger_word *w, uint64_t *total_us)
{
	return !pressure_read(fd, w->is_full ? "full" : "some", total_us);
}

bool psi_is_true(struct psi_watch *p, uint64_t total_us, uint64_t threshold_ns)
{
	const uint64_t growth_us = total_us - p->total_us;

	if (!p->is_doubted || growth_us >= threshold_ns / 1000)
		return true;
	p->total_us = total_us;
	return false;
}

/* Writing a trigger, with its NUL, makes the descriptor one of it. */
static int open_one(struct psi_watch *p, const struct trigger_word *w, char *why, size_t size)
{
	char path[32], text[64];
	int fd, len, err;

	snprintf(path, sizeof(path), "/proc/pressure/%.10s", w->text);
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return fail(w, errno, why, size);
	p->is_doubted = !is_counted_alone() && read_total(fd, w, &p->total_us);
	len = snprintf(text, sizeof(text), "%s %llu %llu", w->is_full ? "full" : "some",
		       (unsigned long long)w->threshold / 1000, (unsigned long long)w->window_ns / 1000);
	if (write(fd, text, (size_t)len + 1) >= 0)
		return fd;
	err = errno;
	close(fd);
	return fail(w, err, why, size);
}

int psi_open(struct psi *p, const struct firing *f, char *why, size_t size)
{
	unsigned int i;
	int fd, err = 0;

	for (i = 0; i < f->cnt; i++) {
		if (f->list[i].w.kind != TRIGGER_PSI)
			continue;
		fd = open_one(&p->list[p->cnt], &f->list[i].w, why, err ? 0 : size);
		if (fd < 0) {
			err = err ? err : fd;
			continue;
		}
		p->list[p->cnt].fd = fd;
		p->list[p->cnt++].trigger = i;
	}
	return err;
}

bool psi_has(const struct psi *p, unsigned int trigger)
{
	unsigned int i;

	for (i = 0; i < p->cnt && p->list[i].trigger != trigger; i++)
		;
	return i < p->cnt;
}

/* The kernel says that it was above the threshold, not by how much. */
void psi_look(struct psi *p, struct firing *f, uint64_t now_ns)
{
	unsigned int i;

	for (i = 0; i < p->cnt; i++) {
		struct psi_watch *watch = &p->list[i];
		const struct trigger_word *w = &f->list[watch->trigger].w;
		const struct trigger_fired what = {
			.value = w->threshold, .from_ns = now_ns > w->window_ns ? now_ns - w->window_ns : 0,
			.to_ns = now_ns, .cpu = -1, .is_partial = true,
		};
		struct pollfd fd = { .fd = watch->fd, .events = POLLPRI };
		uint64_t total_us;

		if (poll(&fd, 1, 0) <= 0 || !(fd.revents & POLLPRI))
			continue;
		if (!read_total(watch->fd, w, &total_us) || psi_is_true(watch, total_us, w->threshold))
			firing_add(f, watch->trigger, &what);
	}
}

void psi_close(struct psi *p)
{
	while (p->cnt)
		close(p->list[--p->cnt].fd);
}
