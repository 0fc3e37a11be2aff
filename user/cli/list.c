// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt list: what there is to record, and what of the functions would be, before anything is
 * attached.
 */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

#include "../record/funcs.h"
#include "../record/sources.h"
#include "cmd.h"
#include "exit.h"
#include "func_opts.h"
#include "json.h"
#include "list_events.h"
#include "log.h"
#include "opt.h"
#include "output.h"

#define NAME_COLUMNS	40

struct list_cfg {
	struct func_opts funcs;
	bool json, count, presets;
};

static const struct opt rows[] = {
	FUNC_CHOICE_OPTS(struct list_cfg, funcs),
	{ "count", 'c', OPT_FLAG, NULL, "only how many there are, and by what",
	  offsetof(struct list_cfg, count), NULL, 0, 0 },
	{ "presets", 0, OPT_FLAG, NULL, "instead, what kfxt record -e knows by a word",
	  offsetof(struct list_cfg, presets), NULL, 0, 0 },
	{ "json", 'j', OPT_FLAG, NULL, "print JSON", offsetof(struct list_cfg, json), NULL, 0, 0 },
	{ 0 },
};

static const struct opt_command command = {
	.name = "list",
	.operands = "[GLOB...]",
	.summary = "Show the tracepoints there are, or which functions would be traced, and how.",
	.rows = rows,
	.examples = "kfxt list                           # all tracepoints\n"
		    "kfxt list 'block:*' sched_switch    # these, with their fields\n"
		    "kfxt list -f 'tcp_*'                # kernel functions\n"
		    "kfxt list -f '*' --exit -c          # how many, and how\n"
		    "kfxt list -u libc:'mem*'            # of a library\n"
		    "kfxt list -u usdt:libc:libc:'*'     # its USDT probes\n"
		    "kfxt list --presets                 # words for kfxt record -e\n",
	.operands_max = 1000,
};

/* Names of programs' functions are whatever the file says. */
static void print_text(const struct func *func)
{
	const char *where = func->where ?: "kernel";
	const int len = (int)strlen(func->name);

	log_text_print(stdout, func->name, len);
	printf("%*s ", len < NAME_COLUMNS ? NAME_COLUMNS - len : 0, "");
	log_text_print(stdout, where, strlen(where));
	if (func->kind != FUNC_KERNEL)
		printf("+0x%llx", (unsigned long long)func->addr);
	putchar('\n');
}

static void print_json(const struct func *func, bool first)
{
	static const char *const kinds[] = {
		[FUNC_KERNEL] = "kernel", [FUNC_USER] = "user", [FUNC_USDT] = "usdt",
	};

	printf("%s\n  {\"name\": ", first ? "" : ",");
	json_print_text(func->name);
	printf(", \"kind\": \"%s\", \"%s\": ", kinds[func->kind],
	       func->kind == FUNC_KERNEL ? "module" : "path");
	json_print_text(func->where);
	printf(", \"%s\": %llu}", func->kind == FUNC_KERNEL ? "address" : "offset",
	       (unsigned long long)func->addr);
}

static void print_via_text(const struct funcs *f, bool user, unsigned int cnt)
{
	const enum func_via_id via = funcs_via(f, user);
	const char *what = func_opts_noun(user, cnt);

	if (cnt && via != FUNC_VIA_CNT)
		printf("%u %s by %s\n", cnt, what, func_vias[via].name);
	else if (cnt)
		printf("%u %s by nothing that is here: %s\n", cnt, what, funcs_via_reason(f, user));
}

static void print_via_json(const struct funcs *f, bool user, unsigned int cnt)
{
	const enum func_via_id via = funcs_via(f, user);

	printf("\"%s\": {\"functions\": %u, \"via\": ", user ? "user" : "kernel", cnt);
	json_print_text(cnt && via != FUNC_VIA_CNT ? func_vias[via].name : NULL);
	printf(", \"reason\": ");
	json_print_text(cnt && via == FUNC_VIA_CNT ? funcs_via_reason(f, user) : NULL);
	printf("}");
}

static int list(const struct list_cfg *cfg, const struct funcs *f)
{
	struct funcs_counts c;
	unsigned int cnt, i;
	const struct func *funcs = funcs_all(f, &cnt);

	funcs_counts(f, &c);
	if (cfg->json)
		printf("{\"functions\": [");
	for (i = 0; i < cnt && !cfg->count; i++) {
		if (cfg->json)
			print_json(&funcs[i], i == 0);
		else
			print_text(&funcs[i]);
	}
	if (cfg->json) {
		printf("],\n");
		print_via_json(f, false, c.kernel);
		printf(", ");
		print_via_json(f, true, c.user);
		printf(", \"usdt\": %u, \"excluded\": %u}\n", c.usdt, c.excluded);
	} else {
		print_via_text(f, false, c.kernel);
		print_via_text(f, true, c.user);
		if (c.usdt)
			printf("%u USDT %s by uprobe\n", c.usdt, c.usdt == 1 ? "probe" : "probes");
		if (c.excluded)
			printf("%u more are left out, since kfxt itself calls them (--no-func-excludes)\n",
			       c.excluded);
	}
	return (c.kernel && funcs_via(f, false) == FUNC_VIA_CNT) ||
	       (c.user && funcs_via(f, true) == FUNC_VIA_CNT) ? EXIT_UNSUPPORTED : EXIT_OK;
}

/* ---- presets ----------------------------------------------------------------- */

static void print_preset_text(const struct source *s)
{
	const struct source_tracepoint *t = s->tracepoints;
	const char *lacks = source_lacks(s), *comma = "";

	printf("%-10s %s\n", s->name, s->about);
	if (s->shows)
		printf("%-10s %s\n", "", s->shows);
	printf("%-10s needs ", "");
	for (; t < s->tracepoints + SOURCE_PARTS_MAX && t->name; t++, comma = ", ")
		printf("%s%s", comma, t->name);
	printf("%s%s: ", s->file ? comma : "", s->file ?: "");
	if (lacks)
		printf("not here, there is no %s\n", lacks);
	else
		printf("here\n");
}

static void print_preset_json(const struct source *s, bool first)
{
	const struct source_tracepoint *t = s->tracepoints;

	printf("%s\n  {\"name\": ", first ? "" : ",");
	json_print_text(s->name);
	printf(", \"about\": ");
	json_print_text(s->about);
	printf(", \"shows\": ");
	json_print_text(s->shows);
	printf(", \"by_default\": %s, \"tracepoints\": [", s->by_default ? "true" : "false");
	for (; t < s->tracepoints + SOURCE_PARTS_MAX && t->name; t++) {
		printf("%s", t == s->tracepoints ? "" : ", ");
		json_print_text(t->name);
	}
	printf("], \"file\": ");
	json_print_text(s->file);
	printf(", \"lacks\": ");
	json_print_text(source_lacks(s));
	printf("}");
}

static int list_presets(bool json)
{
	enum source_id i;

	if (json)
		printf("{\"presets\": [");
	for (i = 0; i < SOURCE_CNT; i++) {
		if (json)
			print_preset_json(&sources[i], i == 0);
		else
			print_preset_text(&sources[i]);
	}
	if (json)
		printf("]}\n");
	return EXIT_OK;
}

int cmd_list(int argc, char **argv)
{
	struct list_cfg cfg = { 0 };
	struct funcs *f = NULL;
	int first = opt_parse(&command, &cfg, argc, argv), code;

	if (first <= 0)
		return first ? EXIT_USAGE : EXIT_OK;
	libbpf_set_print(NULL);
	if (cfg.presets) {
		output_begin();
		return output_end("list", list_presets(cfg.json));
	}
	code = func_opts_choose(&cfg.funcs, "list", true, &f);
	if (!code) {
		output_begin();
		code = output_end("list", f ? list(&cfg, f) : list_events(argv + first, argc - first, cfg.json, cfg.count));
	}
	funcs_close(f);
	return code;
}
