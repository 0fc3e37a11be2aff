#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Every test there is: `make check` calls it. Needs root and BPF for the live
# tests; without them they fail, since skipped is not passed.
#
#   tests/run.sh [SUITE...]     unit golden convert sanitize fuzz live ends func log mark filter tracepoints
#                               presets syscalls compression privileges faults ledger soak cost docs scripts
#                               install vm arm64
#
# Prints TAP, then one line per suite, and last "N passed, N failed, N skipped".
set -uo pipefail
cd "$(dirname "$0")/.." || exit

O=${O:-build}
FUZZ_S=${FUZZ_S:-${CI:+60}}
FUZZ_S=${FUZZ_S:-15}
FUZZ=${FUZZ:-$(sed -n 's/^FUZZERS[[:space:]]*:= //p' Makefile)}
results=$(mktemp)
log=$(mktemp)
trap 'rm -f "$results" "$log"' EXIT
shopt -s nullglob

# Each suite ends with "NAME: P passed, F failed, S skipped", which is what counts.
tally() {
	printf '%s: %d passed, %d failed, %d skipped\n' "$@" | tee -a "$results"
}

# One test that is a command: its output is shown if it fails.
passed=0 failed=0
try() {
	local name=$1
	shift
	if "$@" >"$log" 2>&1; then
		passed=$((passed + 1))
		echo "ok - $name"
	else
		failed=$((failed + 1))
		echo "not ok - $name"
		tail -n 40 "$log" | sed 's/^/# /'
	fi
}

# A suite that counts by itself; one that dies before it counts has failed.
suite() {
	local name=$1
	shift
	"$@" 2>&1 | tee "$log"
	if ! grep -E "^$name: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$" "$log" >>"$results"; then
		tally "$name" 0 1 0
	fi
}

build() {
	make --no-print-directory -s -j"$(nproc)" WERROR=1 "$@"
}

# cmocka's tests one by one, as TAP.
unit_in() {
	local bin
	passed=0 failed=0
	for bin in "$1"/tests/*_test; do
		CMOCKA_MESSAGE_OUTPUT=tap "$bin" >"$log" 2>&1
		local code=$? ok bad
		ok=$(grep -c '^ok ' "$log")
		bad=$(grep -c '^not ok ' "$log")
		[ "$code" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1 # it crashed
		passed=$((passed + ok)) failed=$((failed + bad))
		sed "s|^|# ${bin##*/}: |" "$log" | grep -E "not ok|ERROR|#  |Sanitizer" | head -n 40
		echo "# ${bin##*/}: $ok ok, $bad not ok, exit $code"
	done
}

suite_unit() {
	unit_in "$O"
	try "independent reader, self-test" python3 tests/fxtread.py --self-test
	tally unit $passed $failed 0
}

suite_golden() {
	suite golden python3 tests/golden/golden_test.py "$O"
}

# Real ftrace text against facts that no importer computed.
suite_convert() {
	suite convert python3 tests/convert/convert_test.py "$O"
}

# All that runs in user space, once more under ASan and UBSan.
suite_sanitize() {
	local failed_before
	if ! build O="$O/san" SAN=address,undefined all unit; then
		tally sanitize 0 1 0
		return
	fi
	unit_in "$O/san"
	failed_before=$failed
	try "golden files with sanitizers" python3 tests/golden/golden_test.py "$O/san"
	try "ftrace samples with sanitizers" python3 tests/convert/convert_test.py "$O/san"
	try "a recording with sanitizers" "$O/san/kfxt" record -q -d 500ms -o "$O/san/t.fxt"
	try "it is clean" "$O/san/kfxt" verify "$O/san/t.fxt"
	[ "$failed" -eq "$failed_before" ] || cat "$log"
	tally sanitize $passed $failed 0
}

# Seeds for the fuzzers: beginnings of the samples; the peeler's begin with a mode byte.
make_seeds() {
	local dir=$1 file name
	mkdir -p "$dir"
	cp -r tests/corpus/fuzz/* "$dir"
	for name in sched/sched_switch kmem/kmalloc irq/irq_handler_entry tcp/tcp_probe timer/hrtimer_start tlb/tlb_flush; do
		file=/sys/kernel/tracing/events/$name/format
		[ ! -r "$file" ] || { cat "$file" && printf '\0%s\0' 'x == 1 && (y ~ "a*" || !z < -2)' && seq 100; } \
			>"$dir/tracepoint/${name#*/}"
	done
	printf '12,339,5140900,-,caller=T1;text \\x41\n SUBSYSTEM=acpi\n' >"$dir/kmsg/record"
	gzip -dc tests/golden/states-6.1.fxt.gz | tee "$dir/fxt/states" >"$dir/repair/states"
	gzip -dc tests/corpus/fxt/recording.fxt.gz | head -c 9999 >"$dir/repair/recording"
	for file in tests/corpus/ftrace/*.{txt,html,json}; do
		name=${file##*/}
		[[ $name != *.facts.json ]] || continue
		head -c 6000 "$file" | tee "$dir/parse/$name" >"$dir/convert/$name"
		{ printf '\0' && head -c 6000 "$file"; } >"$dir/peel/$name"
	done
}

# The same seed each time: what passed once does not fail for no reason. For new ground:
# FUZZ_SEED=0 FUZZ_S=3600 tests/run.sh fuzz
fuzz_one() {
	"$O/tests/$1_fuzz" "$O/fuzz/$1" -seed="${FUZZ_SEED:-20}" -max_total_time="$FUZZ_S" -max_len=16384 \
		-rss_limit_mb=3000 -timeout=60 -artifact_prefix="$O/fuzz/$1-" -print_final_stats=1 >"$O/fuzz/$1.log" 2>&1
	echo $? >"$O/fuzz/$1.status"
}

fuzz_result() {
	cat "$O/fuzz/$1.log"
	return "$(cat "$O/fuzz/$1.status")"
}

# "runs 12345, coverage 678, findings 0"; what was found stands in $O/fuzz/TARGET-*.
fuzz_tell() {
	local runs coverage found=("$O/fuzz/$1"-*)
	runs=$(sed -n 's/^stat::number_of_executed_units: //p' "$O/fuzz/$1.log")
	coverage=$(sed -nE 's/.* cov: ([0-9]+) .*/\1/p' "$O/fuzz/$1.log" | tail -n 1)
	echo "# $1: runs ${runs:-0}, coverage ${coverage:-0}, findings ${#found[@]}"
}

suite_fuzz() {
	local what
	passed=0 failed=0
	rm -rf "$O/fuzz"
	make_seeds "$O/fuzz"
	for what in $FUZZ; do
		try "fuzzer of $what builds" build "$O/tests/${what}_fuzz"
		# What was found once is not to come back.
		try "fuzzer of $what, its corpus" "$O/tests/${what}_fuzz" "tests/corpus/fuzz/$what"/*
	done
	# Each keeps one CPU busy.
	for what in $FUZZ; do
		[ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n
		fuzz_one "$what" &
	done
	wait
	for what in $FUZZ; do
		try "fuzzer of $what, $FUZZ_S s" fuzz_result "$what"
		fuzz_tell "$what"
	done
	tally fuzz $passed $failed 0
}

suite_live() {
	echo "# live tests run on $(uname -r), as uid $(id -u)"
	suite live python3 tests/live/live_test.py "$O"
}

# The live tests once more, on other kernels; emulated, so it takes minutes.
suite_vm() {
	if ! build O="$O" vm-programs; then
		tally vm 0 1 0
		return
	fi
	suite vm python3 tests/vm/matrix.py "$O"
}

# Cross-built; unit, golden and live tests on emulated arm64 machines.
suite_arm64() {
	suite arm64 python3 tests/vm/arm64.py "$O"
}

# That nothing has become dearer, by counts that are the same each time.
suite_cost() {
	if ! build O="$O" all cost-programs; then
		tally cost 0 1 0
		return
	fi
	suite cost python3 tests/bench/cost_test.py "$O"
}

suite_docs() {
	suite docs tests/docs.sh "$O"
}

suite_scripts() {
	passed=0 failed=0
	try "shellcheck" shellcheck scripts/*.sh tests/*.sh tests/vm/*.sh .ci/run
	try "python compiles" python3 -m py_compile tests/*.py tests/*/*.py
	try "headers compile alone" headers_alone
	try "format.h compiles for BPF" clang -target bpf -fsyntax-only -x c user/fxt/format.h
	tally scripts $passed $failed 0
}

headers_alone() {
	local header
	for header in user/*/*.h tests/unit/*.h; do
		gcc -std=gnu11 -D_GNU_SOURCE -Iuser/fxt -I"$O/gen" -fsyntax-only -x c "$header" || return 1
	done
}

# What a user gets: installed files, and a program of theirs built against them.
suite_install() {
	local dir
	passed=0 failed=0
	dir=$(mktemp -d)
	try "make install" make --no-print-directory -s O="$O" PREFIX=/usr DESTDIR="$dir" install
	try "the library through pkg-config" build_example "$dir"
	try "the man page is found" man -M "$dir/usr/share/man" -w kfxt-record
	try "make uninstall" make --no-print-directory -s O="$O" PREFIX=/usr DESTDIR="$dir" uninstall
	try "nothing is left behind" sh -c "! find '$dir' -type f | grep ."
	rm -rf "$dir"
	tally install $passed $failed 0
}

build_example() {
	local dir=$1 flags
	flags=$(PKG_CONFIG_PATH=$dir/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dir \
		pkg-config --cflags --libs libfxt) || return 1
	# shellcheck disable=SC2086 # flags are words
	gcc -o "$dir/example" user/fxt/example.c $flags || return 1
	(cd "$dir" && ./example) || return 1
	"$O/kfxt" verify -q "$dir"/*.fxt || return 1
	rm -f "$dir/example" "$dir"/*.fxt
}

suites=("$@")
[ ${#suites[@]} -gt 0 ] || suites=(unit golden convert sanitize fuzz live ends func log mark filter tracepoints presets syscalls
	compression privileges faults ledger soak cost docs scripts install vm arm64)
begin=$SECONDS
if build O="$O" all unit; then
	for name in "${suites[@]}"; do
		echo "# ---- $name, $((SECONDS - begin)) s"
		if declare -F "suite_$name" >/dev/null; then
			"suite_$name"
		else
			# Live tests are called after what they are about, in the singular.
			suite "$name" python3 "tests/live/${name%s}_test.py" "$O"
		fi
	done
else
	tally build 0 1 0
fi
echo
cat "$results"
echo "# $((SECONDS - begin)) s"
awk '{ p += $2; f += $4; s += $6 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$results"
