// SPDX-License-Identifier: GPL-2.0
#include "hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/huge_pages.h"

#define NS_PER_MS	1000000ULL
#define PATIENCE_NS	(2000 * NS_PER_MS)	/* from SIGTERM to SIGKILL */
#define WHY_BYTES	128

struct waiting {
	char *path, *purpose;
	int held;			/* -1: none */
};

struct hook {
	pid_t pid;			/* 0: none; also its process group */
	int pidfd;
	char *path;
	int held;			/* -1: none */
	uint64_t next_ns;		/* CLOCK_MONOTONIC: the next signal */
	int sent;			/* the last signal we sent; 0: none */
};

struct hooks {
	struct hooks_cfg cfg;
	struct hook hooks[HOOKS_MAX];
	struct waiting waiting[HOOKS_WAITING];	/* the first has waited longest */
	struct hooks_counts counts;
};

/* ---- the command ------------------------------------------------------------------------ */

static bool needs_quotes(const char *path)
{
	return path[strspn(path, "_./,:@%+=-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")];
}

/* In single quotes nothing has a meaning but these quotes. */
static char *quote(const char *path)
{
	char *quoted = malloc(4 * strlen(path) + 3), *out = quoted;

	if (!quoted || !needs_quotes(path))
		return quoted ? strcpy(quoted, path) : NULL;
	*out++ = '\'';
	for (; *path; path++)
		if (*path == '\'')
			out = stpcpy(out, "'\\''");
		else
			*out++ = *path;
	strcpy(out, "'");
	return quoted;
}

static unsigned int count_places(const char *command)
{
	unsigned int n = 0;

	for (; (command = strstr(command, "{}")); command += 2)
		n++;
	return n;
}

char *hooks_command(const char *command, const char *path)
{
	char *quoted = quote(path), *line, *out;
	const char *place;

	line = quoted ? malloc(strlen(command) + count_places(command) * strlen(quoted) + 1) : NULL;
	for (out = line; line && (place = strstr(command, "{}")); command = place + 2) {
		out = mempcpy(out, command, place - command);
		out = stpcpy(out, quoted);
	}
	if (line)
		strcpy(out, command);
	free(quoted);
	return line;
}

/* ---- running ------------------------------------------------------------------------------ */

/* The child: never returns. What it inherits of ours is closed by exec. */
static void run_hook(const struct hooks *h, const char *line, const struct waiting *w)
{
	static const int ours[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2, SIGCHLD,
	};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;
	size_t i;

	for (i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		signal(ours[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
	huge_pages_restore();
	if (h->cfg.files)
		setrlimit(RLIMIT_NOFILE, h->cfg.files);
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	if (!setenv("KFXT_FILE", w->path, 1) && !setenv("KFXT_TRIGGER", w->purpose, 1))
		execl("/bin/sh", "sh", "-c", line, NULL);
	_exit(126);
}

/* The group is made by both: whoever is first, it is there when the first signal is sent. */
static int start(struct hooks *h, struct hook *hook, struct waiting *w)
{
	char *line = hooks_command(h->cfg.command, w->path);
	int err = 0;

	hook->pid = line ? fork() : -1;
	if (!hook->pid)
		run_hook(h, line, w);
	if (hook->pid < 0)
		err = line ? -errno : -ENOMEM;
	free(line);
	if (err) {
		hook->pid = 0;
		return err;
	}
	setpgid(hook->pid, hook->pid);
	hook->pidfd = pidfd_open(hook->pid, 0);		/* without it, the end is seen by the timeout */
	hook->path = strdup(w->path);
	hook->held = w->held;
	w->held = -1;
	hook->next_ns = clock_ns(CLOCK_MONOTONIC) + h->cfg.limit_ns;
	hook->sent = 0;
	h->counts.run++;
	h->counts.running++;
	return 0;
}

static void let_go(int held)
{
	if (held >= 0)
		close(held);
}

static void free_waiting(struct waiting *w)
{
	let_go(w->held);
	free(w->path);
	free(w->purpose);
	*w = (struct waiting){ .held = -1 };
}

static void skip(struct hooks *h, const char *path, const char *why)
{
	h->counts.skipped++;
	h->cfg.failed(h->cfg.ctx, path, why);
}

/* The one that has waited longest. */
static void start_first(struct hooks *h, struct hook *hook)
{
	struct waiting first = h->waiting[0];
	char why[WHY_BYTES];
	int err;

	h->counts.waiting--;
	memmove(h->waiting, h->waiting + 1, h->counts.waiting * sizeof(*h->waiting));
	err = start(h, hook, &first);
	if (err) {
		snprintf(why, sizeof(why), "not run: %s", strerror(-err));
		skip(h, first.path, why);
	}
	free_waiting(&first);
}

static void start_waiting(struct hooks *h)
{
	unsigned int i;

	for (i = 0; i < HOOKS_MAX; i++)
		while (!h->hooks[i].pid && h->counts.waiting)
			start_first(h, &h->hooks[i]);
}

void hooks_add(struct hooks *h, const char *path, const char *purpose, int held)
{
	struct waiting w = { strdup(path), strdup(purpose), held };

	if (!w.path || !w.purpose || h->counts.waiting == HOOKS_WAITING) {
		skip(h, path, w.path && w.purpose ? "not run: too many are waiting" : "not run: no memory");
		free_waiting(&w);
		return;
	}
	h->waiting[h->counts.waiting++] = w;
	start_waiting(h);
}

/* ---- ending ------------------------------------------------------------------------------- */

static void report(struct hooks *h, const struct hook *hook, int status)
{
	char why[WHY_BYTES];

	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return;
	h->counts.failed++;
	if (hook->sent) {
		h->counts.killed++;
		snprintf(why, sizeof(why), "ended by us: it ran for more than %llu s",
			 (unsigned long long)(h->cfg.limit_ns / (1000 * NS_PER_MS)));
	} else if (WIFSIGNALED(status)) {
		snprintf(why, sizeof(why), "ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	} else {
		snprintf(why, sizeof(why), "exit status %d", WEXITSTATUS(status));
	}
	h->cfg.failed(h->cfg.ctx, hook->path ?: "", why);
}

static bool has_ended(struct hooks *h, struct hook *hook)
{
	int status;

	if (waitpid(hook->pid, &status, WNOHANG) != hook->pid)
		return false;
	report(h, hook, status);
	if (hook->pidfd >= 0)
		close(hook->pidfd);
	let_go(hook->held);
	free(hook->path);
	*hook = (struct hook){ .pidfd = -1, .held = -1 };
	h->counts.running--;
	return true;
}

static void check_limit(struct hook *hook, uint64_t now_ns)
{
	if (now_ns < hook->next_ns)
		return;
	hook->sent = hook->sent ? SIGKILL : SIGTERM;
	hook->next_ns = now_ns + PATIENCE_NS;
	kill(-hook->pid, hook->sent);
	kill(-hook->pid, SIGCONT);
}

bool hooks_round(struct hooks *h)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	bool any = false;
	unsigned int i;

	for (i = 0; i < HOOKS_MAX; i++) {
		if (!h->hooks[i].pid)
			continue;
		if (has_ended(h, &h->hooks[i]))
			any = true;
		else
			check_limit(&h->hooks[i], now_ns);
	}
	start_waiting(h);
	return any;
}

bool hooks_has(const struct hooks *h, const char *path)
{
	unsigned int i;

	for (i = 0; i < HOOKS_MAX; i++)
		if (h->hooks[i].pid && h->hooks[i].path && !strcmp(h->hooks[i].path, path))
			return true;
	for (i = 0; i < h->counts.waiting; i++)
		if (!strcmp(h->waiting[i].path, path))
			return true;
	return false;
}

unsigned int hooks_poll(const struct hooks *h, struct pollfd *fds)
{
	unsigned int i, n = 0;

	for (i = 0; i < HOOKS_MAX; i++)
		if (h->hooks[i].pid && h->hooks[i].pidfd >= 0)
			fds[n++] = (struct pollfd){ .fd = h->hooks[i].pidfd, .events = POLLIN };
	return n;
}

int hooks_timeout_ms(const struct hooks *h)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t first_ns = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < HOOKS_MAX; i++)
		if (h->hooks[i].pid && h->hooks[i].next_ns < first_ns)
			first_ns = h->hooks[i].next_ns;
	if (first_ns == UINT64_MAX)
		return -1;
	if (first_ns <= now_ns)
		return 0;
	first_ns = (first_ns - now_ns) / NS_PER_MS + 1;
	return first_ns < 1000 ? first_ns : 1000;
}

/* ---- all of them ---------------------------------------------------------------------------- */

int hooks_open(struct hooks **out, const struct hooks_cfg *cfg)
{
	struct hooks *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->cfg = *cfg;
	*out = h;
	return 0;
}

void hooks_get_counts(const struct hooks *h, struct hooks_counts *counts)
{
	*counts = h->counts;
}

void hooks_close(struct hooks *h)
{
	unsigned int i;

	if (!h)
		return;
	for (i = 0; i < HOOKS_MAX; i++) {
		if (h->hooks[i].pid && h->hooks[i].pidfd >= 0)
			close(h->hooks[i].pidfd);
		if (h->hooks[i].pid)
			let_go(h->hooks[i].held);
		free(h->hooks[i].path);
	}
	for (i = 0; i < h->counts.waiting; i++)
		free_waiting(&h->waiting[i]);
	free(h);
}
