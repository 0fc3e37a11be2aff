// SPDX-License-Identifier: GPL-2.0
/*
 * The option table at work: getopt_long() underneath, values by kind, usage
 * and help from the same rows.
 */
#include "opt.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "num.h"

#define LONG_BASE	256	/* getopt's value of row i is LONG_BASE + i, beyond any letter */
#define WORD_MAX	32	/* longer words are never near an option or command */
#define HELP_COLUMN	29
#define HELP_WIDTH	76	/* with the dashes and a comma, 80 */

static const struct opt common_rows[] = {
	{ "quiet", 'q', OPT_QUIET, NULL, "print errors only", 0, NULL, 0, 0 },
	{ "verbose", 'v', OPT_VERBOSE, NULL, "print more about what is done", 0, NULL, 0, 0 },
	{ "help", 'h', OPT_HELP, NULL, "print this help", 0, NULL, 0, 0 },
	{ 0 },
};

/* The rows of a command and the common ones it does not replace. */
struct table {
	const char *command;
	const struct opt *rows[OPT_ROWS_MAX];
	unsigned int cnt;
};

static bool has_name(const struct table *t, const char *name)
{
	unsigned int i;

	for (i = 0; i < t->cnt; i++)
		if (!strcmp(t->rows[i]->name, name))
			return true;
	return false;
}

static void table_init(struct table *t, const struct opt_command *cmd)
{
	const struct opt *row;

	t->command = cmd->name;
	t->cnt = 0;
	for (row = cmd->rows; row->name && t->cnt < OPT_ROWS_MAX; row++)
		t->rows[t->cnt++] = row;
	for (row = common_rows; row->name && t->cnt < OPT_ROWS_MAX; row++)
		if (!has_name(t, row->name))
			t->rows[t->cnt++] = row;
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
		*why = "given more than 64 times";
		return -E2BIG;
	}
	list->items[list->cnt++] = text;
	return 0;
}

static int set_field(const struct opt *row, void *cfg, const char *text, const char **why)
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
	case OPT_HELP:
		break;
	}
	return 0;
}

static int set_value(const struct table *t, const struct opt *row, void *cfg, const char *text)
{
	const char *why = "";
	int err;

	err = set_field(row, cfg, text, &why);
	if (err)
		log_error("%s: --%s: %s: '%s'", t->command, row->name, why, text);
	return err ? -EINVAL : 0;
}

static int set_defaults(const struct table *t, void *cfg)
{
	unsigned int i;
	int err;

	for (i = 0; i < t->cnt; i++) {
		if (!t->rows[i]->value)
			continue;
		err = set_value(t, t->rows[i], cfg, t->rows[i]->value);
		if (err)
			return err;
	}
	return 0;
}

/* ---- nearest name ----------------------------------------------------------- */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/*
 * How many letters must be put in, left out, changed or swapped with their
 * neighbour to make one word of the other: d[i][j] for the first i and j letters.
 */
static unsigned int edit_distance(const char *a, const char *b)
{
	unsigned int d[WORD_MAX + 1][WORD_MAX + 1], i, j;
	size_t la = strlen(a), lb = strlen(b);

	if (la > WORD_MAX || lb > WORD_MAX)
		return WORD_MAX;
	for (i = 0; i <= la; i++) {
		for (j = 0; j <= lb; j++) {
			if (!i || !j) {
				d[i][j] = i + j;
				continue;
			}
			d[i][j] = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			d[i][j] = least(d[i][j], least(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[la][lb];
}

/* The only one of @names that begins with @word, or NULL. */
static const char *completion(const char *word, const char *const *names, size_t cnt)
{
	const char *found = NULL;
	size_t i;

	for (i = 0; i < cnt; i++) {
		if (strncmp(names[i], word, strlen(word)))
			continue;
		if (found)
			return NULL;
		found = names[i];
	}
	return found;
}

const char *opt_nearest(const char *word, const char *const *names, size_t cnt)
{
	/* A third of the letters may be wrong, one always; beyond that it is another word. */
	unsigned int most = (unsigned int)strlen(word) / 3, best, distance;
	const char *found = NULL;
	size_t i;

	best = (most ? most : 1) + 1;
	for (i = 0; i < cnt; i++) {
		distance = edit_distance(word, names[i]);
		if (distance < best) {
			best = distance;
			found = names[i];
		}
	}
	return found ? found : completion(word, names, cnt);
}

/* ---- parsing ---------------------------------------------------------------- */

static void complain_unknown(const struct table *t, const char *arg)
{
	const char *names[OPT_ROWS_MAX], *near;
	char word[WORD_MAX + 1];
	unsigned int i;

	if (strncmp(arg, "--", 2)) {
		log_error("%s: unknown option: %s (see kfxt help %s)", t->command, arg, t->command);
		return;
	}
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(arg + 2, "="), arg + 2);
	for (i = 0; i < t->cnt; i++)
		names[i] = t->rows[i]->name;
	near = opt_nearest(word, names, t->cnt);
	if (near)
		log_error("%s: unknown option: %s (did you mean --%s?)", t->command, arg, near);
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
static int complain(const struct table *t, int code, const char *arg)
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

/* The tables getopt_long() wants, made from the rows. */
struct getopt_tables {
	struct option longs[OPT_ROWS_MAX + 1];
	char letters[3 * OPT_ROWS_MAX + 3];
};

static void getopt_init(struct getopt_tables *g, const struct table *t, bool stops_at_operand)
{
	char *p = g->letters;
	unsigned int i;

	memset(g, 0, sizeof(*g));
	if (stops_at_operand)
		*p++ = '+';
	*p++ = ':';
	for (i = 0; i < t->cnt; i++) {
		const int has_value = !t->rows[i]->metavar ? no_argument :
				      t->rows[i]->kind == OPT_OPTIONAL ? optional_argument : required_argument;
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

/* The word with the long option that getopt_long() just took; its value may stand behind it. */
static const char *long_word(char **argv)
{
	return optarg == argv[optind - 1] ? argv[optind - 2] : argv[optind - 1];
}

static const struct opt *row_of(const struct table *t, int code)
{
	unsigned int i;

	if (code >= LONG_BASE)
		return t->rows[code - LONG_BASE];
	for (i = 0; i < t->cnt; i++)
		if (t->rows[i]->letter == code)
			return t->rows[i];
	return NULL;
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
		log_error("%s: one operand too many: %s (see kfxt help %s)", cmd->name,
			  argv[optind + (int)cmd->operands_max], cmd->name);
		return -EINVAL;
	}
	return optind;
}

int opt_parse(const struct opt_command *cmd, void *cfg, int argc, char **argv)
{
	struct getopt_tables g;
	const struct opt *row;
	struct table t;
	int code, err;

	table_init(&t, cmd);
	getopt_init(&g, &t, cmd->stops_at_operand);
	err = set_defaults(&t, cfg);
	if (err)
		return err;
	opterr = 0;
	optind = 0;	/* glibc's and musl's way to begin anew */
	while ((code = getopt_long(argc, argv, g.letters, g.longs, NULL)) != -1) {
		row = code == '?' || code == ':' ? NULL : row_of(&t, code);
		if (!row)
			return complain(&t, code, argv[optind - 1]);
		if (code >= LONG_BASE && is_abbreviated(row, long_word(argv))) {
			complain_unknown(&t, long_word(argv));
			return -EINVAL;
		}
		if (row->kind == OPT_HELP) {
			opt_print_help(cmd);
			return 0;
		}
		err = set_value(&t, row, cfg, optarg);
		if (err)
			return err;
	}
	return check_operands(cmd, argc, argv);
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
static void print_rare(const struct table *t)
{
	const struct opt *row;
	unsigned int i;
	int used = 0;

	for (i = 0; i < t->cnt; i++) {
		row = t->rows[i];
		if (row->help)
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
	struct table t;
	unsigned int i;

	table_init(&t, cmd);
	printf("Usage: kfxt %s [OPTION]...%s%s\n%s\n\nOptions:\n", cmd->name,
	       cmd->operands[0] ? " " : "", cmd->operands,
	       cmd->summary);
	for (i = 0; i < t.cnt; i++)
		if (t.rows[i]->help)
			print_row(t.rows[i]);
	print_rare(&t);
	printf("\nExamples:\n");
	print_examples(cmd->examples);
}
