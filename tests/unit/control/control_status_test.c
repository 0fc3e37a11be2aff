// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the packets and of the status: what is accepted, what is printed.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "control_made.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- packets ---------------------------------------------------------------------------------- */

static const struct control_ask snapshot = {
	.magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .kind = CONTROL_SNAPSHOT, .last_ns = 7, .name = "slow",
};
static const struct control_ask status = { .magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .kind = CONTROL_STATUS };

static int check(struct control_ask ask, bool has_fd)
{
	const char *why;
	int err = control_ask_check(&ask, sizeof(ask), has_fd, &why);

	assert_true(!err == !why);
	return err;
}

#define CHANGED(ask, field, v)	({ struct control_ask changed = (ask); changed.field = (v); changed; })

static void test_requests(void **state)
{
	struct control_ask ask = snapshot;
	const char *why;

	(void)state;
	assert_int_equal(check(snapshot, false), 0);
	assert_int_equal(check(snapshot, true), 0);
	assert_int_equal(check(status, false), 0);
	assert_int_equal(check(CHANGED(status, json, 1), false), 0);
	assert_int_equal(check(status, true), -EBADMSG);
	assert_int_equal(check(CHANGED(status, last_ns, 1), false), -EBADMSG);
	assert_int_equal(check(CHANGED(status, name[0], 'x'), false), -EBADMSG);
	assert_int_equal(check(CHANGED(status, json, 2), false), -EBADMSG);
	assert_int_equal(check(CHANGED(snapshot, json, 1), false), -EBADMSG);
	assert_int_equal(check(CHANGED(snapshot, reserved, 1), false), -EBADMSG);
	assert_int_equal(check(CHANGED(snapshot, kind, 0), false), -EBADMSG);
	assert_int_equal(check(CHANGED(snapshot, kind, 3), false), -EBADMSG);
	assert_int_equal(check(CHANGED(snapshot, magic, 0), false), -EBADMSG);
	assert_int_equal(check(CHANGED(snapshot, name[CONTROL_NAME_BYTES - 1], 'x'), false), -EBADMSG);
	assert_int_equal(check(CHANGED(snapshot, name[1], '\n'), false), -EBADMSG);
	assert_int_equal(check(CHANGED(snapshot, name[1], '\xff'), false), -EBADMSG);
	/* Of another version only the beginning is known. */
	ask.version++;
	assert_int_equal(control_ask_check(&ask, 8, false, &why), -EPROTO);
	assert_int_equal(control_ask_check(&ask, 7, false, &why), -EBADMSG);
	assert_int_equal(control_ask_check(&snapshot, sizeof(snapshot) - 1, false, &why), -EBADMSG);
	assert_int_equal(control_ask_check(&snapshot, sizeof(snapshot) + 1, false, &why), -EBADMSG);
}

static int check_part(unsigned int version, unsigned int kind, int err, size_t len)
{
	const struct control_part part = {
		.magic = CONTROL_MAGIC, .version = (uint16_t)version, .kind = (uint16_t)kind, .err = err };

	return control_part_check(&part, len);
}

static void test_parts(void **state)
{
	const struct control_part none = { 0 };

	(void)state;
	assert_int_equal(check_part(CONTROL_VERSION, CONTROL_BEGUN, 0, CONTROL_PART_HEAD), 0);
	assert_int_equal(check_part(CONTROL_VERSION, CONTROL_MORE, 0, sizeof(none)), 0);
	assert_int_equal(check_part(CONTROL_VERSION, CONTROL_END, -EBUSY, CONTROL_PART_HEAD + 5), 0);
	assert_int_equal(check_part(CONTROL_VERSION, CONTROL_END, EBUSY, CONTROL_PART_HEAD), -EBADMSG);
	assert_int_equal(check_part(CONTROL_VERSION, CONTROL_END, INT32_MIN, CONTROL_PART_HEAD), -EBADMSG);
	assert_int_equal(check_part(CONTROL_VERSION, CONTROL_MORE, -EBUSY, CONTROL_PART_HEAD), -EBADMSG);
	assert_int_equal(check_part(CONTROL_VERSION, CONTROL_NOTE, -EBUSY, CONTROL_PART_HEAD), -EBADMSG);
	assert_int_equal(check_part(CONTROL_VERSION, 0, 0, CONTROL_PART_HEAD), -EBADMSG);
	assert_int_equal(check_part(CONTROL_VERSION, CONTROL_NOTE + 1, 0, CONTROL_PART_HEAD), -EBADMSG);
	assert_int_equal(check_part(CONTROL_VERSION, CONTROL_END, 0, CONTROL_PART_HEAD - 1), -EBADMSG);
	assert_int_equal(check_part(CONTROL_VERSION, CONTROL_END, 0, sizeof(none) + 1), -EBADMSG);
	assert_int_equal(check_part(CONTROL_VERSION + 1, 99, 0, 8), -EPROTO);
	assert_int_equal(control_part_check(&none, sizeof(none)), -EBADMSG);
}

static void test_names(void **state)
{
	char name[CONTROL_NAME_BYTES + 1];

	(void)state;
	memset(name, 'x', sizeof(name));
	name[CONTROL_NAME_BYTES] = 0;
	assert_string_equal(control_name_check(name), "longer than 63 bytes");
	name[CONTROL_NAME_BYTES - 1] = 0;
	assert_null(control_name_check(name));
	assert_null(control_name_check(""));
	assert_null(control_name_check("d\xc3\xa9ploiement 7/8"));
	assert_string_equal(control_name_check("a\x1b[31m"), "has a control character");
	assert_string_equal(control_name_check("a\x7f"), "has a control character");
	assert_string_equal(control_name_check("\xc3"), "not UTF-8");
}

/* ---- the status ------------------------------------------------------------------------------- */

/* Frees @text. */
static void assert_text(char *text, const char *expected)
{
	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void test_text(void **state)
{
	struct control_status s;

	(void)state;
	control_status_make(&s);
	s.pid = 12;
	assert_text(control_status_text(&s),
		"recorder:     PID 12, kfxt 0.1.0, since 2026-11-23 14:05:07 UTC (3 h 12 min)\n"
		"options:      --keep 30s,256M --trigger 'log~it'\\''s' ''\n"
		"output:       /v/%t.fxt\n"
		"window:       29.5 s of 30.0 s, 42.0 MiB of 256.0 MiB, uncompressed 210.0 MiB\n"
		"rate:         52311.4 events/s, 1.2 MiB/s\n"
		"events:       5000100 recorded, 20 filtered, 4000 shed, 500 rate-limited, 3 lost: 3 switches\n"
		"cost:         0.21 % of one CPU (kernel 0.18, recorder 0.03), budget 1.00 %; not recorded for now: functions\n"
		"memory:       100.0 MiB\n"
		"files:        3 written, 2 deleted, 1 failed, last /v/runq.fxt\n"
		"hooks:        3 run, 1 failed, 0 running, 2 not run\n"
		"\n"
		"trigger                             fired suppressed  last\n"
		"runq>10ms                               3          1  2 h 22 min ago, /v/runq.fxt\n"
		"log~it's                                0          0  never\n"
		"func:tcp_*>1ms                          0          0  blind: functions are shed\n");
}

static void test_text_of_nothing(void **state)
{
	const struct control_status s = {
		.pid = 12, .events_per_s = NAN, .bytes_per_s = NAN, .cost = { NAN, NAN, NAN, false, NAN, NULL, 0 },
		.output = "a\x1b[31m\xff", .files.paused = "no space left on device",
	};

	(void)state;
	assert_text(control_status_text(&s),
		"recorder:     PID 12, kfxt -, since - (0 s)\n"
		"options:      -\n"
		"output:       a\\x1b[31m\\xff\n"
		"window:       none, all is written\n"
		"rate:         - events/s, -/s\n"
		"events:       0 recorded, 0 filtered, 0 shed, 0 lost\n"
		"cost:         - % of one CPU (kernel -, recorder -)\n"
		"memory:       0 bytes\n"
		"files:        0 written, 0 deleted, 0 failed; none is written for now: no space left on device\n");
}

static void test_json(void **state)
{
	struct control_status s;

	(void)state;
	control_status_make(&s);
	s.pid = 12;
	assert_text(control_status_json(&s),
		"{\"schema\":2,\"pid\":12,\"version\":\"0.1.0\",\"now\":1795454227.000,\"since\":1795442707.000,"
		"\"options\":[\"--keep\",\"30s,256M\",\"--trigger\",\"log~it's\",\"\"],\"output\":\"/v/%t.fxt\","
		"\"window\":{\"keep_ns\":30000000000,\"keep_bytes\":268435456,\"held_ns\":29500000000,"
		"\"held_bytes\":44040192,\"raw_bytes\":220200960,\"overwritten\":77,\"dumping\":false},"
		"\"events_per_s\":52311.4,\"bytes_per_s\":1258291.2,"
		"\"events\":{\"switches\":{\"recorded\":5000000,\"lost\":3,\"filtered\":0,\"shed\":0,\"ratelimited\":0},"
		"\"calls\":{\"recorded\":100,\"lost\":0,\"filtered\":20,\"shed\":4000,\"ratelimited\":500}},"
		"\"cost\":{\"total_percent\":0.210,\"kernel_percent\":0.180,\"recorder_percent\":0.030,\"measured\":true,"
		"\"budget_percent\":1.000,\"shed\":[\"functions\"]},\"memory_bytes\":104857600,"
		"\"triggers\":[{\"trigger\":\"runq>10ms\",\"fired\":3,\"suppressed\":1,\"last\":1795445707.000,"
		"\"file\":\"/v/runq.fxt\",\"blind\":null},"
		"{\"trigger\":\"log~it's\",\"fired\":0,\"suppressed\":0,\"last\":null,\"file\":null,\"blind\":null},"
		"{\"trigger\":\"func:tcp_*>1ms\",\"fired\":0,\"suppressed\":0,\"last\":null,\"file\":null,"
		"\"blind\":\"functions are shed\"}],"
		"\"files\":{\"written\":3,\"failed\":1,\"deleted\":2,\"last\":\"/v/runq.fxt\",\"paused\":null,"
		"\"hooks_run\":3,\"hooks_failed\":1,\"hooks_running\":0,\"hooks_skipped\":2}}\n");
}

static void test_json_of_nothing(void **state)
{
	const struct control_status s = {
		.events_per_s = NAN, .bytes_per_s = INFINITY, .cost = { NAN, NAN, NAN, false, NAN, NULL, 0 }, .output = "a\x1b\xff",
	};

	(void)state;
	assert_text(control_status_json(&s),
		"{\"schema\":2,\"pid\":0,\"version\":null,\"now\":null,\"since\":null,\"options\":[],"
		"\"output\":\"a\\u001b\\ufffd\",\"window\":null,\"events_per_s\":null,\"bytes_per_s\":null,\"events\":{},"
		"\"cost\":{\"total_percent\":null,\"kernel_percent\":null,\"recorder_percent\":null,\"measured\":false,"
		"\"budget_percent\":null,\"shed\":[]},\"memory_bytes\":0,\"triggers\":[],"
		"\"files\":{\"written\":0,\"failed\":0,\"deleted\":0,\"last\":null,\"paused\":null,"
		"\"hooks_run\":0,\"hooks_failed\":0,\"hooks_running\":0,\"hooks_skipped\":0}}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests), cmocka_unit_test(test_parts), cmocka_unit_test(test_names),
		cmocka_unit_test(test_text), cmocka_unit_test(test_text_of_nothing), cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
