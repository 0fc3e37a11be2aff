// SPDX-License-Identifier: GPL-2.0
/*
 * Which cgroups are selected, of those that there are and of those that are made later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "capture/cgroup_filter.h"
#include "capture/cgroups.h"
#include "capture/source.h"

#define ID	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* ---- in place of the kernel's ---- */

static const char *there[16];	/* paths; their ids are their places, from 1 on */

void __wrap_cgroups_each(const struct cgroups *c, bool (*found)(void *ctx, const char *path, uint64_t id), void *ctx);
void __wrap_cgroups_each(const struct cgroups *c, bool (*found)(void *ctx, const char *path, uint64_t id), void *ctx)
{
	const char *skip = NULL;
	unsigned int i;

	(void)c;
	for (i = 0; i < 16 && there[i]; i++)
		if ((!skip || strncmp(there[i], skip, strlen(skip)) != 0) && found(ctx, there[i], i + 1))
			skip = there[i];
}

static void set_there(const char *const *paths, size_t cnt)
{
	memset(there, 0, sizeof(there));
	memcpy(there, paths, cnt * sizeof(*paths));
}

#define THERE(...) set_there((const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

/* ---- tests ---- */

static __u64 shared[FILTER_CGROUPS_MAX], unreported;

static int add(struct cgroup_filter *f, const char *word, bool may_come, char *why)
{
	return cgroup_filter_add(f, word, may_come, why, 128);
}

/* The ids are these, in this order, and then none. */
static void check_ids(const __u64 *ids, const char *wanted)
{
	char text[64] = "";
	unsigned int i;

	for (i = 0; i < FILTER_CGROUPS_MAX; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%llu", i ? " " : "", (unsigned long long)ids[i]);
	assert_string_equal(text, wanted);
}

static void test_what_there_is(void **state)
{
	struct cgroup_filter f = { 0 };
	char why[128];

	(void)state;
	THERE("/a.service", "/b.service", "/b.service/docker-" ID ".scope", "/b.service/docker-" ID ".scope/below", "/c.slice");
	assert_int_equal(add(&f, "unit=[ab].service", false, why), 0);
	check_ids(f.ids, "1 2 0 0 0 0 0 0");
	assert_int_equal(cgroup_filter_places(&f), FILTER_CGROUPS_MAX);
	assert_int_equal(add(&f, "container=0123456789ab", false, why), 0);
	check_ids(f.ids, "1 2 3 0 0 0 0 0");
	/* The same once more. */
	assert_int_equal(add(&f, "unit=a.*", false, why), 0);
	check_ids(f.ids, "1 2 3 0 0 0 0 0");
	cgroup_filter_close(&f);
}

static void test_wrong(void **state)
{
	struct cgroup_filter f = { 0 };
	char why[128];

	(void)state;
	THERE("/a.service", "/b1.service", "/b2.service", "/b3.service", "/b4.service", "/b5.service", "/b6.service", "/b7.service",
	      "/b8.service", "/b9.service");
	assert_int_equal(add(&f, "container=0123456789a", true, why), -EINVAL);
	assert_string_equal(why, "--cgroup container=0123456789a: takes an id, or its first 12 digits or more");
	assert_int_equal(add(&f, "container=0123456789ab", true, why), -EINVAL);
	assert_string_equal(why, "--cgroup container=0123456789ab: there is none");
	assert_int_equal(add(&f, "unit=c.service", false, why), -EINVAL);
	assert_string_equal(why, "--cgroup unit=c.service: there is none");
	assert_null(f.absent);
	assert_int_equal(add(&f, "unit=c.service", true, why), 0);
	assert_string_equal(f.absent, "unit=c.service");
	assert_int_equal(add(&f, "unit=*.service", false, why), -EINVAL);
	assert_string_equal(why, "--cgroup: more than 8");
	cgroup_filter_close(&f);
}

static void test_made_later(void **state)
{
	struct cgroup_filter f = { 0 };
	struct source_late late;
	char why[128];

	(void)state;
	THERE("/a.service");
	assert_int_equal(add(&f, "unit=a*.service", false, why), 0);
	/* Before the programs are there nothing is. */
	cgroup_filter_made(&f, "/a1.service", 2);
	cgroup_filter_share(&f, shared, &unreported);
	check_ids(shared, "1 0 0 0 0 0 0 0");
	cgroup_filter_made(&f, "/a1.service", 2);
	cgroup_filter_made(&f, "/b.service", 3);
	cgroup_filter_made(&f, "/a1.service/part", 4);
	cgroup_filter_made(&f, "/x.slice/a2.service", 5);
	cgroup_filter_made(&f, "/a1.service", 2);
	check_ids(shared, "1 2 5 0 0 0 0 0");
	/* As the programs do of one that is removed. */
	shared[0] = 0;
	cgroup_filter_made(&f, "/a3.service", 6);
	check_ids(shared, "6 2 5 0 0 0 0 0");
	assert_false(cgroup_filter_late(&f, &late));
	for (uint64_t id = 7; id < 14; id++)
		cgroup_filter_made(&f, "/some/where/that/is/rather/deep/in/the/hierarchy/of/all/the/cgroups/a4.service", id);
	check_ids(shared, "6 2 5 7 8 9 10 11");
	assert_true(cgroup_filter_late(&f, &late));
	assert_string_equal(late.why, "2 that --cgroup means, t/is/rather/deep/in/the/hierarchy/of/all/the/cgroups/a4.service first: at most "
			    "8 at once");
	cgroup_filter_close(&f);
}

static void test_unreported(void **state)
{
	struct cgroup_filter f = { 0 };
	char why[128];

	(void)state;
	THERE("/b.service");
	memset(shared, 0, sizeof(shared));
	assert_int_equal(add(&f, "unit=a*.service", true, why), 0);
	cgroup_filter_share(&f, shared, &unreported);
	/* Made before the programs were attached. */
	THERE("/b.service", "/a1.service");
	cgroup_filter_look(&f, NULL);
	check_ids(shared, "2 0 0 0 0 0 0 0");
	THERE("/b.service", "/a1.service", "/a2.service");
	cgroup_filter_look(&f, NULL);
	check_ids(shared, "2 0 0 0 0 0 0 0");
	unreported++;
	cgroup_filter_look(&f, NULL);
	check_ids(shared, "2 3 0 0 0 0 0 0");
	cgroup_filter_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_there_is), cmocka_unit_test(test_wrong), cmocka_unit_test(test_made_later),
		cmocka_unit_test(test_unreported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
