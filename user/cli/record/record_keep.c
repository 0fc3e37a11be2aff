// SPDX-License-Identifier: GPL-2.0
#include "record_keep.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"
#include "bpf/abi/ids.h"
#include "cli/exit.h"
#include "record_control.h"
#include "session/session.h"
#include "trigger/trigger.h"

static int watch(const struct record_keep *k, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(k->tick_fd, EPOLL_CTL_ADD, fd, &event);
}

static sigset_t signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return set;
}

void record_keep_hold_signal(void)
{
	const sigset_t set = signals();

	sigprocmask(SIG_BLOCK, &set, NULL);
}

int record_keep_open(struct record_keep *k, const char *command, bool progress)
{
	const sigset_t set = signals();

	*k = (struct record_keep){ .command = command, .progress = progress };
	k->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	k->tick_fd = epoll_create1(EPOLL_CLOEXEC);
	if (k->signal_fd >= 0 && !watch(k, k->signal_fd))
		return EXIT_OK;
	log_error("%s: signals: %s", command, strerror(errno));
	return EXIT_FAILED;
}

void record_keep_set_control(struct record_keep *k, struct record_control *c)
{
	k->control = c;
	/* Without, it is looked at a few times a second. */
	if (k->command && c && watch(k, record_control_fd(c)))
		log_debug("%s: epoll: %s", k->command, strerror(errno));
}

int record_keep_tick_fd(const struct record_keep *k)
{
	return k->command ? k->tick_fd : -1;
}

void record_keep_tick(struct record_keep *k, struct recorder *r)
{
	const struct recorder_request req = { .by = RECORDER_BY_SIGNAL, .name = "signal", .fd = -1 };
	struct signalfd_siginfo info;
	int err;

	if (!k->command || read(k->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	err = recorder_request_file(r, &req);
	if (err == -EOPNOTSUPP)
		err = recorder_next_file(r);
	if (err == -EOPNOTSUPP)
		log_info("SIGUSR2: nothing to do, there is one file only (see --rotate and --keep)");
	else if (err)
		log_warn("SIGUSR2: no file is written, too many are to be written already");
}

static void clear_progress(const struct record_keep *k)
{
	if (k->progress)
		fprintf(stderr, "\r\033[K");
}

/* What a trigger found: "7.2 ms", "93 %", a line of the kernel's log. */
static void print_value(const struct trigger_fired *t, char *text, size_t size)
{
	const bool is_share = !strcmp(t->name, "busy") || !strcmp(t->name, "idle");
	const char *least = t->is_partial ? ">= " : "";

	if (!t->threshold)
		snprintf(text, size, "%s", t->text);
	else if (is_share)
		snprintf(text, size, "%s%.6g %%, CPU %d", least, t->value / 1e4, t->cpu);
	else
		snprintf(text, size, "%s%.3f ms%s%s", least, t->value / 1e6, *t->text ? ", " : "", t->text);
}

/* The thread it is about, after a comma; interrupts are on tracks of their CPUs, which have names and no ids. */
static void print_thread(const struct trigger_fired *t, char *text, size_t size)
{
	*text = 0;
	if (t->thread && strcmp(t->name, "irq") != 0)
		snprintf(text, size, ", %s (%d)", *t->comm ? t->comm : "thread", (int)(t->thread % ID_GENERATION_STEP));
	else if (*t->comm)
		snprintf(text, size, ", %s", t->comm);
}

void record_keep_fired_text(const struct trigger_fired *t, char text[RECORD_KEEP_TEXT])
{
	char value[TRIGGER_TEXT_BYTES + 32], thread[TRIGGER_COMM_BYTES + 32];

	print_value(t, value, sizeof(value));
	print_thread(t, thread, sizeof(thread));
	snprintf(text, RECORD_KEEP_TEXT, "%s%s%s", value, thread, t->is_ongoing ? ", still going on" : "");
}

void record_keep_fired(void *ctx, const struct trigger_fired *fired)
{
	struct record_keep *k = ctx;
	char text[RECORD_KEEP_TEXT];

	clear_progress(k);
	record_keep_fired_text(fired, text);
	log_info("trigger %s: %s", fired->word, text);
	record_control_fired(k->control, fired);
}

void record_keep_done(void *ctx, const struct recorder_file *file)
{
	const char *what = *file->path ? file->path : file->name;
	struct record_keep *k = ctx;
	char bytes[NUM_SIZE_TEXT];

	clear_progress(k);
	k->failed |= file->err && file->by != RECORDER_BY_CLIENT && !file->is_unnamed;
	if (file->is_unnamed)
		log_info("%s: gets its name once it is on the disk", what);
	else if (file->err == -ECANCELED)
		log_info("%s: given up: %s", what, *file->why ? file->why : "who asked for it has gone");
	else if (file->err)
		log_error("%s: %s: %s%s%s%s", k->command, what, strerror(-file->err), *file->why ? " (" : "", file->why,
			  *file->why ? ")" : "");
	else
		log_info("%s: the last %.1f s, %s", what, (file->to_ns - file->from_ns) / 1e9, num_size_text(file->bytes, bytes));
	if (file->is_late)
		log_warn("%s: begins after its trigger, which had left the window (a larger --keep, or a shorter --after)", what);
	record_control_done(k->control, file);
}

void record_keep_close(struct record_keep *k)
{
	if (k->command) {
		close(k->signal_fd);
		close(k->tick_fd);
	}
	k->command = NULL;
}
