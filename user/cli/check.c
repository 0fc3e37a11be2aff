// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt check: what this machine offers and what that means.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "../record/feature.h"
#include "cmd.h"
#include "exit.h"
#include "json.h"
#include "log.h"
#include "opt.h"
#include "output.h"
#include "remedy.h"

struct check_cfg {
	bool json;
};

static const struct opt rows[] = {
	{ "json", 'j', OPT_FLAG, NULL, "print JSON", offsetof(struct check_cfg, json), NULL, 0, 0 },
	{ "quiet", 'q', OPT_QUIET, NULL, "print nothing, only set the exit status", 0, NULL, 0, 0 },
	{ 0 },
};

static const struct opt_command command = {
	.name = "check",
	.operands = "",
	.summary = "Tell which rights and kernel features kfxt has here, and what is missing.",
	.rows = rows,
	.examples = "kfxt check                 # exit 0: kfxt record can run\n"
		    "kfxt check --json | jq .   # for scripts\n",
};

/* One feature, tried. */
struct finding {
	const struct feature *feature;
	bool have;
	char why[256];
};

/* Where a right is missing, it is the right that helps. */
static const char *remedy(const struct finding *f)
{
	if (!strcmp(f->why, strerror(EPERM)))
		return "the capabilities above";
	/* Some kernels take CAP_SYS_ADMIN for single uprobes. */
	return strcmp(f->why, strerror(EACCES)) ? f->feature->remedy : "run as root";
}

static void print_text(const struct finding *f)
{
	const struct feature *feature = f->feature;

	if (f->have) {
		printf("have     %s\n", feature->name);
		return;
	}
	printf("%-8s %-30s %s\n", feature->required ? "MISSING" : "missing", feature->name,
	       feature->used_for);
	if (f->why[0])
		printf("%39s reason: %s\n", "", f->why);
	printf("%39s remedy: %s\n", "", remedy(f));
}

static void print_json(const struct finding *f, bool first)
{
	printf("%s\n  {\"name\": ", first ? "" : ",");
	json_print_text(f->feature->name);
	printf(", \"have\": %s, \"required\": %s, \"used_for\": ", f->have ? "true" : "false",
	       f->feature->required ? "true" : "false");
	json_print_text(f->feature->used_for);
	printf(", \"reason\": ");
	json_print_text(f->have || !f->why[0] ? NULL : f->why);
	printf(", \"remedy\": ");
	json_print_text(f->have ? NULL : remedy(f));
	printf("}");
}

static void print_head(bool json)
{
	struct utsname uts;

	uname(&uts);
	if (json) {
		printf("{\"kernel\": ");
		json_print_text(uts.release);
		printf(", \"features\": [");
	} else {
		printf("kernel %s\n", uts.release);
	}
}

static void print_tail(bool json, bool can)
{
	char text[REMEDY_BYTES];
	const char *rights = remedy_command(text);

	if (json) {
		printf("],\n\"can_record\": %s, \"rights\": ", can ? "true" : "false");
		json_print_text(rights);
		printf("}\n");
		return;
	}
	printf("kfxt record %s run here\n", can ? "can" : "cannot");
	if (rights) {
		printf("to give it the rights: ");
		log_text_print(stdout, rights, strlen(rights));
		printf("\n");
	}
}

static int check(const struct check_cfg *cfg)
{
	const bool quiet = log_get_level() < LOG_LEVEL_WARN;
	unsigned int cnt, i, missing = 0;
	const struct feature *table = feature_table(&cnt);
	struct finding finding;

	if (!quiet)
		print_head(cfg->json);
	for (i = 0; i < cnt; i++) {
		finding.feature = &table[i];
		finding.have = feature_have(&table[i], finding.why, sizeof(finding.why));
		missing += !finding.have && table[i].required;
		if (!quiet && cfg->json)
			print_json(&finding, i == 0);
		else if (!quiet)
			print_text(&finding);
	}
	if (!quiet)
		print_tail(cfg->json, !missing);
	return missing ? EXIT_UNSUPPORTED : EXIT_OK;
}

int cmd_check(int argc, char **argv)
{
	struct check_cfg cfg = { 0 };
	int first = opt_parse(&command, &cfg, argc, argv);

	if (first <= 0)
		return first ? EXIT_USAGE : EXIT_OK;
	libbpf_set_print(NULL);
	output_begin();
	return output_end("check", check(&cfg));
}
