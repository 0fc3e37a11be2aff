// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt list: what would be traced, before anything is attached.
 */
#include <bpf/libbpf.h>
#include <stdio.h>

#include "../record/funcs.h"
#include "cmd.h"
#include "exit.h"
#include "func_opts.h"
#include "json.h"
#include "log.h"
#include "opt.h"
#include "output.h"

struct list_cfg {
	struct func_opts funcs;
	bool json, count;
};

static const struct opt rows[] = {
	FUNC_CHOICE_OPTS(struct list_cfg, funcs),
	{ "count", 'c', OPT_FLAG, NULL, "only how many there are, and by what",
	  offsetof(struct list_cfg, count), NULL, 0, 0 },
	{ "json", 'j', OPT_FLAG, NULL, "print JSON", offsetof(struct list_cfg, json), NULL, 0, 0 },
	{ 0 },
};

static const struct opt_command command = {
	.name = "list",
	.operands = "",
	.summary = "Show which functions kfxt record would trace, and by which mechanism.",
	.rows = rows,
	.examples = "kfxt list -f 'tcp_*'                # kernel functions\n"
		    "kfxt list -f '*' --exit -c          # how many, and how\n"
		    "kfxt list -u libc:'mem*'            # of a library\n"
		    "kfxt list -u usdt:libc:libc:'*'     # its USDT probes\n",
};

static void print_text(const struct func *func)
{
	if (func->kind == FUNC_KERNEL)
		printf("%-40s %s\n", func->name, func->where ?: "kernel");
	else
		printf("%-40s %s+0x%llx\n", func->name, func->where, (unsigned long long)func->addr);
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

int cmd_list(int argc, char **argv)
{
	struct list_cfg cfg = { 0 };
	struct funcs *f = NULL;
	int first = opt_parse(&command, &cfg, argc, argv), code;

	if (first <= 0)
		return first ? EXIT_USAGE : EXIT_OK;
	libbpf_set_print(NULL);
	code = func_opts_choose(&cfg.funcs, "list", true, &f);
	if (!code && !f) {
		log_error("list: nothing to list (-f GLOB or -u WHAT)");
		return EXIT_USAGE;
	}
	if (!code) {
		output_begin();
		code = output_end("list", list(&cfg, f));
	}
	funcs_close(f);
	return code;
}
