// SPDX-License-Identifier: GPL-2.0
/*
 * The option table at work: getopt_long() underneath, values by kind, usage
 * and help from the same rows.
 */
#include "opt_p.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "base/log.h"
#include "base/num.h"

#define TEXT_OF_(x)	#x
#define TEXT_OF(x)	TEXT_OF_(x)
#define LONG_BASE	256	/* getopt's value of row i is LONG_BASE + i, beyond any letter */
#define HELP_COLUMN	29
#define HELP_WIDTH	76	/* with the dashes and a comma, 80 */

static const struct opt common_rows[] = {
	{ .name = "quiet", .letter = 'q', .kind = OPT_QUIET, .help = "print errors only" },
	{ .name = "verbose", .letter = 'v', .kind = OPT_VERBOSE,
	  .help = "print more about what is done" },
	{ .name = "help", .letter = 'h', .kind = OPT_HELP, .help = "print this help" },
	{ 0 },
};

const struct opt *opt_row_by_name(const struct opt_table *t, const char *name)
{
	unsigned int i;

	for (i = 0; i < t->cnt; i++)
		if (!strcmp(t->rows[i]->name, name))
			return t->rows[i];
	return NULL;
}

const struct opt *opt_row_by_letter(const struct opt_table *t, int letter)
{
	unsigned int i;

	for (i = 0; i < t->cnt; i++)
		if (t->rows[i]->letter == letter)
			return t->rows[i];
	return NULL;
}

const struct opt *opt_resolve_alias(const struct opt_table *t, const struct opt *row)
{
	return row->kind == OPT_ALIAS ? opt_row_by_name(t, row->value) : row;
}

/* Those of a name that is in the table already are replaced by that one. */
static void add_rows(struct opt_table *t, const struct opt *row)
{
	for (; row->name && t->cnt < OPT_ROWS_MAX; row++)
		if (!opt_row_by_name(t, row->name))
			t->rows[t->cnt++] = row;
}

/* The rows of a command and the common ones it does not replace. */
static void table_init(struct opt_table *t, const struct opt_command *cmd)
{
	t->command = cmd->name;
	t->cnt = 0;
	add_rows(t, cmd->rows);
	add_rows(t, common_rows);
	t->listed = t->cnt;
	if (cmd->also)
		add_rows(t, cmd->also->rows);
}

/* ---- values --------------------------------------------------------------- */

static int parse_number(const struct opt *row, const char *text, uint64_t *field, const char **why)
{
	uint64_t value;
	int err;

	if (row->kind == OPT_SIZE)
		err = num_parse_size(text, &value, why);
	else if (row->kind == OPT_DURATION)
		err = num_parse_duration(text, &value, why);
	else
		err = num_parse_u64(text, &value, why);
	if (err)
		return err;
	if (value < row->min) {
		*why = "too small";
		return -ERANGE;
	}
	if (row->max && value > row->max) {
		*why = "too large";
		return -ERANGE;
	}
	*field = value;
	return 0;
}

static int add_item(struct opt_list *list, const char *text, const char **why)
{
	if (list->cnt == OPT_LIST_MAX) {
		*why = "given more than " TEXT_OF(OPT_LIST_MAX) " times";
		return -E2BIG;
	}
	list->items[list->cnt++] = text;
	return 0;
}

int opt_set_field(const struct opt *row, void *cfg, const char *text, const char **why)
{
	void *field = (char *)cfg + row->offset;

	switch (row->kind) {
	case OPT_FLAG:
		*(bool *)field = true;
		return 0;
	case OPT_STRING:
		*(const char **)field = text;
		return 0;
	case OPT_OPTIONAL:
		*(const char **)field = text ?: "";
		return 0;
	case OPT_U64:
	case OPT_SIZE:
	case OPT_DURATION:
		return parse_number(row, text, field, why);
	case OPT_LIST:
		return add_item(field, text, why);
	case OPT_CPUS:
		return num_parse_cpus(text, field, why);
	case OPT_QUIET:
		log_set_level(LOG_LEVEL_ERROR);
		return 0;
	case OPT_VERBOSE:
		log_set_level(LOG_LEVEL_DEBUG);
		return 0;
	case OPT_CONFIG:	/* read already */
	case OPT_HELP:
	case OPT_ALIAS:
		break;
	}
	return 0;
}

static int set_value(const struct opt_table *t, const struct opt *row, void *cfg, const char *text)
{
	const char *why = "";
	int err;

	err = opt_set_field(row, cfg, text, &why);
	if (err)
		log_error("%s: --%s: %s: '%s'", t->command, row->name, why, text);
	return err ? -EINVAL : 0;
}

static int set_defaults(const struct opt_table *t, void *cfg)
{
	unsigned int i;
	int err;

	for (i = 0; i < t->cnt; i++) {
		if (!t->rows[i]->value || t->rows[i]->kind == OPT_ALIAS)
			continue;
		err = set_value(t, t->rows[i], cfg, t->rows[i]->value);
		if (err)
			return err;
	}
	return 0;
}

/* ---- parsing ---------------------------------------------------------------- */

const char *opt_suggest(const struct opt_table *t, const char *word, const char *prefix, char *text)
{
	char near[SUGGEST_CNT][SUGGEST_BYTES];
	const char *names[OPT_ROWS_MAX];
	unsigned int i, cnt = 0;

	for (i = 0; i < t->cnt; i++)
		if (t->rows[i]->kind != OPT_ALIAS)
			names[cnt++] = t->rows[i]->name;
	suggest_names(word, names, cnt, near);
	return suggest_text(text, prefix, near);
}

static void complain_unknown(const struct opt_table *t, const char *arg)
{
	char word[SUGGEST_BYTES], text[SUGGEST_TEXT_BYTES];

	if (strncmp(arg, "--", 2)) {
		log_error("%s: unknown option: %s (see kfxt help %s)", t->command, arg, t->command);
		return;
	}
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(arg + 2, "="), arg + 2);
	if (*opt_suggest(t, word, "--", text))
		log_error("%s: unknown option: %s%s", t->command, arg, text);
	else
		log_error("%s: unknown option: %s (see kfxt help %s)", t->command, arg, t->command);
}

/*
 * getopt_long() takes any beginning of a name that no other option has. A script
 * that relies on it would break with the next option, so we do not.
 */
static bool is_abbreviated(const struct opt *row, const char *arg)
{
	return strcspn(arg + 2, "=") != strlen(row->name);
}

/* getopt's '?' and ':' : @arg is the word of argv it stumbled over. */
static int complain(const struct opt_table *t, int code, const char *arg)
{
	char letter[3] = { '-', (char)optopt, '\0' };

	if (optopt >= LONG_BASE && is_abbreviated(t->rows[optopt - LONG_BASE], arg))
		complain_unknown(t, arg);
	else if (code == ':')
		log_error("%s: %s: a value is missing", t->command,
			  optopt < LONG_BASE ? letter : arg);
	else if (optopt >= LONG_BASE)
		log_error("%s: --%s: takes no value", t->command,
			  t->rows[optopt - LONG_BASE]->name);
	else
		complain_unknown(t, optopt ? letter : arg);
	return -EINVAL;
}

/* The tables getopt_long() takes, made from the rows. */
struct getopt_tables {
	struct option longs[OPT_ROWS_MAX + 1];
	char letters[3 * OPT_ROWS_MAX + 3];
};

static void getopt_init(struct getopt_tables *g, const struct opt_table *t, bool stops_at_operand)
{
	char *p = g->letters;
	unsigned int i;

	memset(g, 0, sizeof(*g));
	if (stops_at_operand)
		*p++ = '+';
	*p++ = ':';
	for (i = 0; i < t->cnt; i++) {
		const struct opt *row = opt_resolve_alias(t, t->rows[i]);
		const int has_value = !row->metavar ? no_argument :
				      row->kind == OPT_OPTIONAL ? optional_argument : required_argument;
		int colons;

		g->longs[i].name = t->rows[i]->name;
		g->longs[i].has_arg = has_value;
		g->longs[i].val = LONG_BASE + (int)i;
		if (!t->rows[i]->letter)
			continue;
		*p++ = t->rows[i]->letter;
		for (colons = 0; colons < has_value; colons++)
			*p++ = ':';
	}
}

/* The word with the long option that getopt_long() just took; its value may follow it. */
static const char *long_word(char **argv)
{
	return optarg == argv[optind - 1] ? argv[optind - 2] : argv[optind - 1];
}

static const struct opt *row_of(const struct opt_table *t, int code)
{
	return code >= LONG_BASE ? t->rows[code - LONG_BASE] : opt_row_by_letter(t, code);
}

static int check_operands(const struct opt_command *cmd, int argc, char **argv)
{
	unsigned int cnt = (unsigned int)(argc - optind);

	if (cnt < cmd->operands_min) {
		log_error("%s: operand missing (usage: kfxt %s [OPTION]... %s)", cmd->name,
			  cmd->name, cmd->operands);
		return -EINVAL;
	}
	if (cnt > cmd->operands_max) {
		log_error("%s: too many operands: %s (see kfxt help %s)", cmd->name,
			  argv[optind + (int)cmd->operands_max], cmd->name);
		return -EINVAL;
	}
	return optind;
}

static void begin_anew(void)
{
	opterr = 0;
	optind = 0;	/* glibc's and musl's way */
}

/*
 * The row of the last --config, whose value is *@path; NULL: there is none, or the words ask for help or are
 * wrong, which the next reader of them finds out.
 */
static const struct opt *find_config(const struct opt_table *t, const struct getopt_tables *g, int argc, char **argv,
				     const char **path)
{
	const struct opt *row, *found = NULL;
	int code;

	begin_anew();
	while ((code = getopt_long(argc, argv, g->letters, g->longs, NULL)) != -1) {
		row = code == '?' || code == ':' ? NULL : row_of(t, code);
		if (!row || row->kind == OPT_HELP || (code >= LONG_BASE && is_abbreviated(row, long_word(argv))))
			return NULL;
		if (row->kind == OPT_CONFIG) {
			found = row;
			*path = optarg;
		}
	}
	return found;
}

static int take_words(const struct opt_command *cmd, const struct opt_table *t, const struct getopt_tables *g, void *cfg,
		      int argc, char **argv)
{
	const struct opt *row;
	int code, err;

	begin_anew();
	while ((code = getopt_long(argc, argv, g->letters, g->longs, NULL)) != -1) {
		row = code == '?' || code == ':' ? NULL : row_of(t, code);
		if (!row)
			return complain(t, code, argv[optind - 1]);
		if (code >= LONG_BASE && is_abbreviated(row, long_word(argv))) {
			complain_unknown(t, long_word(argv));
			return -EINVAL;
		}
		if (row->kind == OPT_HELP) {
			opt_print_help(cmd);
			return 0;
		}
		err = set_value(t, opt_resolve_alias(t, row), cfg, optarg);
		if (err)
			return err;
	}
	return check_operands(cmd, argc, argv);
}

int opt_parse(const struct opt_command *cmd, void *cfg, int argc, char **argv)
{
	const struct opt *config;
	struct getopt_tables g;
	struct opt_table t;
	const char *path;
	int err, first;

	table_init(&t, cmd);
	getopt_init(&g, &t, cmd->stops_at_operand);
	err = set_defaults(&t, cfg);
	if (err)
		return err;
	config = find_config(&t, &g, argc, argv, &path);
	err = config ? opt_config_read((struct opt_config *)((char *)cfg + config->offset), path, &t, cfg) : 0;
	if (err)
		return err;
	first = take_words(cmd, &t, &g, cfg, argc, argv);
	if (first < 0 && config)
		opt_config_close((struct opt_config *)((char *)cfg + config->offset));
	return first;
}

/* ---- help ------------------------------------------------------------------- */

static void print_row(const struct opt *row)
{
	int used;

	if (row->letter)
		used = printf("  -%c, --%s", row->letter, row->name);
	else
		used = printf("      --%s", row->name);
	if (row->metavar)
		used += printf(row->kind == OPT_OPTIONAL ? "[=%s]" : " %s", row->metavar);
	printf("%*s%s", used < HELP_COLUMN ? HELP_COLUMN - used : 1, "", row->help);
	if (row->value)
		printf(" [%s]", row->value);
	putchar('\n');
}

/* Options that few need are only named, or the help would not fit a screen. */
static void print_rare(const struct opt_table *t)
{
	const struct opt *row;
	unsigned int i;
	int used = 0;

	for (i = 0; i < t->listed; i++) {
		row = t->rows[i];
		if (row->help || row->kind == OPT_ALIAS)
			continue;
		if (!used)
			used = printf("Also, in kfxt-%s(1):", t->command);
		else
			used += printf(",");
		if (used + strlen(row->name) + (row->metavar ? strlen(row->metavar) + 1 : 0) > HELP_WIDTH)
			used = printf("\n ") - 1;
		used += printf(" --%s%s%s", row->name, row->metavar ? " " : "", row->metavar ?: "");
	}
	if (used)
		putchar('\n');
}

/* Indents each line, so that the examples in the source read as they are typed. */
static void print_examples(const char *text)
{
	size_t len;

	for (; *text; text += len) {
		len = strcspn(text, "\n") + 1;
		printf("  %.*s", (int)len, text);
	}
}

void opt_print_help(const struct opt_command *cmd)
{
	struct opt_table t;
	unsigned int i;

	table_init(&t, cmd);
	printf("Usage: kfxt %s [OPTION]...%s%s\n%s\n\nOptions:\n", cmd->name,
	       cmd->operands[0] ? " " : "", cmd->operands,
	       cmd->summary);
	for (i = 0; i < t.listed; i++)
		if (t.rows[i]->help)
			print_row(t.rows[i]);
	print_rare(&t);
	if (cmd->also)
		printf("Also the options of kfxt %s (see kfxt help %s).\n", cmd->also->name, cmd->also->name);
	printf("\nExamples:\n");
	print_examples(cmd->examples);
}
