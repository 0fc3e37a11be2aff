// SPDX-License-Identifier: GPL-2.0
/* See psi.h, and Documentation/accounting/psi.rst of the kernel. */
#include "psi.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* Writing a trigger, with its NUL, makes the descriptor one of it. */
static int open_one(const struct trigger_word *w, char *why, size_t size)
{
	char path[32], text[64];
	int fd, len, err;

	snprintf(path, sizeof(path), "/proc/pressure/%.10s", w->text);
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return fail(w, errno, why, size);
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
		fd = open_one(&f->list[i].w, why, err ? 0 : size);
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
		const struct trigger_word *w = &f->list[p->list[i].trigger].w;
		const struct trigger_fired what = {
			.value = w->threshold, .from_ns = now_ns > w->window_ns ? now_ns - w->window_ns : 0,
			.to_ns = now_ns, .cpu = -1, .is_partial = true,
		};
		struct pollfd fd = { .fd = p->list[i].fd, .events = POLLPRI };

		if (poll(&fd, 1, 0) > 0 && fd.revents & POLLPRI)
			firing_add(f, p->list[i].trigger, &what);
	}
}

void psi_close(struct psi *p)
{
	while (p->cnt)
		close(p->list[--p->cnt].fd);
}
