// SPDX-License-Identifier: GPL-2.0
/*
 * A pattern becomes a list of parts once; making a name and matching one are walks over it.
 */
#include "name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NUMBER_DIGITS	10
#define TEMP_BYTES	(sizeof(NAME_TEMP) - 1)

enum part_kind {
	PART_TEXT,
	PART_YEAR, PART_MONTH, PART_DAY, PART_HOUR, PART_MINUTE, PART_SECOND,
	PART_PURPOSE,
	PART_NUMBER,	/* "-N" or nothing */
};

struct part {
	enum part_kind kind;
	const char *text;	/* of PART_TEXT, borrowed; @len bytes */
	size_t len;
};

struct name_pattern {
	char *dir, *text;
	char host[NAME_PART_MAX + 1];
	unsigned int cnt, seen;		/* parts; bits of their kinds */
	size_t tail;			/* bytes of names after the number */
	struct part parts[NAME_MAX + 2];
};

static const char conversions[] = "%Y %m %d %H %M %S %t %h %%";

static unsigned int digits_of(enum part_kind kind)
{
	return kind == PART_YEAR ? 4 : 2;
}

/* ---- words in names --------------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_plain(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("_.+=-", c));
}

static bool is_temp(const char *name, size_t len)
{
	return len >= TEMP_BYTES && !memcmp(name + len - TEMP_BYTES, NAME_TEMP, TEMP_BYTES);
}

const char *name_clean(const char *text, char part[NAME_PART_MAX + 1])
{
	size_t len = 0;

	for (; *text && len < NAME_PART_MAX; text++)
		if (is_plain(*text) && *text != '-' && (len || *text != '.'))
			part[len++] = *text;
		else if (len && part[len - 1] != '-')
			part[len++] = '-';
	while (len && part[len - 1] == '-')
		len--;
	if (is_temp(part, len))
		part[len - TEMP_BYTES] = '-';
	part[len] = 0;
	return len ? part : strcpy(part, "trace");
}

static void find_host(char host[NAME_PART_MAX + 1])
{
	char name[HOST_NAME_MAX + 1] = "";

	if (gethostname(name, sizeof(name) - 1))
		name[0] = 0;
	name_clean(name[0] ? name : "localhost", host);
}

/* ---- parsing ------------------------------------------------------------------------ */

static void add_part(struct name_pattern *p, enum part_kind kind, const char *text, size_t len)
{
	if (kind == PART_TEXT && !len)
		return;
	p->parts[p->cnt++] = (struct part){ kind, text, len };
	p->seen |= 1U << kind;
}

/* Is %H, after the parts that there are and before @rest, the hour? */
static bool is_hour(const struct name_pattern *p, const char *rest)
{
	const struct part *last = p->cnt ? &p->parts[p->cnt - 1] : NULL;

	if (!strncmp(rest, "%M", 2) || (*rest && *rest != '%' && !strncmp(rest + 1, "%M", 2)))
		return true;
	if (last && last->kind == PART_TEXT && last->len == 1 && *last->text == 'T')
		last = p->cnt > 1 ? last - 1 : NULL;
	return last && last->kind == PART_DAY;
}

/* Adds the part for the conversion @c, which ends before @rest. False: it is not known. */
static bool add_conversion(struct name_pattern *p, char c, const char *rest)
{
	static const struct { char c; enum part_kind kind; } kinds[] = {
		{ 'Y', PART_YEAR }, { 'm', PART_MONTH }, { 'd', PART_DAY }, { 'M', PART_MINUTE }, { 'S', PART_SECOND },
		{ 't', PART_PURPOSE },
	};
	size_t i;

	if (c == '%')
		add_part(p, PART_TEXT, "%", 1);
	else if (c == 'H' && is_hour(p, rest))
		add_part(p, PART_HOUR, NULL, 0);
	else if (c == 'H' || c == 'h')
		add_part(p, PART_TEXT, p->host, strlen(p->host));
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].c == c)
			add_part(p, kinds[i].kind, NULL, 0);
	return c && strchr("%HhYmdMSt", c);
}

static int parse(struct name_pattern *p, const char *text, char *why, size_t size)
{
	const char *next;
	bool purpose;

	for (; *(next = strchrnul(text, '%')); text = next + 2) {
		add_part(p, PART_TEXT, text, next - text);
		purpose = p->seen & (1U << PART_PURPOSE);
		if (purpose && next[1] == 't') {
			snprintf(why, size, "%%t: may be there once only");
			return -EINVAL;
		}
		if (!add_conversion(p, next[1], next + 2)) {
			snprintf(why, size, "%.2s: not known in the name of a file (%s)", next, conversions);
			return -EINVAL;
		}
	}
	add_part(p, PART_TEXT, text, strlen(text));
	return 0;
}

/* How much of @len bytes is before the extension, ".fxt" or ".fxt.zst". */
static size_t stem_bytes(const char *text, size_t len)
{
	static const char *const compressed[] = { ".gz", ".zst" };
	size_t i, n;

	for (i = 0; i < sizeof(compressed) / sizeof(*compressed); i++) {
		n = strlen(compressed[i]);
		if (len >= n && !memcmp(text + len - n, compressed[i], n))
			len -= n;
	}
	for (i = len; i; i--)
		if (text[i - 1] == '.')
			return i - 1;
	return len;
}

/* The number is before the extension, if the pattern ends with one. */
static void add_number(struct name_pattern *p)
{
	struct part last = p->parts[p->cnt - 1];
	size_t stem;

	if (last.kind != PART_TEXT || last.text < p->text || last.text > p->text + strlen(p->text)) {
		add_part(p, PART_NUMBER, NULL, 0);
		return;
	}
	stem = stem_bytes(last.text, last.len);
	p->cnt--;
	p->tail = last.len - stem;
	add_part(p, PART_TEXT, last.text, stem);
	add_part(p, PART_NUMBER, NULL, 0);
	add_part(p, PART_TEXT, last.text + stem, last.len - stem);
}

/* Copies directory and name; a name without conversions gets a time. */
static int copy_text(struct name_pattern *p, const char *text)
{
	const char *slash = strrchr(text, '/'), *name = slash ? slash + 1 : text;
	const size_t stem = stem_bytes(name, strlen(name));

	if (!slash)
		p->dir = strdup(".");
	else
		p->dir = strndup(text, slash == text ? 1 : slash - text);
	if (strchr(name, '%'))
		p->text = strdup(name);
	else if (asprintf(&p->text, "%.*s-%%Y%%m%%dT%%H%%M%%SZ%s", (int)stem, name, name + stem) < 0)
		p->text = NULL;
	return p->dir && p->text ? 0 : -ENOMEM;
}

/* The longest name there can be. */
static int check_length(const struct name_pattern *p, char *why, size_t size)
{
	char purpose[NAME_PART_MAX + 1], base[NAME_MAX + 1], name[NAME_MAX + 1];
	const struct name_facts facts = { .purpose = purpose };

	memset(purpose, 'x', NAME_PART_MAX);
	purpose[NAME_PART_MAX] = 0;
	if (!name_make(p, &facts, base) && !name_add_number(p, base, UINT_MAX, name))
		return 0;
	snprintf(why, size, "the name is too long");
	return -EINVAL;
}

static int check_text(const char *text, char *why, size_t size)
{
	const char *slash = strrchr(text, '/'), *percent = strchr(text, '%');
	const char *problem = NULL;

	if (!*text || (slash && !slash[1]))
		problem = "no name of a file";
	else if (!strcmp(text, "-"))
		problem = "stdout is one file: several need names";
	else if (percent && slash && percent < slash)
		problem = "%: only in the name of the file, not in that of its directory";
	else if (is_temp(text, strlen(text)))
		problem = "ends with " NAME_TEMP ", as the names of files that are not complete";
	else if (strlen(slash ? slash : text) > NAME_MAX / 2)
		problem = "the name is too long";
	if (problem)
		snprintf(why, size, "%s", problem);
	return problem ? -EINVAL : 0;
}

int name_pattern_open(struct name_pattern **out, const char *text, char *why, size_t size)
{
	struct name_pattern *p;
	int err = check_text(text, why, size);

	if (err)
		return err;
	p = calloc(1, sizeof(*p));
	err = p ? copy_text(p, text) : -ENOMEM;
	if (!err) {
		find_host(p->host);
		err = parse(p, p->text, why, size);
	}
	if (!err) {
		add_number(p);
		err = check_length(p, why, size);
	}
	if (err) {
		name_pattern_close(p);
		return err;
	}
	*out = p;
	return 0;
}

const char *name_pattern_dir(const struct name_pattern *p)
{
	return p->dir;
}

bool name_pattern_has_date(const struct name_pattern *p)
{
	const unsigned int date = 1U << PART_YEAR | 1U << PART_MONTH | 1U << PART_DAY;

	return (p->seen & date) == date;
}

void name_pattern_close(struct name_pattern *p)
{
	if (!p)
		return;
	free(p->dir);
	free(p->text);
	free(p);
}

/* ---- making ------------------------------------------------------------------------- */

static int number_of(const struct tm *tm, enum part_kind kind)
{
	switch (kind) {
	case PART_YEAR:
		return tm->tm_year + 1900;
	case PART_MONTH:
		return tm->tm_mon + 1;
	case PART_DAY:
		return tm->tm_mday;
	case PART_HOUR:
		return tm->tm_hour;
	case PART_MINUTE:
		return tm->tm_min;
	default:
		return tm->tm_sec;
	}
}

/* The text of a part; that of all but PART_TEXT is made in @buf. */
static struct part text_of(const struct part *part, const struct name_facts *facts, const struct tm *tm,
			   char buf[NAME_PART_MAX + 1])
{
	buf[0] = 0;
	if (part->kind == PART_TEXT)
		return *part;
	if (part->kind == PART_PURPOSE)
		name_clean(facts->purpose ?: "", buf);
	else if (part->kind != PART_NUMBER)
		snprintf(buf, NAME_PART_MAX + 1, "%0*d", digits_of(part->kind), number_of(tm, part->kind));
	return (struct part){ PART_TEXT, buf, strlen(buf) };
}

int name_make(const struct name_pattern *p, const struct name_facts *facts, char name[NAME_MAX + 1])
{
	char buf[NAME_PART_MAX + 1];
	struct part part;
	unsigned int i;
	size_t len = 0;
	struct tm tm;

	if (!gmtime_r(&facts->when, &tm) || tm.tm_year < -1900 || tm.tm_year > 9999 - 1900)
		return -EINVAL;
	for (i = 0; i < p->cnt; i++) {
		part = text_of(&p->parts[i], facts, &tm, buf);
		if (len + part.len + TEMP_BYTES > NAME_MAX)
			return -EINVAL;
		memcpy(name + len, part.text, part.len);
		len += part.len;
	}
	name[len] = 0;
	return is_temp(name, len) ? -EINVAL : 0;
}

int name_add_number(const struct name_pattern *p, const char *base, unsigned int number, char name[NAME_MAX + 1])
{
	const size_t stem = strlen(base) - p->tail;
	int len = snprintf(name, NAME_MAX + 1, "%.*s-%u%s", (int)stem, base, number, base + stem);

	return len + TEMP_BYTES > NAME_MAX ? -ENAMETOOLONG : 0;
}

void name_strip_number(const struct name_pattern *p, const char *name, char base[NAME_MAX + 1])
{
	const size_t stem = strlen(name) - p->tail;
	size_t digits = 0;

	while (digits < NUMBER_DIGITS && digits < stem && is_digit(name[stem - digits - 1]))
		digits++;
	if (digits && digits < stem && name[stem - digits - 1] == '-') {
		snprintf(base, NAME_MAX + 1, "%.*s%s", (int)(stem - digits - 1), name, name + stem);
		if (name_matches(p, base))
			return;
	}
	snprintf(base, NAME_MAX + 1, "%s", name);
}

/* ---- matching ------------------------------------------------------------------------ */

/* How many digits @text begins with, at most @max. */
static size_t count_digits(const char *text, size_t max)
{
	size_t n = 0;

	while (n < max && is_digit(text[n]))
		n++;
	return n;
}

static bool match(const struct part *part, const struct part *end, const char *name);

/* The text for %t has any length: each is tried. */
static bool match_purpose(const struct part *part, const struct part *end, const char *name)
{
	size_t n;

	for (n = 0; n < NAME_PART_MAX && is_plain(name[n]); n++)
		if (match(part + 1, end, name + n + 1))
			return true;
	return false;
}

/* A number is "-N", without leading zeros, or is not there. */
static bool match_number(const struct part *part, const struct part *end, const char *name)
{
	if (match(part + 1, end, name))
		return true;
	return name[0] == '-' && name[1] != '0' && count_digits(name + 1, NUMBER_DIGITS) &&
	       match(part + 1, end, name + 1 + count_digits(name + 1, NUMBER_DIGITS));
}

static bool match(const struct part *part, const struct part *end, const char *name)
{
	size_t n;

	for (; part < end; part++) {
		if (part->kind == PART_PURPOSE)
			return match_purpose(part, end, name);
		if (part->kind == PART_NUMBER)
			return match_number(part, end, name);
		n = part->kind == PART_TEXT ? part->len : digits_of(part->kind);
		if (part->kind == PART_TEXT ? strncmp(name, part->text, n) : count_digits(name, n) != n)
			return false;
		name += n;
	}
	return !*name;
}

bool name_matches(const struct name_pattern *p, const char *name)
{
	return !is_temp(name, strlen(name)) && match(p->parts, p->parts + p->cnt, name);
}
