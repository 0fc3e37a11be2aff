// SPDX-License-Identifier: GPL-2.0
#include "fd_pass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What does not fit the kernel closes, before the call returns. */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int) * FD_PASS_ALL)];
};

int fd_pass_send(int socket, const void *data, size_t len, const int *fds, unsigned int cnt, int flags)
{
	union control control;
	struct iovec iov = { (void *)data, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (cnt > FD_PASS_MAX)
		return -EINVAL;
	if (cnt) {
		control.header = (struct cmsghdr){ CMSG_LEN(sizeof(*fds) * cnt), SOL_SOCKET, SCM_RIGHTS };
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(sizeof(*fds) * cnt);
		memcpy(CMSG_DATA(&control.header), fds, sizeof(*fds) * cnt);
	}
	return sendmsg(socket, &msg, flags | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void take_fds(struct msghdr *msg, struct fd_pass *passed, unsigned int max)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || c->cmsg_len < CMSG_LEN(0))
		return;
	passed->cnt = (c->cmsg_len - CMSG_LEN(0)) / sizeof(*passed->fds);
	memcpy(passed->fds, CMSG_DATA(c), sizeof(*passed->fds) * passed->cnt);
	while (passed->cnt > max) {
		close(passed->fds[--passed->cnt]);
		passed->fds[passed->cnt] = -1;
	}
}

ssize_t fd_pass_receive(int socket, void *data, size_t len, struct fd_pass *passed, unsigned int max, int flags)
{
	union control control;
	struct iovec iov = { data, len };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t n;

	memset(passed->fds, -1, sizeof(passed->fds));
	passed->cnt = 0;
	do
		n = recvmsg(socket, &msg, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	take_fds(&msg, passed, max);
	return msg.msg_flags & MSG_TRUNC ? (ssize_t)len + 1 : n;
}
