// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of what counts of records that could not be written.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "bpf/abi/strings.h"
#include "session/ledger.h"
#include "session/write_errors.h"
#include "cli/cli_made.h"

/* The strings that are fixed, as the recorder writes them. */
static void put_strings(struct made *m)
{
	static const char *const strings[STR_CNT] = {
#define X(id, text) [id] = text,
		SESSION_STRINGS(X)
#undef X
	};
	uint16_t i;

	for (i = 1; i < STR_CNT; i++)
		assert_int_equal(fxt_write_string(m->w, i, fxt_str(strings[i])), 0);
}

static void put_event(struct made *m, struct fxt_thread thread, const char *category, const struct fxt_arg *args,
		      unsigned int nargs)
{
	const struct fxt_event event = {
		.type = FXT_INSTANT, .ts = 5, .thread = thread, .category = fxt_str(category),
		.name = fxt_str_inline("some name", 9),
	};

	assert_int_equal(fxt_write_event(m->w, &event, args, nargs), 0);
}

static void test_kinds(void **state)
{
	const uint32_t cpus[] = { 1, 3, 7 };
	const struct ledger_cfg cfg = { .cpus = cpus, .cpus_cnt = 3 };
	const struct fxt_thread inlined = { .process = 1, .thread = 2, .inlined = true }, known = { 1, 3, false };
	const struct fxt_arg args[] = {
		fxt_arg_str("parent", fxt_str_inline("a caller", 8)), fxt_arg_u64("n", 1), fxt_arg_bool("unfinished", true),
		fxt_arg_bool("continues", true),
	};
	struct unwritten_cut cuts[3] = { 0 };
	struct unwritten u = { .cuts = cuts, .cpus = cpus, .cpus_cnt = 3 };
	struct made m;
	unsigned int i;

	(void)state;
	assert_int_equal(ledger_open(&u.ledger, &cfg), 0);
	made_open(&m);
	put_strings(&m);
	for (i = 0; i < 3; i++)
		put_switch(&m, i, cpus[i], 10, FXT_STATE_RUNNING, 11, i ? NULL : "gap");
	put_switch(&m, 2, 3, 12, FXT_STATE_RUNNING, 11, NULL);
	put_switch(&m, 3, 3, 12, FXT_STATE_RUNNING, 11, "gap");
	put_switch(&m, 1, 2, 10, FXT_STATE_RUNNING, 11, NULL);	/* not of a CPU that is recorded */
	put_wakeup(&m, 1, 7, 10, 11);
	put_wakeup(&m, 1, 2, 10, 11);	/* by one that is */
	put_event(&m, known, "kfxt", args, 3);
	put_event(&m, inlined, "log", args, 3);
	put_event(&m, inlined, "function", args, 2);
	put_event(&m, known, "usdt", args, 2);
	put_event(&m, inlined, "function", args, 3);
	put_event(&m, known, "usdt", args, 3);
	put_event(&m, known, "irq", args, 3);
	put_event(&m, inlined, "block", NULL, 0);
	/* These will be written as a whole. */
	put_event(&m, inlined, "function", args, 4);
	put_event(&m, known, "syscalls", args, 4);
	put_event(&m, inlined, "block", args + 2, 2);
	assert_int_equal(fxt_write_log(m.w, 1, known, fxt_str("a line")), 0);
	made_close(&m);
	unwritten_count(&u, m.data, m.len);
	for (i = 0; i < 3; i++) {
		assert_int_equal(ledger_drained(u.ledger, i)[LEDGER_SWITCHES].unwritten, i ? 3 - i : 0);
		assert_true(cuts[i].known && cuts[i].ts == i && cuts[i].koid == 10);
	}
	assert_int_equal(ledger_unwritten(u.ledger)[LEDGER_WAKEUPS], 2);
	assert_int_equal(ledger_unwritten(u.ledger)[LEDGER_CALLS], 2);
	assert_int_equal(ledger_unwritten(u.ledger)[LEDGER_EVENTS], 2);
	assert_int_equal(ledger_unwritten(u.ledger)[LEDGER_LOGS], 1);
	ledger_close(u.ledger);
	made_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
