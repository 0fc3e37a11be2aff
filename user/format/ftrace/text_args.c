// SPDX-License-Identifier: GPL-2.0
/*
 * Arguments as text, and as FXT arguments with the type their text shows. All
 * text stays where it is: what is made here lives as long as the event.
 */
#include "import_p.h"

#include <stdlib.h>
#include <string.h>

static bool is_opening(char c)
{
	return c == '(' || c == '[' || c == '{';
}

/* A bracket that was opened before the text. */
static bool is_stray(struct model_text t, char open, char close)
{
	return t.len && t.data[t.len - 1] == close && !memchr(t.data, open, t.len);
}

static struct model_text text_trim(struct model_text t)
{
	while (t.len && (t.data[t.len - 1] == ' ' || t.data[t.len - 1] == ',' ||
			 t.data[t.len - 1] == '\n' || t.data[t.len - 1] == '\r'))
		t.len--;
	while (t.len && *t.data == ' ') {
		t.data++;
		t.len--;
	}
	return t;
}

/* ---- numbers --------------------------------------------------------------- */

struct number {
	bool negative, hex;
	uint64_t value;
	size_t digits;
};

static int digit_of(char c, bool hex)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (hex && c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return hex && c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The whole text is a number that fits in 64 bits: decimal, or hexadecimal after 0x. */
static bool parse_number(struct model_text t, bool hex, struct number *n)
{
	uint64_t base;
	int digit;

	*n = (struct number){ .hex = hex };
	if (t.len && *t.data == '-') {
		n->negative = true;
		t.data++;
		t.len--;
	}
	if (t.len > 2 && t.data[0] == '0' && (t.data[1] | 0x20) == 'x') {
		n->hex = true;
		t.data += 2;
		t.len -= 2;
	}
	base = n->hex ? 16 : 10;
	for (n->digits = 0; n->digits < t.len; n->digits++) {
		digit = digit_of(t.data[n->digits], n->hex);
		if (digit < 0 || n->value > (UINT64_MAX - (unsigned int)digit) / base)
			return false;
		n->value = n->value * base + (unsigned int)digit;
	}
	return n->digits && (!n->negative || n->value <= (uint64_t)INT64_MAX + 1);
}

/* "0x78 (120)" of field dumps: what is in parentheses; "2216692 [ns]": without the unit. */
static struct model_text number_part(struct model_text t)
{
	const char *open;

	if (t.len > 4 && t.data[t.len - 1] == ')' && t.data[0] == '0') {
		open = memchr(t.data, '(', t.len);
		if (open && open > t.data && open[-1] == ' ')
			return (struct model_text){
				open + 1, (size_t)(t.data + t.len - open) - 2 };
	}
	if (t.len > 5 && !memcmp(t.data + t.len - 5, " [ns]", 5))
		t.len -= 5;
	return t;
}

static int64_t signed_of(const struct number *n)
{
	return n->negative ? (int64_t)(0 - n->value) : (int64_t)n->value;
}

bool text_int(struct model_text text, int64_t *v)
{
	struct number n;

	if (!parse_number(number_part(text_trim(text)), false, &n) ||
	    (!n.negative && n.value > INT64_MAX))
		return false;
	*v = signed_of(&n);
	return true;
}

/* ---- one argument ---------------------------------------------------------- */

static struct fxt_arg arg_number(const struct number *n)
{
	if (n->negative)
		return signed_of(n) >= INT32_MIN ? fxt_arg_i32("", (int32_t)signed_of(n)) :
						   fxt_arg_i64("", signed_of(n));
	if (n->hex && n->digits > 8)
		return fxt_arg_ptr("", n->value);
	if (n->value <= INT32_MAX && !n->hex)
		return fxt_arg_i32("", (int32_t)n->value);
	if (n->value <= UINT32_MAX)
		return fxt_arg_u32("", (uint32_t)n->value);
	return n->value <= INT64_MAX ? fxt_arg_i64("", (int64_t)n->value) :
				       fxt_arg_u64("", n->value);
}

/* Fields the kernel prints in hexadecimal without saying so. */
static bool is_hex_key(struct model_text key)
{
	return (*key.data == 'c' || *key.data == 's') &&
	       (text_is(key, "clone_flags") ||
		text_is(key, "sa_handler") || text_is(key, "sa_flags"));
}

/* "1.5"; the C library's other forms (inf, 1e9, 0x1p3) are text. */
static bool parse_double(struct model_text t, double *v)
{
	bool dot = false, digit = false;
	char text[40];
	size_t i;

	if (!t.len || t.len >= sizeof(text))
		return false;
	for (i = t.data[0] == '-'; i < t.len; i++) {
		if (t.data[i] == '.' && !dot)
			dot = true;
		else if (digit_of(t.data[i], false) >= 0)
			digit = true;
		else
			return false;
	}
	if (!dot || !digit || t.data[t.len - 1] == '.')
		return false;
	memcpy(text, t.data, t.len);
	text[t.len] = 0;
	*v = strtod(text, NULL);
	return true;
}

static bool is_quoted(struct model_text t)
{
	return t.len >= 2 && t.data[0] == '"' && t.data[t.len - 1] == '"' &&
	       !memchr(t.data + 1, '"', t.len - 2);
}

/* A kernel pointer as %p prints it: sixteen digits, no prefix. */
static bool is_pointer(struct model_text t, struct number *n)
{
	return t.len == 16 && parse_number(t, true, n) && !n->negative && n->digits == 16;
}

/* What does not begin like a number. */
static struct fxt_arg arg_of_word(struct model_text value)
{
	struct number n;

	if (is_quoted(value))
		return fxt_arg_str("", fxt_str_inline(value.data + 1, value.len - 2));
	if (is_pointer(value, &n))
		return fxt_arg_ptr("", n.value);
	if (value.len && (*value.data == 't' || *value.data == 'f') &&
	    (text_is(value, "true") || text_is(value, "false")))
		return fxt_arg_bool("", *value.data == 't');
	return fxt_arg_str("", fxt_str_inline(value.data, value.len));
}

static struct fxt_arg arg_of_value(struct model_text key, struct model_text value)
{
	struct number n;
	double f;

	if (is_hex_key(key) && parse_number(value, true, &n))
		return n.digits > 8 ? fxt_arg_ptr("", n.value) : fxt_arg_u32("", (uint32_t)n.value);
	if (!value.len || (digit_of(*value.data, false) < 0 && *value.data != '-'))
		return arg_of_word(value);
	if (is_pointer(value, &n))
		return fxt_arg_ptr("", n.value);
	if (parse_number(number_part(value), false, &n))
		return arg_number(&n);
	if (parse_double(value, &f))
		return fxt_arg_f64("", f);
	return fxt_arg_str("", fxt_str_inline(value.data, value.len));
}

/* Of "vec=7 [action=SCHED]" the first value ends, and the second one too, before a bracket. */
static struct model_text trim_value(struct model_text t)
{
	t = text_trim(t);
	while (t.len > 1 && is_opening(t.data[t.len - 1]) && t.data[t.len - 2] == ' ') {
		t.len--;
		t = text_trim(t);
	}
	if (is_stray(t, '[', ']') || is_stray(t, '(', ')') || is_stray(t, '{', '}'))
		t.len--;
	return t;
}

struct fxt_arg arg_typed(struct model_text key, struct model_text value)
{
	struct fxt_arg arg = arg_of_value(key, trim_value(value));

	arg.name = fxt_str_n(key.data, key.len);
	return arg;
}

struct fxt_arg arg_return(struct model_text value)
{
	struct number n;

	value = text_trim(value);
	if (parse_number(value, false, &n))
		return fxt_arg_i64("ret", n.negative ? signed_of(&n) : (int64_t)n.value);
	return fxt_arg_str("ret", fxt_str_inline(value.data, value.len));
}

/* ---- key=value ------------------------------------------------------------- */

static bool is_key_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '-';
}

/* The start of a key that ends before @eq, or NULL: it follows a blank, or begins the text. */
static const char *key_before(const char *from, const char *eq)
{
	const char *at = eq;

	while (at > from && is_key_char(at[-1]))
		at--;
	if (at == eq || (*at >= '0' && *at <= '9') || *at == '-')
		return NULL;
	return at == from || at[-1] == ' ' || at[-1] == ',' || is_opening(at[-1]) ? at : NULL;
}

/* The next key at or after @from; *@eq is where its value begins, less one. */
static const char *next_key(const char *from, const char *end, char sign, const char **eq)
{
	const char *at = from, *key;

	while (at < end) {
		at = memchr(at, sign, (size_t)(end - at));
		if (!at)
			return NULL;
		key = key_before(from, at);
		if (key && (sign == '=' || (at + 1 < end && at[1] == ' '))) {
			*eq = at;
			return key;
		}
		at++;
	}
	return NULL;
}

/*
 * Skips a quoted value, which may hold anything. Those of system calls follow
 * the pointer they were read from: `filename: 0x35bb288 "/bin/tgen"`.
 */
static const char *skip_quoted(const char *at, const char *end, char sign)
{
	const char *stop = end, *quote;

	if (at >= end || (*at != '"' && sign == '='))
		return at;
	if (sign == ':') {
		stop = memchr(at, ',', (size_t)(end - at));
		stop = stop ? stop : end;
	}
	quote = memchr(at, '"', (size_t)(stop - at));
	if (quote)
		quote = memchr(quote + 1, '"', (size_t)(end - quote - 1));
	return quote ? quote : at;
}

/* Digits without a prefix are decimal to some kernels and hexadecimal to others: text. */
static bool is_ambiguous(struct model_text value)
{
	size_t i;

	value = text_trim(value);
	for (i = 0; i < value.len && digit_of(value.data[i], true) >= 0; i++)
		;
	return i == value.len && value.len > 1;
}

static void set_string(struct fxt_arg *arg, struct model_text value)
{
	arg->type = FXT_ARG_STRING;
	arg->str = fxt_str_inline(value.data, value.len);
}

/* "a=1 b=text with blanks c=2": a value reaches to the next key. */
static unsigned int parse_pairs(struct model_text text, char sign, struct fxt_arg *args)
{
	const char *end = text.data + text.len, *eq, *key, *next, *next_eq = NULL;
	unsigned int n = 0;

	key = next_key(text.data, end, sign, &eq);
	while (key && n < ARGS_TYPED) {
		const char *value = eq + 1;

		if (sign == ':' && value < end)
			value++;
		next = next_key(skip_quoted(value, end, sign), end, sign, &next_eq);
		if (n == ARGS_TYPED - 1)
			next = NULL;
		text = (struct model_text){ value, (size_t)((next ? next : end) - value) };
		args[n] = arg_typed((struct model_text){ key, (size_t)(eq - key) }, text);
		if (sign == ':' && is_ambiguous(text))
			set_string(&args[n], text_trim(text));
		n++;
		key = next;
		eq = next_eq;
	}
	return n;
}

/* Text in front of the first pair: where a probe sits, or words. */
static unsigned int add_head(struct model_text text, struct fxt_arg *args)
{
	const char *eq, *key = next_key(text.data, text.data + text.len, '=', &eq);
	struct model_text head = text_trim((struct model_text){
		text.data, key ? (size_t)(key - text.data) : text.len });

	if (!head.len || (head.len == 1 && *head.data == '('))
		return 0;
	args[0] = fxt_arg_str(*head.data == '(' ? "at" : "text",
			      fxt_str_inline(head.data, head.len));
	return 1;
}

unsigned int args_of(const struct ftrace_event *ev, struct fxt_arg *args)
{
	struct model_text text = text_trim(ev->args);
	unsigned int n;

	if (!text.len)
		return 0;
	if (!ev->complete || text.len > TEXT_BYTES_MAX) {
		args[0] = fxt_arg_str("text", fxt_str_inline(text.data, text.len < TEXT_BYTES_MAX ?
							     text.len : TEXT_BYTES_MAX));
		return 1;
	}
	n = add_head(text, args);
	return n + parse_pairs(text, '=', args + n);
}

unsigned int args_of_syscall(const struct ftrace_event *ev, struct model_text text,
			     struct fxt_arg *args)
{
	unsigned int n = 0;

	if (text.len > TEXT_BYTES_MAX)
		text.len = TEXT_BYTES_MAX;
	text = text_trim(text);
	if (ev->complete)
		n = parse_pairs(text, ':', args);
	if (!n && text.len) {
		args[0] = fxt_arg_str("args", fxt_str_inline(text.data, text.len));
		n = 1;
	}
	return n;
}

bool text_find(struct model_text text, const char *key, struct model_text *value)
{
	const char *end = text.data + text.len, *at = text.data, *eq, *next, *next_eq;
	size_t len = strlen(key);

	while ((at = next_key(at, end, '=', &eq))) {
		if ((size_t)(eq - at) == len && !memcmp(at, key, len)) {
			next = next_key(skip_quoted(eq + 1, end, '='), end, '=', &next_eq);
			*value = text_trim((struct model_text){
				eq + 1, (size_t)((next ? next : end) - eq - 1) });
			return true;
		}
		at = eq + 1;
	}
	return false;
}

/* The last place of @word in the text, or NULL. */
static const char *find_last(struct model_text text, const char *word)
{
	size_t len = strlen(word);
	const char *at = text.data + text.len;

	while (at > text.data) {
		at = memrchr(text.data, *word, (size_t)(at - text.data));
		if (!at)
			return NULL;
		if ((size_t)(text.data + text.len - at) >= len && !memcmp(at, word, len))
			return at;
	}
	return NULL;
}

bool text_between(struct model_text text, const char *key, const char *next,
		  struct model_text *value)
{
	const char *end = find_last(text, next), *at;

	if (!end)
		return false;
	text.len = (size_t)(end - text.data);
	at = find_last(text, key);
	if (!at)
		return false;
	at += strlen(key);
	*value = (struct model_text){ at, (size_t)(end - at) };
	return true;
}

bool text_last_int(const struct ftrace_event *ev, const char *key, int64_t *v)
{
	const char *end = ev->args.data + ev->args.len, *at = find_last(ev->args, key), *blank;

	if (!at)
		return false;
	at += strlen(key);
	blank = memchr(at, ' ', (size_t)(end - at));
	if (!blank && !ev->complete)
		return false;
	if (blank && end - blank > 1 && blank[1] == '(')	/* "0x1 (1)" */
		blank = memchr(blank + 1, ' ', (size_t)(end - blank - 1));
	return text_int((struct model_text){ at, (size_t)((blank ? blank : end) - at) }, v);
}

bool text_find_int(const struct ftrace_event *ev, const char *key, int64_t *v)
{
	struct model_text value;

	if (!text_find(ev->args, key, &value) || !text_int(value, v))
		return false;
	return ev->complete || value.data + value.len < ev->args.data + ev->args.len;
}
