// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of `kfxt dump` and `kfxt report` on traces made here.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/exit.h"
#include "cli/cli_made.h"

/* ---- dump ------------------------------------------------------------------ */

static void put_all_args(struct made *m)
{
	struct fxt_event e = {
		.type = FXT_COUNTER, .ts = 4000000005, .thread = { .process = 10, .thread = 11 },
		.category = fxt_str("cat"), .name = fxt_str("na\"me\x1b[1m"), .id = 77,
	};
	struct fxt_arg args[11] = {
		fxt_arg_null("nothing"), fxt_arg_i32("i32", -5), fxt_arg_u32("u32", 4000000000U),
		fxt_arg_i64("i64", INT64_MIN), fxt_arg_u64("u64", UINT64_MAX),
		fxt_arg_f64("f64", 0.1), fxt_arg_str("str", fxt_str("a\nb\\")),
		fxt_arg_ptr("ptr", 0xffffffff81000000ULL), fxt_arg_koid("koid", 11),
		fxt_arg_bool("bool", true), fxt_arg_blob("blob", "\x01\x02", 2),
	};

	assert_int_equal(fxt_write_event(m->w, &e, args, 11), 0);
}

static void put_profiler(struct made *m)
{
	static const uint64_t frames[2] = { 0x1000, 0x2000 };
	struct fxt_thread t = { .process = 10, .thread = 11 };
	struct fxt_module module = {
		.ts = 5000, .thread = t, .id = 3, .name = fxt_str("libc.so"),
		.build_id = "\xab\xcd", .build_id_len = 2,
	};
	struct fxt_mmap mmap = {
		.ts = 5001, .thread = t, .module = 3, .flags = 5, .start = 0x7000, .range = 4096,
		.vaddr = 0x100,
	};
	struct fxt_backtrace backtrace = {
		.ts = 5002, .thread = t, .frames = frames, .frames_cnt = 2,
	};

	assert_int_equal(fxt_write_module(m->w, &module), 0);
	assert_int_equal(fxt_write_mmap(m->w, &mmap), 0);
	assert_int_equal(fxt_write_backtrace(m->w, &backtrace), 0);
}

static void put_others(struct made *m)
{
	struct fxt_thread t = { .process = 10, .thread = 11 };
	struct fxt_object o = { .id = 0xdead, .name = fxt_str("obj"), .process = t };
	struct fxt_legacy_switch legacy = {
		.ts = 6000, .cpu = 2, .state = FXT_STATE_BLOCKED, .out = t,
		.in = { .process = 10, .thread = 12 }, .out_priority = 3, .in_priority = 4,
	};
	struct fxt_large_blob large = {
		.format = FXT_LARGE_WITH_METADATA, .category = fxt_str("c"), .name = fxt_str("big"),
		.ts = 7000, .thread = t, .data = "0123456789", .len = 10,
	};

	assert_int_equal(fxt_write_userspace_object(m->w, &o, NULL, 0), 0);
	assert_int_equal(fxt_write_legacy_switch(m->w, &legacy), 0);
	assert_int_equal(fxt_write_log(m->w, 6500, t, fxt_str("log\tline")), 0);
	assert_int_equal(fxt_write_blob(m->w, FXT_BLOB_PERFETTO, fxt_str("pkt"), "\x0a\x00", 2), 0);
	assert_int_equal(fxt_write_large_blob(m->w, &large, NULL, 0), 0);
	assert_int_equal(fxt_write_provider_section(m->w, 1), 0);
	assert_int_equal(fxt_write_provider_event(m->w, 1, FXT_PROVIDER_EVENT_BUFFER_FULL), 0);
}

/* One record of each kind there is, damage last. */
static void made_all_kinds(struct made *m)
{
	static const uint64_t unknown[2] = { FXT_HEADER(11, 2), 1 };
	static const uint64_t hole[2] = { 0, 0 };

	made_begin(m);
	put_all_args(m);
	put_profiler(m);
	put_others(m);
	put_switch(m, 1500000000, 3, 11, 3, 12, NULL);
	put_switch(m, 1500000001, 3, 12, 1, IDLE, "stop");
	put_wakeup(m, 1600000000, 3, 11, 20);
	append_words(m, unknown, 2);
	put_switch(m, 1650000000, 3, IDLE, 1, IDLE, NULL);
	append_words(m, hole, 2);
	put_switch(m, 1700000000, 3, IDLE, 1, 12, NULL);
	made_close(m);
}

static void test_dump_text(void **state)
{
	static const char *const parts[] = {
		"-  magic\n", "  provider_info   ", " id=1 name=\"kfxt\"\n", "ticks_per_second=1000000000\n",
		" string ", " thread ", "4.000000005  ",
		" type=\"counter\" process=10 thread=11 category=\"cat\" name=\"na\\\"me\\x1b[1m\" id=77",
		" {nothing=null, i32=-5, u32=4000000000, i64=-9223372036854775808, ",
		"u64=18446744073709551615, f64=0.10000000000000001, str=\"a\\x0ab\\\\\", ",
		"ptr=0xffffffff81000000, koid=11, bool=true, blob=<2 bytes: 01 02>}\n",
		" id=3 name=\"libc.so\" build_id=<2 bytes: ab cd>\n",
		" module=3 flags=5 start=0x7000 range=4096 vaddr=0x100\n",
		" frames=[0x1000 0x2000]\n", " pointer=0xdead process=10 name=\"obj\"\n",
		" cpu=2 out_process=10 out=11 out_priority=3 state=\"blocked\" in_process=10 in=12 in_priority=4\n",
		" text=\"log\\x09line\"\n", " type=3 name=\"pkt\" data=<2 bytes: 0a 00>\n",
		" category=\"c\" name=\"big\" process=10 thread=11 bytes=10\n",
		" id=1 event=0\n",
		"1.500000000  ", " cpu=3 out=11 state=\"blocked\" in=12 {outgoing_weight=120, incoming_weight=120}\n",
		", mark=\"stop\"}\n", " cpu=3 thread=11 {weight=120, waker=20}\n",
		" bytes=16 reason=\"",
	};
	const char *path;
	struct made m;
	struct run r;
	size_t i;

	(void)state;
	made_all_kinds(&m);
	path = made_path(&m);
	r = run_command(cmd_dump, "dump", path, NULL);
	assert_int_equal(r.code, EXIT_PROBLEMS);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		assert_has(r.out, parts[i]);
	assert_null(strchr(r.out, '\x1b'));
	assert_null(strstr(r.out, " \n"));
	assert_has(r.err, ": damaged in 1 place: 16 bytes are not records\n");
	run_free(&r);
	unlink(path);
	made_free(&m);
}

static void test_dump_json(void **state)
{
	static const char *const parts[] = {
		"{\"offset\":0,\"len\":8,\"provider\":0,\"kind\":\"magic\"}\n",
		"\"ts_ns\":4000000005,\"kind\":\"event\",\"type\":\"counter\"",
		"\"name\":\"na\\\"me\\u001b[1m\",\"id\":77,\"args\":[{\"name\":\"nothing\",\"type\":\"null\",\"value\":null}",
		"{\"name\":\"u64\",\"type\":\"uint64\",\"value\":\"18446744073709551615\"}",
		"{\"name\":\"i64\",\"type\":\"int64\",\"value\":\"-9223372036854775808\"}",
		"{\"name\":\"ptr\",\"type\":\"pointer\",\"value\":\"0xffffffff81000000\"}",
		"{\"name\":\"str\",\"type\":\"string\",\"value\":\"a\\u000ab\\\\\"}",
		"{\"name\":\"blob\",\"type\":\"blob\",\"value\":\"0102\"}]}\n",
		",\"frames\":[\"0x1000\",\"0x2000\"]}\n", ",\"pointer\":\"0xdead\",\"process\":10,",
		"\"kind\":\"context_switch\",\"cpu\":3,\"out\":11,\"state\":\"blocked\",\"in\":12,\"args\":[",
	};
	const char *path;
	struct made m;
	struct run r;
	size_t i;

	(void)state;
	made_all_kinds(&m);
	path = made_path(&m);
	r = run_command(cmd_dump, "dump", "--json", path, NULL);
	assert_int_equal(r.code, EXIT_PROBLEMS);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		assert_has(r.out, parts[i]);
	run_free(&r);
	unlink(path);
	made_free(&m);
}

static unsigned int count_lines(const char *text)
{
	unsigned int cnt = 0;

	for (; *text; text++)
		cnt += *text == '\n';
	return cnt;
}

static void test_dump_filters(void **state)
{
	static const struct {
		const char *args[4];
		unsigned int lines;
	} cases[] = {
		{ { "--type=context_switch,wakeup" }, 7 },
		{ { "--type=wakeup", "--type", "log" }, 2 },
		{ { "--tid=20" }, 3 },		/* object, as waker, as incoming */
		{ { "--tid=11", "--type=context_switch" }, 2 },
		{ { "--cpu=1" }, 2 },
		{ { "--from=1.6", "--to=1600000000ns" }, 1 },
		{ { "--from=1.5", "--to=1.7", "--cpu=3" }, 4 },
	};
	const char *path;
	struct made m;
	struct run r;
	size_t i;

	(void)state;
	made_begin(&m);
	assert_int_equal(fxt_write_log(m.w, 1, (struct fxt_thread){ 10, 12, true },
				       fxt_str("hello")), 0);
	put_switch(&m, 1500000000, 3, 11, 3, 12, NULL);
	put_switch(&m, 1500000001, 3, 12, 1, IDLE, NULL);
	put_wakeup(&m, 1600000000, 3, 11, 20);
	put_switch(&m, 1700000000, 3, IDLE, 1, 11, NULL);
	put_switch(&m, 1800000000, 3, 12, 1, 20, NULL);
	put_switch(&m, 1900000000, 1, IDLE, 1, 12, NULL);
	put_switch(&m, 2000000000, 1, 12, 1, IDLE, NULL);
	made_close(&m);
	path = made_path(&m);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		r = run_command(cmd_dump, "dump", path, cases[i].args[0], cases[i].args[1],
				cases[i].args[2], cases[i].args[3], NULL);
		assert_int_equal(r.code, EXIT_OK);
		assert_int_equal(count_lines(r.out), cases[i].lines);
		run_free(&r);
	}
	unlink(path);
	made_free(&m);
}

static void test_dump_wrong_usage(void **state)
{
	static const char *const cases[][3] = {
		{ "--type=wakup", NULL, "--type: no such kind: 'wakup' (did you mean wakeup?)\n" },
		{ "--type=ctx_switch", NULL, "--type: no such kind: 'ctx_switch' (did you mean context_switch?)\n" },
		{ "--from=5", "--to=3", "--to: is before --from\n" },
	};
	struct run r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		r = run_command(cmd_dump, "dump", "x", cases[i][0], cases[i][1], NULL);
		assert_int_equal(r.code, EXIT_USAGE);
		assert_int_equal(strncmp(r.err, "kfxt: dump: ", 12), 0);
		assert_string_equal(r.err + 12, cases[i][2]);
		run_free(&r);
	}
	/* another word, not a misspelt one: all that there are */
	r = run_command(cmd_dump, "dump", "--type=foo", "x", NULL);
	assert_int_equal(r.code, EXIT_USAGE);
	assert_has(r.err, "kfxt: dump: --type: no such kind: 'foo' (kinds: magic, ");
	assert_has(r.err, ", context_switch, ");
	assert_has(r.err, ", log, ");
	assert_string_equal(strchr(r.err, '\n'), "\n");
	assert_int_equal(strchr(r.err, '\n')[-1], ')');
	run_free(&r);
}

/* ---- report ---------------------------------------------------------------- */

static void test_report(void **state)
{
	const char *path;
	struct made m;
	struct run r;

	(void)state;
	made_open(&m);
	put_clean(&m);
	put_clean_ledgers(&m);
	made_close(&m);
	path = made_path(&m);
	r = run_command(cmd_report, "report", path, NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_has(r.out, "CPUs:             2\n");
	assert_has(r.out, "wakeups:          2\n");
	assert_has(r.out, "rates:            5000000.0 switches/s, 2000000.0 wakeups/s\n");
	assert_has(r.out, "\n   CPU     busy     idle  switches/s\n"
			  "     1   89.00%    0.00%   3000000.0\n"
			  "     0   59.00%   30.00%   2000000.0\n\n");
	assert_has(r.out, "    0.000001  34.50%  3000000.0  1000000.0     0.000000       11  worker           app (10)\n");
	assert_null(strstr(r.out, "host:"));
	assert_null(strstr(r.out, "date:"));
	assert_has(r.out, "kworker/0:1      kernel\n");
	run_free(&r);
	r = run_command(cmd_report, "report", "-n0", path, NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_has(r.out, "rates:");
	assert_null(strstr(r.out, "run time s"));
	assert_null(strstr(r.out, "busy"));
	run_free(&r);
	r = run_command(cmd_report, "report", "-n1", "--json", path, NULL);
	assert_int_equal(r.code, EXIT_OK);
	assert_has(r.out, "\"busiest\":[{\"run_ns\":690,\"share_percent\":34.5000,\"slices\":3,"
		   "\"switches_per_s\":3000000.000,\"wakeups_per_s\":1000000.000,"
		   "\"max_wait_ns\":100,\"max_wait_complete\":true,\"tid\":11,\"thread\":\"worker\",\"pid\":10,\"process\":\"app\",\"container\":null,\"unit\":null}],\"did_not_run\":[]}\n");
	run_free(&r);
	unlink(path);
	made_free(&m);
}

#define CONTAINER	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* What report, with these options, prints of a trace in which app is in these cgroups one after the other. */
static struct run report_of_places(const struct fxt_arg (*places)[3], const unsigned int *cnt, const char *option)
{
	const struct fxt_object app = { .id = 10, .kind = FXT_KOBJ_PROCESS, .name = fxt_str("app") };
	const char *path;
	struct made m;
	struct run r;

	made_open(&m);
	put_clean(&m);
	for (; *cnt; cnt++, places++)
		assert_int_equal(fxt_write_kernel_object(m.w, &app, *places, *cnt), 0);
	put_clean_ledgers(&m);
	made_close(&m);
	path = made_path(&m);
	r = run_command(cmd_report, "report", "-q", option, path, NULL);
	unlink(path);
	made_free(&m);
	return r;
}

/* Containers and units of processes: the last ones, and no column if there is none. */
static void test_report_places(void **state)
{
	static const char head[] = "thread           process                     container or unit\n";
	const struct fxt_arg places[][3] = {
		{ fxt_arg_str("cgroup", fxt_str("/a")), fxt_arg_str("container", fxt_str(CONTAINER)),
		  fxt_arg_str("unit", fxt_str("a.scope")) },
		{ fxt_arg_koid("parent", 1) },		/* not known */
		{ fxt_arg_str("cgroup", fxt_str("/b")), fxt_arg_str("unit", fxt_str("b\033.service")) },
		{ fxt_arg_str("cgroup", fxt_str("/c")) },
	};
	struct run r = report_of_places(places, (const unsigned int[]){ 3, 1, 0 }, "-n9");

	(void)state;
	assert_has(r.out, head);
	assert_has(r.out, "worker           app (10)                    container 0123456789ab\n");
	assert_has(r.out, "kworker/0:1      kernel\n");
	run_free(&r);
	r = report_of_places(places, (const unsigned int[]){ 3, 1, 0 }, "--json");
	assert_has(r.out, "\"process\":\"app\",\"container\":\"" CONTAINER "\",\"unit\":\"a.scope\"}");
	assert_has(r.out, "\"process\":\"kernel\",\"container\":null,\"unit\":null}");
	run_free(&r);
	r = report_of_places(places, (const unsigned int[]){ 3, 1, 2, 0 }, "-n9");
	assert_has(r.out, "app (10)                    b\\x1b.service\n");
	run_free(&r);
	r = report_of_places(places, (const unsigned int[]){ 3, 1, 2, 1, 0 }, "-n9");
	assert_has(r.out, "thread           process\n");
	assert_has(r.out, "app (10)\n");
	run_free(&r);
	r = report_of_places(places, (const unsigned int[]){ 3, 1, 2, 1, 0 }, "--json");
	assert_has(r.out, "\"process\":\"app\",\"container\":null,\"unit\":null}");
	run_free(&r);
}

/* The filter is named, and of the other threads nothing is said: their run times are partial. */
static void test_report_filter(void **state)
{
	const struct fxt_arg args[] = {
		fxt_arg_str("cpus", fxt_str("1")), fxt_arg_str("online", fxt_str("1")),
		fxt_arg_str("filter", fxt_str("pid 20\033")),
		fxt_arg_str("host", fxt_str("a\033b")), fxt_arg_str("kernel", fxt_str("6.1")),
		fxt_arg_u64("realtime_ns", 1795375605123456789ULL),
	};
	const struct fxt_arg out[] = {
		fxt_arg_i32("outgoing_weight", 120), fxt_arg_i32("incoming_weight", 120), fxt_arg_bool("filtered", true),
	};
	const struct fxt_switch leaves = { .ts = 8000, .cpu = 1, .out = 12, .state = FXT_STATE_RUNNING, .in = 20 };
	const char *path;
	struct made m;
	struct run r;

	(void)state;
	made_open(&m);
	put_head(&m);
	put_session(&m, 999, "start", args, 6);
	put_switch(&m, 1000, 1, IDLE, 1, 20, "start");
	put_switch(&m, 1500, 1, 20, 1, 12, NULL);
	assert_int_equal(fxt_write_switch(m.w, &leaves, out, 3), 0);
	put_switch(&m, 9000, 1, 20, 1, IDLE, "stop");
	put_session(&m, 9001, "stop", NULL, 0);
	put_names(&m);
	put_totals(&m, 9001);
	made_close(&m);
	path = made_path(&m);
	r = run_command(cmd_report, "report", path, NULL);
	assert_has(r.out, "host:             a\\x1bb, Linux 6.1\ndate:             2026-11-22 19:26:45 UTC\n"
			  "filter:           pid 20\\x1b (other threads are filtered out)\n");
	assert_has(r.out, " 20  kworker/0:1      kernel\n");
	assert_null(strstr(r.out, "helper"));
	assert_null(strstr(r.out, "busy"));
	run_free(&r);
	r = run_command(cmd_report, "report", "-j", path, NULL);
	assert_has(r.out, "{\"schema\":2,\"host\":\"a\\u001bb\",\"kernel\":\"6.1\",\"date\":\"2026-11-22T19:26:45Z\","
		   "\"filter\":\"pid 20\\u001b\",");
	assert_has(r.out, ",\"per_cpu\":[],");
	assert_has(r.out, "\"busiest\":[{\"run_ns\":1500,");
	assert_null(strstr(r.out, "\"tid\":12,"));
	run_free(&r);
	unlink(path);
	made_free(&m);
}

/* What follows a name is in its column, whatever the name: wide, combining, escaped or too long. */
static void test_report_columns(void **state)
{
	static const struct {
		const char *name, *row;
	} cases[] = {
		{ "worker", "11  worker           app (10)\n" },
		{ "\u65e5\u672c\u8a9e", "11  \u65e5\u672c\u8a9e           app (10)\n" },
		{ "e\u0301t\u00e9", "11  e\u0301t\u00e9              app (10)\n" },
		{ "a\033b", "11  a\\x1bb           app (10)\n" },
		{ "sixteen.columns.", "11  sixteen.columns. app (10)\n" },
		{ "seventeen.columns", "11  seventeen.columns app (10)\n" },
	};
	const char *path;
	struct made m;
	struct run r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		made_open(&m);
		put_clean(&m);
		put_thread(&m, 11, 10, cases[i].name);
		made_close(&m);
		path = made_path(&m);
		r = run_command(cmd_report, "report", "-q", path, NULL);
		assert_has(r.out, cases[i].row);
		run_free(&r);
		unlink(path);
		made_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dump_text),
		cmocka_unit_test(test_dump_json),
		cmocka_unit_test(test_dump_filters),
		cmocka_unit_test(test_dump_wrong_usage),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_report_places),
		cmocka_unit_test(test_report_filter),
		cmocka_unit_test(test_report_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
