// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of scripts/kfxt.conf, which is installed for the service: values that only a recording checks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/name.h"
#include "base/redact.h"
#include "cli/cmd.h"
#include "cli_made.h"
#include "trigger/trigger.h"

#define LINE_BYTES	4096

/* The values of @word, also where the line is a comment: "#redact x". Returns how many there are. */
static unsigned int each_value(const char *word, void (*check)(const char *value))
{
	FILE *f = fopen("scripts/kfxt.conf", "r");
	char line[LINE_BYTES], *at;
	unsigned int cnt = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		at = line + (line[0] == '#');
		if (strncmp(at, word, strlen(word)) != 0 || at[strlen(word)] != ' ')
			continue;
		check(at + strlen(word) + 1);
		cnt++;
	}
	fclose(f);
	return cnt;
}

static void check_trigger(const char *word)
{
	char why[TRIGGER_WHY_BYTES] = "";
	struct triggers *t;

	assert_int_equal(triggers_open(&t), 0);
	if (triggers_add(t, word, why, sizeof(why)))
		fail_msg("%s", why);
	triggers_close(t);
}

static void test_triggers(void **state)
{
	(void)state;
	assert_true(each_value("trigger", check_trigger) >= 5);
}

/* The oldest files are deleted only if their names have a date; and names must have the trigger. */
static void check_output(const char *pattern)
{
	struct name_pattern *p;
	char why[256] = "";

	if (name_pattern_open(&p, pattern, why, sizeof(why)))
		fail_msg("%s", why);
	assert_true(name_pattern_has_date(p));
	assert_string_equal(name_pattern_dir(p), "/var/lib/kfxt");
	assert_has(pattern, "%t");
	name_pattern_close(p);
}

static void test_output(void **state)
{
	(void)state;
	assert_int_equal(each_value("output", check_output), 1);
}

static void check_redact(const char *regex)
{
	static const char text[] = "mysql --password s3cret token=x -h db";
	char why[256] = "", out[256];
	struct redact *r;
	size_t len;

	assert_int_equal(redact_open(&r), 0);
	if (redact_add(r, regex, why, sizeof(why)))
		fail_msg("%s", why);
	len = redact_text(r, text, sizeof(text) - 1, out, sizeof(out) - 1);
	out[len] = 0;
	assert_string_equal(out, "mysql --[redacted] [redacted] -h db");
	redact_close(r);
}

static void test_redact(void **state)
{
	(void)state;
	assert_int_equal(each_value("redact", check_redact), 1);
}

static regex_t log_regex;

static void compile_log(const char *word)
{
	if (!strncmp(word, "log~", 4))
		assert_int_equal(regcomp(&log_regex, word + 4, REG_EXTENDED | REG_NOSUB), 0);
}

/* Lines as kernels print them. */
static void test_log(void **state)
{
	static const struct {
		const char *line;
		bool matches;
	} lines[] = {
		{ "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [kworker/3:1:71]", true },
		{ "watchdog: Watchdog detected hard LOCKUP on cpu 5", true },
		{ "rcu: INFO: rcu_preempt self-detected stall on CPU", true },
		{ "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:", true },
		{ "INFO: task jbd2/sda1-8:312 blocked for more than 120 seconds.", true },
		{ "Out of memory: Killed process 4711 (java) total-vm:8123456kB", true },
		{ "Memory cgroup out of memory: Killed process 4712 (node)", true },
		{ "eth0: Link is Up - 1Gbps/Full", false },
		{ "EXT4-fs (sda1): mounted filesystem with ordered data mode", false },
	};
	size_t i;

	(void)state;
	each_value("trigger", compile_log);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!regexec(&log_regex, lines[i].line, 0, NULL, 0) != lines[i].matches)
			fail_msg("%s: %s", lines[i].matches ? "not matched" : "matched", lines[i].line);
	regfree(&log_regex);
}

/* A wrong value is an error of its line, before anything is looked at that takes rights. */
static void test_lines(void **state)
{
	static const struct {
		const char *line, *why;
	} wrong[] = {
		{ "keep 30", "keep: 30: no unit (10m, 1G)" },
		{ "keep 30s,256M,1G", "keep: 1G: a second size" },
		{ "rotate 10m,1K", "rotate: 1K: less than 64K" },
		{ "trigger runq>5", "trigger: runq>5: a time needs a unit: ns, us, ms, s, m or h" },
		{ "after 2x", "after: unknown unit, use ns, us, ms, s, m or h: '2x'" },
		{ "cooldown 30x", "cooldown: unknown unit, use ns, us, ms, s, m or h: '30x'" },
		{ "budget 1", "budget: not a percentage of one CPU (1%, 0.5%): '1'" },
		{ "redact (a", "redact: Unmatched ( or \\(: '(a'" },
		{ "max-total 2Q", "max-total: " },
	};
	char path[] = "/tmp/kfxt-lines-XXXXXX", expected[256];
	struct run r;
	size_t i;
	FILE *f;

	(void)state;
	close(mkstemp(path));
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		f = fopen(path, "w");
		assert_non_null(f);
		fprintf(f, "# a comment\n%s\n", wrong[i].line);
		fclose(f);
		r = run_command(cmd_record, "record", "--config", path, NULL);
		assert_int_equal(r.code, 2);
		snprintf(expected, sizeof(expected), "kfxt: %s:2: %s", path, wrong[i].why);
		assert_has(r.err, expected);
		run_free(&r);
	}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_triggers),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_redact),
		cmocka_unit_test(test_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
