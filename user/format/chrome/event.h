/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One event of Trace Event JSON: its members as they are in the text. Nothing is decoded before
 * it is used, for an event means something only once all its members are known.
 */
#ifndef FORMAT_CHROME_EVENT_H
#define FORMAT_CHROME_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CHROME_FIELDS_MAX	48	/* further unknown members are left out and counted */

enum chrome_key {
	CHROME_UNKNOWN,		/* another member: becomes an argument */
	CHROME_PH, CHROME_TS, CHROME_DUR, CHROME_TTS, CHROME_TDUR, CHROME_PID, CHROME_TID,
	CHROME_NAME, CHROME_CAT, CHROME_ID, CHROME_ID2, CHROME_SCOPE, CHROME_ARGS, CHROME_CNAME,
	CHROME_S, CHROME_BP, CHROME_BIND_ID, CHROME_FLOW_IN, CHROME_FLOW_OUT,
	CHROME_SF, CHROME_ESF, CHROME_STACK, CHROME_ESTACK,
	CHROME_KEY_CNT
};

enum chrome_type {
	CHROME_NONE,		/* the member is not there */
	CHROME_STRING,		/* the text between the quotes */
	CHROME_NUMBER,		/* by the grammar of JSON, as written */
	CHROME_TRUE, CHROME_FALSE, CHROME_NULL,
	CHROME_OBJECT, CHROME_ARRAY,	/* with their brackets; not looked into */
	CHROME_WORD,		/* NaN, Infinity, None and the like, which is not JSON */
};

/* A text of the event, by its place in it. */
struct chrome_span {
	uint32_t at, len;
};

struct chrome_field {
	uint8_t key;		/* enum chrome_key */
	uint8_t type;		/* enum chrome_type */
	bool escaped;		/* a string with backslashes in it */
	bool name_escaped;
	struct chrome_span name;	/* of the member, without quotes; of a known one it is empty */
	struct chrome_span value;
};

struct chrome_event {
	const char *text;	/* from its opening bracket on; the scanner's, until the next event */
	uint32_t len;
	uint32_t fields_cnt;
	uint32_t duplicates;	/* members that came again: the last one counts */
	uint32_t dropped;	/* unknown members beyond CHROME_FIELDS_MAX */
	bool escaped;		/* a known member is a string with backslashes in it */
	bool has_unknown;	/* fields of CHROME_UNKNOWN */
	uint64_t offset;	/* in the input */
	uint64_t number;	/* of the elements of the event list, from 1 */
	uint8_t at[CHROME_KEY_CNT];	/* index + 1 of a known member; 0: there is none */
	struct chrome_field fields[CHROME_FIELDS_MAX];
	/* Of the events split before: the member that came after one of that key; any will do. */
	uint8_t followed[CHROME_KEY_CNT];
};

enum chrome_parse {
	CHROME_WHOLE,		/* an event, of event->len bytes */
	CHROME_MORE,		/* the data end before the event does */
	CHROME_DAMAGED,		/* see *@bad_at and *@reason */
};

/*
 * Splits the object that begins at @data[0]. @data[@len] must be a quote and CHROME_PAD_BYTES
 * must be readable from there. Offset and number are left alone. *@bad_at: where in @data it is
 * no JSON; *@reason: a static string.
 */
enum chrome_parse chrome_event_parse(struct chrome_event *event, const char *data, size_t len,
				     size_t *bad_at, const char **reason);

/*
 * Type of the JSON value from @p on if it is a number or a word, CHROME_NONE: it is neither; and where it
 * ends: at a blank, a quote, a bracket, a comma or a colon, one of which must follow.
 */
enum chrome_type chrome_scalar(const char *p, const char **end);

/* The member, or NULL. */
static inline const struct chrome_field *chrome_field(const struct chrome_event *e, enum chrome_key key)
{
	return e->at[key] ? &e->fields[e->at[key] - 1] : NULL;
}

/* Whether it has one of those that few events have: what flows and stacks are written with. */
static inline bool chrome_has_rare(const struct chrome_event *e)
{
	uint64_t indexes;

	_Static_assert(CHROME_ESTACK - CHROME_BP + 1 == sizeof(indexes), "bp to estack are eight");
	memcpy(&indexes, &e->at[CHROME_BP], sizeof(indexes));
	return indexes;
}

static inline const char *chrome_text(const struct chrome_event *e, struct chrome_span span)
{
	return e->text + span.at;
}

#endif
