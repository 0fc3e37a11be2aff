// SPDX-License-Identifier: GPL-2.0
/*
 * The broker's end: a loop over requests, files that are on the disk, hooks that end, and the size of what is being
 * written. It ends when the recorder has closed its end of the socket, which the kernel does for one that was killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd_pass.h"
#include "base/side_process.h"
#include "broker_p.h"
#include "rights.h"
#include "syncer.h"
#include "unfinished.h"

#define HOOK_LIMIT_NS	(300 * 1000000000ULL)
#define GROWTH_MS	1000	/* how often sizes are looked at */
#define ANSWER_MS	1000	/* for the recorder to make space in the socket */

/* Of a file that is published. */
enum step {
	STEP_OPEN,		/* it is written so far */
	STEP_DATA,		/* it is put on the disk */
	STEP_DIR,		/* its name is */
};

struct open_file {
	uint32_t id;		/* 0: none */
	enum step step;
	struct broker_ask ask;	/* that asked for it */
	bool is_named;		/* the limits see it as any other */
	bool keep;
	char purpose[NAME_PART_MAX + 1];	/* for the hook, unless it is one that is known */
	const char *known;
	struct unfinished file;
};

struct server {
	const struct broker_process *p;
	struct hooks *hooks;	/* NULL: none */
	struct syncer *syncer;
	struct open_file files[BROKER_FILES_MAX];
	struct broker_counts counts;
	char **recovered;	/* names that were given and limits do not know so far */
	size_t recovered_cnt, recovered_cap;
	char undeletable[NAME_MAX + 1];		/* reported once, not in every pass */
	bool ended;
	struct broker_answer end;	/* to BROKER_END, once all that was asked for before is done; .id 0: none */
};

/* What one pass over the directory deleted. */
struct pass {
	struct server *s;
	struct broker_answer deleted, failed;
};

/* ---- answers ------------------------------------------------------------------------------ */

static bool send_packet(struct server *s, struct broker_answer *answer, int fd)
{
	if (s->hooks)
		hooks_get_counts(s->hooks, &s->counts.hooks);
	answer->counts = s->counts;
	return !fd_pass_send(s->p->socket, answer, sizeof(*answer), &fd, fd >= 0, MSG_DONTWAIT);
}

/* A recorder that takes nothing must not keep hooks from their limits. */
static bool send_answer(struct server *s, struct broker_answer *answer, int fd)
{
	struct pollfd pfd = { .fd = s->p->socket, .events = POLLOUT };

	if (send_packet(s, answer, fd))
		return true;
	return errno == EAGAIN && poll(&pfd, 1, ANSWER_MS) > 0 && send_packet(s, answer, fd);
}

static void send_notice(struct server *s, struct broker_answer *notice)
{
	notice->id = 0;
	if (!send_packet(s, notice, -1))
		s->counts.notices_lost++;
}

/* Also while nothing else happens, maybe for days. A packet that is not taken now has nothing that a later one has not. */
static void send_counts(struct server *s)
{
	send_packet(s, &(struct broker_answer){ .event = BROKER_COUNTED }, -1);
}

static int refuse(struct broker_answer *answer, int err, const char *what)
{
	if (err == -ESTALE)
		snprintf(answer->why, sizeof(answer->why), "it was removed or replaced by another program");
	else
		snprintf(answer->why, sizeof(answer->why), "%s: %s", what, strerror(-err));
	return err;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void on_hook_failed(void *ctx, const char *path, const char *why)
{
	struct broker_answer notice = { .event = BROKER_HOOK_FAILED, .files = 1 };

	snprintf(notice.name, sizeof(notice.name), "%s", last_part(path));
	snprintf(notice.why, sizeof(notice.why), "%s", why);
	send_notice(ctx, &notice);
}

/* ---- too many files ---------------------------------------------------------------------- */

static void make_path(const struct server *s, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", strcmp(s->p->path, "/") ? s->p->path : "", name);
}

/* By a hook of ours, or by one of a recorder before us; or one that is to come, as it is not on the disk so far. */
static bool is_used(void *ctx, const char *name)
{
	const struct server *s = ctx;
	char path[PATH_MAX];
	unsigned int i;

	for (i = 0; i < BROKER_FILES_MAX; i++)
		if (s->files[i].id && s->files[i].is_named && !strcmp(s->files[i].file.name, name))
			return true;
	make_path(s, name, path);
	return (s->hooks && hooks_has(s->hooks, path)) || unfinished_is_held(s->p->dir, name);
}

static void on_deleted(void *ctx, const char *name, uint64_t bytes, int err)
{
	struct pass *pass = ctx;
	struct broker_answer *notice = err ? &pass->failed : &pass->deleted;

	notice->files++;
	notice->bytes += bytes;
	if (err && notice->files > 1)
		return;		/* the first one that cannot be deleted is named, and the last one that is */
	snprintf(notice->name, sizeof(notice->name), "%s", name);
	if (err)
		snprintf(notice->why, sizeof(notice->why), "%s", strerror(-err));
}

/* Is it being written, and will be subject to the limits? */
static bool grows(const struct open_file *file)
{
	return file->id && !file->keep && !file->is_named;
}

static uint64_t growing_bytes(const struct server *s)
{
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i < BROKER_FILES_MAX; i++)
		if (grows(&s->files[i]))
			bytes += unfinished_bytes(&s->files[i].file);
	return bytes;
}

/* @newest: names of the @cnt files that were just published. */
static void apply_limits(struct server *s, const char *const *newest, size_t cnt)
{
	struct pass pass = { s, { .event = BROKER_DELETED }, { .event = BROKER_NOT_DELETED } };
	const struct retention_cfg cfg = {
		.dir = s->p->dir, .names = s->p->names, .limits = s->p->cfg->limits, .newest = newest,
		.newest_cnt = cnt, .deleted = on_deleted, .ctx = &pass, .is_used = is_used, .used_ctx = s,
	};
	const int err = retention_apply(&cfg, growing_bytes(s), &s->counts.kept);

	if (err)
		on_deleted(&pass, ".", 0, err);
	s->counts.deleted += pass.deleted.files;
	s->counts.deleted_bytes += pass.deleted.bytes;
	if (pass.deleted.files)
		send_notice(s, &pass.deleted);
	if (pass.failed.files && strcmp(pass.failed.name, s->undeletable) != 0)
		send_notice(s, &pass.failed);
	strcpy(s->undeletable, pass.failed.name);
}

static bool is_growing(const struct server *s)
{
	unsigned int i;

	for (i = 0; i < BROKER_FILES_MAX; i++)
		if (grows(&s->files[i]))
			return true;
	return false;
}

static void check_growth(struct server *s)
{
	const uint64_t limit = s->p->cfg->limits.bytes, growing = limit ? growing_bytes(s) : 0;

	if (growing && s->counts.kept.files && s->counts.kept.bytes + growing > limit)
		apply_limits(s, NULL, 0);
}

/* ---- requests ------------------------------------------------------------------------------ */

static struct open_file *find_file(struct server *s, uint32_t id)
{
	unsigned int i;

	for (i = 0; i < BROKER_FILES_MAX; i++)
		if (s->files[i].id == id)
			return &s->files[i];
	return NULL;
}

static int check_space(const struct server *s, uint64_t needs_bytes, struct broker_answer *answer)
{
	struct statvfs fs;
	uint64_t free_bytes;

	if (!needs_bytes || fstatvfs(s->p->dir, &fs))
		return 0;
	free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (free_bytes >= needs_bytes)
		return 0;
	snprintf(answer->why, sizeof(answer->why), "%llu KiB are free, %llu KiB are needed",
		 (unsigned long long)(free_bytes >> 10), (unsigned long long)((needs_bytes + 1023) >> 10));
	return -ENOSPC;
}

/* The directory was removed; there may be another one of its name. */
static bool open_dir_again(const struct server *s)
{
	int fd = open(s->p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool moved = fd >= 0 && dup3(fd, s->p->dir, O_CLOEXEC) >= 0;

	if (fd >= 0)
		close(fd);
	return moved;
}

static int open_file(struct server *s, const struct broker_ask *ask, struct broker_answer *answer)
{
	struct open_file *file = find_file(s, 0);
	const struct name_facts facts = { .when = ask->when, .purpose = ask->purpose };
	int err;

	if (!file || !ask->id || find_file(s, ask->id))
		return refuse(answer, -EMFILE, "as many as there may be are open");
	err = check_space(s, ask->needs_bytes, answer);
	if (err)
		return err;
	err = unfinished_open(&file->file, s->p->dir, s->p->names, &facts, ask->keep);
	if (err == -ENOENT && open_dir_again(s))
		err = unfinished_open(&file->file, s->p->dir, s->p->names, &facts, ask->keep);
	if (err)
		return refuse(answer, err, "no file can be made");
	file->id = ask->id;
	file->keep = ask->keep;
	name_clean(ask->purpose, file->purpose);
	file->known = ask->known && ask->known <= s->p->cfg->purposes_cnt ? s->p->cfg->purposes[ask->known - 1] : NULL;
	strcpy(answer->name, file->file.name);
	return 0;
}

static void close_file(struct open_file *file)
{
	unfinished_close(&file->file);
	file->id = 0;
	file->step = STEP_OPEN;
	file->is_named = false;
}

/* One that is written, and no more than that. */
static struct open_file *find_written(struct server *s, uint32_t id)
{
	struct open_file *file = id ? find_file(s, id) : NULL;

	return file && file->step == STEP_OPEN ? file : NULL;
}

static void run_hook(struct server *s, const struct open_file *file)
{
	char path[PATH_MAX];

	make_path(s, file->file.name, path);
	hooks_add(s->hooks, path, file->known ?: file->purpose, unfinished_hold(&file->file, s->p->dir));
	send_counts(s);
}

static void take_open(struct server *s, const struct broker_ask *ask, struct broker_answer *answer)
{
	struct open_file *file;

	answer->err = open_file(s, ask, answer);
	file = answer->err ? NULL : find_file(s, ask->id);
	if (send_answer(s, answer, file ? file->file.fd : -1) || !file)
		return;
	unfinished_discard(&file->file, s->p->dir);
	close_file(file);
}

/* ---- a file gets its name ------------------------------------------------------------------ */

static void sync_step(struct server *s, struct open_file *file, enum step step)
{
	file->step = step;
	/* As many fit as files may be open. */
	syncer_add(s->syncer, file->id, step == STEP_DATA ? file->file.fd : s->p->dir, step == STEP_DIR);
}

/* The recorder waits for the name only: deleting large files takes longer. */
static void answer_publish(struct server *s, const struct open_file *file, int err)
{
	struct broker_answer answer = { .id = file->ask.id, .verb = file->ask.verb, .err = err };

	if (!err)
		strcpy(answer.name, file->file.name);
	else
		refuse(&answer, err, file->is_named ? "it has its name, but not all of it may be on the disk" : "it gets no name");
	send_answer(s, &answer, -1);
}

/* Also of one that has its name though not all of it may be on the disk. */
static void end_publish(struct server *s, struct open_file *file, int err)
{
	const bool is_named = file->is_named;
	char name[NAME_MAX + 1];

	strcpy(name, file->file.name);
	if (!err && (file->ask.how & BROKER_HOOK) && s->hooks)
		run_hook(s, file);
	close_file(file);
	apply_limits(s, (const char *[]){ name }, is_named);
}

/* From then on the limits count it among those that are kept. */
static int give_name(struct server *s, struct open_file *file)
{
	const struct retention_limits *limits = &s->p->cfg->limits;
	const uint64_t bytes = unfinished_bytes(&file->file);
	const int err = unfinished_rename(&file->file, s->p->dir);

	file->is_named = !err;
	if (err || file->keep || !(limits->files || limits->bytes))
		return err;
	s->counts.kept.files++;
	s->counts.kept.bytes += bytes;
	return 0;
}

/* What it asks for is answered when it is done; meanwhile there may be other requests. */
static void take_publish(struct server *s, const struct broker_ask *ask)
{
	struct open_file *file = find_written(s, ask->file);
	int err = 0;

	if (!file) {
		answer_publish(s, &(struct open_file){ .ask = *ask }, -EBADF);
		return;
	}
	file->ask = *ask;
	if (ask->how & BROKER_SYNC_LATER) {
		err = give_name(s, file);
		answer_publish(s, file, err);
	}
	if (err)
		end_publish(s, file, err);
	else
		sync_step(s, file, STEP_DATA);
}

static void tell_not_on_disk(struct server *s, const struct open_file *file, int err)
{
	struct broker_answer notice = { .event = BROKER_NOT_ON_DISK, .files = 1 };

	snprintf(notice.name, sizeof(notice.name), "%s", file->file.name);
	snprintf(notice.why, sizeof(notice.why), "%s", strerror(-err));
	send_notice(s, &notice);
}

/* A name says that all is there, also after a power failure. */
static void end_data(struct server *s, struct open_file *file, int err)
{
	int name_err;

	if (file->ask.how & BROKER_SYNC_LATER) {
		if (err)
			tell_not_on_disk(s, file, err);
		sync_step(s, file, STEP_DIR);
		return;
	}
	name_err = give_name(s, file);
	err = err ?: name_err;
	if (!err) {
		sync_step(s, file, STEP_DIR);
		return;
	}
	answer_publish(s, file, err);
	end_publish(s, file, err);
}

static void end_dir(struct server *s, struct open_file *file)
{
	if (!(file->ask.how & BROKER_SYNC_LATER))
		answer_publish(s, file, 0);
	end_publish(s, file, 0);
}

static void end_syncs(struct server *s)
{
	struct open_file *file;
	uint32_t id;
	int err;

	while (syncer_next(s->syncer, &id, &err)) {
		file = find_file(s, id);
		if (file && file->step == STEP_DATA)
			end_data(s, file, err);
		else if (file && file->step == STEP_DIR)
			end_dir(s, file);
	}
}

static bool is_syncing(const struct server *s)
{
	unsigned int i;

	for (i = 0; i < BROKER_FILES_MAX; i++)
		if (s->files[i].id && s->files[i].step != STEP_OPEN)
			return true;
	return false;
}

/* ---- other requests ------------------------------------------------------------------------ */

static void take_discard(struct server *s, const struct broker_ask *ask, struct broker_answer *answer)
{
	struct open_file *file = find_written(s, ask->file);

	answer->err = file ? unfinished_discard(&file->file, s->p->dir) : -EBADF;
	if (answer->err)
		refuse(answer, answer->err, "it cannot be removed");
	else
		strcpy(answer->name, file->file.name);
	if (file)
		close_file(file);
	send_answer(s, answer, -1);
}

static void take_ask(struct server *s, struct broker_ask *ask)
{
	struct broker_answer answer = { .id = ask->id, .verb = ask->verb };

	ask->purpose[NAME_PART_MAX] = 0;
	switch (ask->verb) {
	case BROKER_OPEN:
		take_open(s, ask, &answer);
		break;
	case BROKER_PUBLISH:
		take_publish(s, ask);
		break;
	case BROKER_DISCARD:
		take_discard(s, ask, &answer);
		break;
	case BROKER_SPACE:
		answer.err = check_space(s, ask->needs_bytes, &answer);
		send_answer(s, &answer, -1);
		break;
	case BROKER_END:
		s->end = answer;
		s->ended = true;
		break;
	}
}

/* Without waiting. A socket that is at its end is that of a recorder that has ended. */
static void take_asks(struct server *s)
{
	struct broker_ask ask;
	struct iovec iov = { &ask, sizeof(ask) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	while (!s->ended && (n = recvmsg(s->p->socket, &msg, MSG_DONTWAIT)) != 0) {
		if (n < 0 && errno == EAGAIN)
			return;
		/* A recorder that ends with answers unread resets the connection, which is said before what it has asked for. */
		if (n < 0 && errno != EINTR && errno != ECONNRESET)
			break;
		if (n == sizeof(ask))
			take_ask(s, &ask);
	}
	s->ended = true;
}

/* ---- recorders that have ended ----------------------------------------------------------- */

/* Without memory it is one of the others. */
static void note_recovered(struct server *s, const char *name)
{
	char *copy = strdup(name);

	if (copy && !array_reserve(s->recovered, s->recovered_cnt, s->recovered_cap, 1))
		s->recovered[s->recovered_cnt++] = copy;
	else
		free(copy);
}

static void recover(struct server *s, struct unfinished *file)
{
	struct broker_answer notice = { .files = 1 };
	const uint64_t bytes = unfinished_bytes(file);
	bool kept;
	int err = unfinished_recover(file, s->p->dir, &kept);

	snprintf(notice.name, sizeof(notice.name), "%s", file->name);
	notice.bytes = kept ? unfinished_bytes(file) : bytes;
	if (err) {
		notice.event = BROKER_NOT_RECOVERED;
		refuse(&notice, err, "it gets no name");
		send_notice(s, &notice);
	} else if (kept) {
		notice.event = BROKER_RECOVERED;
		s->counts.recovered++;
		send_notice(s, &notice);
		note_recovered(s, file->name);
	}
}

/* They were written last, whatever the clock says now. */
static void apply_limits_recovered(struct server *s)
{
	apply_limits(s, (const char *const *)s->recovered, s->recovered_cnt);
	while (s->recovered_cnt)
		free(s->recovered[--s->recovered_cnt]);
}

static int recover_name(void *ctx, const char *name)
{
	struct server *s = ctx;
	struct unfinished file;

	if (!unfinished_find(&file, s->p->dir, s->p->names, name)) {
		recover(s, &file);
		unfinished_close(&file);
	}
	return 0;
}

static void recover_open(struct server *s)
{
	unsigned int i;

	for (i = 0; i < BROKER_FILES_MAX; i++)
		if (s->files[i].id) {
			recover(s, &s->files[i].file);
			close_file(&s->files[i]);
		}
	apply_limits_recovered(s);
}

/* ---- the process --------------------------------------------------------------------------- */

static int begin(struct server *s)
{
	const struct broker_cfg *cfg = s->p->cfg;
	const struct hooks_cfg hooks = {
		.command = cfg->hook, .limit_ns = cfg->hook_limit_ns ?: HOOK_LIMIT_NS, .files = cfg->files,
		.failed = on_hook_failed, .ctx = s,
	};
	int err = cfg->hook ? hooks_open(&s->hooks, &hooks) : 0;

	err = err ?: rights_drop(s->p->dir, cfg->hook);
	err = err ?: syncer_open(&s->syncer);
	err = err ?: rights_filter(cfg->hook);
	if (err)
		return err;
	retention_list(s->p->dir, recover_name, s);
	apply_limits_recovered(s);
	return 0;
}

static bool has_hooks(const struct server *s)
{
	struct hooks_counts counts = { 0 };

	if (s->hooks)
		hooks_get_counts(s->hooks, &counts);
	return counts.running + counts.waiting;
}

/* Until there is something to do. */
static void wait_for_work(const struct server *s)
{
	struct pollfd fds[2 + HOOKS_MAX] = {
		{ .fd = s->ended ? -1 : s->p->socket, .events = POLLIN }, { .fd = syncer_fd(s->syncer), .events = POLLIN },
	};
	unsigned int cnt = 2 + (s->hooks ? hooks_poll(s->hooks, fds + 2) : 0);
	int ms = s->hooks ? hooks_timeout_ms(s->hooks) : -1;

	if (s->p->cfg->limits.bytes && is_growing(s) && (ms < 0 || ms > GROWTH_MS))
		ms = GROWTH_MS;
	poll(fds, cnt, ms);
}

/* Files that were in use until now can be deleted. Once the recorder has ended, that is left to the limits of the next one. */
static void end_hooks(struct server *s)
{
	if (!s->hooks || !hooks_round(s->hooks))
		return;
	if (s->ended)
		return;
	apply_limits(s, NULL, 0);
	send_counts(s);
}

void broker_serve(const struct broker_process *process)
{
	struct broker_process p = *process;
	struct server s = { .p = &p };
	struct broker_answer ready = { .id = BROKER_FIRST_ID };

	ready.err = side_process_begin("kfxt-files", true, (int *const[]){ &p.socket, &p.dir }, 2) ?: begin(&s);
	if (ready.err)
		refuse(&ready, ready.err, "the process that opens files cannot start");
	send_answer(&s, &ready, -1);
	if (ready.err)
		_exit(1);
	while (!s.ended) {
		wait_for_work(&s);
		take_asks(&s);
		end_syncs(&s);
		end_hooks(&s);
		check_growth(&s);
	}
	while (is_syncing(&s)) {
		wait_for_work(&s);
		end_syncs(&s);
		end_hooks(&s);
	}
	if (s.end.id)
		send_answer(&s, &s.end, -1);
	recover_open(&s);
	close(p.socket);
	while (has_hooks(&s)) {
		wait_for_work(&s);
		end_hooks(&s);
	}
	_exit(0);
}
