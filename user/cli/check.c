// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt check: what this machine offers and what that means.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "capture/features.h"
#include "check_delays.h"
#include "check_trials.h"
#include "cmd.h"
#include "exit.h"
#include "base/json.h"
#include "report/schema.h"
#include "base/log.h"
#include "cli/opt/opt.h"
#include "output.h"
#include "remedy.h"
#include "source/table.h"

/* Of one feature. An emulated machine takes its time to load programs. */
#define TRIAL_MS	60000
#define STUCK_MS	8000

struct check_cfg {
	bool json;
};

static const struct opt rows[] = {
	{ .name = "json", .letter = 'j', .kind = OPT_FLAG, .help = "print JSON",
	  .offset = offsetof(struct check_cfg, json) },
	{ .name = "quiet", .letter = 'q', .kind = OPT_QUIET,
	  .help = "print nothing, only set the exit status" },
	{ 0 },
};

static const struct opt_command command = {
	.name = "check",
	.operands = "",
	.summary = "Report which rights and kernel features kfxt has here, and what is missing.",
	.rows = rows,
	.examples = "kfxt check                 # exit 0: kfxt record can run\n"
		    "kfxt check --json | jq .   # for scripts\n",
};

/* One feature, tried. */
struct finding {
	const struct feature *feature;
	bool have;
	char why[256];
	const char *remedy;
};

static void print_nothing(struct json *j, const struct finding *f)
{
	(void)j;
	(void)f;
}

static void print_text(struct json *j, const struct finding *f)
{
	const struct feature *feature = f->feature;

	(void)j;
	if (f->have) {
		printf("have     %s\n", feature->name);
		return;
	}
	printf("%-8s %-30s %s\n", feature->required ? "MISSING" : "missing", feature->name,
	       feature->used_for);
	if (f->why[0])
		printf("%39s reason: %s\n", "", f->why);
	printf("%39s remedy: %s\n", "", f->remedy);
}

static void print_json(struct json *j, const struct finding *f)
{
	json_line(j, "  ");
	json_object(j);
	json_key_text(j, "name", f->feature->name);
	json_key_bool(j, "have", f->have);
	json_key_bool(j, "required", f->feature->required);
	json_key_text(j, "used_for", f->feature->used_for);
	json_key_text(j, "reason", f->have || !f->why[0] ? NULL : f->why);
	json_key_text(j, "remedy", f->have ? NULL : f->remedy);
	json_end(j);
}

static void print_head(bool json, struct json *j)
{
	struct utsname uts;

	uname(&uts);
	if (!json) {
		printf("kernel %s\n", uts.release);
		return;
	}
	json_schema_object(j);
	json_key_text(j, "kernel", uts.release);
	json_key(j, "features");
	json_array(j);
}

static void print_tail(bool json, struct json *j, bool can, const struct check_delays *delays)
{
	char text[REMEDY_BYTES];
	const char *rights = remedy_command(text);

	if (json) {
		json_end(j);
		json_line(j, "");
		check_delays_print_json(delays, j);
		json_line(j, "");
		json_key_bool(j, "can_record", can);
		json_key_text(j, "rights", rights);
		json_end(j);
		return;
	}
	if (delays)
		check_delays_print(delays);
	printf("kfxt record %s run here\n", can ? "can" : "cannot");
	if (rights) {
		printf("to give it the rights: ");
		log_text_print(stdout, rights, strlen(rights));
		printf("\n");
	}
}

/* So many required ones are missing. */
static unsigned int find_all(struct check_trials *trials, unsigned int limit_ms, void (*print)(struct json *, const struct finding *),
			     struct json *j)
{
	unsigned int i, missing = 0;
	struct remedy_facts facts;
	struct finding finding;

	remedy_get_facts(&facts);
	for (i = 0; (finding.feature = feature_at(source_table, i)); i++) {
		finding.have = check_trials_have(trials, i, limit_ms, finding.why, sizeof(finding.why));
		finding.remedy = remedy_for(&facts, finding.feature, finding.why);
		missing += !finding.have && finding.feature->required;
		print(j, &finding);
	}
	return missing;
}

static int check(const struct check_cfg *cfg)
{
	const bool quiet = log_get_level() < LOG_LEVEL_WARN;
	/* First: where the kernel lets wait at this moment, trials are no longer waited for than that. */
	struct check_delays *delays = quiet ? NULL : check_delays_open();
	const unsigned int limit_ms = delays && check_delays_stuck(delays) ? STUCK_MS : TRIAL_MS;
	struct check_trials *trials;
	unsigned int missing;
	struct json j;
	pid_t left;
	int err = check_trials_open(&trials, source_table);

	if (err) {
		log_error("check: %s", strerror(-err));
		check_delays_close(delays);
		return EXIT_FAILED;
	}
	json_init(&j, stdout, true);
	if (!quiet)
		print_head(cfg->json, &j);
	missing = find_all(trials, limit_ms, quiet ? print_nothing : cfg->json ? print_json : print_text, &j);
	if (!quiet)
		print_tail(cfg->json, &j, !missing, delays);
	check_delays_close(delays);
	left = check_trials_close(trials);
	if (left)
		log_warn("check: process %d (kfxt-check) still waits for the kernel to detach what it tried", (int)left);
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
