// SPDX-License-Identifier: GPL-2.0
#include "sources_aside.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "sources_p.h"

#define ALIGNMENT	64U

/* Between both processes. Texts are literals or older than the fork, and so at the same address in both. */
struct aside {
	atomic_uint steps, done, all;
	_Atomic(const char *) what;
	atomic_bool is_done;
	struct {
		_Atomic(uint64_t) since_ns;	/* CLOCK_BOOTTIME; 0: not attached */
		atomic_int err;
		_Atomic(const char *) which;
		atomic_bool counted;
	} of[RAW_KIND_CNT];
};

/* Those that the process attaches. */
static bool is_aside(const struct sources *s, unsigned int kind)
{
	return s->aside && s->aside_at[kind];
}

static void set_area(struct sources *s, unsigned int kind)
{
	s->ctx.aside = (char *)s->aside + s->aside_at[kind];
}

static size_t round_up(size_t bytes)
{
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

int sources_aside_open(struct sources *s)
{
	size_t all = round_up(sizeof(struct aside)), bytes;
	unsigned int i;
	void *mem;

	for (i = 0; i < RAW_KIND_CNT; i++) {
		bytes = s->has[i] && !s->bare[i] && s->table[i]->attach_aside ? s->table[i]->aside(s->state[i]) : 0;
		s->aside_at[i] = bytes ? all : 0;
		all += round_up(bytes);
	}
	mem = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return -ENOMEM;
	s->aside = mem;
	s->aside_bytes = all;
	return 0;
}

bool sources_aside_any(const struct sources *s)
{
	unsigned int i;

	for (i = 0; i < RAW_KIND_CNT; i++)
		if (is_aside(s, i))
			return true;
	return false;
}

void sources_aside_close(struct sources *s)
{
	if (s->aside)
		munmap(s->aside, s->aside_bytes);
	s->aside = NULL;
}

/* ---- the process ------------------------------------------------------------------------------ */

struct steps {
	struct aside *aside;
	int until_fd;
};

static bool count_step(void *ctx, const char *doing, unsigned int done, unsigned int all, const char *what)
{
	const struct steps *steps = ctx;
	struct pollfd end = { .fd = steps->until_fd };

	(void)doing;
	atomic_store(&steps->aside->done, done);
	atomic_store(&steps->aside->all, all);
	atomic_store(&steps->aside->what, what);
	atomic_fetch_add(&steps->aside->steps, 1);
	return poll(&end, 1, 0) <= 0;
}

void sources_aside_attach(struct sources *s, int until_fd)
{
	struct steps steps = { s->aside, until_fd };
	const char *which = "attaching";
	unsigned int i;
	int err = 0;

	s->ctx.progress = count_step;
	s->ctx.progress_ctx = &steps;
	for (i = 0; i < RAW_KIND_CNT && err != -ECANCELED; i++) {
		if (!is_aside(s, i))
			continue;
		set_area(s, i);
		err = s->table[i]->attach_aside(s->state[i], &s->ctx, &which);
		atomic_store(&s->aside->of[i].which, which);
		atomic_store(&s->aside->of[i].err, err);
		if (!err)
			atomic_store(&s->aside->of[i].since_ns, clock_ns(CLOCK_BOOTTIME));
		atomic_fetch_add(&s->aside->steps, 1);
	}
	s->ctx.progress = NULL;
	atomic_store(&s->aside->is_done, true);
}

static bool detaches_at_stop(const struct sources *s, unsigned int kind)
{
	return is_aside(s, kind) && s->table[kind]->detach_aside;
}

static void for_each_to_detach(struct sources *s, void (*fn)(struct sources *s, unsigned int kind))
{
	unsigned int i;

	for (i = 0; i < RAW_KIND_CNT; i++) {
		if (!detaches_at_stop(s, i))
			continue;
		set_area(s, i);
		fn(s, i);
	}
}

static void count(struct sources *s, unsigned int kind)
{
	s->table[kind]->count_aside(s->state[kind], &s->ctx);
	atomic_store(&s->aside->of[kind].counted, true);
}

static void detach(struct sources *s, unsigned int kind)
{
	s->table[kind]->detach_aside(s->state[kind], &s->ctx);
}

void sources_aside_count(struct sources *s)
{
	for_each_to_detach(s, count);
}

void sources_aside_detach(struct sources *s)
{
	for_each_to_detach(s, detach);
}

/* ---- the recorder ----------------------------------------------------------------------------- */

void sources_aside_take(struct sources *s)
{
	unsigned int i;

	for (i = 0; i < RAW_KIND_CNT; i++) {
		if (!is_aside(s, i) || !s->table[i]->take_aside)
			continue;
		set_area(s, i);
		s->table[i]->take_aside(s->state[i], &s->ctx);
	}
}

void sources_aside_look(struct sources *s, struct sources_aside_look *look)
{
	struct aside *aside = s->aside;
	unsigned int i;

	*look = (struct sources_aside_look){ .is_done = atomic_load(&aside->is_done) };
	look->steps = atomic_load(&aside->steps);
	look->done = atomic_load(&aside->done);
	look->all = atomic_load(&aside->all);
	look->what = atomic_load(&aside->what);
	for (i = 0; i < RAW_KIND_CNT && !look->err; i++) {
		look->err = atomic_load(&aside->of[i].err);
		look->which = atomic_load(&aside->of[i].which);
	}
	sources_aside_take(s);
}

void sources_aside_begin(struct sources *s, const char *waits)
{
	unsigned int i;

	snprintf(s->aside_waits, sizeof(s->aside_waits), "%s", waits);
	for (i = 0; i < RAW_KIND_CNT; i++)
		s->is_late[i] = is_aside(s, i) && !atomic_load(&s->aside->of[i].since_ns);
}

void sources_aside_end(struct sources *s, const char *why)
{
	s->aside_lost = why;
}

void sources_aside_stop(struct sources *s)
{
	unsigned int i;

	for (i = 0; i < RAW_KIND_CNT; i++)
		if (detaches_at_stop(s, i) && atomic_load(&s->aside->of[i].since_ns) && !atomic_load(&s->aside->of[i].counted))
			s->is_counted_late = true;
	sources_aside_take(s);
}

bool sources_aside_late(const struct sources *s, unsigned int kind, struct source_late *late)
{
	const uint64_t since_ns = is_aside(s, kind) ? atomic_load(&s->aside->of[kind].since_ns) : 0;
	int err;

	if (!is_aside(s, kind))
		return false;
	late->name = s->table[kind]->many ?: s->table[kind]->name;
	if (s->aside_lost) {
		snprintf(late->why, sizeof(late->why), "%s", s->aside_lost);
		return true;
	}
	if (s->is_counted_late && detaches_at_stop(s, kind)) {
		snprintf(late->why, sizeof(late->why), "how many the kernel skipped is not known: kfxt-detach did not get a CPU");
		return true;
	}
	err = atomic_load(&s->aside->of[kind].err);
	/* It may have been attached right before the recording began, and said so right after. */
	late->since_ns = since_ns && since_ns <= s->ctx.start_ns ? s->ctx.start_ns + 1 : since_ns;
	if (err)
		snprintf(late->why, sizeof(late->why), "%s: %s", atomic_load(&s->aside->of[kind].which), strerror(-err));
	else if (!since_ns)
		snprintf(late->why, sizeof(late->why), "%s", s->aside_waits);
	return s->is_late[kind];
}

/* ---- detaching -------------------------------------------------------------------------------- */

bool sources_detach_at_stop(const struct sources *s)
{
	unsigned int i;

	for (i = 0; i < RAW_KIND_CNT; i++)
		if (detaches_at_stop(s, i))
			return true;
	return false;
}

static bool is_detachable(const struct sources *s, unsigned int i, enum shed_class class)
{
	return detaches_at_stop(s, i) && source_shed_class(s->table[i]) == class && !s->detached[i];
}

bool sources_can_detach(const struct sources *s, enum shed_class class)
{
	unsigned int i;

	for (i = 0; i < RAW_KIND_CNT; i++)
		if (is_detachable(s, i, class))
			return true;
	return false;
}

void sources_detach_class(struct sources *s, enum shed_class class)
{
	unsigned int i;

	for (i = 0; i < RAW_KIND_CNT; i++)
		s->detached[i] |= is_detachable(s, i, class);
}

int sources_end_detached(struct sources *s, uint64_t now_ns)
{
	unsigned int i;
	int err = 0, failed;

	sources_aside_take(s);
	for (i = 0; i < RAW_KIND_CNT; i++) {
		if (!s->detached[i] || s->ended[i] || !s->table[i]->poll)
			continue;
		failed = s->table[i]->poll(s->state[i], &s->ctx, now_ns, true);
		err = err ?: failed;
		s->ended[i] = true;
	}
	return err;
}
