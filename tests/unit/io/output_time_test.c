// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of how long the output took: stopped for a part of it or not.
 *
 * A child writes to a pipe that is full or not, and is stopped and continued meanwhile. The times are
 * those of the kernel's own states of it, so that nothing depends on how fast this machine is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/output_time.h"

#define PAUSE_NS	50000000ULL	/* how long the child is left stopped or waiting */
#define BLOCK		4096

struct child {
	pid_t pid;
	int output[2];			/* the pipe it writes to */
	struct output_time *time;	/* shared with it */
};

static void pause_for_a_while(void)
{
	usleep(PAUSE_NS / 1000);
}

/* One write() of a block, before which it stops itself, if that is asked for. */
static void write_block(const struct child *c, bool stop)
{
	static const char block[BLOCK];
	struct output_call call;

	if (output_time_init())
		_exit(1);
	output_call_begin(&call);
	if (stop)
		raise(SIGSTOP);
	if (write(c->output[1], block, sizeof(block)) != sizeof(block))
		_exit(1);
	output_call_end(&call, c->time);
	_exit(0);
}

/* With @full, its write() waits for a reader. */
static void begin(struct child *c, bool full, bool stop)
{
	static const char block[BLOCK];

	assert_return_code(pipe(c->output), 0);
	assert_return_code(fcntl(c->output[1], F_SETPIPE_SZ, BLOCK), 0);
	if (full)
		assert_int_equal(write(c->output[1], block, BLOCK), BLOCK);
	c->time = mmap(NULL, sizeof(*c->time), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(c->time != MAP_FAILED);
	c->pid = fork();
	assert_return_code(c->pid, 0);
	if (!c->pid)
		write_block(c, stop);
}

static char state_of(pid_t pid)
{
	char path[32], text[256], *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	end = strrchr(text, ')');
	return end ? end[2] : 0;
}

/* How often the child gave up its CPU by itself. */
static unsigned long sleeps_of(pid_t pid)
{
	char path[32], line[256];
	unsigned long sleeps = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %lu", &sleeps) == 1)
			break;
	fclose(f);
	return sleeps;
}

static void wait_until(pid_t pid, char state, unsigned long sleeps)
{
	int tries;

	for (tries = 0; tries < 10000 && (state_of(pid) != state || sleeps_of(pid) < sleeps); tries++)
		usleep(1000);
	assert_int_equal(state_of(pid), state);
}

/* Sends it a signal, and waits until it sleeps anew: for its output, or because it is stopped. */
static void send(const struct child *c, int number, char state)
{
	const unsigned long sleeps = sleeps_of(c->pid);

	assert_return_code(kill(c->pid, number), 0);
	wait_until(c->pid, state, sleeps + 1);
	pause_for_a_while();
}

/* Reads what is in the pipe and returns what the child measured. */
static struct output_time end(struct child *c)
{
	struct output_time time;
	char block[BLOCK];
	int status;

	while (!waitpid(c->pid, &status, WNOHANG))
		if (fcntl(c->output[0], F_SETFL, O_NONBLOCK) || read(c->output[0], block, sizeof(block)) < 0)
			usleep(1000);
	assert_int_equal(status, 0);
	time = *c->time;
	munmap(c->time, sizeof(*c->time));
	close(c->output[0]);
	close(c->output[1]);
	return time;
}

static void test_waiting_is_output(void **state)
{
	struct output_time time;
	struct child c;

	(void)state;
	begin(&c, true, false);
	wait_until(c.pid, 'S', 1);
	pause_for_a_while();
	time = end(&c);
	assert_true(time.ns >= PAUSE_NS);
	assert_int_equal(time.unsure_ns, 0);
}

static void test_stopped_is_not_output(void **state)
{
	struct output_time time;
	struct child c;

	(void)state;
	begin(&c, false, true);
	wait_until(c.pid, 'T', 1);
	pause_for_a_while();
	assert_return_code(kill(c.pid, SIGCONT), 0);
	time = end(&c);
	assert_int_equal(time.ns, 0);
	assert_int_equal(time.unsure_ns, 0);
}

static void test_stopped_while_waiting(void **state)
{
	struct output_time time;
	struct child c;

	(void)state;
	begin(&c, true, false);
	wait_until(c.pid, 'S', 1);
	send(&c, SIGSTOP, 'T');
	send(&c, SIGCONT, 'S');
	time = end(&c);
	assert_true(time.ns >= 2 * PAUSE_NS);
	assert_int_equal(time.unsure_ns, time.ns);
}

/* It was waiting for its output all the time, which cannot be known. */
static void test_continued_but_not_stopped(void **state)
{
	struct output_time time;
	struct child c;

	(void)state;
	begin(&c, true, false);
	wait_until(c.pid, 'S', 1);
	send(&c, SIGCONT, 'S');
	time = end(&c);
	assert_true(time.ns >= PAUSE_NS);
	assert_int_equal(time.unsure_ns, time.ns);
}

static void test_add(void **state)
{
	static const struct {
		uint64_t sleeps;
		unsigned int continued;
		struct output_time time;
	} cases[] = {
		{ 0, 0, { 10, 0 } },
		{ 3, 0, { 10, 0 } },
		{ 0, 1, { 10, 0 } },	/* a SIGCONT that continued nobody */
		{ 1, 1, { 0, 0 } },
		{ 1, 2, { 0, 0 } },
		{ 2, 2, { 0, 0 } },
		{ 2, 1, { 10, 10 } },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct output_time time = { 0 };

		output_time_add(&time, 10, cases[i].sleeps, cases[i].continued);
		assert_int_equal(time.ns, cases[i].time.ns);
		assert_int_equal(time.unsure_ns, cases[i].time.unsure_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_waiting_is_output),
		cmocka_unit_test(test_stopped_is_not_output),
		cmocka_unit_test(test_stopped_while_waiting),
		cmocka_unit_test(test_continued_but_not_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
