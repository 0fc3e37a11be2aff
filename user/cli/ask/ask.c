// SPDX-License-Identifier: GPL-2.0
#include "ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "control/place.h"
#include "cli/exit.h"

#define LIST_TEXT	256

static int compare_pids(const void *a, const void *b)
{
	const struct control_found *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* All of them, those that we may ask first. */
static unsigned int list(struct control_found found[CONTROL_FOUND_MAX], unsigned int *denied)
{
	char dirs[CONTROL_DIRS_MAX][PATH_MAX];
	const unsigned int dirs_cnt = control_dirs(dirs);
	struct control_found f;
	unsigned int i, cnt = 0, allowed = 0;

	for (i = 0; i < dirs_cnt; i++)
		cnt = control_list(dirs[i], found, cnt);
	for (i = 0; i < cnt; i++)
		if (found[i].err != -EACCES) {
			f = found[allowed];
			found[allowed++] = found[i];
			found[i] = f;
		}
	*denied = cnt - allowed;
	qsort(found, allowed, sizeof(*found), compare_pids);
	qsort(found + allowed, *denied, sizeof(*found), compare_pids);
	return cnt;
}

/* "101, 102, 103" */
static const char *pids_text(const struct control_found *found, unsigned int cnt, char text[LIST_TEXT])
{
	size_t len = 0;
	unsigned int i;

	text[0] = 0;
	for (i = 0; i < cnt && len < LIST_TEXT; i++)
		len += (size_t)snprintf(text + len, LIST_TEXT - len, "%s%d", i ? ", " : "", (int)found[i].pid);
	return text;
}

static int complain_denied(const char *command, const struct control_found *found)
{
	log_error("%s: recorder %d: not permitted (run as root, as its user, or as a member of the group of %s)",
		  command, (int)found->pid, found->address.sun_path);
	return EXIT_UNSUPPORTED;
}

static int choose_pid(const char *command, uint64_t pid, const struct control_found *found, unsigned int cnt,
		      const struct control_found **out)
{
	char text[LIST_TEXT];
	unsigned int i;

	for (i = 0; i < cnt; i++)
		if ((uint64_t)found[i].pid == pid) {
			*out = &found[i];
			return found[i].err == -EACCES ? complain_denied(command, &found[i]) : EXIT_OK;
		}
	if (cnt)
		log_error("%s: --pid %llu: no recorder (recorders: %s)", command, (unsigned long long)pid,
			  pids_text(found, cnt, text));
	else
		log_error("%s: --pid %llu: no recorder", command, (unsigned long long)pid);
	return EXIT_FAILED;
}

static int choose(const char *command, uint64_t pid, const struct control_found *found, unsigned int cnt,
		  unsigned int denied, const struct control_found **out)
{
	char text[LIST_TEXT];

	if (pid)
		return choose_pid(command, pid, found, cnt, out);
	if (!cnt) {
		log_error("%s: no recorder runs that answers (one with --keep or --rotate, as kfxt record --keep 30s,256M)", command);
		return EXIT_FAILED;
	}
	if (cnt == denied)
		return complain_denied(command, found);
	if (cnt - denied > 1) {
		log_error("%s: several recorders run: %s (--pid PID)", command, pids_text(found, cnt - denied, text));
		return EXIT_USAGE;
	}
	*out = found;
	return EXIT_OK;
}

/* Of what keeps a recorder from answering. */
static int complain(const char *command, const struct control_found *f, int err, unsigned int version)
{
	const int pid = (int)f->pid;

	switch (err) {
	case -EACCES:
		return complain_denied(command, f);
	case -EPROTO:
		log_error("%s: recorder %d: of another version of kfxt, protocol %u and not %u "
			  "(use its kfxt, or restart it)", command, pid, version, CONTROL_VERSION);
		return EXIT_UNSUPPORTED;
	case -ECONNREFUSED:
	case -ENOENT:
	case -EPIPE:
		log_error("%s: recorder %d: has ended", command, pid);
		return EXIT_FAILED;
	case -ETIMEDOUT:
	case -EAGAIN:
		log_error("%s: recorder %d: does not answer (is it stopped?)", command, pid);
		return EXIT_FAILED;
	default:
		log_error("%s: recorder %d: %s", command, pid,
			  err == -EBADMSG ? "its answer is not understood" : strerror(-err));
		return EXIT_FAILED;
	}
}

int ask_recorder(const char *command, uint64_t pid, const struct control_query *q, char **text)
{
	struct control_found found[CONTROL_FOUND_MAX];
	const struct control_found *f;
	struct control_reply reply;
	unsigned int denied;
	const unsigned int cnt = list(found, &denied);
	int code = choose(command, pid, found, cnt, denied, &f), err;

	if (code)
		return code;
	err = control_query(&f->address, q, &reply);
	if (err)
		return complain(command, f, err, reply.version);
	if (reply.note)
		log_warn("%s: %s", command, reply.note);
	free(reply.note);
	if (!reply.err) {
		*text = reply.text;
		return EXIT_OK;
	}
	log_error("%s: recorder %d: %s", command, (int)f->pid, *reply.text ? reply.text : strerror(-reply.err));
	free(reply.text);
	return reply.err == -EACCES && !reply.begun ? EXIT_UNSUPPORTED : EXIT_FAILED;
}
