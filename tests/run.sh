#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# The tests: `make check` calls it. Needs root and BPF for the live
# tests; without them they fail, since skipped is not passed.
#
#   tests/run.sh [SUITE[:NAME,...]...]      without arguments those of `make check`
#   tests/run.sh all                        every test there is: `make check-all`
#
# Names are those of the suite's tests: a program (unit:fxt_test), a function (live:names_in_a_storm),
# a machine (vm:6.12).
#
# Suites, the quick ones first: scripts golden convert json perfetto trace_processor install docs cost layers unit
# sanitize live ends func log mark filter reports tracepoints presets examples syscalls exports compression
# packets privileges faults stacks fuzz rotation flight ledger budget triggers soak machines
#
# machines is both of vm and arm64, which can be named instead.
#
# Prints TAP, then one line per suite, the tests that failed and their output, and last "N passed, N failed,
# N skipped". A live test that failed is run once more at the end, alone: if it passes then it is listed as
# FLAKY and counts as passed; three of these fail the run.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

O=${O:-build}
FUZZ_S=${FUZZ_S:-${CI:+60}}
FUZZ_S=${FUZZ_S:-15}
FUZZ=${FUZZ:-$(sed -n 's/^FUZZERS[[:space:]]*[:+]= //p' Makefile)}
results=$(mktemp)
log=$(mktemp)
printed=$(mktemp)
# For tests/live/harness.py: suite, script, test and message of each live test that fails, tabs between.
export KFXT_TEST_FAILED
KFXT_TEST_FAILED=$(mktemp)
FLAKY_MAX=2
trap 'rm -f "$results" "$log" "$printed" "$KFXT_TEST_FAILED"' EXIT
shopt -s nullglob extglob

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

# Names of tests, if only some of the suite are to run.
only=()

# $2 for each of the other words, $1 at a time.
side_by_side() {
	(
		for name in "${@:3}"; do
			[ "$(jobs -rp | wc -l)" -lt "$1" ] || wait -n
			"$2" "$name" &
		done
		wait
	)
}

# A suite that counts by itself; one that dies before it counts has failed.
suite() {
	local name=$1
	shift
	"$@" "${only[@]}" 2>&1 | tee "$log"
	if ! grep -E "^$name: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$" "$log" >>"$results"; then
		tally "$name" 0 1 0
	fi
}

build() {
	make --no-print-directory -s -j"$(nproc)" WERROR=1 "$@"
}

# cmocka's tests program by program, one more at a time than there are CPUs, as some wait; as TAP.
unit_in() {
	local bin dir=$1/unit-results bins=()
	passed=0 failed=0
	rm -rf "$dir"
	mkdir -p "$dir"
	# Those that try every change or cut of a file take longest: they begin.
	for bin in "$1"/tests/*_{damage,cut}_test "$1"/tests/!(*_damage|*_cut)_test; do
		# They are run once, with sanitizers if these are to be used at all; not after each edit.
		[[ $1 != "$O" || " ${QUICK:+sanitize} ${suites[*]} " != *" sanitize "* || $bin != *_@(damage|cut)_test ]] || continue
		# How much memory something takes sanitizers do not say.
		[[ $1 == "$O" || $bin != *_memory_test ]] || continue
		[ ${#only[@]} -gt 0 ] && [[ " ${only[*]} " != *" ${bin##*/} "* ]] || bins+=("$bin")
	done
	# shellcheck disable=SC2016 # for the inner shell
	[ ${#bins[@]} -eq 0 ] || printf '%s\0' "${bins[@]}" | CMOCKA_MESSAGE_OUTPUT=tap xargs -0 -P $(($(nproc) + 1)) -I{} \
		sh -c '"$1" >"$2/${1##*/}" 2>&1; echo $? >"$2/${1##*/}.code"' sh {} "$dir"
	for bin in "${bins[@]##*/}"; do
		local code ok bad
		code=$(cat "$dir/$bin.code")
		ok=$(grep -c '^ok ' "$dir/$bin")
		bad=$(grep -c '^not ok ' "$dir/$bin")
		[ "$code" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1 # it crashed
		passed=$((passed + ok)) failed=$((failed + bad))
		sed "s|^|# $bin: |" "$dir/$bin" | grep -E "not ok|ERROR|#  |Sanitizer" | head -n 40
		echo "# $bin: $ok ok, $bad not ok, exit $code"
	done
}

suite_unit() {
	unit_in "$O"
	[ ${#only[@]} -gt 0 ] || try "independent reader, self-test" python3 tests/fxtread.py --self-test
	[ ${#only[@]} -gt 0 ] || try "triggers, second computation" python3 tests/trigger/trigger_test.py "$O"
	[ $((passed + failed)) -gt 0 ] || failed=1
	tally unit $passed $failed 0
}

suite_golden() {
	suite golden python3 tests/golden/golden_test.py "$O"
}

# Real ftrace text against facts that no importer computed.
suite_convert() {
	suite convert python3 tests/convert/convert_test.py "$O"
	suite json_out python3 tests/convert/json_out_test.py "$O"
	suite pftrace_out python3 tests/convert/pftrace_out_test.py "$O"
	suite samples python3 tests/convert/samples_test.py "$O"
	suite profiles python3 tests/convert/profiles_test.py "$O"
}

# Trace Event JSON against facts that no importer computed.
suite_json() {
	suite json python3 tests/convert/json_test.py "$O"
	[ ${#only[@]} -eq 0 ] || return 0
	suite json_producers python3 tests/convert/json_producers_test.py "$O"
	suite json_round python3 tests/convert/json_round_test.py "$O"
	suite json_memory python3 tests/convert/json_memory_test.py "$O"
	suite_json_cases
	suite_json_yajl
	suite_json_property
}

# Trace Event JSON in pages, damaged, and as programs write it here.
suite_json_cases() {
	suite json_cases python3 tests/convert/json_cases_test.py "$O"
}

# The scanner, against a strict parser.
suite_json_yajl() {
	suite json_yajl python3 tests/convert/json_yajl_test.py "$O"
}

# Trace Event JSON that is made up, against a second reader; names are seeds.
suite_json_property() {
	suite json_property python3 tests/convert/json_property_test.py "$O"
}

# Perfetto traces against facts of their generator.
suite_perfetto() {
	suite pftrace python3 tests/convert/pftrace_test.py "$O"
	suite pftrace_made python3 tests/convert/pftrace_made_test.py "$O"
	suite pftrace_round python3 tests/convert/pftrace_round_test.py "$O"
	[ ${#only[@]} -gt 0 ] || suite pftrace_memory python3 tests/convert/pftrace_memory_test.py "$O"
}

# What Perfetto's own program finds in what is written, where it is on PATH.
suite_trace_processor() {
	suite trace_processor python3 tests/convert/trace_processor_test.py "$O"
}

# Python tests under tests/, as many at a time as there are CPUs.
scripts_in() {
	local script dir=$1/script-results
	rm -rf "$dir"
	mkdir -p "$dir"
	# shellcheck disable=SC2016 # for the inner shell
	printf '%s\0' "${@:2}" | FILES=60 xargs -0 -P "$(nproc)" -I{} \
		sh -c 'python3 "tests/$1" "$2" >"$3/${1##*/}" 2>&1; echo $? >"$3/${1##*/}.code"' sh {} "$1" "$dir"
	for script in "${@:2}"; do
		try "${script##*/} with sanitizers" script_result "$dir/${script##*/}"
	done
}

script_result() {
	grep -v '^ok' "$1"
	return "$(cat "$1.code")"
}

# The longest first.
sanitized_scripts=(
	convert/json_property_test.py
	convert/json_test.py
	convert/convert_test.py
	convert/pftrace_test.py
	convert/json_cases_test.py
	convert/json_round_test.py
	convert/pftrace_made_test.py
	convert/json_producers_test.py
	convert/json_out_test.py
	convert/pftrace_out_test.py
	convert/samples_test.py
	convert/profiles_test.py
	convert/pftrace_round_test.py
	golden/golden_test.py
)

# For the fuzzers too.
sanitized() {
	build O="$O/san" SAN=address,undefined "$@"
}

# All that runs in user space, once more under ASan and UBSan.
suite_sanitize() {
	local failed_before
	if ! sanitized all unit; then
		tally sanitize 0 1 0
		return
	fi
	unit_in "$O/san"
	failed_before=$failed
	scripts_in "$O/san" "${sanitized_scripts[@]}"
	try "a recording with sanitizers" "$O/san/kfxt" record -q -d 500ms -o "$O/san/t.fxt"
	try "it is clean" "$O/san/kfxt" verify "$O/san/t.fxt"
	[ "$failed" -eq "$failed_before" ] || cat "$log"
	tally sanitize $passed $failed 0
}

# Seeds for the fuzzers: beginnings of the samples; those of unwrap begin with a mode byte.
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
	gzip -dc tests/golden/states-6.1.fxt.gz | tee "$dir/fxt/states" "$dir/transcode/states" >"$dir/repair/states"
	gzip -dc tests/corpus/fxt/recording.fxt.gz | head -c 9999 | tee "$dir/transcode/recording" >"$dir/repair/recording"
	for file in tests/corpus/ftrace/*.{txt,html,json}; do
		name=${file##*/}
		[[ $name != *.facts.json ]] || continue
		head -c 6000 "$file" | tee "$dir/parse/$name" >"$dir/convert/$name"
		{ printf '\0' && head -c 6000 "$file"; } >"$dir/unwrap/$name"
	done
	head -c 600 tests/corpus/json/real-node-20.json >"$dir/phases/bytes"
	for file in tests/corpus/pftrace/*.pftrace; do
		head -c 8000 "$file" | tee "$dir/packets/${file##*/}" >"$dir/pftrace/${file##*/}"
	done
	for file in tests/corpus/{ftrace,json}/*.json; do
		[[ $file == *.facts.json ]] || head -c 3000 "$file" | tee "$dir/convert/${file##*/}" >"$dir/json/${file##*/}"
	done
}

# Its corpus, as what was found once is not to come back; then new ground, with the same seed each time: what
# passed once does not fail for no reason. For other ground: FUZZ_SEED=0 FUZZ_S=3600 tests/run.sh fuzz
fuzz_one() {
	local seconds=$FUZZ_S
	# Files of others are read by these first; what the rest gets was read and checked before, or the kernel writes it.
	[[ " fxt json packets pftrace convert unwind symbol " == *" $1 "* ]] || seconds=$(((FUZZ_S + 1) / 2))
	[[ " transcode model maps stacks " != *" $1 "* ]] || seconds=$(((FUZZ_S + 2) / 3))
	"$O/san/tests/$1_fuzz" "tests/corpus/fuzz/$1"/* >"$O/fuzz/$1-corpus.log" 2>&1
	echo $? >"$O/fuzz/$1-corpus.status"
	"$O/san/tests/$1_fuzz" "$O/fuzz/$1" -seed="${FUZZ_SEED:-20}" -max_total_time="$seconds" -max_len=16384 \
		-rss_limit_mb=3000 -timeout=180 -artifact_prefix="$O/fuzz/$1-found-" -print_final_stats=1 >"$O/fuzz/$1.log" 2>&1
	echo $? >"$O/fuzz/$1.status"
}

fuzz_result() {
	cat "$O/fuzz/$1.log"
	return "$(cat "$O/fuzz/$1.status")"
}

# "runs 12345, coverage 678, findings 0"; what was found is in $O/fuzz/TARGET-found-*.
fuzz_tell() {
	local runs coverage found=("$O/fuzz/$1-found-"*)
	runs=$(sed -n 's/^stat::number_of_executed_units: //p' "$O/fuzz/$1.log")
	coverage=$(sed -nE 's/.* cov: ([0-9]+) .*/\1/p' "$O/fuzz/$1.log" | tail -n 1)
	echo "# $1: runs ${runs:-0}, coverage ${coverage:-0}, findings ${#found[@]}"
}

suite_fuzz() {
	local what bins
	passed=0 failed=0
	rm -rf "$O/fuzz"
	make_seeds "$O/fuzz"
	# shellcheck disable=SC2086 # names are words
	set -- $FUZZ
	bins=("${@/#/$O/san/tests/}")
	try "fuzzers build" sanitized "${bins[@]/%/_fuzz}"
	side_by_side $((12 * $(nproc))) fuzz_one "$@"
	for what; do
		try "fuzzer of $what, its corpus" fuzz_result "$what-corpus"
		try "fuzzer of $what" fuzz_result "$what"
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

# Cross-built; unit and live tests on emulated arm64 machines.
suite_arm64() {
	suite arm64 python3 tests/vm/arm64.py "$O"
}

# Both at once, so that no CPU waits for the end of either.
suite_machines() {
	local name
	if ! build O="$O" vm-programs; then
		tally machines 0 1 0
		return
	fi
	python3 tests/vm/machines.py "$O" 2>&1 | tee "$log"
	for name in vm arm64; do
		grep -E "^$name: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$" "$log" >>"$results" || tally "$name" 0 1 0
	done
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
	try "a header that is missing is said in a sentence" missing_header
	try "format.h compiles for BPF" clang -target bpf -fsyntax-only -x c user/fxt/format.h
	tally scripts $passed $failed 0
}

# The table in CONTRIBUTING.md: which folder may include which.
suite_layers() {
	passed=0 failed=0
	try "folders include what they may" python3 tests/layers.py
	tally layers $passed $failed 0
}

headers_alone() {
	find user tests/unit -name '*.h' -print0 |
		xargs -0 -n 1 -P "$(nproc)" gcc -std=gnu11 -D_GNU_SOURCE -Iuser -I. -Itests/unit -I"$O/gen" -fsyntax-only -x c
}

# As on a machine without the packages for tests.
missing_header() {
	local dir code=0 said
	dir=$(mktemp -d)
	echo '#error' >"$dir/cmocka.h"
	said=$(CPATH=$dir make --no-print-directory -s O="$dir/build" "$dir/build/obj/tests/unit/cli/cli_test.o" 2>&1) || code=$?
	rm -rf "$dir"
	echo "$said"
	[ "$code" -ne 0 ] && [ "${said%%$'\n'*}" = 'tests: no cmocka.h: as root run scripts/install-packages.sh test' ]
}

# What a user gets: installed files, and a program of theirs built against them.
suite_install() {
	local dir
	passed=0 failed=0
	dir=$(mktemp -d)
	# With the flags of all other builds, or everything would be compiled for this, and then again.
	try "make install" build O="$O" PREFIX=/usr DESTDIR="$dir" install
	try "the library through pkg-config" build_example "$dir"
	try "the man page is found" man -M "$dir/usr/share/man" -w kfxt-record
	echo '# edited' >>"$dir/etc/kfxt/kfxt.conf"
	try "make install again" build O="$O" PREFIX=/usr DESTDIR="$dir" install
	try "an edited file of options is kept" grep -q '^# edited' "$dir/etc/kfxt/kfxt.conf"
	cp "$dir/usr/share/kfxt/kfxt.conf" "$dir/etc/kfxt/kfxt.conf"
	try "make uninstall" build O="$O" PREFIX=/usr DESTDIR="$dir" uninstall
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

# With "# ---- NAME" before it.
run_suite() {
	local name=${1%%:*}
	only=()
	[[ $1 != *:* ]] || IFS=, read -ra only <<<"${1#*:}"
	echo "# ---- $name, $((SECONDS - begin)) s"
	if declare -F "suite_$name" >/dev/null; then
		"suite_$name"
	else
		# Live tests are called after what they are about, in the singular.
		suite "$name" python3 "tests/live/${name%s}_test.py" "$O"
	fi
}

# These keep one CPU busy each, and none minds the others: side by side, the longest first.
quiet=" docs json convert scripts perfetto trace_processor install golden "

run_aside() {
	log=$aside/log-${1%%:*}
	run_suite "$1" >"$aside/$1" 2>&1
}

# All of the quiet ones among the arguments; their output one after the other.
run_quiet() {
	local name word chosen=()
	for name in $quiet; do
		for word in "$@"; do
			[ "${word%%:*}" != "$name" ] || chosen+=("$word")
		done
	done
	aside=$(mktemp -d)
	side_by_side "$(nproc)" run_aside "${chosen[@]}"
	cat "$aside"/!(log-*)
	rm -rf "$aside"
}

# It takes the CPU time that the live suites leave, as these wait more than they compute.
begin_beside() {
	beside=$(mktemp -d)
	(
		chrt -i -p 0 "$BASHPID"
		aside=$beside
		run_aside "$1"
	) &
	beside_pid=$!
}

end_beside() {
	[ -n "${beside:-}" ] || return 0
	wait "$beside_pid"
	cat "$beside"/!(log-*)
	rm -rf "$beside"
	beside=
}

# These take its programs, or measure what CPUs do.
alone=" fuzz rotation flight ledger budget triggers soak machines "

gate=(layers unit scripts golden convert json perfetto install docs live log mark filter privileges)
all=(layers unit scripts golden convert json perfetto trace_processor install docs cost
	sanitize live ends func log mark filter reports tracepoints presets examples syscalls exports compression packets
	privileges faults stacks fuzz rotation flight ledger budget triggers soak machines)
suites=("$@")
[ ${#suites[@]} -gt 0 ] || suites=("${gate[@]}")
[ "${suites[*]}" != all ] || suites=("${all[@]}")
begin=$SECONDS

run_suites() {
	if ! build O="$O" all unit; then
		tally build 0 1 0
		return
	fi
	run_quiet "${suites[@]}"
	for name in "${suites[@]}"; do
		[[ $alone != *" ${name%%:*} "* ]] || end_beside
		if [ "$name" = sanitize ]; then
			begin_beside "$name"
		elif [[ $quiet != *" ${name%%:*} "* ]]; then
			run_suite "$name"
		fi
	done
	end_beside
}

# While suites run that nothing disturbs; it has ended before the fuzzers have.
[[ " ${suites[*]} " != *" machines "* ]] || python3 tests/vm/machines.py --fetch >/dev/null 2>&1 &
run_suites 2>&1 | tee "$printed"

# One failure of the suite $1 was not one.
count_as_passed() {
	awk -v name="$1:" '$1 == name && $4 > 0 && !done { $2++; $4--; done = 1 } { print }' "$results" >"$log"
	cp "$log" "$results"
}

# Live tests that failed, each once more: what the running kernel did just then may have been the cause.
flaky=()
while IFS=$'\t' read -r name script test message <&3; do
	[ ${#flaky[@]} -lt $((FLAKY_MAX + 1)) ] || break
	echo "# ---- $name: $test once more"
	# shellcheck disable=SC2030,SC2031
	if KFXT_TEST_FAILED='' python3 "$script" "$O" "$test" </dev/null; then
		flaky+=("$name: $test: $message")
		count_as_passed "$name"
	fi
done 3<"$KFXT_TEST_FAILED"

# What failed once more, with its output: who reads the end of a log finds it there.
failures() {
	awk '/^# ---- / { suite = $3; sub(",$", "", suite); left = 0; next }
		/^(# [^:]+: )*not ok/ { print suite ": " $0; left = 15; next }
		!/^#/ { left = 0 }
		left > 0 { print; left-- }' "$printed"
}

echo
failures
cat "$results"
for name in "${flaky[@]}"; do
	echo "FLAKY $name"
done
[ ${#flaky[@]} -le $FLAKY_MAX ] || echo "not ok - over $FLAKY_MAX tests failed once and then passed"
echo "# $((SECONDS - begin)) s"
awk -v flaky=$((${#flaky[@]} > FLAKY_MAX)) '{ p += $2; f += $4; s += $6 }
	END { f += flaky; printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$results"
