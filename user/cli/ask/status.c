// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt status: what a recorder that runs says of itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bpf/abi/ids.h"
#include "cli/opt/opt.h"
#include "cli/cmd.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "ask.h"

#define BEGIN_NS	5000000000ULL
#define LIMIT_NS	10000000000ULL

struct status_cfg {
	bool json;
	uint64_t pid;
};

static const struct opt rows[] = {
	{ .name = "json", .letter = 'j', .kind = OPT_FLAG, .help = "print one JSON object",
	  .offset = offsetof(struct status_cfg, json) },
	{ .name = "pid", .letter = 'p', .kind = OPT_U64, .metavar = "PID", .help = "this recorder, if several run",
	  .offset = offsetof(struct status_cfg, pid), .min = 1, .max = IDS_MAX },
	{ 0 },
};

static const struct opt_command command = {
	.name = "status",
	.operands = "",
	.summary = "Show what a recorder that runs has in its window, what it costs, what it lost.",
	.rows = rows,
	.examples = "kfxt status\n"
		    "kfxt status --json | jq .cost.total_percent\n",
};

/* A recorder reads data of other programs: what it sends does not reach a terminal unchecked. */
static void print_lines(const char *text)
{
	const char *end;

	for (; *text; text = end + (*end != 0)) {
		end = strchrnul(text, '\n');
		log_text_print(stdout, text, (size_t)(end - text));
		putchar('\n');
	}
}

/* JSON has no control characters: what has is not printed. */
static int print_json(const char *text)
{
	const char *c;

	for (c = text; *c; c++)
		if (((unsigned char)*c < ' ' && *c != '\n') || *c == 0x7f) {
			log_error("status: the answer of the recorder is not JSON");
			return EXIT_FAILED;
		}
	fputs(text, stdout);
	return EXIT_OK;
}

int cmd_status(int argc, char **argv)
{
	struct status_cfg cfg = { 0 };
	struct control_query q = { .kind = CONTROL_STATUS, .fd = -1, .begin_ns = BEGIN_NS, .limit_ns = LIMIT_NS };
	int first = opt_parse(&command, &cfg, argc, argv), code;
	char *text;

	if (first <= 0)
		return first ? EXIT_USAGE : EXIT_OK;
	q.json = cfg.json;
	output_begin();
	code = ask_recorder(command.name, cfg.pid, &q, &text);
	if (code)
		return code;
	if (cfg.json)
		code = print_json(text);
	else
		print_lines(text);
	free(text);
	return code;
}
