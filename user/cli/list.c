// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt list: what there is to record, and what of the functions would be, before anything is
 * attached.
 */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

#include "source/func/funcs.h"
#include "capture/source.h"
#include "source/table.h"
#include "cmd.h"
#include "report/columns.h"
#include "exit.h"
#include "cli/opt/func_opts.h"
#include "base/glob.h"
#include "base/json.h"
#include "list_events.h"
#include "base/log.h"
#include "base/suggest.h"
#include "cli/opt/opt.h"
#include "output.h"
#include "report/schema.h"

#define NAME_COLUMNS	40

struct list_cfg {
	struct func_opts funcs;
	bool json, count, presets;
};

static const struct opt rows[] = {
	FUNC_CHOICE_OPTS(struct list_cfg, funcs),
	{ .name = "count", .letter = 'c', .kind = OPT_FLAG,
	  .help = "print only how many, and by which mechanism",
	  .offset = offsetof(struct list_cfg, count) },
	{ .name = "presets", .kind = OPT_FLAG, .help = "list presets of kfxt record -e, and stacks, instead",
	  .offset = offsetof(struct list_cfg, presets) },
	{ .name = "json", .letter = 'j', .kind = OPT_FLAG, .help = "print JSON",
	  .offset = offsetof(struct list_cfg, json) },
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
		    "kfxt list -f '*' --returns -c       # how many, and how\n"
		    "kfxt list -u libc:'mem*'            # of a library\n"
		    "kfxt list -u 'usdt:libstdc++:*:*'   # USDT probes of a library\n"
		    "kfxt list --presets                 # presets of kfxt record -e, and stacks\n",
	.operands_max = 1000,
};

/* Names of programs' functions are whatever the file says. */
static void print_text(const struct func *func)
{
	const char *where = func->where ?: "kernel";
	char name[256];		/* what does not fit is wider than the column */

	log_text_print(stdout, func->name, strlen(func->name));
	columns_pad(log_text(name, sizeof(name), func->name, strlen(func->name)), NAME_COLUMNS);
	putchar(' ');
	log_text_print(stdout, where, strlen(where));
	if (func->kind != FUNC_KERNEL)
		printf("+0x%llx", (unsigned long long)func->addr);
	putchar('\n');
}

static void print_json(struct json *j, const struct func *func)
{
	static const char *const kinds[] = {
		[FUNC_KERNEL] = "kernel", [FUNC_USER] = "user", [FUNC_USDT] = "usdt",
	};

	json_line(j, "  ");
	json_object(j);
	json_key_text(j, "name", func->name);
	json_key_text(j, "kind", kinds[func->kind]);
	json_key_text(j, func->kind == FUNC_KERNEL ? "module" : "path", func->where);
	json_key(j, func->kind == FUNC_KERNEL ? "address" : "offset");
	if (func->kind == FUNC_KERNEL)
		json_pointer(j, func->addr);
	else
		json_u64(j, func->addr);
	json_end(j);
}

static void print_via_text(const struct funcs *f, bool user, unsigned int cnt)
{
	const enum func_via_id via = funcs_via(f, user);
	const char *what = func_opts_noun(user, cnt);

	if (cnt && via != FUNC_VIA_CNT)
		printf("%u %s by %s\n", cnt, what, func_features[via].name);
	else if (cnt)
		printf("%u %s, no mechanism available: %s\n", cnt, what, funcs_via_reason(f, user));
}

static void print_via_json(struct json *j, const struct funcs *f, bool user, unsigned int cnt)
{
	const enum func_via_id via = funcs_via(f, user);

	json_key(j, user ? "user" : "kernel");
	json_object(j);
	json_key_u64(j, "functions", cnt);
	json_key_text(j, "via", cnt && via != FUNC_VIA_CNT ? func_features[via].name : NULL);
	json_key_text(j, "reason", cnt && via == FUNC_VIA_CNT ? funcs_via_reason(f, user) : NULL);
	json_end(j);
}

static void list_json(const struct funcs *f, const struct funcs_counts *c, const struct func *funcs, unsigned int cnt)
{
	struct json j;
	unsigned int i;

	json_init(&j, stdout, true);
	json_schema_object(&j);
	json_key(&j, "functions");
	json_array(&j);
	for (i = 0; i < cnt; i++)
		print_json(&j, &funcs[i]);
	json_end(&j);
	json_line(&j, "");
	print_via_json(&j, f, false, c->kernel);
	print_via_json(&j, f, true, c->user);
	json_key_u64(&j, "usdt", c->usdt);
	json_key_u64(&j, "excluded", c->excluded);
	json_end(&j);
}

static void list_text(const struct funcs *f, const struct funcs_counts *c, const struct func *funcs, unsigned int cnt)
{
	unsigned int i;

	for (i = 0; i < cnt; i++)
		print_text(&funcs[i]);
	print_via_text(f, false, c->kernel);
	print_via_text(f, true, c->user);
	if (c->usdt)
		printf("%u USDT %s by uprobe\n", c->usdt, c->usdt == 1 ? "probe" : "probes");
	if (c->excluded)
		printf("%u more are excluded because kfxt itself calls them (--no-func-excludes)\n", c->excluded);
}

static int list(const struct list_cfg *cfg, const struct funcs *f)
{
	struct funcs_counts c;
	unsigned int cnt;
	const struct func *funcs = funcs_all(f, &cnt);

	funcs_counts(f, &c);
	if (cfg->json)
		list_json(f, &c, funcs, cfg->count ? 0 : cnt);
	else
		list_text(f, &c, funcs, cfg->count ? 0 : cnt);
	return (c.kernel && funcs_via(f, false) == FUNC_VIA_CNT) ||
	       (c.user && funcs_via(f, true) == FUNC_VIA_CNT) ? EXIT_UNSUPPORTED : EXIT_OK;
}

/* ---- presets ----------------------------------------------------------------- */

static void print_preset_text(const struct source_ops *s)
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
		printf("not available, no %s\n", lacks);
	else
		printf("available\n");
}

static void print_preset_json(struct json *j, const struct source_ops *s)
{
	const struct source_tracepoint *t = s->tracepoints;

	json_line(j, "  ");
	json_object(j);
	json_key_text(j, "name", s->name);
	json_key_text(j, "about", s->about);
	json_key_text(j, "shows", s->shows);
	json_key_bool(j, "by_default", s->by_default);
	json_key(j, "tracepoints");
	json_array(j);
	for (; t < s->tracepoints + SOURCE_PARTS_MAX && t->name; t++)
		json_text(j, t->name);
	json_end(j);
	json_key_text(j, "file", s->file);
	json_key_text(j, "lacks", source_lacks(s));
	json_end(j);
}

static bool option_lacks(const struct source_option *o)
{
	char why[SOURCE_WHY_BYTES];
	unsigned int i;

	for (i = 0; i < SOURCE_NEEDS_MAX && o->needs[i]; i++)
		if (o->needs[i]->have(o->needs[i], why, sizeof(why)))
			return false;
	return true;
}

static void print_option_text(const struct source_option *o)
{
	const bool lacks = option_lacks(o);
	const char *or = "";
	unsigned int i;

	printf("--%-8s %s\n", o->name, o->about);
	printf("%-10s %s\n", "", o->shows);
	printf("%-10s needs ", "");
	for (i = 0; i < SOURCE_NEEDS_MAX && o->needs[i]; i++, or = " or ")
		printf("%s%s", or, o->needs[i]->name);
	printf(": %savailable%s%s\n", lacks ? "not " : "", lacks && o->without ? ", " : "", lacks && o->without ? o->without : "");
}

static void print_option_json(struct json *j, const struct source_option *o)
{
	unsigned int i;

	json_line(j, "  ");
	json_object(j);
	json_key_text(j, "name", o->name);
	json_key_text(j, "about", o->about);
	json_key_text(j, "shows", o->shows);
	json_key(j, "needs");
	json_array(j);
	for (i = 0; i < SOURCE_NEEDS_MAX && o->needs[i]; i++)
		json_text(j, o->needs[i]->name);
	json_end(j);
	json_key_bool(j, "available", !option_lacks(o));
	json_key_text(j, "without", o->without);
	json_end(j);
}

/* Is it one of @globs? Without any, all are that have a name. */
static bool is_asked_for(const char *name, char **globs, int cnt)
{
	int i;

	if (!name)
		return false;
	for (i = 0; i < cnt && !glob_match(globs[i], name);)
		i++;
	return i < cnt || !cnt;
}

/* The next option after @o, of the first source if that is NULL; or NULL. @i: the source. */
static const struct source_option *next_option(const struct source_option *o, unsigned int *i)
{
	if (o)
		o++;
	else
		*i = 0;
	while (!o || !o->name) {
		o = NULL;
		if (*i == RAW_KIND_CNT)
			return NULL;
		o = source_table[(*i)++]->options;
	}
	return o;
}

static void list_presets_json(char **globs, int cnt)
{
	const struct source_option *o = NULL;
	unsigned int i;
	struct json j;

	json_init(&j, stdout, true);
	json_schema_object(&j);
	json_key(&j, "presets");
	json_array(&j);
	for (i = 0; i < RAW_KIND_CNT; i++)
		if (is_asked_for(source_table[i]->name, globs, cnt))
			print_preset_json(&j, source_table[i]);
	json_end(&j);
	json_key(&j, "options");
	json_array(&j);
	while ((o = next_option(o, &i)))
		if (is_asked_for(o->name, globs, cnt))
			print_option_json(&j, o);
	json_end(&j);
	json_end(&j);
}

static void list_presets_text(char **globs, int cnt)
{
	const struct source_option *o = NULL;
	unsigned int i;

	for (i = 0; i < RAW_KIND_CNT; i++)
		if (is_asked_for(source_table[i]->name, globs, cnt))
			print_preset_text(source_table[i]);
	while ((o = next_option(o, &i)))
		if (is_asked_for(o->name, globs, cnt))
			print_option_text(o);
}

#define NAMES_MAX	(2 * RAW_KIND_CNT)

static unsigned int names_of_all(const char **names)
{
	const struct source_option *o = NULL;
	unsigned int i, cnt = 0;

	for (i = 0; i < RAW_KIND_CNT; i++)
		if (source_table[i]->name)
			names[cnt++] = source_table[i]->name;
	while (cnt < NAMES_MAX && (o = next_option(o, &i)))
		names[cnt++] = o->name;
	return cnt;
}

/* 0, or an exit code and the message is printed. */
static int check_presets(char **globs, int cnt)
{
	char near[SUGGEST_CNT][SUGGEST_BYTES], text[SUGGEST_TEXT_BYTES];
	const char *names[NAMES_MAX];
	const unsigned int names_cnt = names_of_all(names);
	unsigned int i;

	for (; cnt > 0; globs++, cnt--) {
		for (i = 0; i < names_cnt && !is_asked_for(names[i], globs, 1); i++)
			;
		if (i < names_cnt)
			continue;
		suggest_names(*globs, names, names_cnt, near);
		log_error("list: --presets: no such preset: '%s'%s", *globs, suggest_text(text, "", near));
		return EXIT_USAGE;
	}
	return 0;
}

static bool has_func_opts(const struct func_opts *o)
{
	return o->globs.cnt || o->user.cnt || o->via.cnt || o->returns || o->parents || o->no_excludes;
}

static int list_presets(char **globs, int cnt, bool json)
{
	const int code = check_presets(globs, cnt);

	if (code)
		return code;
	if (json)
		list_presets_json(globs, cnt);
	else
		list_presets_text(globs, cnt);
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
	if (cfg.presets && (cfg.count || has_func_opts(&cfg.funcs))) {
		log_error("list: --presets takes globs and --json only");
		return EXIT_USAGE;
	}
	if (cfg.presets) {
		output_begin();
		return output_end("list", list_presets(argv + first, argc - first, cfg.json));
	}
	code = func_opts_choose(&cfg.funcs, "list", true, &f);
	if (!code) {
		output_begin();
		code = output_end("list", f ? list(&cfg, f) : list_events(argv + first, argc - first, cfg.json, cfg.count));
	}
	funcs_close(f);
	return code;
}
