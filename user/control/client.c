// SPDX-License-Identifier: GPL-2.0
#include "client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/poll_until.h"
#include "base/fd_pass.h"
#include "place.h"

#define RETRY_MS	10

static int make_ask(const struct control_query *q, struct control_ask *ask)
{
	*ask = (struct control_ask){
		.magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .kind = q->kind, .json = q->json,
		.last_ns = q->last_ns,
	};
	if (q->name && control_name_check(q->name))
		return -EINVAL;
	snprintf(ask->name, sizeof(ask->name), "%s", q->name ?: "");
	return 0;
}

/* Until @end_ns; UINT64_MAX: for ever. 0, -ETIMEDOUT or -errno. */
static int wait_until(int socket, uint64_t end_ns)
{
	struct pollfd pfd = { .fd = socket, .events = POLLIN };
	const int n = poll_until(&pfd, 1, end_ns);

	return n > 0 ? 0 : n ?: -ETIMEDOUT;
}

/* The next packet, and in *@len the length of its text. 0 or -errno. */
static int receive(int socket, uint64_t end_ns, struct control_part *part, size_t *len)
{
	int err = wait_until(socket, end_ns);
	ssize_t n;

	if (err)
		return err;
	/* A recorder that closes before it has read all resets the connection, which hides what it has sent once. */
	do
		n = recv(socket, part, sizeof(*part), MSG_TRUNC);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n <= 0)
		return n < 0 ? -errno : -EPIPE;
	err = control_part_check(part, (size_t)n);
	*len = err ? 0 : (size_t)n - CONTROL_PART_HEAD;
	return err;
}

static int append(struct control_reply *out, const char *text, size_t len)
{
	if (len > CONTROL_TEXT_MAX - out->len)
		return -EBADMSG;
	if (array_reserve(out->text, out->len, out->cap, len + 1))
		return -ENOMEM;
	memcpy(out->text + out->len, text, len);
	out->len += len;
	out->text[out->len] = 0;
	return 0;
}

/* The last one, if there are several. */
static int take_note(struct control_reply *out, const char *text, size_t len)
{
	free(out->note);
	out->note = strndup(text, len);
	return out->note ? 0 : -ENOMEM;
}

static uint64_t after(uint64_t ns)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	return ns && ns < UINT64_MAX - now_ns ? now_ns + ns : UINT64_MAX;
}

static int receive_all(int socket, const struct control_query *q, struct control_reply *out)
{
	uint64_t end_ns = after(q->begin_ns);
	struct control_part part = { 0 };
	size_t len = 0;
	int err;

	do {
		err = receive(socket, end_ns, &part, &len);
		if (err == -EPROTO)
			out->version = part.version;
		if (!err && part.kind == CONTROL_BEGUN)
			end_ns = after(q->limit_ns);
		out->begun |= !err && part.kind == CONTROL_BEGUN;
		if (!err)
			err = part.kind == CONTROL_NOTE ? take_note(out, part.text, len) : append(out, part.text, len);
	} while (!err && part.kind != CONTROL_END);
	out->err = part.err;
	return err;
}

/* While too many others wait, a place among them is tried for again. */
static int connect_until(const struct sockaddr_un *address, uint64_t end_ns)
{
	int fd;

	while ((fd = control_connect(address)) == -EAGAIN && clock_ns(CLOCK_MONOTONIC) < end_ns)
		poll(NULL, 0, RETRY_MS);
	return fd;
}

int control_query(const struct sockaddr_un *address, const struct control_query *q, struct control_reply *out)
{
	struct control_ask ask;
	int err = make_ask(q, &ask), socket, sent;

	*out = (struct control_reply){ 0 };
	if (err)
		return err;
	socket = connect_until(address, after(q->begin_ns));
	if (socket < 0)
		return socket;
	/* A recorder that refuses us may have closed already, after it has sent why. */
	sent = fd_pass_send(socket, &ask, sizeof(ask), &q->fd, q->fd >= 0, 0);
	err = sent && sent != -EPIPE && sent != -ECONNRESET ? sent : receive_all(socket, q, out);
	close(socket);
	if (err) {
		free(out->text);
		free(out->note);
		out->text = out->note = NULL;
	}
	return err;
}
