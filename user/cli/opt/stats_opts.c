// SPDX-License-Identifier: GPL-2.0
/*
 * Where the counts go. The recorded command writes to the same stdout: they are one write(2), when it has ended.
 */
#include "stats_opts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/exit.h"
#include "base/log.h"

int stats_opts_check(const struct stats_opts *opts, const char *command, const char *output)
{
	if (opts->format && strcmp(opts->format, "json"))
		log_error("%s: --stats: %s: not a format (json)", command, opts->format);
	else if (opts->file && !opts->file[0])
		log_error("%s: --stats-file: is empty", command);
	else if (opts->file && (!strcmp(opts->file, "-") || !strcmp(opts->file, output)))
		log_error("%s: --stats-file: %s: not a file of its own (--stats json prints to stdout)", command,
			  opts->file);
	else if (opts->format && !opts->file && !strcmp(output, "-"))
		log_error("%s: --stats: stdout is taken by the trace (--stats-file FILE)", command);
	else
		return EXIT_OK;
	return EXIT_USAGE;
}

int stats_opts_open(const struct stats_opts *opts, const char *command, int *fd)
{
	*fd = -1;
	if (opts->file)
		*fd = open(opts->file, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0644);
	else if (opts->format)
		*fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (*fd >= 0 || (!opts->file && !opts->format))
		return EXIT_OK;
	log_error("%s: %s: %s", command, opts->file ?: "stdout", strerror(errno));
	return EXIT_FAILED;
}

/* What @print prints, as text of *@len bytes; NULL: out of memory. */
static char *print_to_memory(void (*print)(const void *ctx), const void *ctx, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len), *out = stdout;

	if (!f)
		return NULL;
	stdout = f;
	print(ctx);
	stdout = out;
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

/* 0 or -errno. */
static int write_text(int fd, const char *text, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, text, len);
		if (n < 0 && errno != EINTR)
			return -errno;
		text += n > 0 ? n : 0;
		len -= n > 0 ? n : 0;
	}
	return 0;
}

static int truncate_file(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && ftruncate(fd, 0) ? -errno : 0;
}

int stats_opts_write(const struct stats_opts *opts, const char *command, int fd, void (*print)(const void *ctx),
		     const void *ctx)
{
	size_t len = 0;
	char *text;
	int err;

	if (fd < 0)
		return EXIT_OK;
	text = print_to_memory(print, ctx, &len);
	err = text ? 0 : -ENOMEM;
	if (!err && opts->file)
		err = truncate_file(fd);
	err = err ?: write_text(fd, text, len);
	free(text);
	if (close(fd) && !err)
		err = -errno;
	if (err)
		log_error("%s: %s: cannot write the counts: %s", command, opts->file ?: "stdout", strerror(-err));
	return err ? EXIT_FAILED : EXIT_OK;
}
