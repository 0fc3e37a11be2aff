// SPDX-License-Identifier: GPL-2.0
/*
 * Names of C++ and Rust: tables, and names that explode.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "symbol/demangle.h"

#define ENTRIES(table)	(sizeof(table) / sizeof((table)[0]))
#define LEVELS		25	/* of names that double at each */

struct expected {
	const char *symbol, *name;	/* NULL: not mangled */
};

static void check(const struct expected *table, size_t cnt)
{
	char name[DEMANGLE_BYTES];
	size_t i;

	for (i = 0; i < cnt; i++) {
		if (!symbol_demangle(table[i].symbol, name)) {
			if (table[i].name)
				fail_msg("%s is not demangled", table[i].symbol);
			continue;
		}
		assert_string_equal(name, table[i].name ?: "");
	}
}

static void test_cplus(void **state)
{
	static const struct expected table[] = {
		{ "_Z3foov", "foo" },
		{ "_ZN3foo3barEiPKc", "foo::bar" },
		{ "_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back" },
		{ "_ZN1AC2Ev", "A::A" },
		{ "_ZN1AD0Ev", "A::~A" },
		{ "_ZplRK1AS1_", "operator+" },
		{ "_Z3foov.cold", "foo" },
		{ "_Z3foov.part.0.isra.1", "foo" },
		{ "_ZTV1A", "vtable for A" },
	};

	(void)state;
	check(table, ENTRIES(table));
}

static void test_rust(void **state)
{
	static const struct expected table[] = {
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt" },
		{ "_ZN33_$LT$Test$u20$as$u20$foo..Bar$GT$3bar17h930b740aa94f1d3aE", "<Test as foo::Bar>::bar" },
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
		{ "_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate",
		  "<std::path::PathBuf>::new" },
		{ "_RNCNvC1a1f0", "a::f::{closure#0}" },
		{ "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
		  "utf8_idents::\u10e1\u10d0\u10ed\u10db\u10d4\u10da\u10d0\u10d3_\u10d2\u10d4\u10db\u10e0\u10d8\u10d4"
		  "\u10da\u10d8_\u10e1\u10d0\u10d3\u10d8\u10da\u10d8" },
	};

	(void)state;
	check(table, ENTRIES(table));
}

static void test_not_mangled(void **state)
{
	static const struct expected table[] = {
		{ "main", NULL }, { "", NULL }, { "_", NULL }, { "_start", NULL }, { "__libc_start_main", NULL },
		{ "_Z", NULL }, { "_ZN", NULL }, { "_R", NULL }, { "_RNv", NULL }, { "Z3foov", NULL },
	};

	(void)state;
	check(table, ENTRIES(table));
}

/* ---- names that explode --------------------------------------------------------------- */

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* The name with parts that were there before: number 0 is "", 1 is "0", ... */
static size_t put_reference(char *out, char letter, size_t number, const char *digits)
{
	const size_t base = strlen(digits);
	char reversed[16];
	size_t len = 0, cnt = 0;

	out[len++] = letter;
	if (number--)
		do {
			reversed[cnt++] = digits[number % base];
			number /= base;
		} while (number);
	while (cnt)
		out[len++] = reversed[--cnt];
	out[len++] = '_';
	return len;
}

/* f<A<int, int>, A<A<int, int>, A<int, int> >, ...> of @levels. */
static void make_cplus(char *out, unsigned int levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	unsigned int i;

	out += sprintf(out, "_Z1fI1AIiiE");
	for (i = 1; i < levels; i++) {
		out += sprintf(out, "S0_I");
		out += put_reference(out, 'S', i + 1, digits);
		out += put_reference(out, 'S', i + 1, digits);
		*out++ = 'E';
	}
	strcpy(out, "Evv");
}

/* a::f::<(u8, u8), ((u8, u8), (u8, u8)), ...> of @levels. */
static void make_rust(char *out, unsigned int levels)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *begin = out + 2, *last;
	unsigned int i;
	size_t at;

	out += sprintf(out, "_RINvC1a1f");
	last = out;
	out += sprintf(out, "ThhE");
	for (i = 1; i < levels; i++) {
		at = last - begin;
		last = out;
		*out++ = 'T';
		out += put_reference(out, 'B', at, digits);
		out += put_reference(out, 'B', at, digits);
		*out++ = 'E';
	}
	strcpy(out, "E");
}

/* @make's name of few levels begins with @start; of more it is too long, which is known soon. */
static void check_explosion(void (*make)(char *out, unsigned int levels), const char *start)
{
	const uint64_t begin = cpu_ns();
	char symbol[1024], name[DEMANGLE_BYTES];
	unsigned int levels, cnt = 0;

	for (levels = 1; levels < LEVELS; levels++) {
		make(symbol, levels);
		if (!symbol_demangle(symbol, name))
			break;
		cnt++;
		assert_int_equal(strncmp(name, start, strlen(start)), 0);
	}
	assert_true(cnt >= 5);
	assert_true(levels < 12);
	for (; levels < LEVELS; levels++) {
		make(symbol, levels);
		assert_false(symbol_demangle(symbol, name));
	}
	assert_true(cpu_ns() - begin < 10000000000);
}

static void test_explosions(void **state)
{
	(void)state;
	check_explosion(make_cplus, "f<A<int, int>");
	check_explosion(make_rust, "a::f::<(u8, u8)");
}

/* A function with 62^3 lifetimes and more, which would be counted through for hours; with three. */
static void test_lifetimes(void **state)
{
	static const struct expected table[] = {
		{ "_RMC1aFG1_RL0_hEu", "<for<'a, 'b, 'c> fn(&'c u8)>" },
		{ "_RNvXs0_C1aFG0RQL1_INtB7_1bE1cNtB5_1d1e", NULL },
		{ "_RNvXs0_C1aFG0RQL_uENtB5_1d1e", NULL },
		{ "_RMC1aDGzzzzzzzz_NtC1b1cEL_", NULL },
	};
	const uint64_t begin = cpu_ns();

	(void)state;
	check(table, ENTRIES(table));
	assert_true(cpu_ns() - begin < 10000000000);
}

static void test_long_symbols(void **state)
{
	char name[DEMANGLE_BYTES], symbol[8000], part[4000];
	size_t len;

	(void)state;
	for (len = 100; len < 4000; len += 100) {
		memset(part, 'x', len);
		part[len] = 0;
		sprintf(symbol, "_Z%zu%sv", len, part);
		if (symbol_demangle(symbol, name)) {
			assert_true(len < 1024);
			assert_string_equal(name, part);
		} else {
			assert_true(len > 900);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cplus),
		cmocka_unit_test(test_rust),
		cmocka_unit_test(test_not_mangled),
		cmocka_unit_test(test_explosions),
		cmocka_unit_test(test_lifetimes),
		cmocka_unit_test(test_long_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
