// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a trace on stdin, however long, by the specification alone, as tests/fxtread.py does,
 * but as fast as it comes. Checks that it is whole records and, of each CPU's context switches,
 * that time does not go back and that the task switched out is the one switched in.
 *
 * Prints:
 *	KOID COUNT LAST_NS...	how often each thread was switched out, and when last, latest first
 *	total SWITCHES WAKEUPS MARKS BYTES
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS		(1U << 22)	/* their ids */
#define STEP		10000000	/* between koids of the owners of one id */
#define CPUS		512
#define LAST		16
#define WORDS		(1U << 15)	/* of a buffer; a record has at most 4095 */

struct thread {
	uint64_t koid, outs, last_ns[LAST];
};

static struct thread threads[THREADS];
static struct { uint64_t ns, koid; } cpus[CPUS];
static uint64_t switches, wakeups, marks, bytes;

static void fail(const char *what)
{
	fprintf(stderr, "outs: %s at byte %" PRIu64 "\n", what, bytes);
	exit(1);
}

static unsigned int bits(uint64_t word, int first, int last)
{
	return word >> first & ((1ULL << (last - first + 1)) - 1);
}

/* The indexes that the string table gives to "mark" and "state". */
static unsigned int mark_index, state_index;

/* Four words, two weights of one word each, and then what there is more. */
static bool is_mark(const uint64_t *rec, unsigned int size)
{
	return size > 6 && bits(rec[6], 16, 31) == mark_index;
}

/* Not a switch at all: it says in which state a thread is that has not run. */
static bool is_state(const uint64_t *rec, unsigned int size)
{
	return is_mark(rec, size) && state_index && bits(rec[6], 32, 47) == state_index;
}

static void take_string(const uint64_t *rec)
{
	if (bits(rec[0], 32, 46) == 4 && !memcmp(rec + 1, "mark", 4))
		mark_index = bits(rec[0], 16, 30);
	if (bits(rec[0], 32, 46) == 5 && !memcmp(rec + 1, "state", 5))
		state_index = bits(rec[0], 16, 30);
}

static void print_thread(const struct thread *t)
{
	printf("%" PRIu64 " %" PRIu64, t->koid, t->outs);
	for (uint64_t i = 1; i <= LAST && i <= t->outs; i++)
		printf(" %" PRIu64, t->last_ns[(t->outs - i) % LAST]);
	printf("\n");
}

/* An id's earlier owner is printed when the next one comes. */
static void count_out(uint64_t koid, uint64_t ns)
{
	struct thread *t = &threads[koid % STEP % THREADS];

	if (t->koid != koid) {
		if (t->outs)
			print_thread(t);
		*t = (struct thread){ .koid = koid };
	}
	t->last_ns[t->outs++ % LAST] = ns;
}

static void take_switch(const uint64_t *rec, unsigned int size)
{
	const unsigned int cpu = bits(rec[0], 20, 35);

	if (size < 6 || cpu >= CPUS)
		fail("context switch of an odd kind");
	if (is_state(rec, size)) {
		marks++;
		return;
	}
	if (rec[1] < cpus[cpu].ns)
		fail("a CPU's time goes back");
	if (cpus[cpu].ns && rec[2] != cpus[cpu].koid)
		fail("the task switched out was not switched in");
	cpus[cpu].ns = rec[1];
	cpus[cpu].koid = rec[3];
	if (is_mark(rec, size)) {
		marks++;
		return;
	}
	switches++;
	count_out(rec[2], rec[1]);
}

static void take(const uint64_t *rec, unsigned int size)
{
	const unsigned int type = bits(rec[0], 0, 3);

	if (type == 2)
		take_string(rec);
	else if (type == 8 && bits(rec[0], 60, 63) == 1)
		take_switch(rec, size);
	else if (type == 8 && bits(rec[0], 60, 63) == 2)
		wakeups++;
}

/* Takes the whole records of @len words; how many words these are. */
static size_t take_all(const uint64_t *words, size_t len)
{
	size_t at = 0;
	unsigned int size;

	while (at < len) {
		size = bits(words[at], 0, 3) == 15 ? bits(words[at], 4, 35) : bits(words[at], 4, 15);
		if (!size || size > WORDS)
			fail("no record");
		if (at + size > len)
			break;
		take(words + at, size);
		at += size;
		bytes += size * 8;
	}
	return at;
}

int main(void)
{
	static uint64_t buffer[2 * WORDS];
	size_t held = 0, taken;
	ssize_t n;

	while ((n = read(0, (char *)buffer + held, sizeof(buffer) - held)) > 0) {
		held += n;
		taken = take_all(buffer, held / 8) * 8;
		memmove(buffer, (const char *)buffer + taken, held - taken);
		held -= taken;
	}
	if (n < 0 || held)
		fail("it ends within a record");
	for (unsigned int id = 1; id < THREADS; id++)
		if (threads[id].outs)
			print_thread(&threads[id]);
	printf("total %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", switches, wakeups, marks, bytes);
	return 0;
}
