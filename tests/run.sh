#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# The tests. Needs root and BPF for the live tests; without them they fail, since skipped is not passed.
#
#   tests/run.sh [SUITE[:NAME,...]...]          without arguments those of `make check`
#   tests/run.sh --all [SUITE[:NAME,...]...]    as thoroughly as `make check-all`: all suites, or those named
#   tests/run.sh --live [SUITE[:NAME,...]...]   the live tests of `make check` only, or those named; none is run twice
#   tests/run.sh --list                         the tests of `make check` and the suites of `make check-all`
#
# Names are those of the suite's tests: a program (unit:fxt_test), a function (live:names_in_a_storm),
# a machine (vm:6.12). Suites are the functions suite_NAME of tests/suites.sh, and the programs
# tests/live/NAME_test.py, by the plural where that has one (presets). machines is both of vm and arm64.
#
# CUT_STEP, FUZZ_S and FUZZ_SEED say how many places of files are tried, and how long fuzzers take.
#
# Prints TAP, then a line with its time for each suite, the tests that failed with the end of their output, and
# last "N passed, N failed, N skipped". A live test that failed is run once more at the end, alone: if it
# passes then it is listed as FLAKY and counts as passed; three of these fail the run.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
shopt -s nullglob extglob

# ---- what is run --------------------------------------------------------------------------

# Of the live tests one for each promise.
mapfile -t live <<'END'
live:every_switch_of_two_threads,same_as_tracefs,names_in_a_storm,each_sleep_has_its_wakeup,ends_of_each_cpu
live:loss_is_counted_exactly,signals_end_it,end_of_command,outputs_stay_until_they_are_replaced,two_at_once
ends:everybody_is_known,gaps_are_drawn
func:calls_of_each_thread
log:lines_of_two_threads
mark:every_form_of_two_threads,markers_begin_late
filter:threads_of_a_process
reports:waits_that_do_not_end
tracepoints:trace_is_closed_before_detaching
presets:interrupts,only_what_is_named,presets_are_listed
syscalls:same_as_strace
privileges:rights_are_dropped,two_capabilities_do,unit_allows_the_calls
faults:full_disk,no_tracefs
stacks:every_long_sleep,who_wakes
attach:begins_without,interrupted,killed_later
compression:every_switch_is_there
packets:every_switch_and_wakeup_is_there
flight:by_signal,by_size,at_once
rotation:each_file_is_whole
END
# Cheap ones first.
gate=(layers scripts unit golden convert json perfetto memory install docs sanitize "${live[@]}" oldest fuzz)
all=(layers scripts unit unprivileged golden convert json perfetto memory trace_processor install docs cost
	sanitize live ends func log mark filter reports tracepoints presets examples syscalls exports compression packets
	attach privileges faults stacks fuzz rotation flight windows ledger budget triggers begin soak machines)

# One CPU is enough for each of these, and none minds the others: side by side, the longest first.
quiet=" docs convert json memory perfetto scripts trace_processor install golden "
# These take the programs that sanitize builds, or measure what CPUs do; a few of their tests do not mind.
alone=" fuzz rotation flight windows ledger budget triggers begin soak machines "

# ---- arguments ----------------------------------------------------------------------------

thorough='' rerun=yes
case ${1:-} in
--all)
	thorough=yes
	shift
	;;
--live)
	rerun=''
	shift
	[ $# -gt 0 ] || set -- "${live[@]}"
	;;
--list)
	printf 'make check: %s\n' "${gate[*]}"
	printf 'make check-all: %s\n' "${all[*]}"
	exit
	;;
-*)
	sed -n '4,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
	[ "$1" = --help ]
	exit $(($? * 2))
	;;
esac
suites=("$@")
if [ ${#suites[@]} -eq 0 ]; then
	[ -n "$thorough" ] && suites=("${all[@]}") || suites=("${gate[@]}")
fi
export CUT_STEP=${CUT_STEP:-$([ -n "$thorough" ] && echo 1 || echo 37)}
SANITIZE_CUT_STEP=$([ -n "$thorough" ] && echo 37 || echo 997)
FUZZ_S=${FUZZ_S:-$([ -n "$thorough" ] && echo 60 || echo 5)}
FUZZ_SEED=${FUZZ_SEED:-$([ -n "$thorough" ] && echo 0 || echo 20)}
FUZZ=${FUZZ:-$(sed -n 's/^FUZZERS[[:space:]]*[:+]= //p' Makefile)}

O=${O:-build}
results=$(mktemp)
log=$(mktemp)
printed=$(mktemp)
# For tests/live/harness.py: suite, script, test and message of each live test that fails, tabs between.
export KFXT_TEST_FAILED
KFXT_TEST_FAILED=$(mktemp)
FLAKY_MAX=2
trap 'rm -f "$results" "$log" "$printed" "$KFXT_TEST_FAILED"' EXIT
# Names of tests, if only some of the suite are to run.
only=()
begin=$SECONDS tallied=$SECONDS

. tests/suites.sh

# ---- the order of suites ------------------------------------------------------------------

# With "# ---- NAME" before it.
run_suite() {
	local name=${1%%:*} script
	only=()
	[[ $1 != *:* ]] || IFS=, read -ra only <<<"${1#*:}"
	echo "# ---- $name, $((SECONDS - begin)) s"
	tallied=$SECONDS
	if declare -F "suite_$name" >/dev/null; then
		"suite_$name"
		return
	fi
	# Live tests are called after what they are about, in the singular.
	script=tests/live/${name%s}_test.py
	if [ -f "$script" ]; then
		suite "$name" python3 "$script" "$O"
	else
		echo "not ok - there is no such suite (tests/run.sh --list)"
		tally "$name" 0 1 0
	fi
}

# Into a file, for later.
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

run_suites() {
	built build build O="$O" all unit || return
	# What computes only comes before what needs the kernel: a mistake shows sooner.
	for name in "${suites[@]}"; do
		[[ " layers unit " != *" ${name%%:*} "* ]] || run_suite "$name"
	done
	run_quiet "${suites[@]}"
	for name in "${suites[@]}"; do
		[[ $alone != *" $name "* ]] || end_beside
		if [ "$name" = sanitize ] && [ ${#suites[@]} -gt 1 ]; then
			begin_beside "$name"
		elif [[ " layers unit $quiet " != *" ${name%%:*} "* ]]; then
			run_suite "$name"
		fi
	done
	end_beside
}

# Kernels and packages are fetched while suites run that nothing disturbs; it has ended before the fuzzers have.
[[ " ${suites[*]} " != *" machines "* ]] || python3 tests/vm/machines.py --fetch >/dev/null 2>&1 &
[[ " ${suites[*]} " != *" oldest "* ]] || python3 tests/vm/kernels.py 6.1 >/dev/null 2>&1 &
echo "# live tests run on $(uname -r), as uid $(id -u)"
run_suites 2>&1 | tee "$printed"

# ---- what came of it ----------------------------------------------------------------------

# One failure of the suite $1 was not one.
count_as_passed() {
	awk -v name="$1:" '$1 == name && $4 > 0 && !done { $2++; $4--; done = 1 } { print }' "$results" >"$log"
	cp "$log" "$results"
}

# Live tests that failed, each once more: what the running kernel did just then may have been the cause.
flaky=() flaky_names=
while IFS=$'\t' read -r name script test message <&3; do
	[ -n "$rerun" ] || break
	[ ${#flaky[@]} -le $FLAKY_MAX ] || break
	echo "# ---- $name: $test once more"
	if KFXT_TEST_FAILED='' python3 "$script" "$O" "$test" </dev/null; then
		flaky+=("$name: $test: $message")
		flaky_names+="$name ${test//_/ }"$'\n'
		count_as_passed "$name"
	fi
done 3<"$KFXT_TEST_FAILED"

# Suite, test, message and the end of the output of each that failed, in the last 80 lines whatever their number.
failures() {
	awk -v flaky="$flaky_names" -v room=72 '
		BEGIN { cnt = split(flaky, names, "\n"); for (i = 1; i <= cnt; i++) passed[names[i]] = 1 }
		/^# ---- / { suite = $3; sub(",$", "", suite); taking = 0; next }
		/^not ok/ { name = $0; sub(/^not ok *[0-9]* *-? */, "", name); taking = !((suite " " name) in passed)
			if (taking) { title[++n] = suite ": " name; lines[n] = 0 } next }
		!/^#/ || /^# [a-z0-9_]+: [0-9]+ ok, / { taking = 0 }
		taking { text[n, ++lines[n]] = $0 }
		END { most = n ? int(room / n) - 1 : 0; if (most > 15) most = 15
			for (i = 1; i <= n && i <= room; i++) {
				print "FAILED " title[i]
				# The message is at the beginning.
				skipped = lines[i] > most ? lines[i] - most : 0
				for (k = 1; k <= lines[i] && k <= most; k++)
					print text[i, (k > 2 ? k + skipped : k)]
			}
			if (n > room) print "and " n - room " more" }' "$printed"
}

echo
cat "$results"
failures
for name in "${flaky[@]}"; do
	echo "FLAKY $name"
done
[ ${#flaky[@]} -le $FLAKY_MAX ] || echo "not ok - over $FLAKY_MAX tests failed once and then passed"
echo "# $((SECONDS - begin)) s"
awk -v flaky=$((${#flaky[@]} > FLAKY_MAX)) '{ p += $2; f += $4; s += $6 }
	END { f += flaky; printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$results"
