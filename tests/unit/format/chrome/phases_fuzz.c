// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer over the meaning of Trace Event JSON: the input chooses members, values and order of
 * events that are always JSON, so that most runs get past the scanner. What must hold is in
 * chrome_pipe.h; the scanner has a fuzzer of its own, json.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chrome_pipe.h"

#define EVENTS_MAX	60U
#define EVENT_BYTES	4096U	/* at most, with all members */
#define PIECE_BYTES	50U	/* smaller ones are the scanner's fuzzer's */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__ubsan_default_options(void);

/* What is undefined is a finding, too. */
const char *__ubsan_default_options(void)
{
	return "halt_on_error=1:print_stacktrace=1";
}

struct choices {
	const uint8_t *at, *end;
};

static unsigned int pick(struct choices *c, unsigned int cnt)
{
	return c->at < c->end ? *c->at++ % cnt : 0;
}

#define PICK(c, table)	((table)[pick(c, sizeof(table) / sizeof((table)[0]))])

static const char *const phases[] = {
	"X", "B", "E", "i", "C", "b", "e", "n", "S", "F", "T", "p", "s", "t", "f", "N", "O", "D", "M", "P", "I", "R",
	"V", "v", "c", "(", ")", "=", "a", "Q", "\\u0058", "",
};
static const char *const ids[] = {
	"1", "\"1\"", "2", "-1", "0", "18446744073709551616", "1.0", "\"0x1\"", "null", "\"\"", "\"main\"", "{}", "true", "[1]",
};
static const char *const times[] = {
	"0", "1", "1.5", "1.0004", "\"2\"", "10", "1e3", "-1", "-9223372036854775.807", "9223372036854775.807", "1e30", "null",
	"\"\"", "1700000000123456.789", "-0", "0.0005", "9223372036854775.808", "{}",
};
static const char *const names[] = {
	"\"a\"", "\"b\"", "\"\\u0061\"", "\"\"", "null", "17", "\"process_name\"", "\"thread_name\"", "\"Running\"", "\"S\"",
	"\"process_sort_index\"", "\"\\ud83d\\ude00\\ud800\"", "\"\\q\\\"\\\\\"", "[\"c\",\"d\"]", "\"input\"", "NaN",
};
static const char *const args[] = {
	"{}", "{\"name\":\"n\",\"sort_index\":3}", "{\"cpu\":0}", "{\"cpu\":1,\"v\":1.5}", "{\"v\":\"3\",\"w\":18446744073709551615}",
	"{\"a\":{\"b\":[1,{\"c\":null}]}}", "{\"a\":[", "[1]", "\"__stripped__\"", "null", "{\"a\":NaN,\"b\":1e400}", "{\"\":{\"\":[]}}",
	"{\"1\":1,\"2\":2,\"3\":3,\"4\":4,\"5\":5,\"6\":6,\"7\":7,\"8\":8,\"9\":9,\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7}",
	"{\"name\":1}", "{\"x\":-0.0,\"y\":9007199254740993.5,\"z\":-9223372036854775808}",
};
static const char *const bools[] = { "true", "false", "1" };
static const char *const words[] = { "\"g\"", "\"p\"", "\"t\"", "\"e\"", "1" };

static size_t put(char *out, const char *key, const char *value)
{
	return (size_t)sprintf(out, ",\"%s\":%s", key, value);
}

/* A member; those that most events have are added more often. */
static size_t put_member(struct choices *c, char *out)
{
	char id2[64];

	switch (pick(c, 20)) {
	case 0: case 1: return put(out, "id", PICK(c, ids));
	case 2: snprintf(id2, sizeof(id2), "{\"%s\":%s}", pick(c, 2) ? "local" : "global", PICK(c, ids));
		return put(out, "id2", id2);
	case 3: case 4: case 5: return put(out, "dur", PICK(c, times));
	case 6: case 7: case 8: return put(out, "args", PICK(c, args));
	case 9: return put(out, "cat", PICK(c, names));
	case 10: return put(out, "bind_id", PICK(c, ids));
	case 11: return put(out, "flow_in", PICK(c, bools));
	case 12: return put(out, "flow_out", PICK(c, bools));
	case 13: return put(out, "bp", PICK(c, words));
	case 14: return put(out, "s", PICK(c, words));
	case 15: return put(out, "tts", PICK(c, times));
	case 16: return put(out, "scope", PICK(c, names));
	case 17: return put(out, "stack", PICK(c, args));
	case 18: return put(out, "own", PICK(c, args));
	default: return put(out, "sf", PICK(c, ids));
	}
}

static size_t put_event(struct choices *c, char *out)
{
	size_t n = (size_t)sprintf(out, "{\"ph\":\"%s\"", PICK(c, phases));
	unsigned int more;

	n += put(out + n, "name", PICK(c, names));
	n += put(out + n, "ts", PICK(c, times));
	n += put(out + n, "pid", PICK(c, ids));
	n += put(out + n, "tid", PICK(c, ids));
	for (more = pick(c, 8); more; more--)
		n += put_member(c, out + n);
	return n + (size_t)sprintf(out + n, "},\n");
}

static void check(const char *text, size_t len, size_t chunk, struct chrome_pipe *p)
{
	chrome_pipe_run(p, text, len, chunk, NULL);
	if (!p->broken)
		return;
	fprintf(stderr, "not so: %s (err %d)\n%.*s\n", p->broken, p->out.err, (int)len, text);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[EVENTS_MAX * EVENT_BYTES + 2];
	struct choices c = { data, data + size };
	struct chrome_pipe whole, pieces;
	unsigned int events;
	size_t len = 0;

	text[len++] = '[';
	for (events = 0; c.at < c.end && events < EVENTS_MAX; events++)
		len += put_event(&c, text + len);
	check(text, len, SIZE_MAX, &whole);
	check(text, len, PIECE_BYTES + size % 97, &pieces);
	if (whole.out.fxt_len != pieces.out.fxt_len || memcmp(whole.out.fxt, pieces.out.fxt, whole.out.fxt_len) != 0) {
		fprintf(stderr, "read in pieces it is another trace\n%.*s\n", (int)len, text);
		abort();
	}
	chrome_pipe_free(&whole);
	chrome_pipe_free(&pieces);
	return 0;
}
