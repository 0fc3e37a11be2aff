// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the kernel's log: records of /dev/kmsg, the joining of what was printed with
 * them, escapes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "bpf/abi/log.h"
#include "bpf/abi/raw.h"
#include "base/redact.h"
#include "format/perfetto/packets.h"
#include "fxt/fxt.h"
#include "kernel/kmsg.h"
#include "source/log.h"
#include "cli/cli_made.h"

/* ---- /dev/kmsg ------------------------------------------------------------------- */

static struct kmsg parsed(const char *record)
{
	static char buf[1024];
	size_t len = strlen(record);
	struct kmsg k;

	memcpy(buf, record, len + 1);
	assert_true(kmsg_parse(buf, len, &k));
	return k;
}

static void test_kmsg(void **state)
{
	struct kmsg k = parsed("12,339,5140900,-;one \\xc3\\xa4 \\x5c two\n");

	(void)state;
	assert_int_equal(k.level, 4);
	assert_int_equal(k.facility, 1);
	assert_int_equal(k.seq, 339);
	assert_true(k.ts_us == 5140900);
	assert_int_equal(k.len, 12);
	assert_string_equal(k.text, "one \xc3\xa4 \\ two");
	assert_int_equal(k.pairs_cnt, 0);
	k = parsed("6,1,2,c,caller=T1,more;a\\x0ab\n SUBSYSTEM=acpi\n DEVICE=+acpi:\\x01\n");
	assert_string_equal(k.text, "a\nb");
	assert_int_equal(k.pairs_cnt, 2);
	assert_string_equal(k.pairs[0].key, "SUBSYSTEM");
	assert_string_equal(k.pairs[0].value, "acpi");
	assert_string_equal(k.pairs[1].key, "DEVICE");
	assert_string_equal(k.pairs[1].value, "+acpi:\x01");
	k = parsed("0,18446744073709551615,0,-;");
	assert_int_equal(k.len, 0);
	assert_true(k.seq == UINT64_MAX);
	assert_string_equal(kmsg_level_name(k.level), "emerg");
	/* no escapes, though nearly */
	k = parsed("191,1,2,-;\\x4 \\xg0 \\x\n no pair\n");
	assert_string_equal(k.text, "\\x4 \\xg0 \\x");
	assert_string_equal(kmsg_facility_name(k.facility), "local7");
	assert_int_equal(k.pairs_cnt, 0);
	assert_null(kmsg_facility_name(12));
	assert_null(kmsg_facility_name(31));
	assert_null(kmsg_level_name(8));
}

static void test_kmsg_damaged(void **state)
{
	static const char *const records[] = { "", ";", "6;x", "6,;x", "6,x,2;x", "x,1,2;x", "6,1;2,x", "6,1,2,-" };
	static const char whole[] = "6,1,2,-;text \\x41 \\x4\n KEY=\\x42\n K=\n =v\n";
	char buf[64];
	struct kmsg k;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		strcpy(buf, records[i]);
		assert_false(kmsg_parse(buf, strlen(buf), &k));
	}
	/* cut anywhere, on the heap for the sanitizers */
	for (i = 0; i < sizeof(whole); i++) {
		char *copy = malloc(i + 1);

		assert_non_null(copy);
		memcpy(copy, whole, i);
		if (kmsg_parse(copy, i, &k))
			assert_true(k.len <= i && strlen(k.text) == k.len);
		free(copy);
	}
}

/* ---- escapes ----------------------------------------------------------------------- */

static void assert_escaped(const char *text, size_t len, const char *wanted)
{
	char buf[256];
	size_t got = kmsg_escape(buf, text, len);

	buf[got] = 0;
	assert_string_equal(buf, wanted);
}

static void test_escape(void **state)
{
	(void)state;
	assert_escaped("plain \xc3\xa4\n\t\\n", 12, "plain \xc3\xa4\n\t\\n");
	assert_escaped("\xff\xc3", 2, "\\xff\\xc3");
	assert_escaped("a\0b\x1b[1m\x7f", 8, "a\\x00b\\x1b[1m\\x7f");
	/* what looks like one of ours */
	assert_escaped("\\x41 \\ \\", 8, "\\x5cx41 \\ \\");
	assert_escaped("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");
	assert_escaped("", 0, "");
}

/* ---- joining ------------------------------------------------------------------------ */

/* A FIFO in place of /dev/kmsg: what is written at once is read at once, if it is alone in there. */
struct fixture {
	char dir[32], path[64];
	int fifo;
	struct made m;
	struct logs *logs;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->dir, "/tmp/kfxt-logs-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/kmsg", f->dir);
	assert_int_equal(mkfifo(f->path, 0600), 0);
	f->fifo = open(f->path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	assert_true(f->fifo >= 0);
	made_begin(&f->m);
	assert_int_equal(logs_open(&f->logs, f->m.w, NULL, NULL, f->path), 0);
	*state = f;
	return 0;
}

static int kmsg_err(const struct fixture *f)
{
	struct logs_counts counts;

	logs_counts(f->logs, &counts);
	return counts.kmsg_err;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	logs_close(f->logs);
	made_close(&f->m);
	made_free(&f->m);
	close(f->fifo);
	unlink(f->path);
	rmdir(f->dir);
	free(f);
	return 0;
}

static void print_piece(struct fixture *f, uint64_t ts, uint64_t thread, const char *text, bool interrupt)
{
	uint64_t rec[LOG_TEXT + LOG_TEXT_BYTES / 8] = { 0 };
	const size_t len = strlen(text);

	rec[RAW_HEADER] = RAW_RECORD(RAW_LOG, LOG_TEXT + (len + 7) / 8);
	rec[RAW_TS] = ts;
	rec[RAW_PROCESS] = 1;
	rec[RAW_THREAD] = thread;
	rec[LOG_LEN] = len | (interrupt ? LOG_INTERRUPT : 0);
	memcpy(rec + LOG_TEXT, text, len);
	assert_int_equal(logs_take(f->logs, rec), 0);
}

static void kmsg(struct fixture *f, const char *record, uint64_t now_ns)
{
	assert_true(write(f->fifo, record, strlen(record)) == (ssize_t)strlen(record));
	assert_int_equal(logs_read(f->logs, now_ns), 0);
	assert_int_equal(logs_write(f->logs, now_ns), 0);
}

/* One log record is "ts thread text" and, by its instant, "level"; all of them, a line each. */
static void assert_lines(struct fixture *f, const char *wanted)
{
	char text[4096] = "", line[2048];
	struct fxt_record rec;
	struct fxt_reader *r;

	assert_int_equal(fxt_writer_flush(f->m.w), 0);
	f->m.at = 0;
	assert_int_equal(fxt_reader_open(&r, made_read, &f->m), 0);
	while (fxt_reader_next(r, &rec) > 0) {
		const struct fxt_arg *level;

		if (rec.kind == FXT_KIND_LOG) {
			snprintf(line, sizeof(line), "%llu %llu %.*s", (unsigned long long)rec.ts,
				 (unsigned long long)rec.log.thread.thread, (int)rec.log.text.len, rec.log.text.data);
			strcat(text, line);
		} else if (rec.kind == FXT_KIND_EVENT) {
			level = fxt_record_arg(&rec, "level");
			snprintf(line, sizeof(line), " %.*s\n", level ? (int)level->str.len : 1,
				 level ? level->str.data : "-");
			strcat(text, line);
		}
	}
	fxt_reader_close(r);
	assert_string_equal(text, wanted);
}

static void test_join(void **state)
{
	struct fixture *f = *state;
	struct logs_counts counts;

	print_piece(f, 200, 7, "second", false);
	print_piece(f, 100, 8, "first", false);	/* of another CPU */
	kmsg(f, "6,1,0,-;first\n", 0);
	kmsg(f, "3,2,0,-;second\n", 0);
	assert_lines(f, "100 8 first info\n200 7 second err\n");
	logs_counts(f->logs, &counts);
	assert_int_equal(counts.lines, 2);
	assert_int_equal(counts.bare, 0);
	assert_int_equal(counts.unwritten, 0);
	assert_int_equal(counts.kmsg_err, 0);
}

static void test_fragments(void **state)
{
	struct fixture *f = *state;
	struct logs_counts counts;

	print_piece(f, 100, 7, "one ", false);
	print_piece(f, 110, 8, "other", false);
	print_piece(f, 115, 7, "in between", true);
	print_piece(f, 120, 7, "two ", false);
	print_piece(f, 130, 7, "", false);
	print_piece(f, 140, 7, "three", false);
	kmsg(f, "4,1,0,-;other\n", 0);
	kmsg(f, "5,2,0,-;in between\n", 0);
	kmsg(f, "6,3,0,-;one two three\n", 0);
	assert_lines(f, "110 8 other warning\n115 7 in between notice\n100 7 one two three info\n");
	logs_counts(f->logs, &counts);
	assert_int_equal(counts.lines, 3);
}

/* pr_cont("\n") hands over an empty string: the end of a line, which is no line of its own. */
static void test_ends_of_lines(void **state)
{
	struct fixture *f = *state;
	struct logs_counts counts;

	print_piece(f, 100, 7, "one ", false);
	print_piece(f, 110, 7, "two", false);
	print_piece(f, 120, 7, "", false);
	print_piece(f, 130, 7, "Code", false);
	print_piece(f, 140, 8, "", false);	/* an empty line */
	kmsg(f, "6,1,0,-;one two\n", 0);
	kmsg(f, "3,2,0,-;Code\n", 0);
	kmsg(f, "5,3,0,-;\n", 0);
	assert_int_equal(logs_write(f->logs, UINT64_MAX), 0);
	assert_lines(f, "100 7 one two info\n130 7 Code err\n140 8  notice\n");
	logs_counts(f->logs, &counts);
	assert_int_equal(counts.lines, 3);
	assert_int_equal(counts.bare, 0);
	assert_int_equal(counts.unwritten, 0);
}

/* More of them than pieces are looked at. */
static void test_many_ends(void **state)
{
	struct fixture *f = *state;
	struct logs_counts counts;
	uint64_t i;

	for (i = 0; i < 100; i++) {
		print_piece(f, 10 * i, 100 + i, "x", false);
		print_piece(f, 10 * i + 1, 100 + i, "", false);
		kmsg(f, "6,1,0,-;x\n", 0);
	}
	logs_counts(f->logs, &counts);
	assert_int_equal(counts.lines, 100);
	assert_int_equal(counts.bare, 0);
}

/* Empty lines of a thread that printed another line before, beside the end of a line of another thread. */
static void test_empty_lines(void **state)
{
	struct fixture *f = *state;

	print_piece(f, 100000, 7, "one", false);
	print_piece(f, 110000, 8, "two", false);
	print_piece(f, 120000, 8, "", false);	/* the end of "two" */
	print_piece(f, 130000, 8, "three", false);
	print_piece(f, 240000, 7, "", false);
	print_piece(f, 350000, 7, "", false);
	kmsg(f, "6,1,100,-;one\n", 0);
	kmsg(f, "6,2,110,-;two\n", 0);
	kmsg(f, "6,3,130,-;three\n", 0);
	kmsg(f, "6,4,240,-;\n", 0);
	kmsg(f, "6,5,350,-;\n", 0);
	assert_int_equal(logs_write(f->logs, UINT64_MAX), 0);
	assert_lines(f, "100000 7 one info\n110000 8 two info\n130000 8 three info\n240000 7  info\n350000 7  info\n");
}

/* The end of a line that is printed after an empty one, both from before the recorder reads /dev/kmsg. */
static void test_empty_line_by_time(void **state)
{
	struct fixture *f = *state;

	print_piece(f, 5001000, 7, "begin", false);
	print_piece(f, 5101000, 7, "", false);		/* empty, and the next of that thread after a line */
	print_piece(f, 5201000, 8, "crash", false);
	print_piece(f, 5202000, 8, "", false);		/* the end of "crash" */
	print_piece(f, 5301000, 7, "", false);
	kmsg(f, "6,1,1000,-;begin\n", 0);
	kmsg(f, "6,2,1100,-;\n", 0);
	kmsg(f, "6,3,1200,-;crash\n", 0);
	kmsg(f, "6,4,1300,-;\n", 0);
	assert_int_equal(logs_write(f->logs, UINT64_MAX), 0);
	assert_lines(f, "5001000 7 begin info\n5101000 7  info\n5201000 8 crash info\n5301000 7  info\n");
}

/* The clock of /dev/kmsg stops while the machine sleeps. */
static void test_empty_line_after_suspend(void **state)
{
	const uint64_t hour = 3600000000000;
	struct fixture *f = *state;

	print_piece(f, 1001000, 7, "before", false);
	print_piece(f, hour + 1101000, 8, "after", false);
	print_piece(f, hour + 1102000, 8, "", false);	/* the end of "after" */
	print_piece(f, hour + 1201000, 7, "", false);
	kmsg(f, "6,1,1000,-;before\n", 0);
	kmsg(f, "6,2,1100,-;after\n", 0);
	kmsg(f, "6,3,1200,-;\n", 0);
	assert_int_equal(logs_write(f->logs, UINT64_MAX), 0);
	assert_lines(f, "1001000 7 before info\n3600001101000 8 after info\n3600001201000 7  info\n");
}

static void test_waiting(void **state)
{
	struct fixture *f = *state;
	struct logs_counts counts;

	/* the record first, by chance */
	print_piece(f, 100, 7, "x", false);
	kmsg(f, "6,1,0,-;late\n", 0);
	assert_lines(f, "");
	print_piece(f, 150, 7, "late", false);
	assert_int_equal(logs_write(f->logs, 0), 0);
	assert_lines(f, "150 7 late info\n");
	/* a record that /dev/kmsg never has */
	assert_int_equal(logs_write(f->logs, LOGS_WAIT_NS + 100), 0);
	assert_lines(f, "150 7 late info\n");
	assert_int_equal(logs_write(f->logs, LOGS_WAIT_NS + 101), 0);
	assert_lines(f, "150 7 late info\n100 7 x -\n");
	print_piece(f, 200, 7, "y", false);
	assert_int_equal(logs_write(f->logs, UINT64_MAX), 0);
	assert_lines(f, "150 7 late info\n100 7 x -\n200 7 y -\n");
	logs_counts(f->logs, &counts);
	assert_int_equal(counts.bare, 2);
}

static void test_damaged_record(void **state)
{
	struct fixture *f = *state;
	uint64_t rec[LOG_TEXT + 1] = { 0 };
	struct logs_counts counts;

	rec[RAW_HEADER] = RAW_RECORD(RAW_LOG, LOG_LEN);
	assert_int_equal(logs_take(f->logs, rec), -EINVAL);
	rec[RAW_HEADER] = RAW_RECORD(RAW_LOG, LOG_TEXT + 1);
	rec[LOG_LEN] = 9;
	assert_int_equal(logs_take(f->logs, rec), -EINVAL);
	rec[LOG_LEN] = 8;
	assert_int_equal(logs_take(f->logs, rec), 0);
	kmsg(f, "not a record", UINT64_MAX);
	logs_counts(f->logs, &counts);
	assert_int_equal(counts.unwritten, 0);	/* the drain counts what cannot be decoded */
	assert_int_equal(counts.lines, 1);
	assert_lines(f, "0 0 \\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00 -\n");
}

static void test_no_kmsg(void **state)
{
	struct fixture *f = *state;

	logs_close(f->logs);
	assert_int_equal(logs_open(&f->logs, f->m.w, NULL, NULL, "/nonexistent"), 0);
	assert_int_equal(kmsg_err(f), -ENOENT);
	print_piece(f, 100, 7, "x", false);
	print_piece(f, 110, 7, "", false);
	assert_int_equal(logs_write(f->logs, 0), 0);
	assert_lines(f, "100 7 x -\n");
}

/* Readable for ever, and nothing comes: nobody waits for it. */
static void test_other_kmsg(void **state)
{
	struct fixture *f = *state;

	logs_close(f->logs);
	assert_int_equal(logs_open(&f->logs, f->m.w, NULL, NULL, "/dev/null"), 0);
	assert_int_equal(kmsg_err(f), 0);
	assert_true(logs_fd(f->logs) >= 0);
	print_piece(f, 100, 7, "x", false);
	assert_int_equal(logs_read(f->logs, 0), 0);
	assert_int_equal(logs_write(f->logs, 0), 0);
	assert_int_equal(logs_fd(f->logs), -1);
	assert_int_equal(kmsg_err(f), -ENODATA);
	assert_lines(f, "100 7 x -\n");
}

static unsigned int occurrences(struct fixture *f, const char *word)
{
	const char *at = (const char *)f->m.data, *const end = at + f->m.len;
	unsigned int cnt = 0;

	while ((at = memmem(at, (size_t)(end - at), word, strlen(word)))) {
		at++;
		cnt++;
	}
	return cnt;
}

/* In log records, instants and packets; also of a line that was printed in parts, or that /dev/kmsg does not have; in a dictionary. */
static void test_redacted(void **state)
{
	struct fixture *f = *state;
	struct packets *packets;
	struct redact *redact;
	char why[128];

	logs_close(f->logs);
	assert_int_equal(packets_open(&packets, f->m.w), 0);
	assert_int_equal(redact_open(&redact), 0);
	assert_int_equal(redact_add(redact, "password=[^ ]+", why, sizeof(why)), 0);
	assert_int_equal(logs_open(&f->logs, f->m.w, packets, redact, f->path), 0);
	print_piece(f, 100, 7, "one password=hun", false);
	print_piece(f, 110, 7, "ter2 two", false);
	kmsg(f, "6,1,0,-;one password=hunter2 two\n", 0);
	print_piece(f, 115, 7, "device", false);
	kmsg(f, "3,2,0,-;device\n SUBSYSTEM=other\n DEVICE=+one:password=hunter2 password=hunter3\n", 0);
	print_piece(f, 120, 7, "password=hunter2\xff", false);
	print_piece(f, 130, 7, "passwords", false);
	assert_int_equal(logs_write(f->logs, UINT64_MAX), 0);
	assert_lines(f, "100 7 one [redacted] two info\n115 7 device err\n120 7 [redacted] -\n130 7 passwords -\n");
	assert_int_equal(occurrences(f, "hun"), 0);
	assert_int_equal(occurrences(f, "other"), 1);
	assert_int_equal(occurrences(f, "+one:[redacted] [redacted]"), 1);
	assert_int_equal(occurrences(f, "[redacted]"), 2 * 3 + 2);
	logs_close(f->logs);
	f->logs = NULL;
	packets_close(packets);
	redact_close(redact);
}

#define LOGS_TEST(test)	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kmsg),
		cmocka_unit_test(test_kmsg_damaged),
		cmocka_unit_test(test_escape),
		LOGS_TEST(test_join),
		LOGS_TEST(test_fragments),
		LOGS_TEST(test_ends_of_lines),
		LOGS_TEST(test_many_ends),
		LOGS_TEST(test_empty_lines),
		LOGS_TEST(test_empty_line_by_time),
		LOGS_TEST(test_empty_line_after_suspend),
		LOGS_TEST(test_waiting),
		LOGS_TEST(test_damaged_record),
		LOGS_TEST(test_no_kmsg),
		LOGS_TEST(test_other_kmsg),
		LOGS_TEST(test_redacted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
