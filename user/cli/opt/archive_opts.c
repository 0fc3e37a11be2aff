// SPDX-License-Identifier: GPL-2.0
#include "archive_opts.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/broker.h"
#include "base/glob.h"
#include "base/log.h"
#include "base/num.h"
#include "capture/sources.h"
#include "cli/exit.h"
#include "elf/elf.h"
#include "func_opts.h"
#include "kernel/pid_namespace.h"
#include "session/session.h"
#include "trigger/trigger.h"

#define NS_PER_S	1000000000ULL
#define AFTER_NS	(2 * NS_PER_S)
#define COOLDOWN_NS	(60 * NS_PER_S)
#define SPARE_NS	NS_PER_S
#define WHY_BYTES	256U

/* A time, a size, or both. */
struct bounds {
	uint64_t ns, bytes;		/* 0: not given */
};

static const struct bounds rotate_min = { NS_PER_S, 1 << 16 }, keep_min = { NS_PER_S, 1 << 20 };

/* ---- times and sizes -------------------------------------------------------------------- */

/* One of the one or two words. */
static int parse_bound(const char *word, const struct bounds *min, struct bounds *out, const char **why)
{
	uint64_t n;

	*why = NULL;
	if (!*word) {
		*why = "empty";
	} else if (!num_parse_size(word, &n, NULL) && word[strspn(word, "0123456789")]) {
		*why = out->bytes ? "a second size" : n < min->bytes ? min->bytes >> 20 ? "less than 1M" : "less than 64K" : NULL;
		out->bytes = n;
	} else if (!num_parse_duration(word, &n, why)) {
		*why = word[strspn(word, "0123456789.")] ? NULL : "no unit (10m, 1G)";
		if (!*why)
			*why = out->ns ? "a second time" : n < min->ns ? "less than 1s" : NULL;
		out->ns = n;
	}
	return *why ? EXIT_USAGE : EXIT_OK;
}

/* What is wrong with the words of @text; NULL: nothing. */
static const char *read_bounds(const char *text, const struct bounds *min, struct bounds *out)
{
	static char line[WHY_BYTES];
	char copy[WHY_BYTES], *rest = copy, *word;
	const char *why = NULL;

	*out = (struct bounds){ 0 };
	if (strlen(text) >= sizeof(copy))
		return "too long";
	strcpy(copy, text);
	while (!why && (word = strsep(&rest, ",")))
		if (parse_bound(word, min, out, &why))
			snprintf(line, sizeof(line), "%.80s: %s", word, why);
	return why ? line : NULL;
}

const char *archive_opts_check_keep(const char *text)
{
	struct bounds bounds;

	return read_bounds(text, &keep_min, &bounds);
}

const char *archive_opts_check_rotate(const char *text)
{
	struct bounds bounds;

	return read_bounds(text, &rotate_min, &bounds);
}

const char *archive_opts_check_time(const char *text)
{
	static char line[WHY_BYTES];
	const char *why;
	uint64_t ns;

	if (!num_parse_duration(text, &ns, &why))
		return NULL;
	snprintf(line, sizeof(line), "%s: '%.80s'", why, text);
	return line;
}

static int parse_bounds(const char *text, const char *option, const char *command, const struct bounds *min, struct bounds *out)
{
	const char *why = read_bounds(text, min, out);

	if (why)
		log_error("%s: --%s %s: %s", command, option, text, why);
	return why ? EXIT_USAGE : EXIT_OK;
}

/* @text: NULL leaves @out alone. */
static int parse_time(const char *text, const char *option, const char *command, uint64_t *out)
{
	const char *why;

	if (!text || !num_parse_duration(text, out, &why))
		return EXIT_OK;
	log_error("%s: --%s: %s: '%s'", command, option, why, text);
	return EXIT_USAGE;
}

/* ---- triggers --------------------------------------------------------------------------- */

const char *archive_opts_check_trigger(const char *word)
{
	static char why[TRIGGER_WHY_BYTES];
	struct triggers *t;
	int err;

	if (triggers_open(&t))
		return NULL;
	err = triggers_add(t, word, why, sizeof(why));
	triggers_close(t);
	return err == -EINVAL ? why : NULL;
}

static int parse_triggers(const struct archive_opts *opts, const char *command, bool no_files, struct recorder_keep *out)
{
	char why[TRIGGER_WHY_BYTES];
	uint64_t cooldown_ns = COOLDOWN_NS;
	unsigned int i;
	int code, err = 0;

	out->after_ns = AFTER_NS;
	code = parse_time(opts->after, "after", command, &out->after_ns) ?:
	       parse_time(opts->cooldown, "cooldown", command, &cooldown_ns);
	if (code || !opts->triggers.cnt)
		return code;
	if (triggers_open(&out->triggers))
		return EXIT_FAILED;
	/* Where there are no files, how often each is true is of interest. */
	triggers_set_cooldown(out->triggers, no_files ? 0 : cooldown_ns);
	for (i = 0; !err && i < opts->triggers.cnt; i++)
		err = triggers_add(out->triggers, opts->triggers.items[i], why, sizeof(why));
	if (err)
		log_error("%s: --trigger %s", command, err == -ENOMEM ? strerror(ENOMEM) : why);
	return exit_of(err);
}

/* What is not in the records. Where the kernel does not watch pressure for a trigger, there are still the others. */
static void watch(struct triggers *triggers, const char *command)
{
	char why[TRIGGER_WHY_BYTES];
	struct trigger_answer of_init;

	/* In another namespace threads have other ids in /proc, and with hidepid= it takes a right to read of those of others. */
	if (triggers && pid_namespace_is_initial() && !triggers_ask_proc("", 1, &of_init))
		triggers_ask(triggers, triggers_ask_proc, "");
	if (triggers && triggers_watch(triggers, "", why, sizeof(why)))
		log_warn("%s: --trigger %s", command, why);
}

/* ---- what they need --------------------------------------------------------------------- */

/* The functions that a trigger is about, as of -f or, if they are the @user's, as of -u; NULL: it is about none. */
static const char *funcs_of(const struct trigger_source *t, bool *user)
{
	*user = t->source && !strncmp(t->source, "user:", 5);
	return *user || (t->source && !strncmp(t->source, "func:", 5)) ? t->source + 5 : NULL;
}

/* The user's words come after it. */
static int add_first(struct opt_list *list, const char *word)
{
	if (list->cnt == OPT_LIST_MAX)
		return -E2BIG;
	memmove(list->items + 1, list->items, list->cnt++ * sizeof(*list->items));
	list->items[0] = word;
	return 0;
}

int archive_opts_add_funcs(const struct recorder_cfg *cfg, const char *command, struct func_opts *funcs)
{
	struct trigger_source t;
	const char *word;
	unsigned int i;
	bool user;

	for (i = 0; cfg->keep.triggers && triggers_source(cfg->keep.triggers, i, &t); i++) {
		word = funcs_of(&t, &user);
		if (!word)
			continue;
		funcs->returns = true;
		if (add_first(user ? &funcs->user : &funcs->globs, word)) {
			log_error("%s: --trigger %s: more than %u words for functions, with those of -%c", command, t.word, OPT_LIST_MAX,
				  user ? 'u' : 'f');
			return EXIT_USAGE;
		}
	}
	return EXIT_OK;
}

int archive_opts_add_sources(const struct recorder_cfg *cfg, const char *command, struct sources *sources)
{
	struct triggers *triggers = cfg->keep.triggers;
	struct trigger_source t;
	char why[512];
	unsigned int i;
	bool user;
	int err;

	/* Of what is not kept nothing is evaluated. */
	if ((cfg->broker || cfg->keep.no_files) && triggers) {
		sources_ctx(sources)->found = triggers_found;
		sources_ctx(sources)->found_ctx = triggers;
	}
	for (i = 0; triggers && triggers_source(triggers, i, &t); i++) {
		if (!t.source || funcs_of(&t, &user))
			continue;
		err = sources_need(sources, t.source, why, sizeof(why));
		if (err) {
			log_error("%s: --trigger %s: %s", command, t.word, err == -ENOMEM ? strerror(ENOMEM) : why);
			return exit_of(err);
		}
	}
	return EXIT_OK;
}

/* Is it of the file that @word, as of -u, begins with, or of the kernel? */
static bool is_of_file(const struct func *func, const char *path)
{
	return path ? func->kind == FUNC_USER && !strcmp(func->where, path) : func->kind == FUNC_KERNEL;
}

/* In calls there is only the name of the function. @other: one that is also recorded, of another file, or NULL. */
static bool have_funcs(const struct funcs *funcs, const char *word, bool user, const struct func **other)
{
	const char *glob = user ? strrchr(word, ':') + 1 : word;
	const struct func *func = NULL, *end;
	char file[ELF_PATH_BYTES], path[ELF_PATH_BYTES];
	unsigned int cnt = 0;
	bool have = false;

	*other = NULL;
	snprintf(file, sizeof(file), "%.*s", (int)(glob - word) - 1, word);
	if (user && elf_path_find(file, path))
		return false;
	if (funcs)
		func = funcs_all(funcs, &cnt);
	for (end = func + cnt; func < end; func++) {
		if (func->kind == FUNC_USDT || !glob_match(glob, func->name))
			continue;
		if (is_of_file(func, user ? path : NULL))
			have = true;
		else
			*other = func;
	}
	return have;
}

int archive_opts_check_sources(const struct recorder_cfg *cfg, const char *command, const struct sources *sources,
			       const struct funcs *funcs)
{
	struct trigger_source t;
	unsigned int i;
	bool user;

	for (i = 0; cfg->keep.triggers && triggers_source(cfg->keep.triggers, i, &t); i++) {
		const char *word = funcs_of(&t, &user);
		const struct func *other = NULL;
		const bool have = !t.source || (word ? have_funcs(funcs, word, user, &other) : sources_have_needed(sources, t.source));

		if (have && other)
			log_warn("%s: --trigger %s: %s of %s is recorded, too, and fires it as well", command, t.word, other->name,
				    other->where ?: "the kernel");
		if (have)
			continue;
		if (word)
			log_error("%s: --trigger %s: what it is about %shas another name (kfxt list -%c '%s')", command, t.word,
				  user ? "" : "is taken out by -f !..., or ", user ? 'u' : 'f', word);
		else
			log_error("%s: --trigger %s: the event it needs is excluded by -e !... (remove one of the two)", command, t.word);
		return EXIT_USAGE;
	}
	return EXIT_OK;
}

/* ---- files ------------------------------------------------------------------------------ */

/* What does not go together. */
static int check(const struct archive_opts *opts, const char *command, const char *output)
{
	const char *why = NULL;

	if (opts->rotate && opts->keep)
		why = "--rotate and --keep exclude each other: what is kept in memory is in no file";
	else if (!opts->keep && opts->triggers.cnt)
		why = "--trigger needs --keep (--keep 30s)";
	else if (!opts->triggers.cnt && (opts->after || opts->cooldown || opts->hook))
		why = "--after, --cooldown and --on-trigger need --trigger";
	else if (!opts->rotate && !opts->keep && (opts->max_files || opts->max_total))
		why = "--max-files and --max-total need --rotate or --keep";
	else if ((opts->rotate || opts->keep) && !strcmp(output, "-"))
		why = opts->keep ? "--keep needs files (-o 'trace-%Y%m%dT%H%M%SZ-%t.fxt')"
				 : "--rotate needs files (-o 'trace-%Y%m%dT%H%M%SZ.fxt')";
	if (why)
		log_error("%s: %s", command, why);
	return why ? EXIT_USAGE : EXIT_OK;
}

/*
 * What fires is known up to half a second later, and its file is made --after that: for so long the window holds it. By default
 * what is possible.
 */
static int check_after(const struct archive_opts *opts, const char *command, struct recorder_keep *keep)
{
	const uint64_t spare_ns = keep->age_ns < 2 * SPARE_NS ? keep->age_ns / 2 : SPARE_NS;
	const uint64_t most_ns = keep->age_ns ? keep->age_ns - spare_ns : INT64_MAX;	/* a time of day and that is still one */

	if (keep->after_ns <= most_ns)
		return EXIT_OK;
	if (opts->after) {
		log_error("%s: --after %s: at most %gs with --keep %s, or files lack what fired", command, opts->after, most_ns / 1e9,
			  opts->keep);
		return EXIT_USAGE;
	}
	keep->after_ns = most_ns;
	return EXIT_OK;
}

/* @out: NULL: only what is wrong is of interest. */
static int start_broker(const struct archive_opts *opts, const char *command, const char *output, struct broker **out)
{
	const struct broker_cfg cfg = {
		.pattern = output, .limits = { .files = opts->max_files, .bytes = opts->max_total }, .hook = opts->hook,
		.purposes = opts->triggers.items, .purposes_cnt = opts->triggers.cnt,
	};
	char why[BROKER_WHY_BYTES];
	int err;

	if (out)
		signal(SIGPIPE, SIG_IGN);
	err = out ? broker_open(out, &cfg, why, sizeof(why)) : broker_check(&cfg, why, sizeof(why));
	if (err)
		log_error("%s: -o %s: %s", command, output, why);
	return !err ? EXIT_OK : err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

int archive_opts_open(const struct archive_opts *opts, const char *command, const char *output, bool no_files,
		      struct recorder_cfg *out)
{
	struct bounds bounds;
	int code = check(opts, command, output);

	code = code ?: parse_triggers(opts, command, no_files, &out->keep);
	if (!code && opts->rotate) {
		code = parse_bounds(opts->rotate, "rotate", command, &rotate_min, &bounds);
		if (!no_files)
			out->rotation = (struct recorder_rotation){ bounds.ns, bounds.bytes };
	} else if (!code && opts->keep) {
		code = parse_bounds(opts->keep, "keep", command, &keep_min, &bounds);
		out->keep.age_ns = bounds.ns;
		out->keep.bytes = bounds.bytes;
		out->keep.no_files = no_files;
		code = code ?: check_after(opts, command, &out->keep);
	}
	if (!code && (opts->rotate || opts->keep))
		code = start_broker(opts, command, output, no_files ? NULL : &out->broker);
	if (!code)
		watch(out->keep.triggers, command);
	return code;
}

void archive_close(struct recorder_cfg *cfg)
{
	if (cfg->broker && broker_end(cfg->broker) == -ETIMEDOUT)
		log_info("the disk is still writing; kfxt-files ends when it has");
	archive_opts_show(cfg->broker);
	broker_close(cfg->broker);
	triggers_close(cfg->keep.triggers);
}

void archive_opts_show(struct broker *b)
{
	struct broker_notice n;
	char bytes[NUM_SIZE_TEXT];

	while (b && broker_next_notice(b, &n))
		switch (n.event) {
		case BROKER_DELETED:
			log_debug("%u file%s deleted, %s: %s%s", n.files, n.files == 1 ? "" : "s", num_size_text(n.bytes, bytes),
				  n.path, n.files == 1 ? "" : " the last");
			break;
		case BROKER_RECOVERED:
			log_info("%s: complete as far as it goes, of a recorder that was ended", n.path);
			break;
		case BROKER_LATE:
			log_info("%s: has its name now: it took long", n.path);
			break;
		case BROKER_NOT_DELETED:
			log_warn("%s: cannot be deleted: %s", n.path, n.why);
			break;
		default:
			log_warn("%s: %s", n.path, n.why);
			break;
		}
}

bool archive_opts_is_lost(const struct recorder_cfg *cfg, const char *command)
{
	if (!(cfg->keep.age_ns || cfg->keep.bytes) || !cfg->broker || !broker_has_ended(cfg->broker))
		return false;
	log_error("%s: the process that makes files (kfxt-files) has ended: the recording ends, as nothing of it could be written", command);
	return true;
}
