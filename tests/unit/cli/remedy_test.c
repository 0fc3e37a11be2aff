// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of what `kfxt check` advises: each cause has its remedy.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <string.h>

#include "cli/remedy.h"
#include "source/table.h"
#include "capture/features.h"

#define ROOT		.rights = true, .admin = true
#define REFUSED		"Operation not permitted"
#define DENIED		"Permission denied"
#define PERHAPS		"perhaps kernel lockdown: mount -t securityfs"
#define LOCKED		"boot without lockdown=confidentiality"

static const struct feature *feature(const char *name)
{
	const struct feature *f;
	unsigned int i = 0;

	while ((f = feature_at(source_table, i)) && strcmp(f->name, name) != 0)
		i++;
	assert_non_null(f);
	return f;
}

static const struct {
	const char *name, *why;
	struct remedy_facts facts;
	const char *begins;	/* the remedy does; NULL: it is the table's */
} rows[] = {
	/* rights */
	{ "fentry", REFUSED, { .lockdown = REMEDY_LOCKDOWN_NONE }, "the capabilities above" },
	{ "the programs", "loading the BPF programs: " REFUSED, { 0 }, "the capabilities above" },
	{ "uprobe", DENIED, { .rights = true }, "run as root" },
	{ "tracefs", DENIED, { 0 }, "run as root" },
	{ "/dev/kmsg", REFUSED, { .rights = true }, NULL },
	/* rights that do not count */
	{ "fentry", REFUSED, { ROOT, .user_namespace = true }, "run outside of the container: capabilities in its user" },
	{ "fentry", REFUSED, { ROOT, .seccomp = true }, "run outside of the container or service: its seccomp" },
	{ "fentry", REFUSED, { ROOT }, PERHAPS },
	{ "uprobe", DENIED, { ROOT }, PERHAPS },
	{ "fentry", REFUSED, { ROOT, .lockdown = REMEDY_LOCKDOWN_NONE }, "a security module refuses it" },
	{ "fentry", REFUSED, { ROOT, .lockdown = REMEDY_LOCKDOWN_INTEGRITY }, "lockdown or another security module" },
	{ "fentry", REFUSED, { ROOT, .lockdown = REMEDY_LOCKDOWN_CONFIDENTIALITY }, "lockdown or another security module" },
	/* lockdown */
	{ "the programs", "loading the BPF programs: Invalid argument",
	  { ROOT, .lockdown = REMEDY_LOCKDOWN_CONFIDENTIALITY }, LOCKED },
	{ "tracefs", "No such file or directory",
	  { ROOT, .tracefs_empty = true, .lockdown = REMEDY_LOCKDOWN_CONFIDENTIALITY }, LOCKED },
	{ "copies of markers", REFUSED, { ROOT, .lockdown = REMEDY_LOCKDOWN_CONFIDENTIALITY }, LOCKED },
	{ "kprobe", REFUSED, { ROOT, .lockdown = REMEDY_LOCKDOWN_CONFIDENTIALITY }, LOCKED },
	{ "module", "the module is not loaded", { ROOT, .lockdown = REMEDY_LOCKDOWN_CONFIDENTIALITY }, NULL },
	{ "the programs", "loading the BPF programs: Invalid argument", { ROOT }, PERHAPS },
	{ "tracefs", "No such file or directory", { ROOT, .tracefs_empty = true }, PERHAPS },
	/* neither */
	{ "tracefs", "No such file or directory", { ROOT }, NULL },
	{ "tracefs", "No such file or directory", { ROOT, .tracefs_empty = true, .lockdown = REMEDY_LOCKDOWN_NONE }, NULL },
	{ "the programs", "loading the BPF programs: Invalid argument",
	  { ROOT, .lockdown = REMEDY_LOCKDOWN_INTEGRITY }, NULL },
	{ "fentry", "the kernel does not support it", { ROOT }, NULL },
	{ "kprobe.session", "Invalid argument", { ROOT }, NULL },
	{ "kernel BTF", "No such file or directory", { ROOT }, NULL },
	{ "preempt_count", "", { 0 }, NULL },
};

static void test_causes(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct feature *f = feature(rows[i].name);
		const char *remedy = remedy_for(&rows[i].facts, f, rows[i].why);

		if (!rows[i].begins)
			assert_string_equal(remedy, f->remedy);
		else if (strncmp(remedy, rows[i].begins, strlen(rows[i].begins)) != 0)
			fail_msg("%s, %s: %s", rows[i].name, rows[i].why, remedy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_causes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
