// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt mark: writes one marker, of atrace's forms, which every reader of ftrace knows.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi/ids.h"
#include "kernel/tracefs.h"
#include "cmd.h"
#include "exit.h"
#include "base/log.h"
#include "base/num.h"
#include "cli/opt/opt.h"

#define MARKER_BYTES_MAX	1024	/* what kernels took before 6.8; they cut the rest */

struct mark_cfg {
	bool begin, end, counter;
	uint64_t pid;
};

static const struct opt rows[] = {
	{ .name = "begin", .letter = 'b', .kind = OPT_FLAG, .help = "begin a slice called TEXT",
	  .offset = offsetof(struct mark_cfg, begin) },
	{ .name = "end", .letter = 'e', .kind = OPT_FLAG, .help = "end it",
	  .offset = offsetof(struct mark_cfg, end) },
	{ .name = "counter", .letter = 'c', .kind = OPT_FLAG, .help = "TEXT is NAME=VALUE, an integer",
	  .offset = offsetof(struct mark_cfg, counter) },
	{ .name = "pid", .letter = 'p', .kind = OPT_U64, .metavar = "PID",
	  .help = "of this process; otherwise of the parent, the shell",
	  .offset = offsetof(struct mark_cfg, pid), .min = 1, .max = IDS_MAX },
	{ 0 },
};

static const struct opt_command command = {
	.name = "mark",
	.operands = "TEXT",
	.summary = "Write a marker into the traces that are being recorded now, of whatever tracer.",
	.rows = rows,
	.examples = "kfxt mark 'cache is warm'            # an instant\n"
		    "kfxt mark --begin compile; make; kfxt mark --end compile\n"
		    "kfxt mark --counter queue=17\n",
	.operands_min = 1, .operands_max = 1,
};

/* What is wrong with "NAME=VALUE", NULL: nothing; *@value is where that begins. */
static const char *check_counter(const char *text, const char **value)
{
	const char *equals = strrchr(text, '='), *why;
	uint64_t number;
	bool minus;

	if (!equals || equals == text)
		return "is not NAME=VALUE";
	*value = equals + 1;
	minus = **value == '-';
	if (num_parse_u64(*value + minus, &number, &why))
		return why;
	return number > (uint64_t)INT64_MAX + minus ? "number too large" : NULL;
}

/* The same for any text. */
static const char *check_text(const struct mark_cfg *cfg, const char *text, const char **value)
{
	const char *why = cfg->counter ? check_counter(text, value) : NULL;

	if (cfg->begin + cfg->end + cfg->counter > 1)
		return "--begin, --end and --counter exclude each other";
	if (!*text)
		return "is empty";
	if (strchr(text, '\n'))
		return "a newline would end the marker";
	if ((cfg->begin || cfg->end || cfg->counter) && strchr(text, '|'))
		return "a bar would end the name";
	return why;
}

/* Whether there is one now in @buf; otherwise it has been said why. */
static bool make_marker(const struct mark_cfg *cfg, const char *text, char *buf, size_t size)
{
	const unsigned int pid = cfg->pid ? (unsigned int)cfg->pid : (unsigned int)getppid();
	const char *value = text, *why = check_text(cfg, text, &value);
	int len = 0;

	if (!why && cfg->counter)
		len = snprintf(buf, size, "C|%u|%.*s|%s", pid, (int)(value - 1 - text), text, value);
	else if (cfg->begin || cfg->end)
		len = snprintf(buf, size, "%c|%u|%s|0", cfg->begin ? 'S' : 'F', pid, text);
	else
		len = snprintf(buf, size, "I|%u|%s", pid, text);
	if (!why && (size_t)len >= size)
		why = "too long for a marker, of which the kernel takes 1024 bytes";
	if (why)
		log_error("mark: %s: %s", cfg->counter ? "--counter" : "TEXT", why);
	return !why;
}

static int open_marker(void)
{
	char path[256];
	int fd = tracefs_find(path, sizeof(path), "trace_marker") ? open(path, O_WRONLY | O_CLOEXEC) : -1;

	if (fd >= 0)
		return fd;
	if (errno == EACCES || errno == EPERM)
		log_error("mark: trace_marker: not permitted (run as root, or as root: "
			  "chmod a+x /sys/kernel/tracing; chmod a+w /sys/kernel/tracing/trace_marker)");
	else if (errno == ENOENT)
		log_error("mark: trace_marker: not there (mount -t tracefs tracefs /sys/kernel/tracing)");
	else
		log_error("mark: trace_marker: %s", strerror(errno));
	return -1;
}

static int write_marker(int fd, const char *marker)
{
	const ssize_t len = (ssize_t)strlen(marker), written = write(fd, marker, len);

	if (written == len)
		return EXIT_OK;
	if (written < 0 && errno == EBADF)
		log_error("mark: trace_marker: the kernel's tracing is off (echo 1 >/sys/kernel/tracing/tracing_on)");
	else
		log_error("mark: trace_marker: %s", written < 0 ? strerror(errno) : "the kernel took only a part");
	return EXIT_FAILED;
}

int cmd_mark(int argc, char **argv)
{
	struct mark_cfg cfg = { 0 };
	char buf[MARKER_BYTES_MAX + 1];
	int first = opt_parse(&command, &cfg, argc, argv), fd, code;

	if (first <= 0)
		return first ? EXIT_USAGE : EXIT_OK;
	if (!make_marker(&cfg, argv[first], buf, sizeof(buf)))
		return EXIT_USAGE;
	fd = open_marker();
	if (fd < 0)
		return EXIT_UNSUPPORTED;
	code = write_marker(fd, buf);
	close(fd);
	return code;
}
