// SPDX-License-Identifier: GPL-2.0
/*
 * What is suggested for a word that is no name.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "source/tracepoint_near.h"

/* Up to three, with commas between them. */
static void assert_near(const char *word, const char *const *names, unsigned int cnt, const char *expected)
{
	char near[SUGGEST_CNT][SUGGEST_BYTES], text[SUGGEST_TEXT_BYTES], whole[SUGGEST_TEXT_BYTES] = "";

	suggest_names(word, names, cnt, near);
	if (expected[0])
		strcat(strcat(strcpy(whole, " (did you mean "), expected), "?)");
	assert_string_equal(suggest_text(text, "", near), whole);
}

static void test_functions(void **state)
{
	static const char *const names[] = {
		"__x64_sys_openat", "vfs_read", "vfs_readv", "vfs_read", "vfs_readlink", "x",
		"tcp_sendmsg.isra.0", "tcp_sendmsg_locked", "tcp_v4_rcv", "do_sys_openat2",
		"a_very_long_name_that_does_not_fit_into_the_place_that_there_is_for_names_"
		"because_it_is_longer_than_one_hundred_and_twenty_seven_letters",
	};
	static const struct {
		const char *word, *near;
	} cases[] = {
		{ "vfs_raed", "vfs_read, vfs_readv" }, { "vfs_re", "vfs_read, vfs_readv, vfs_readlink" },
		{ "vfs_rae[dv]*", "vfs_read" }, { "sys_openat", "do_sys_openat2, __x64_sys_openat" },
		{ "tcp_sendmsg", "tcp_sendmsg.isra.0, tcp_sendmsg_locked" }, { "tcp_v4_rcv_skb", "tcp_v4_rcv" },
		{ "a_very_long_name", "" }, { "nothing_like_it", "" }, { "*", "" }, { "", "" },
	};
	const unsigned int cnt = sizeof(names) / sizeof(names[0]);
	char long_word[1000];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_near(cases[i].word, names, cnt, cases[i].near);
	memset(long_word, 'v', sizeof(long_word));
	long_word[sizeof(long_word) - 1] = 0;
	assert_near(long_word, names, cnt, "");
}

static void test_options(void **state)
{
	static const char *const names[] = { "dump", "record", "report", "log", "duration" };
	static const struct {
		const char *word, *near;
	} cases[] = {
		{ "dump", "dump" }, { "dmup", "dump" }, { "dum", "dump" }, { "xdump", "dump" },
		{ "lo", "log" }, { "foo", "" }, { "dopm", "" }, { "recrod", "record" },
		{ "rexxrt", "report" }, { "rxxxrt", "" }, { "dur", "duration" },
		{ "re", "record, report" }, { "d", "dump, duration" }, { "rec", "record" }, { "", "" },
		{ "a word much longer than any option ever was", "" },
	};
	char near[SUGGEST_CNT][SUGGEST_BYTES], text[SUGGEST_TEXT_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_near(cases[i].word, names, 5, cases[i].near);
	suggest_names("re", names, 5, near);
	assert_string_equal(suggest_text(text, "--", near), " (did you mean --record, --report?)");
}

static void test_abbreviations(void **state)
{
	static const char *const names[] = { "context_switch", "thread_wakeup", "kernel_object" };

	(void)state;
	assert_near("ctx_switch", names, 3, "context_switch");
	assert_near("cntxt_sw", names, 3, "context_switch");
	assert_near("kobject", names, 3, "kernel_object");
	assert_near("ctx_swtichs", names, 3, "");
	assert_near("context_s", names, 3, "context_switch");
	assert_near("tx_switch", names, 3, "");
	assert_near("cs", names, 3, "");
}

/* As words of -e are taken apart. */
static void test_tracepoints(void **state)
{
	static const struct tracefs_event offered[] = {
		{ (char *)"block", (char *)"block_rq_issue" }, { (char *)"irq", (char *)"irq_handler_entry" },
		{ (char *)"sched", (char *)"sched_switch" }, { (char *)"sched", (char *)"sched_wakeup" },
		{ (char *)"sched", (char *)"sched_wakeup_new" },
	};
	static const struct {
		const char *system, *event, *near;
	} cases[] = {
		{ "", "irqq", "irq" }, { "irqq", "", "irq" }, { "", "sched_swich", "sched_switch" },
		{ "", "syscall", "syscalls" }, { "sched", "wakeup", "sched:sched_wakeup, sched:sched_wakeup_new" },
		{ "schd", "sched_switch", "sched:sched_switch" }, { "blok", "*", "block:*" }, { "blok", "x*", "block" },
		{ "sch*", "sched_swich", "sch*:sched_switch" }, { "nothing", "sched_switch", "sched:sched_switch" },
		{ "nothing", "like_it", "" }, { "nothing", "*", "" },
	};
	struct tracepoint_near n = { offered, sizeof(offered) / sizeof(offered[0]), true };
	char text[SUGGEST_TEXT_BYTES], whole[SUGGEST_TEXT_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(whole, sizeof(whole), cases[i].near[0] ? " (did you mean %s?)" : "%s", cases[i].near);
		assert_string_equal(tracepoint_near(&n, cases[i].system, cases[i].event, text), whole);
	}
	n.presets = false;
	assert_string_equal(tracepoint_near(&n, "", "syscall", text), "");
	/* Without tracefs. */
	n = (struct tracepoint_near){ .presets = true };
	assert_string_equal(tracepoint_near(&n, "", "irqq", text), " (did you mean irq?)");
	assert_string_equal(tracepoint_near(&n, "", "sched_swich", text), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_abbreviations),
		cmocka_unit_test(test_tracepoints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
