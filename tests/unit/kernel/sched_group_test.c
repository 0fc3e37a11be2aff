// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of groups of the fair scheduler, from files made by hand. A child is asked, which has not begun its session.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/sched_group.h"

static char root[] = "/tmp/sched_group_test.XXXXXX";

static void put(const char *path, const char *text)
{
	char command[600], whole[300];
	FILE *f;

	snprintf(command, sizeof(command), "mkdir -p \"$(dirname %s%s)\"", root, path);
	assert_int_equal(system(command), 0);
	snprintf(whole, sizeof(whole), "%s%s", root, path);
	f = fopen(whole, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* @procs: a file that is to have the child only, or NULL. */
static bool ask(bool begins_session, bool with_command, const char *procs)
{
	const pid_t pid = fork();
	char text[20];
	int status;

	if (!pid) {
		if (begins_session)
			setsid();
		snprintf(text, sizeof(text), "%d\n", (int)getpid());
		if (procs)
			put(procs, text);
		_exit(sched_group_is_shared(root, with_command));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool is_shared(bool begins_session)
{
	return ask(begins_session, false, NULL);
}

static void test_nothing(void **state)
{
	(void)state;
	assert_false(is_shared(false));
}

static void test_autogroup(void **state)
{
	(void)state;
	put("/proc/sys/kernel/sched_autogroup_enabled", "1\n");
	assert_true(is_shared(false));
	assert_false(is_shared(true));
	/* What it starts is of its session, too. */
	assert_true(ask(true, true, NULL));
	put("/proc/sys/kernel/sched_autogroup_enabled", "0\n");
	assert_false(is_shared(false));
	assert_false(ask(true, true, NULL));
}

static void test_cgroup(void **state)
{
	static const struct {
		const char *cgroups;
		bool shared;
	} cases[] = {
		{ "4:memory:/a\n2:cpu,cpuacct:/\n1:name=systemd:/user.slice\n", false },
		{ "4:memory:/a\n2:cpu,cpuacct:/a\n", true },
		{ "3:cpuset:/a\n2:cpuacct:/a\n", false },
		{ "3:cpuacct,cpu:/a\n", true },
		{ "0::/\n", false },
		{ "0::/without\n", false },
		{ "0::/user.slice/session-1.scope\n", true },
		{ "1:cpuset:/\n0::/hybrid\n", true },
		{ "", false },
		{ "damaged\n:\n0:\n", false },
	};
	size_t i;

	(void)state;
	put("/sys/fs/cgroup/user.slice/session-1.scope/cpu.weight", "100\n");
	put("/sys/fs/cgroup/unified/hybrid/cpu.weight", "100\n");
	put("/sys/fs/cgroup/without/cgroup.procs", "");
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		put("/proc/self/cgroup", cases[i].cgroups);
		assert_int_equal(is_shared(false), cases[i].shared);
		/* Whoever began the session. */
		assert_int_equal(is_shared(true), cases[i].shared);
	}
}

static void test_own_cgroup(void **state)
{
	static const char procs[] = "/sys/fs/cgroup/system.slice/own.service/cgroup.procs";

	(void)state;
	put("/proc/sys/kernel/sched_autogroup_enabled", "1\n");
	put("/sys/fs/cgroup/system.slice/own.service/cpu.weight", "100\n");
	put("/proc/self/cgroup", "0::/system.slice/own.service\n");
	assert_false(ask(true, false, procs));
	/* There is no autogroup in a cgroup. */
	assert_false(ask(false, false, procs));
	assert_true(ask(true, true, procs));
	put(procs, "1\n");
	assert_true(ask(true, false, NULL));
	/* The root of a cgroup namespace, as in a container. */
	put("/proc/self/cgroup", "0::/\n");
	put("/sys/fs/cgroup/cpu.weight", "100\n");
	put("/sys/fs/cgroup/cgroup.procs", "1\n0\n");
	assert_true(ask(true, false, NULL));
}

static int remove_root(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing), cmocka_unit_test(test_autogroup), cmocka_unit_test(test_cgroup),
		cmocka_unit_test(test_own_cgroup),
	};

	if (!mkdtemp(root))
		return 1;
	return cmocka_run_group_tests(tests, NULL, remove_root);
}
