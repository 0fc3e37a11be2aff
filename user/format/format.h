/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a format can do: a reader turns bytes into events and gives them to the trace builder, a
 * writer turns the FXT records that this makes of them into bytes. Neither knows files, nor the
 * other.
 */
#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct builder;
struct event_stats;
struct json;

/* Bytes of the input: the number read, 0 at the end, or -errno. */
typedef long (*format_read_fn)(void *ctx, void *buf, size_t len);
/* The same at an offset of the input, in any order and as often as it is called. */
typedef long (*format_read_at_fn)(void *ctx, void *buf, size_t len, uint64_t offset);
/* Bytes of the output: 0 or -errno. */
typedef int (*format_write_fn)(void *ctx, const void *data, size_t len);
#define READER_UNPARSED_KEPT	10

struct reader_cfg {
	const char *form;		/* one of reader_ops.forms; NULL: by content */
	format_read_fn read;
	format_read_at_fn read_at;	/* NULL: the input can be read once only */
	void *read_ctx;			/* of both */
	struct builder *builder;	/* takes the events; an error of it ends the reading */
	bool statistics;		/* count in detail, for reader_ops.stats */
	format_write_fn record;		/* takes the FXT records of a reader that makes them */
	void *record_ctx;
};

/* Whether the first bytes of an input are of a format. */
enum format_sniff {
	FORMAT_NO,
	FORMAT_MAYBE,			/* nothing speaks against it */
	FORMAT_YES,
};

/* What was in the input; what a format does not have is 0. */
struct reader_counts {
	const char *wrapper;		/* what it was: "text", "gzip, HTML with viewer-data"; the reader's */
	const char *problem;		/* static string: what is damaged, NULL if nothing; reading went on */
	uint64_t problem_offset;	/* in the input */
	uint64_t problem_event;		/* the event that the input ends in, from 1; 0: none */
	const char *foreign, *foreign_hint;	/* another format than this: its name, what to do with it; NULL */
	const char *expected;		/* "not ...", of what is foreign; NULL: reader_ops.about */
	bool foreign_is_guess;		/* it was read all the same */
	uint64_t texts, skipped_blocks, trace_events;	/* pieces read; left out; JSON events left out */
	uint64_t bytes, lines, records, comments, blanks, continuation_lines;
	uint64_t lost_notices, lost_events;
	uint64_t shifted_s;		/* all times are shown so much later, as there were negative ones */
	uint64_t damaged;		/* stretches of FXT that are no records */
	uint64_t in_two_files;		/* records of FXT that another file of its recording has as well, left out */
	uint64_t unparsed;
	struct {
		uint64_t line;		/* or number of the event, if there are no lines */
		uint64_t offset;	/* in the input, of damage in an event; else 0 */
		const char *reason;	/* static string */
	} first_unparsed[READER_UNPARSED_KEPT];
	char left_out[256];	/* events without a meaning here, by kind, and other parts, as text; "" if there are none */
	const struct event_stats *event_stats;	/* of text, if reader_cfg.statistics; lives as long as the reader */
};

struct reader_ops {
	const char *name;		/* of the provider in the trace, too */
	const char *about;		/* in messages: "not ..." */
	const char *const *forms;	/* what --input-format may say, ended by NULL */
	const char *const *suffixes;	/* of names of files that are likely of it, ended by NULL */
	bool makes_records;		/* it hands out FXT records, not events */
	/* What input is that begins with these bytes: at least 256, unless it is shorter. */
	enum format_sniff (*sniff)(const void *head, size_t len);
	/* Nothing is read yet. 0 or -errno. */
	int (*open)(void **reader, const struct reader_cfg *cfg);
	/* Reads a piece and hands out its events: 1, 0 when that was the last, or -errno of any function. */
	int (*read)(void *reader);
	void (*counts)(const void *reader, struct reader_counts *counts);
	/* Writes more members of an object that is open: what only this format has. NULL: nothing. */
	void (*stats)(const void *reader, struct json *j);
	void (*close)(void *reader);	/* NULL is fine */
};

/* Where data go, and what is asked of them. */
struct writer_cfg {
	format_write_fn write;
	void *ctx;
	const char *sched;		/* one of writer_ops.scheds */
	const char *stacks;		/* one of writer_ops.sources; NULL: not said */
};

struct writer_ops {
	const char *name;
	const char *const *suffixes;	/* ".fxt": of files that are written in it, ended by NULL */
	bool writes_fxt;		/* whole records: the output may be cut between them */
	/* How scheduling can be written, ended by NULL: the first to a file, the second to a pipe. NULL: one way only. */
	const char *const *scheds;
	/* It writes the stack samples of one of these sources, ended by NULL. NULL: it writes all that is in a trace. */
	const char *const *sources;
	bool is_gzip;			/* files of it are always compressed */
	/* 0 or -errno */
	int (*open)(void **writer, const struct writer_cfg *cfg);
	/* Takes whole FXT records, any number of them: an fxt_write_fn. */
	int (*record)(void *writer, const void *records, size_t len);
	/* Records taken that the format has no place for, of all kinds. NULL: there are none. */
	uint64_t (*left_out)(const void *writer);
	/* Of a writer with sources: the one it writes, NULL if there are no samples of it; @several: of others, too. */
	const char *(*source)(const void *writer, bool *several);
	/*
	 * How many of the @i'th kind, and what such records are called: "modules", one "module". Their sum is
	 * left_out(). *@one is NULL beyond the last kind. NULL: kinds are not distinguished.
	 */
	uint64_t (*left_out_kind)(const void *writer, unsigned int i, const char **one, const char **many);
	/* Writes what ends the output, and closes. 0 or -errno. NULL is fine. */
	int (*close)(void *writer);
};

#endif
