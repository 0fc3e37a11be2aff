// SPDX-License-Identifier: GPL-2.0
/*
 * Parsing triggers. A word is NAME SIGN VALUE, then selectors, each after a colon.
 */
#include "word.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup_name.h"
#include "base/glob.h"
#include "base/num.h"
#include "base/redact.h"
#include "threads.h"

#define MILLION			1000000ULL
#define WINDOW_MIN_NS		100000000ULL
#define WINDOW_MAX_NS		3600000000000ULL
#define VALUE_BYTES		64	/* more digits than any time has */
#define CONTAINER_DIGITS	64U
#define CONTAINER_DIGITS_MIN	12U
#define SELECTORS		"comm=GLOB, cgroup=DIR, container=ID, unit=GLOB, pid=N"

static int parse_threshold(struct trigger_word *w, const char *text, const char *end, const char **reason);
static int parse_share(struct trigger_word *w, const char *text, const char *end, const char **reason);
static int parse_irq(struct trigger_word *w, const char *text, const char *end, const char **reason);
static int parse_call(struct trigger_word *w, const char *text, const char *end, const char **reason);
static int parse_log(struct trigger_word *w, const char *text, const char *end, const char **reason);
static int parse_mark(struct trigger_word *w, const char *text, const char *end, const char **reason);
static int parse_event(struct trigger_word *w, const char *text, const char *end, const char **reason);
static int parse_exit(struct trigger_word *w, const char *text, const char *end, const char **reason);
static int parse_psi(struct trigger_word *w, const char *text, const char *end, const char **reason);

struct kind;
static const char *find_selector(const struct kind *kind, const char *text);
static const char *all_of_it(const struct kind *kind, const char *text);
static const char *end_of_event(const struct kind *kind, const char *text);

/* What each kind is. */
static const struct kind {
	const char *name;
	char sign;
	bool selects;	/* threads, by selectors */
	/* Of the value that begins here: where it ends, and selectors begin. */
	const char *(*end)(const struct kind *kind, const char *text);
	const char *example;
	/* The value, which ends at @end: 0, -ENOMEM or -EINVAL with *@reason. */
	int (*parse)(struct trigger_word *w, const char *text, const char *end, const char **reason);
} kinds[TRIGGER_KIND_CNT] = {
	[TRIGGER_RUNQ] = { "runq", '>', true, find_selector, "runq>5ms", parse_threshold },
	[TRIGGER_OFFCPU] = { "offcpu", '>', true, find_selector, "offcpu>1s", parse_threshold },
	[TRIGGER_BLOCKED] = { "blocked", '>', true, find_selector, "blocked>2s", parse_threshold },
	[TRIGGER_SLICE] = { "slice", '>', true, find_selector, "slice>50ms", parse_threshold },
	[TRIGGER_BUSY] = { "busy", '>', false, find_selector, "busy>95%/10s", parse_share },
	[TRIGGER_IDLE] = { "idle", '>', false, find_selector, "idle>99%/10s", parse_share },
	[TRIGGER_IRQ] = { "irq", '>', false, find_selector, "irq>1ms", parse_irq },
	[TRIGGER_SYSCALL] = { "syscall", ':', true, find_selector, "syscall:fsync>100ms", parse_call },
	[TRIGGER_FUNC] = { "func", ':', true, find_selector, "func:vfs_read>10ms", parse_call },
	[TRIGGER_LOG] = { "log", '~', false, all_of_it, "log~soft lockup", parse_log },
	[TRIGGER_MARK] = { "mark", '=', false, all_of_it, "mark=request late", parse_mark },
	[TRIGGER_EVENT] = { "event", '=', true, end_of_event, "event=oom:mark_victim", parse_event },
	[TRIGGER_EXIT] = { "exit", ':', true, find_selector, "exit:comm=db*", parse_exit },
	[TRIGGER_PSI] = { "psi", ':', false, find_selector, "psi:memory:some>150ms/1s", parse_psi },
};

/* "WORD: REASON" */
__attribute__((format(printf, 4, 5)))
static int fail(const char *word, char *why, size_t size, const char *format, ...)
{
	va_list args;
	int len;

	if (!size)
		return -EINVAL;
	len = snprintf(why, size, "%.80s: ", word);
	if (len < 0 || (size_t)len >= size)
		return -EINVAL;
	va_start(args, format);
	vsnprintf(why + len, size - (size_t)len, format, args);
	va_end(args);
	return -EINVAL;
}

static int fail_kind(const char *word, char *why, size_t size)
{
	char names[160] = "";
	size_t i, len = 0;

	for (i = 0; i < TRIGGER_KIND_CNT; i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "", kinds[i].name);
	return fail(word, why, size, "unknown trigger (there are %s)", names);
}

/* The part of @text up to @end as a string; false: too long. */
static bool copy_part(char part[VALUE_BYTES], const char *text, const char *end)
{
	const size_t len = (size_t)(end - text);

	if (len >= VALUE_BYTES)
		return false;
	memcpy(part, text, len);
	part[len] = 0;
	return true;
}

/* A time with a unit: a bare number would be seconds here and milliseconds to many. */
static int parse_time(const char *text, const char *end, uint64_t *ns, const char **reason)
{
	char part[VALUE_BYTES];
	int err;

	*reason = "after a colon comes a selector: " SELECTORS;
	if (memchr(text, ':', (size_t)(end - text)))
		return -EINVAL;
	*reason = "not a time";
	if (!copy_part(part, text, end))
		return -EINVAL;
	err = num_parse_duration(part, ns, reason);
	if (err)
		return -EINVAL;
	*reason = "a time needs a unit: ns, us, ms, s, m or h";
	if (strspn(part, "0123456789.") == strlen(part))
		return -EINVAL;
	*reason = "a time above 0 is needed";
	return *ns ? 0 : -EINVAL;
}

/* "95" or "99.95", in millionths. */
static int parse_percent(const char *text, const char *end, uint64_t *millionths)
{
	char part[VALUE_BYTES];
	unsigned int digits = 0;
	uint64_t value = 0;
	const char *s = part;
	bool point = false;

	if (!copy_part(part, text, end) || !*s || *s == '.')
		return -EINVAL;
	for (; *s; s++) {
		if (*s == '.' && !point && s[1]) {
			point = true;
			continue;
		}
		if (*s < '0' || *s > '9' || (point && ++digits > 4) || value > 100 * MILLION)
			return -EINVAL;
		value = value * 10 + (uint64_t)(*s - '0');
	}
	for (; digits < 4; digits++)
		value *= 10;
	*millionths = value;
	return value && value < MILLION ? 0 : -EINVAL;
}

/* "95%/10s" */
static int parse_share(struct trigger_word *w, const char *text, const char *end, const char **reason)
{
	const char *percent = memchr(text, '%', (size_t)(end - text));

	*reason = "not a share such as 95%/10s";
	if (!percent || percent[1] != '/')
		return -EINVAL;
	*reason = "the share must be above 0% and below 100%, with 4 digits after the point at most";
	if (parse_percent(text, percent, &w->threshold))
		return -EINVAL;
	if (parse_time(percent + 2, end, &w->window_ns, reason))
		return -EINVAL;
	*reason = "the window must be from 100ms to 1h, in steps of 10ns";
	if (w->window_ns < WINDOW_MIN_NS || w->window_ns > WINDOW_MAX_NS || w->window_ns % 10)
		return -EINVAL;
	return 0;
}

/* ---- selectors -------------------------------------------------------------------- */

static bool is_name(const char *text, size_t len, const char *name)
{
	return len == strlen(name) && !memcmp(text, name, len);
}

/* The selectors that need no value. */
static bool is_exit(const char *name, size_t len)
{
	return is_name(name, len, "signal") || is_name(name, len, "code");
}

/*
 * A colon begins a selector only if a name and '=' follow, or one that needs no value: names of threads have colons,
 * too.
 */
static const char *find_selector(const struct kind *kind, const char *text)
{
	const char *colon, *after;
	size_t len;

	for (colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
		len = strspn(colon + 1, "abcdefghijklmnopqrstuvwxyz");
		after = colon + 1 + len;
		if (len && (*after == '=' || (kind == &kinds[TRIGGER_EXIT] && (!*after || *after == ':') && is_exit(colon + 1, len))))
			return colon;
	}
	return text + strlen(text);
}

/* Also its colons. */
static const char *all_of_it(const struct kind *kind, const char *text)
{
	(void)kind;
	return text + strlen(text);
}

/* Of "SYSTEM:NAME" or "SYSTEM:NAME/FILTER/": a filter may have colons and slashes. */
static const char *end_of_event(const struct kind *kind, const char *text)
{
	const char *colon = strchr(text, ':'), *at = colon ? strpbrk(colon + 1, "/:") : NULL;
	bool is_quoted = false;

	if (!at || *at == ':')
		return at ?: text + strlen(text);
	while (*++at) {
		is_quoted ^= *at == '"';
		if (!is_quoted && *at == '/' && (!at[1] || (at[1] == ':' && find_selector(kind, at + 1) == at + 1)))
			return at + 1;
	}
	return at;
}

static int set_text(char **field, const char *text, size_t len, const char **reason)
{
	*reason = "a selector is given twice";
	if (*field)
		return -EINVAL;
	*field = strndup(text, len);
	return *field ? 0 : -ENOMEM;
}

static int parse_comm(struct trigger_word *w, const char *text, size_t len, const char **reason)
{
	const int err = set_text(&w->comm, text, len, reason);

	if (err)
		return err;
	*reason = "comm= matches nothing, thread names have at most 15 characters";
	return glob_least_bytes(w->comm) < THREAD_COMM_BYTES ? 0 : -EINVAL;
}

/* A path of the hierarchy or, as kfxt record --cgroup takes it, its directory. */
static int parse_cgroup(struct trigger_word *w, const char *text, size_t len, const char **reason)
{
	const char *below;
	int err;

	while (len && text[len - 1] == '/')
		len--;
	err = set_text(&w->cgroup, text, len, reason);
	if (err)
		return err;
	*reason = "cgroup= takes a path that begins with /, as in /proc/PID/cgroup";
	if (*text != '/')
		return -EINVAL;
	below = cgroup_below_mount(w->cgroup);
	*reason = "cgroup= takes a path of the cgroup v2 hierarchy, which is not mounted there";
	if (!below)
		return strncmp(w->cgroup, "/sys/", 5) ? 0 : -EINVAL;
	memmove(w->cgroup, below, strlen(below) + 1);
	return 0;
}

/* As many digits as say which, as runtimes print them. */
static int parse_container(struct trigger_word *w, const char *text, size_t len, const char **reason)
{
	*reason = "container= takes an id, or its first 12 digits or more";
	if (len < CONTAINER_DIGITS_MIN || len > CONTAINER_DIGITS || strspn(text, "0123456789abcdef") < len)
		return -EINVAL;
	return set_text(&w->container, text, len, reason);
}

static int parse_pid(struct trigger_word *w, const char *text, size_t len, const char **reason)
{
	char part[VALUE_BYTES];

	*reason = "a selector is given twice";
	if (w->has_pid)
		return -EINVAL;
	*reason = "pid= takes the id of a process";
	if (!copy_part(part, text, text + len) || num_parse_u64(part, &w->pid, NULL) || !w->pid)
		return -EINVAL;
	w->has_pid = true;
	return 0;
}

/* "11", "SEGV" or "SIGSEGV"; 0: none of these. */
static int signal_of(const char *text, size_t len)
{
	char part[VALUE_BYTES];
	const char *name = part;
	uint64_t number;
	int i;

	if (!copy_part(part, text, text + len))
		return 0;
	if (!num_parse_u64(part, &number, NULL))
		return number < (uint64_t)NSIG ? (int)number : 0;
	name += strncmp(name, "SIG", 3) ? 0 : 3;
	for (i = 1; i < NSIG; i++)
		if (sigabbrev_np(i) && !strcmp(name, sigabbrev_np(i)))
			return i;
	return 0;
}

/* "signal", "signal=SEGV", "code" or "code=3"; @len: of the value, 0: there is none. */
static int parse_exit_by(struct trigger_word *w, bool by_signal, const char *value, size_t len, const char **reason)
{
	char part[VALUE_BYTES];
	uint64_t code;

	*reason = "an exit has one signal or one code";
	if (w->exit)
		return -EINVAL;
	w->exit = by_signal ? TRIGGER_EXIT_SIGNAL : TRIGGER_EXIT_CODE;
	w->exit_value = -1;
	if (!len)
		return 0;
	*reason = by_signal ? "signal= takes a signal: SEGV, SIGSEGV or 11" : "code= takes a number from 0 to 255";
	if (by_signal) {
		w->exit_value = signal_of(value, len);
		return w->exit_value ? 0 : -EINVAL;
	}
	if (!copy_part(part, value, value + len) || num_parse_u64(part, &code, NULL) || code > 255)
		return -EINVAL;
	w->exit_value = (int)code;
	return 0;
}

/* From a colon on, up to @end. */
static int parse_selector(struct trigger_word *w, const char *colon, const char *end, const char **reason)
{
	const char *name = colon + 1, *sign = memchr(name, '=', (size_t)(end - name)), *value = sign ? sign + 1 : end;
	const size_t name_len = (size_t)((sign ?: end) - name), len = (size_t)(end - value);

	*reason = "a selector has no value";
	if (sign && !len)
		return -EINVAL;
	if (is_name(name, name_len, "comm"))
		return parse_comm(w, value, len, reason);
	if (is_name(name, name_len, "cgroup"))
		return parse_cgroup(w, value, len, reason);
	if (is_name(name, name_len, "container"))
		return parse_container(w, value, len, reason);
	if (is_name(name, name_len, "unit"))
		return set_text(&w->unit, value, len, reason);
	if (is_name(name, name_len, "pid"))
		return parse_pid(w, value, len, reason);
	if (w->kind == TRIGGER_EXIT && is_exit(name, name_len))
		return parse_exit_by(w, *name == 's', value, len, reason);
	*reason = w->kind == TRIGGER_EXIT ? "unknown selector (there are :" SELECTORS ", signal and code)"
					  : "unknown selector (there are :" SELECTORS ")";
	return -EINVAL;
}

static int parse_selectors(struct trigger_word *w, const char *text, const char **reason)
{
	const char *end;
	int err = 0;

	if (*text && !kinds[w->kind].selects) {
		*reason = "this trigger is about no thread and takes no selectors";
		return -EINVAL;
	}
	for (; !err && *text; text = end) {
		end = find_selector(&kinds[w->kind], text + 1);
		err = parse_selector(w, text, end, reason);
	}
	return err;
}

/* ---- kinds -------------------------------------------------------------------------- */

static int parse_threshold(struct trigger_word *w, const char *text, const char *end, const char **reason)
{
	return parse_time(text, end, &w->threshold, reason);
}

static int set_source(struct trigger_word *w, const char *source, const char *name)
{
	if (asprintf(&w->source, "%s%s", source, name) >= 0)
		return 0;
	w->source = NULL;
	return -ENOMEM;
}

static int parse_irq(struct trigger_word *w, const char *text, const char *end, const char **reason)
{
	return parse_time(text, end, &w->threshold, reason) ?: set_source(w, "irq", "");
}

/* "NAME" or, of a program, "PATH:NAME", in w->text. */
static int set_function(struct trigger_word *w, const char **reason)
{
	const char *colon = strrchr(w->text, ':');
	int err = set_source(w, colon ? "user:" : "func:", w->text);

	*reason = "a function of a program is PATH:NAME, and a USDT probe has no length";
	if (colon && (!strncmp(w->text, "usdt:", 5) || colon == w->text || !colon[1]))
		return -EINVAL;
	if (colon)
		memmove(w->text, colon + 1, strlen(colon + 1) + 1);
	return err;
}

/* "NAME>100ms" */
static int parse_call(struct trigger_word *w, const char *text, const char *end, const char **reason)
{
	const char *sign = memrchr(text, '>', (size_t)(end - text));
	int err;

	*reason = "a name is needed, then '>' and a time";
	if (!sign || sign == text)
		return -EINVAL;
	err = parse_time(sign + 1, end, &w->threshold, reason);
	if (err)
		return err;
	w->text = strndup(text, (size_t)(sign - text));
	if (!w->text)
		return -ENOMEM;
	return w->kind == TRIGGER_FUNC ? set_function(w, reason) : set_source(w, "syscalls:", w->text);
}

static const char *regex_reason(int err)
{
	static const struct {
		int err;
		const char *text;
	} reasons[] = {
		{ REG_EBRACK, "the regular expression has a [ without a ]" },
		{ REG_EPAREN, "the regular expression has a parenthesis without its other half" },
		{ REG_EBRACE, "the regular expression has a { without a }" },
		{ REG_BADRPT, "the regular expression has nothing to repeat before *, + or ?" },
		{ REG_EESCAPE, "the regular expression ends with a backslash" },
	};
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].err == err)
			return reasons[i].text;
	return "not an extended regular expression of POSIX";
}

static int parse_log(struct trigger_word *w, const char *text, const char *end, const char **reason)
{
	int err;

	*reason = "a regular expression is needed";
	if (text == end)
		return -EINVAL;
	*reason = redact_refuses(text);
	if (*reason)
		return -EINVAL;
	w->text = strdup(text);
	w->regex = calloc(1, sizeof(*w->regex));
	if (!w->text || !w->regex)
		return -ENOMEM;
	err = regcomp(w->regex, text, REG_EXTENDED | REG_NOSUB);
	if (!err)
		return set_source(w, "log", "");
	free(w->regex);
	w->regex = NULL;
	*reason = regex_reason(err);
	return err == REG_ESPACE ? -ENOMEM : -EINVAL;
}

static int parse_mark(struct trigger_word *w, const char *text, const char *end, const char **reason)
{
	*reason = "the text of the marker is needed, or a glob";
	if (text == end)
		return -EINVAL;
	w->text = strdup(text);
	return w->text ? set_source(w, "marker", "") : -ENOMEM;
}

/* "SYSTEM:NAME" or "SYSTEM:NAME/FILTER/", as kfxt record -e takes it; the kernel evaluates the filter. */
static int parse_event(struct trigger_word *w, const char *text, const char *end, const char **reason)
{
	const char *filter = memchr(text, '/', (size_t)(end - text)) ?: end, *colon = memchr(text, ':', (size_t)(filter - text));

	*reason = "not a tracepoint such as oom:mark_victim or sched:sched_process_exec/pid > 1000/";
	if (!colon || colon == text || colon + 1 == filter || memchr(text, '*', (size_t)(filter - text)))
		return -EINVAL;
	if (filter != end && (end - filter < 3 || end[-1] != '/'))
		return -EINVAL;
	*reason = "of a system call the tracepoints are syscalls:sys_enter_NAME and syscalls:sys_exit_NAME; the whole of it is syscall:NAME>TIME";
	if (!strncmp(text, "syscalls:", 9) && strncmp(colon + 1, "sys_enter_", 10) != 0 && strncmp(colon + 1, "sys_exit_", 9) != 0)
		return -EINVAL;
	w->text = strndup(text, (size_t)(filter - text));
	w->source = strndup(text, (size_t)(end - text));
	return w->text && w->source ? 0 : -ENOMEM;
}

/* All of it is selectors, the first of which follows the sign. */
static int parse_exit(struct trigger_word *w, const char *text, const char *end, const char **reason)
{
	(void)w;
	*reason = "after exit: a selector is needed: " SELECTORS ", signal, code";
	return text == end && *end ? 0 : -EINVAL;
}

/* "some>150ms/1s", "full>150ms/1s" */
static int parse_stall(struct trigger_word *w, const char *text, const char *end, const char **reason)
{
	const char *slash = memchr(text, '/', (size_t)(end - text));
	int err;

	*reason = "after the resource comes :some>TIME/WINDOW or :full>TIME/WINDOW";
	w->is_full = !strncmp(text, "full>", 5);
	if (!slash || (!w->is_full && strncmp(text, "some>", 5) != 0))
		return -EINVAL;
	err = parse_time(text + 5, slash, &w->threshold, reason) ?: parse_time(slash + 1, end, &w->window_ns, reason);
	if (err)
		return err;
	*reason = "the window must be from 500ms to 10s, and longer than the time";
	return w->window_ns < 500000000 || w->window_ns > 10000000000 || w->threshold >= w->window_ns ? -EINVAL : 0;
}

/* "memory:some>150ms/1s" */
static int parse_psi(struct trigger_word *w, const char *text, const char *end, const char **reason)
{
	static const char *const resources[] = { "cpu", "memory", "io" };
	size_t i;

	for (i = 0; i < sizeof(resources) / sizeof(resources[0]); i++) {
		const size_t len = strlen(resources[i]);

		/* "io:some=x" has a selector in place of the stall. */
		if ((size_t)(end - text) <= len || strncmp(text, resources[i], len) != 0 || text[len] != ':')
			continue;
		w->text = strdup(resources[i]);
		return w->text ? parse_stall(w, text + len + 1, end, reason) : -ENOMEM;
	}
	*reason = "after psi: comes a resource: cpu, memory or io";
	return -EINVAL;
}

/* ---- the whole ---------------------------------------------------------------------- */

int trigger_word_parse(struct trigger_word *out, const char *word, char *why, size_t size)
{
	const size_t name_len = strspn(word, "abcdefghijklmnopqrstuvwxyz");
	struct trigger_word w = { .kind = 0 };
	const char *value, *end, *reason = "";
	const struct kind *kind;
	int err;

	for (kind = kinds; kind < kinds + TRIGGER_KIND_CNT; kind++)
		if (strlen(kind->name) == name_len && !memcmp(kind->name, word, name_len))
			break;
	if (kind == kinds + TRIGGER_KIND_CNT)
		return fail_kind(word, why, size);
	if (word[name_len] != kind->sign)
		return fail(word, why, size, "after %s comes '%c', as in %s", kind->name, kind->sign, kind->example);
	w.kind = (enum trigger_kind)(kind - kinds);
	w.name = kind->name;
	/* The colon of `exit` begins its first selector. */
	value = word + name_len + (w.kind == TRIGGER_EXIT ? 0 : 1);
	end = kind->end(kind, value);
	err = kind->parse(&w, value, end, &reason);
	if (!err)
		err = parse_selectors(&w, end, &reason);
	if (!err) {
		w.word = strdup(word);
		err = w.word ? 0 : -ENOMEM;
	}
	if (err) {
		trigger_word_fini(&w);
		return err == -EINVAL ? fail(word, why, size, "%s", reason) : err;
	}
	*out = w;
	return 0;
}

void trigger_word_fini(struct trigger_word *w)
{
	free(w->word);
	free(w->comm);
	free(w->cgroup);
	free(w->container);
	free(w->unit);
	free(w->text);
	free(w->source);
	if (w->regex)
		regfree(w->regex);
	free(w->regex);
	*w = (struct trigger_word){ .kind = 0 };
}

bool trigger_word_selects_cgroup(const struct trigger_word *w)
{
	return w->cgroup || w->container || w->unit;
}

/* That directory, or one below it. */
static bool is_below(const char *dir, const char *path)
{
	const size_t len = strlen(dir);

	return !strncmp(path, dir, len) && (!path[len] || path[len] == '/');
}

static bool is_unit(const char *glob, struct cgroup_part unit)
{
	char name[VALUE_BYTES * 4];

	if (!unit.len || unit.len >= sizeof(name))
		return false;
	memcpy(name, unit.text, unit.len);
	name[unit.len] = 0;
	return glob_match(glob, name);
}

bool trigger_word_has_cgroup(const struct trigger_word *w, const char *path)
{
	const struct cgroup_part container = w->container ? cgroup_container(path) : (struct cgroup_part){ 0 };

	if (w->cgroup && !is_below(w->cgroup, path))
		return false;
	if (w->container && (!container.len || strncmp(container.text, w->container, strlen(w->container)) != 0))
		return false;
	return !w->unit || is_unit(w->unit, cgroup_unit(path));
}
