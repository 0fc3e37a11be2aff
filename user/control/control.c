// SPDX-License-Identifier: GPL-2.0
/*
 * The recorder's end: one thread, which never waits. Each client is in one of three stages: it has connected; it has
 * asked, and is not listened to any more; it gets its answer, in as many packets as fit.
 */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/close_later.h"
#include "base/fd_pass.h"
#include "place.h"

#define MODE		0660
#define LISTENER	CONTROL_CLIENTS_MAX	/* in the data of an event; others are the client's place */
#define EVENTS_MAX	64U			/* of one call of control_next() */
#define PAUSE_NS	1000000000ULL		/* after accept4(2) has failed */
#define SILENT_NS	200000000ULL		/* a client sends its request as soon as it has connected */

enum stage {
	FREE,
	CONNECTED,
	ASKED,
	ANSWERED,
};

struct client {
	enum stage stage;
	int fd;
	uint32_t id;
	uint64_t since_ns;	/* CLOCK_MONOTONIC, of this stage */
	struct control_part end;	/* the answer: without its text */
	char *text;
	size_t len, sent;
};

struct control {
	int epoll_fd, listen_fd;
	struct close_later *closer;
	uint32_t last_id;
	uint64_t paused_ns;	/* since when nothing is accepted; 0: it is */
	struct client clients[CONTROL_CLIENTS_MAX];
	struct sockaddr_un address;
};

/* ---- opening ---------------------------------------------------------------------------------- */

static int watch(const struct control *c, int op, int fd, uint32_t events, uint32_t place)
{
	struct epoll_event event = { .events = events, .data.u32 = place };

	return epoll_ctl(c->epoll_fd, op, fd, &event) ? -errno : 0;
}

/*
 * Under another name until it listens: whoever connects before takes the recorder for one that has ended. Other users
 * cannot connect at any time, whatever the umask.
 */
static int listen_at(const struct control *c, const struct sockaddr_un *temp)
{
	unlink(temp->sun_path);
	if (fchmod(c->listen_fd, MODE) ||
	    bind(c->listen_fd, (const struct sockaddr *)temp, sizeof(*temp)))
		return -errno;
	if (chmod(temp->sun_path, MODE) || listen(c->listen_fd, CONTROL_CLIENTS_MAX) ||
	    rename(temp->sun_path, c->address.sun_path)) {
		const int err = -errno;

		unlink(temp->sun_path);
		return err;
	}
	return 0;
}

/* Another recorder, of another PID namespace, may have the same number. */
static bool is_taken(const struct sockaddr_un *address)
{
	const int fd = control_connect(address);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EAGAIN;
}

static int open_in(struct control *c, const char *dir)
{
	struct control_found found[CONTROL_FOUND_MAX];
	struct sockaddr_un temp;
	int err = control_address(&c->address, dir, getpid(), "") ?: control_address(&temp, dir, getpid(), ".tmp");

	if (err)
		return err;
	control_list(dir, found, 0);
	if (is_taken(&c->address))
		return -EADDRINUSE;
	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	c->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->epoll_fd < 0 || c->listen_fd < 0)
		return -errno;
	return watch(c, EPOLL_CTL_ADD, c->listen_fd, EPOLLIN, LISTENER) ?: listen_at(c, &temp);
}

int control_open(struct control **out, const struct control_cfg *cfg, char *why, size_t size)
{
	struct control *c = calloc(1, sizeof(*c));
	char dir[PATH_MAX];
	int err;

	if (!c) {
		snprintf(why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	c->epoll_fd = c->listen_fd = -1;
	c->closer = cfg->closer;
	err = cfg->dir ? 0 : control_dir_make(dir, why, size);
	if (!err) {
		err = open_in(c, cfg->dir ?: dir);
		if (err)
			snprintf(why, size, "%s: %s", cfg->dir ?: dir, strerror(-err));
	}
	if (err) {
		c->address.sun_path[0] = 0;	/* it is not ours */
		control_close(c);
		return err;
	}
	*out = c;
	return 0;
}

int control_fd(const struct control *c)
{
	return c->epoll_fd;
}

int control_listener(const struct control *c)
{
	return c->listen_fd;
}

const char *control_path(const struct control *c)
{
	return c->address.sun_path;
}

/* ---- clients ---------------------------------------------------------------------------------- */

/*
 * What it sent and nobody has read goes with its socket, descriptors too, whose last close(2) may wait for what the
 * client's file system does. While that hangs, a socket that waits costs a descriptor: only one that may have any.
 */
static void disconnect(const struct control *c, int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	if (poll(&pfd, 1, 0) > 0)
		close_later(c->closer, fd);
	else
		close(fd);
}

static void drop(const struct control *c, struct client *client)
{
	/* Its place is another's from now on, though it may be open for a while. */
	epoll_ctl(c->epoll_fd, EPOLL_CTL_DEL, client->fd, NULL);
	disconnect(c, client->fd);
	free(client->text);
	*client = (struct client){ .stage = FREE };
}

static void enter(struct client *client, enum stage stage)
{
	client->stage = stage;
	client->since_ns = clock_ns(CLOCK_MONOTONIC);
}

static uint32_t place_of(const struct control *c, const struct client *client)
{
	return (uint32_t)(client - c->clients);
}

/* A packet. write(2), since a confined recorder has neither send(2) nor sendmsg(2). 0 or -errno. */
static int send_part(const struct client *client, enum control_part_kind kind, const char *text, size_t len)
{
	struct control_part part = {
		.magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .kind = kind,
		.err = kind == CONTROL_END ? client->end.err : 0,
	};
	ssize_t n;

	memcpy(part.text, text, len);
	do
		n = write(client->fd, &part, CONTROL_PART_HEAD + len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* As much of the answer as fits; then it is disconnected, or waits until more fits. */
static void send_answer(struct control *c, struct client *client)
{
	enum control_part_kind kind;
	size_t len;
	int err;

	do {
		len = client->len - client->sent;
		kind = len > CONTROL_PART_BYTES ? CONTROL_MORE : CONTROL_END;
		if (len > CONTROL_PART_BYTES)
			len = CONTROL_PART_BYTES;
		err = send_part(client, kind, client->text + client->sent, len);
		if (!err)
			client->sent += len;
	} while (!err && kind == CONTROL_MORE);
	if (err != -EAGAIN || watch(c, EPOLL_CTL_MOD, client->fd, EPOLLOUT, place_of(c, client)))
		drop(c, client);
}

static void answer(struct control *c, struct client *client, int err, const char *text)
{
	if (strlen(text) > CONTROL_TEXT_MAX) {
		err = -EMSGSIZE;
		text = "the answer is too long";
	}
	client->text = strdup(text);
	if (!client->text) {
		drop(c, client);
		return;
	}
	client->end.err = err;
	client->len = strlen(text);
	enter(client, ANSWERED);
	send_answer(c, client);
}

static bool is_slow(const struct client *client, uint64_t now_ns)
{
	return (client->stage == CONNECTED || client->stage == ANSWERED) &&
	       now_ns - client->since_ns > CONTROL_PATIENCE_NS;
}

static void drop_slow(struct control *c)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	unsigned int i;

	for (i = 0; i < CONTROL_CLIENTS_MAX; i++)
		if (is_slow(&c->clients[i], now_ns))
			drop(c, &c->clients[i]);
	if (c->paused_ns && now_ns - c->paused_ns > PAUSE_NS &&
	    !watch(c, EPOLL_CTL_MOD, c->listen_fd, EPOLLIN, LISTENER))
		c->paused_ns = 0;
}

/* A place for a new one: a free one, or that of the one that has been silent longest. NULL: none has been for long. */
static struct client *find_place(struct control *c)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct client *oldest = NULL;
	unsigned int i;

	for (i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		struct client *client = &c->clients[i];

		if (client->stage == FREE)
			return client;
		if (client->stage == CONNECTED && now_ns - client->since_ns > SILENT_NS &&
		    (!oldest || client->since_ns < oldest->since_ns))
			oldest = client;
	}
	if (oldest)
		drop(c, oldest);
	return oldest;
}

/* .uid is -1 if it is not known. */
static struct ucred get_client(int fd)
{
	struct ucred cred = { .uid = (uid_t)-1 };
	socklen_t len = sizeof(cred);

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len);
	return cred;
}

/* Without descriptors nothing can be accepted for now: what waits would make us readable all the time. */
static void pause_accepting(struct control *c)
{
	if (!watch(c, EPOLL_CTL_MOD, c->listen_fd, 0, LISTENER))
		c->paused_ns = clock_ns(CLOCK_MONOTONIC);
}

static void refuse(const struct control *c, int fd, int err, const char *why)
{
	const struct client client = { .fd = fd, .end.err = err };

	send_part(&client, CONTROL_END, why, strlen(why));
	disconnect(c, fd);
}

static bool has_group(const gid_t *groups, size_t cnt, gid_t group)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		if (groups[i] == group)
			return true;
	return false;
}

/* Its other groups, of which there may be many. */
static bool is_in_group(int fd, gid_t group)
{
	gid_t few[64], *groups = few;
	socklen_t len = sizeof(few);
	bool is_in;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len)) {
		groups = errno == ERANGE ? malloc(len) : NULL;
		if (!groups || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len))
			len = 0;
	}
	is_in = has_group(groups, len / sizeof(*groups), group);
	if (groups != few)
		free(groups);
	return is_in;
}

/* As the mode of the socket has it at first. */
static bool may_ask(const struct control *c, int fd)
{
	const struct ucred client = get_client(fd);
	struct stat st;

	if (!client.uid || client.uid == geteuid())
		return true;
	if (client.uid == (uid_t)-1 || stat(c->address.sun_path, &st))
		return false;
	return client.gid == st.st_gid || is_in_group(fd, st.st_gid);
}

static void accept_client(struct control *c)
{
	const int fd = accept4(c->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *client;

	if (fd < 0) {
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			pause_accepting(c);
		return;
	}
	if (!may_ask(c, fd)) {
		refuse(c, fd, -EACCES, "not permitted: for root, the user of the recorder and the group of its socket");
		return;
	}
	client = find_place(c);
	if (!client) {
		refuse(c, fd, -EBUSY, "too many ask at once");
		return;
	}
	*client = (struct client){ .fd = fd };
	enter(client, CONNECTED);
	if (watch(c, EPOLL_CTL_ADD, fd, EPOLLIN, place_of(c, client)))
		drop(c, client);
}

/* ---- requests --------------------------------------------------------------------------------- */

/* What is written to must be an empty file: nothing else could be written in the middle of, or would not take all. */
int control_file_check(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -EINVAL;
	return st.st_size || lseek(fd, 0, SEEK_CUR) ? -ENOTEMPTY : 0;
}

const char *control_file_why(int err)
{
	return err == -ENOTEMPTY ? "the file is not empty" : "the file is not a regular one";
}

/* This asks no file system. */
static bool is_for_writing(int fd)
{
	const int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY;
}

static void drop_file(const struct control *c, int fd)
{
	if (fd >= 0)
		close_later(c->closer, fd);
}

/* The request in @ask, of @client from now on. */
static bool begin_request(struct control *c, struct client *client, const struct control_ask *ask, int fd,
			  struct control_request *req)
{
	const struct ucred cred = get_client(client->fd);

	*req = (struct control_request){ .kind = ask->kind, .json = ask->json, .last_ns = ask->last_ns, .fd = fd };
	memcpy(req->name, ask->name, sizeof(req->name));
	req->pid = cred.pid;
	req->uid = cred.uid;
	if (!++c->last_id)
		c->last_id++;
	req->id = client->id = c->last_id;
	enter(client, ASKED);
	/* Only whether it hangs up is of interest until it is answered. */
	if (!watch(c, EPOLL_CTL_MOD, client->fd, 0, place_of(c, client)) && !send_part(client, CONTROL_BEGUN, "", 0))
		return true;
	drop(c, client);
	drop_file(c, fd);
	return false;
}

static bool take_request(struct control *c, struct client *client, struct control_request *req)
{
	struct control_ask ask = { 0 };
	const char *why;
	struct fd_pass passed;
	/* All that the kernel hands over: a close(2) may wait for what the client's file system does. */
	const ssize_t n = fd_pass_receive(client->fd, &ask, sizeof(ask), &passed, FD_PASS_ALL, MSG_DONTWAIT);
	const int fd = passed.fds[0];
	int err;

	if (n == -EAGAIN)
		return false;
	while (passed.cnt > 1)
		drop_file(c, passed.fds[--passed.cnt]);
	if (n <= 0) {
		drop_file(c, fd);
		drop(c, client);
		return false;
	}
	err = control_ask_check(&ask, (size_t)n, fd >= 0, &why);
	if (!err && fd >= 0 && !is_for_writing(fd)) {
		why = "the file is not open for writing";
		err = -EINVAL;
	}
	if (!err)
		return begin_request(c, client, &ask, fd, req);
	drop_file(c, fd);
	answer(c, client, err, why);
	return false;
}

/* Whether somebody still works for it. */
static bool hang_up(const struct control *c, struct client *client, struct control_request *req)
{
	*req = (struct control_request){ .id = client->id, .is_gone = client->stage == ASKED, .fd = -1 };
	drop(c, client);
	return req->is_gone;
}

/* True: @req is a request. */
static bool on_event(struct control *c, const struct epoll_event *event, struct control_request *req)
{
	struct client *client = &c->clients[event->data.u32];

	if (client->stage == CONNECTED && event->events & EPOLLIN)
		return take_request(c, client, req);
	if (event->events & (EPOLLHUP | EPOLLERR))
		return hang_up(c, client, req);
	if (client->stage == ANSWERED && event->events & EPOLLOUT)
		send_answer(c, client);
	return false;
}

bool control_next(struct control *c, struct control_request *req)
{
	struct epoll_event event;
	unsigned int i;

	drop_slow(c);
	for (i = 0; i < EVENTS_MAX && epoll_wait(c->epoll_fd, &event, 1, 0) == 1; i++) {
		if (event.data.u32 == LISTENER)
			accept_client(c);
		else if (on_event(c, &event, req))
			return true;
	}
	return false;
}

void control_answer(struct control *c, uint32_t id, int err, const char *text)
{
	unsigned int i;

	for (i = 0; i < CONTROL_CLIENTS_MAX; i++)
		if (c->clients[i].stage == ASKED && c->clients[i].id == id) {
			answer(c, &c->clients[i], err, text ?: "");
			return;
		}
}

void control_note(const struct control *c, uint32_t id, const char *text)
{
	unsigned int i;

	for (i = 0; i < CONTROL_CLIENTS_MAX; i++)
		if (c->clients[i].stage == ASKED && c->clients[i].id == id)
			send_part(&c->clients[i], CONTROL_NOTE, text, strnlen(text, CONTROL_WHY_BYTES));
}

void control_close(struct control *c)
{
	unsigned int i;

	for (i = 0; c && i < CONTROL_CLIENTS_MAX; i++)
		if (c->clients[i].stage != FREE)
			drop(c, &c->clients[i]);
	if (!c)
		return;
	/* Refused to a confined recorder: then it is left to the next one. */
	if (*c->address.sun_path)
		unlink(c->address.sun_path);
	if (c->listen_fd >= 0)
		close(c->listen_fd);
	if (c->epoll_fd >= 0)
		close(c->epoll_fd);
	free(c);
}
