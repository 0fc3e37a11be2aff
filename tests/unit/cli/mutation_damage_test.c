// SPDX-License-Identifier: GPL-2.0
/*
 * Every byte of a real recording, or each CUT_STEP'th, is changed, in several ways: no command that reads traces may
 * crash, hang or take more memory than it may, and a repair keeps its promises. Several places
 * are changed at once, far from each other, since readers find their way again after damage.
 * The commands run in children, many changes in each, whose address space and time are limited;
 * a child that dies names the change.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/exit.h"
#include "cli_made.h"
#include "cuts.h"
#include "analysis/repair_walk.h"

/* Sanitizers reserve terabytes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED	1
#else
#define SANITIZED	0
#endif

#define MEMORY_BYTES	(64UL << 20)	/* beyond what the child has when it begins: 600 KiB are the reader's */
#define PLACES		16		/* changed at once */
#define BATCH_BYTES	4096		/* of the file, by one child */
#define BATCH_SECONDS	120		/* of CPU time; a second is enough for most */

enum change { CHANGE_ALL_BITS, CHANGE_LOW_BIT, CHANGE_ZERO, CHANGE_CNT };

/* Shared with the child: where it is. */
struct place {
	volatile size_t at;
	volatile unsigned int change, command;
	char broken[320];
};

struct subject {
	char *data, *copy;
	size_t len;
	struct cuts places;
	int fd;			/* the file, /proc/self/fd/N */
	char path[32];
	struct place *place;
};

static unsigned char changed(unsigned char byte, enum change change)
{
	return change == CHANGE_ALL_BITS ? byte ^ 0xff : change == CHANGE_LOW_BIT ? byte ^ 1 : 0;
}

static unsigned long address_space(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu", &pages), 1);
	fclose(f);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

static void limit_child(void)
{
	const rlim_t bytes = address_space() + MEMORY_BYTES;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (!SANITIZED)
		setrlimit(RLIMIT_AS, &(struct rlimit){ bytes, bytes });
	setrlimit(RLIMIT_CPU, &(struct rlimit){ BATCH_SECONDS, BATCH_SECONDS });
	dup2(null, 1);
	if (!SANITIZED)
		dup2(null, 2);
}

/* Whether the answer is one for a damaged file; to fail for want of memory is none. */
static bool is_answer(const struct subject *s, int code)
{
	const bool magic = s->place->at < 8;	/* without it it is no trace */

	return code == EXIT_OK || code == EXIT_PROBLEMS || (code == EXIT_FAILED && magic);
}

static bool repair_holds(const struct subject *s)
{
	struct repair_walk w;

	repair_walk_run(&w, s->copy, s->len);
	repair_walk_free(&w);
	if (w.broken)
		snprintf(s->place->broken, sizeof(s->place->broken), "%s (%s)", w.broken, w.first);
	return !w.err && !w.broken;
}

static void run_commands(const struct subject *s)
{
	static int (*const commands[])(int, char **) = { cmd_verify, cmd_dump, cmd_dump, cmd_report };
	static const char *const names[][2] = { { "verify", "-q" }, { "dump", "-v" }, { "dump", "-j" }, { "report", "-j" } };
	const unsigned int skipped = s->place->at % 2 ? 1 : 2;	/* one form of dump, which takes longest */
	unsigned int i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char *argv[] = { (char *)names[i][0], (char *)names[i][1], (char *)s->path, NULL };

		s->place->command = i;
		optind = 0;
		if (i != skipped && !is_answer(s, commands[i](3, argv)))
			_exit(98);
	}
	s->place->command = i;
	if (!repair_holds(s))
		_exit(97);
}

/* At @at and as many other places, evenly. Returns whether anything is other than it was. */
static bool change_places(struct subject *s, size_t at, enum change change)
{
	const size_t apart = s->len / PLACES;
	bool any = false;
	size_t i;

	for (i = at; i < s->len; i += apart) {
		s->copy[i] = (char)changed(s->data[i], change);
		any |= s->copy[i] != s->data[i];
	}
	if (pwrite(s->fd, s->copy, s->len, 0) != (ssize_t)s->len)
		_exit(99);
	return any;
}

static void change_batch(struct subject *s, size_t from)
{
	enum change change;
	size_t at;

	for (at = cuts_next(&s->places, from); at < from + BATCH_BYTES && at < s->len / PLACES;
	     at = cuts_next(&s->places, at + 1)) {
		for (change = 0; change < CHANGE_CNT; change++) {
			s->place->at = at;
			s->place->change = change;
			if (change_places(s, at, change))
				run_commands(s);
		}
		memcpy(s->copy, s->data, s->len);
	}
}

static void run_batch(struct subject *s, size_t from)
{
	const pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		limit_child();
		/* Else the kernel is asked for the same memory each time. */
		mallopt(M_MMAP_THRESHOLD, 32 << 20);
		mallopt(M_TRIM_THRESHOLD, 64 << 20);
		change_batch(s, from);
		fflush(stdout);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status)
		fail_msg("byte %zu, change %u, command %u: status %#x %s", s->place->at, s->place->change,
			 s->place->command, (unsigned int)status, s->place->broken);
}

static void test_every_byte(void **state)
{
	struct subject s;
	size_t from;

	(void)state;
	s.data = read_recording(&s.len);
	s.place = mmap(NULL, sizeof(*s.place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(s.place != MAP_FAILED);
	s.copy = read_recording(&s.len);
	s.fd = memfd_create("recording", 0);
	snprintf(s.path, sizeof(s.path), "/proc/self/fd/%d", s.fd);
	cuts_init(&s.places, s.len);
	cuts_records(&s.places, s.data);
	for (from = 0; from < s.len / PLACES; from += BATCH_BYTES)
		run_batch(&s, from);
	cuts_free(&s.places);
	munmap(s.place, sizeof(*s.place));
	close(s.fd);
	free(s.data);
	free(s.copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
