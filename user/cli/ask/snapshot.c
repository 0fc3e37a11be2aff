// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt snapshot: has a recorder that runs write a file of what it has in memory.
 *
 * With -o this command opens the file, with its own rights, and the recorder gets the descriptor.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "bpf/abi/ids.h"
#include "cli/opt/opt.h"
#include "cli/cmd.h"
#include "cli/exit.h"
#include "io/sink.h"
#include "io/temp_file.h"
#include "ask.h"

#define BEGIN_NS	5000000000ULL

struct snapshot_cfg {
	const char *output, *name;
	uint64_t last_ns, pid;
};

static const struct opt rows[] = {
	{ .name = "last", .letter = 'l', .kind = OPT_DURATION, .metavar = "TIME",
	  .help = "only so much of the end: 10, 500ms, 2m",
	  .offset = offsetof(struct snapshot_cfg, last_ns), .min = 1 },
	{ .name = "output", .letter = 'o', .kind = OPT_STRING, .metavar = "FILE",
	  .help = "into FILE; else where the recorder puts its own",
	  .offset = offsetof(struct snapshot_cfg, output) },
	{ .name = "name", .letter = 'n', .kind = OPT_STRING, .metavar = "NAME",
	  .help = "why, for the name of the file and in the trace",
	  .offset = offsetof(struct snapshot_cfg, name) },
	{ .name = "pid", .letter = 'p', .kind = OPT_U64, .metavar = "PID", .help = "of this recorder, if several run",
	  .offset = offsetof(struct snapshot_cfg, pid), .min = 1, .max = IDS_MAX },
	{ 0 },
};

static const struct opt_command command = {
	.name = "snapshot",
	.operands = "",
	.summary = "Have a recorder that runs with --keep write what it has in memory into a file.",
	.rows = rows,
	.examples = "kfxt snapshot\n"
		    "kfxt snapshot --last 10s -o slow.fxt\n"
		    "f=$(kfxt snapshot --name deploy) && kfxt report \"$f\"\n",
};

/* Wrong usage: the message is printed. */
static int check(const struct snapshot_cfg *cfg)
{
	const char *why = cfg->name ? control_name_check(cfg->name) : NULL;

	if (why)
		log_error("snapshot: --name: %s", why);
	else if (cfg->name && !*cfg->name)
		log_error("snapshot: --name: empty");
	else if (cfg->output && !*cfg->output)
		log_error("snapshot: -o: empty");
	else if (cfg->output && !strcmp(cfg->output, "-"))
		log_error("snapshot: -o -: a snapshot is written into a file");
	else
		return EXIT_OK;
	return EXIT_USAGE;
}

static struct control_query query_of(const struct snapshot_cfg *cfg)
{
	return (struct control_query){
		.kind = CONTROL_SNAPSHOT, .last_ns = cfg->last_ns, .name = cfg->name, .fd = -1, .begin_ns = BEGIN_NS,
	};
}

/* The path alone on stdout, for scripts; on stderr what to do with it. */
static int show(const char *path)
{
	log_text_print(stdout, path, strlen(path));
	putchar('\n');
	log_info("%s: to look at it: kfxt report, or open it in https://ui.perfetto.dev", path);
	return EXIT_OK;
}

static int complain(const char *path, int err, const char *hint)
{
	if (err == -ENOENT && !hint)
		hint = "does its directory exist?";
	log_error("snapshot: %s: %s%s%s%s", path, strerror(-err), hint ? " (" : "", hint ?: "", hint ? ")" : "");
	return EXIT_FAILED;
}

/* What the recorder has written gets its name. */
static int keep(int fd, const char *temp, const char *path)
{
	const char *hint = NULL;
	struct stat st;
	int err;

	if (fstat(fd, &st) || !st.st_size) {
		log_error("snapshot: %s: the recorder has written nothing", path);
		return EXIT_FAILED;
	}
	err = sink_replace(temp, path, &hint);
	return err ? complain(path, err, hint) : EXIT_OK;
}

static int write_to(const struct snapshot_cfg *cfg, char *temp)
{
	struct control_query q = query_of(cfg);
	char *text = NULL;
	int code;

	q.fd = temp_file_make(temp);
	if (q.fd < 0)
		return complain(cfg->output, q.fd, NULL);
	code = ask_recorder(command.name, cfg->pid, &q, &text);
	free(text);
	code = code ?: keep(q.fd, temp, cfg->output);
	if (code)
		unlink(temp);
	temp_file_end();
	close(q.fd);
	return code ?: show(cfg->output);
}

static int write_elsewhere(const struct snapshot_cfg *cfg)
{
	const struct control_query q = query_of(cfg);
	char *path;
	int code = ask_recorder(command.name, cfg->pid, &q, &path);

	if (code)
		return code;
	code = show(path);
	free(path);
	return code;
}

int cmd_snapshot(int argc, char **argv)
{
	struct snapshot_cfg cfg = { 0 };
	int first = opt_parse(&command, &cfg, argc, argv), code;
	struct stat st;
	char *temp;

	if (first <= 0)
		return first ? EXIT_USAGE : EXIT_OK;
	code = check(&cfg);
	if (code || !cfg.output)
		return code ?: write_elsewhere(&cfg);
	if (!lstat(cfg.output, &st) && !S_ISREG(st.st_mode)) {
		log_error("snapshot: %s: is not a regular file", cfg.output);
		return EXIT_FAILED;
	}
	if (asprintf(&temp, "%s.XXXXXX", cfg.output) < 0)
		return complain(cfg.output, -ENOMEM, NULL);
	code = write_to(&cfg, temp);
	free(temp);
	return code;
}
