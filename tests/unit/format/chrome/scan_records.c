// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the events that the scanner finds in files of Trace Event JSON, for a judge:
 *
 *	file ERROR-OR-NOTHING
 *	event OFFSET NUMBER
 *	TYPE NAME VALUE		in hexadecimal; strings without quotes and escapes, all else as in the file
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/chrome/scan.h"
#include "format/chrome/value.h"

static const char *const keys[CHROME_KEY_CNT] = {
	[CHROME_PH] = "ph", [CHROME_TS] = "ts", [CHROME_DUR] = "dur", [CHROME_PID] = "pid", [CHROME_TID] = "tid",
	[CHROME_NAME] = "name", [CHROME_CAT] = "cat", [CHROME_ID] = "id", [CHROME_ID2] = "id2", [CHROME_SCOPE] = "scope",
	[CHROME_ARGS] = "args", [CHROME_S] = "s", [CHROME_BP] = "bp", [CHROME_TTS] = "tts", [CHROME_TDUR] = "tdur",
	[CHROME_BIND_ID] = "bind_id", [CHROME_FLOW_IN] = "flow_in", [CHROME_FLOW_OUT] = "flow_out", [CHROME_CNAME] = "cname",
	[CHROME_SF] = "sf", [CHROME_ESF] = "esf", [CHROME_STACK] = "stack", [CHROME_ESTACK] = "estack",
};

static long read_file(void *ctx, void *buf, size_t len)
{
	return (long)fread(buf, 1, len, ctx);
}

static void print_hex(const char *data, size_t len)
{
	putchar(' ');
	for (; len; len--)
		printf("%02x", (unsigned char)*data++);
}

static void print_decoded(const char *data, size_t len)
{
	char *text = malloc(len + 1);
	uint64_t bad = 0;

	if (!text)
		abort();
	print_hex(text, chrome_string_decode(data, len, text, len, &bad));
	free(text);
}

static void print_field(const struct chrome_event *e, const struct chrome_field *f)
{
	printf("%s", f->type == CHROME_STRING ? "string" : f->type == CHROME_NUMBER ? "number" : "other");
	if (f->key == CHROME_UNKNOWN)
		print_decoded(chrome_text(e, f->name), f->name.len);
	else
		print_hex(keys[f->key], strlen(keys[f->key]));
	if (f->type == CHROME_STRING)
		print_decoded(chrome_text(e, f->value), f->value.len);
	else
		print_hex(chrome_text(e, f->value), f->value.len);
	putchar('\n');
}

static int print_events(const char *path)
{
	struct chrome_event *event = malloc(sizeof(*event));
	struct chrome_scan_counts counts;
	struct chrome_member member;
	FILE *file = fopen(path, "rb");
	struct chrome_scan *s;
	uint32_t i;
	int item;

	if (!file || !event || chrome_scan_open(&s, read_file, file))
		return 1;
	while ((item = chrome_scan_next(s, event, &member)) > 0) {
		if (item != CHROME_EVENT)
			continue;
		printf("event %llu %llu\n", (unsigned long long)event->offset, (unsigned long long)event->number);
		for (i = 0; i < event->fields_cnt; i++)
			print_field(event, &event->fields[i]);
	}
	chrome_scan_counts(s, &counts);
	printf("file %s\n", counts.problem ? counts.problem : counts.damaged ? "damaged" : "");
	chrome_scan_close(s);
	fclose(file);
	free(event);
	return item != 0;
}

int main(int argc, char **argv)
{
	int i, code = argc < 2;

	for (i = 1; i < argc && !code; i++)
		code = print_events(argv[i]);
	return code;
}
