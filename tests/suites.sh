# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # tests/run.sh sets what is used here
#
# What each suite of tests/run.sh runs, one function each; live suites that are a Python program of
# their own need none. Each ends with "NAME: P passed, F failed, S skipped" and its time.

# ---- counts -------------------------------------------------------------------------------

# "NAME: P passed, F failed, S skipped, T s": the time since the one before it, or since the suite began.
tally() {
	printf '%s: %d passed, %d failed, %d skipped, %d s\n' "$@" $((SECONDS - tallied)) | tee -a "$results"
	tallied=$SECONDS
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

# What a program printed last of its own counts; a program that ended before it counts as one failure.
count() {
	local name=$1 counts
	counts=$(sed -nE "s/^$name: ([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p" "$log" | tail -n 1)
	if [ -z "$counts" ]; then
		echo "not ok - it ended before its counts"
		tail -n 15 "$log" | sed 's/^/# /'
	fi
	# shellcheck disable=SC2086 # three words
	tally "$name" ${counts:-0 1 0} >/dev/null
}

# A suite that counts by itself.
suite() {
	local name=$1
	shift
	"$@" "${only[@]}" 2>&1 | tee "$log"
	count "$name"
}

# A build that a suite needs; without it the suite has failed.
built() {
	local name=$1
	shift
	"$@" >"$log" 2>&1 && return
	echo "not ok - build"
	tail -n 15 "$log" | sed 's/^/# /'
	tally "$name" 0 1 0
	return 1
}

# ---- tools -------------------------------------------------------------------------------

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

build() {
	make --no-print-directory -s -j"$(nproc)" WERROR=1 "$@"
}

# ---- user space ------------------------------------------------------------------------------

# cmocka's tests program by program, twice as many at a time as there are CPUs, as some wait; as TAP. The words after the
# directory are a command that runs them.
unit_in() {
	local bin dir=$1/unit-results bins=() long='control_clients|broker*|*_damage|*_cut|sink|archive_hooks|window_made|window|delays|urgency'
	passed=0 failed=0 skipped=0
	rm -rf "$dir"
	mkdir -p "$dir"
	for bin in "${only[@]}"; do
		[ ! -x "$1/tests/$bin" ] || continue
		failed=$((failed + 1))
		echo "not ok - $bin: there is no such program in $1/tests"
	done
	# Those that wait for a deadline, or try many changes or cuts of a file, take longest: they begin.
	for bin in "$1"/tests/@($long)_test "$1"/tests/!($long)_test; do
		# How much memory something takes sanitizers do not say.
		[[ $1 == "$O" || $bin != *_memory_test ]] || continue
		[ ${#only[@]} -gt 0 ] && [[ " ${only[*]} " != *" ${bin##*/} "* ]] || bins+=("$bin")
	done
	# shellcheck disable=SC2016 # for the inner shell
	[ ${#bins[@]} -eq 0 ] || printf '%s\0' "${bins[@]}" | CMOCKA_MESSAGE_OUTPUT=tap xargs -0 -P $((2 * $(nproc))) -I{} \
		sh -c 'bin=$1 dir=$2; shift 2; "$@" "$bin" >"$dir/${bin##*/}" 2>&1; echo $? >"$dir/${bin##*/}.code"' sh {} "$dir" "${@:2}"
	for bin in "${bins[@]##*/}"; do
		local code ok bad left
		code=$(cat "$dir/$bin.code")
		ok=$(grep -c '^ok ' "$dir/$bin")
		left=$(grep -cE '^not ok [0-9]+ # SKIP ' "$dir/$bin")
		bad=$(($(grep -c '^not ok ' "$dir/$bin") - left))
		if [ "$code" -ne 0 ] && [ "$bad" -eq 0 ]; then
			bad=1
			echo "not ok - $bin: it ended with exit status $code"
			grep -v '^ok ' "$dir/$bin" | tail -n 40 | sed 's/^/# /'
		else
			sed -nE "s/^not ok [0-9]+ # SKIP (.*)/ok - $bin: \1 # SKIP/p;s/^not ok [0-9]+ (- )?/not ok - $bin: /p;/^(not )?ok|^[0-9]+\.\.|^# ok - /d;s/^(# )?/# /p" "$dir/$bin" | head -n 60
		fi
		passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + left))
		echo "# $bin: $ok ok, $bad not ok, exit $code"
	done
}

suite_unit() {
	local second=$O/trigger-result pid=
	if [ ${#only[@]} -eq 0 ]; then
		python3 tests/trigger/trigger_test.py "$O" >"$second" 2>&1 &
		pid=$!
	fi
	unit_in "$O"
	if [ -n "$pid" ]; then
		try "independent reader, self-test" python3 tests/fxtread.py --self-test
		try "triggers, second computation" result_of "$pid" "$second"
	fi
	tally unit $passed $failed $skipped
}

# As somebody who may nothing, like whoever changes it.
suite_unprivileged() {
	unit_in "$O" setpriv --reuid=65534 --regid=65534 --clear-groups
	tally unprivileged $passed $failed $skipped
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
}

# How much of it converting a large file takes.
suite_memory() {
	suite json_memory python3 tests/convert/json_memory_test.py "$O"
	suite pftrace_memory python3 tests/convert/pftrace_memory_test.py "$O"
}

# What Perfetto's own program finds in what is written, where it is on PATH.
suite_trace_processor() {
	suite trace_processor python3 tests/convert/trace_processor_test.py "$O"
}

# Of a background process, with its output.
result_of() {
	local code=0
	wait "$1" || code=$?
	cat "$2"
	return $code
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

# ASan's allocator, other than that of libc, waits for ever in a process that was forked while another thread was in it.
# Later tests wait until no recorder is detached.
end_sanitized() {
	local exe pid
	for exe in /proc/[0-9]*/exe; do
		[ "$exe" -ef "$O/san/kfxt" ] || continue
		pid=${exe#/proc/}
		kill -KILL "${pid%/exe}" && echo "# ended by force: kfxt-detach with ASan"
	done
}

# All that runs in user space, once more under ASan and UBSan.
suite_sanitize() {
	built sanitize sanitized all unit || return
	CUT_STEP=$SANITIZE_CUT_STEP unit_in "$O/san"
	# To look for leaks is over half of the page faults of a command, and these start four thousand. `make check` leaves
	# it to unit tests and fuzzers.
	[ ${#only[@]} -gt 0 ] || ASAN_OPTIONS=detect_leaks=$((${#thorough} > 0)) scripts_in "$O/san" "${sanitized_scripts[@]}"
	[ ${#only[@]} -gt 0 ] || try "a recording with sanitizers" "$O/san/kfxt" record -q -d 500ms -o "$O/san/t.fxt"
	[ ${#only[@]} -gt 0 ] || try "it is clean" "$O/san/kfxt" verify "$O/san/t.fxt"
	end_sanitized
	tally sanitize $passed $failed $skipped
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

# Its corpus, as what was found once is not to come back; then new ground. The same seed each time tries the same
# places: what passed once does not fail for no reason.
fuzz_one() {
	"$O/san/tests/$1_fuzz" "tests/corpus/fuzz/$1"/* >"$O/fuzz/$1-corpus.log" 2>&1
	echo $? >"$O/fuzz/$1-corpus.status"
	"$O/san/tests/$1_fuzz" "$O/fuzz/$1" -seed="$FUZZ_SEED" -max_total_time="$FUZZ_S" -max_len=16384 \
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
	side_by_side $((2 * $(nproc))) fuzz_one "$@"
	for what; do
		try "fuzzer of $what, its corpus" fuzz_result "$what-corpus"
		try "fuzzer of $what" fuzz_result "$what"
		fuzz_tell "$what"
	done
	tally fuzz $passed $failed 0
}

# ---- other kernels ---------------------------------------------------------------------------

# The live tests once more, on other kernels; emulated, so it takes minutes.
suite_vm() {
	built vm build O="$O" vm-programs || return
	suite vm python3 tests/vm/matrix.py "$O"
}

# The oldest kernel that kfxt records on: it boots, and a recording of it is whole.
suite_oldest() {
	suite oldest python3 tests/vm/matrix.py --oldest "$O"
}

# Cross-built; unit and live tests on emulated arm64 machines.
suite_arm64() {
	suite arm64 python3 tests/vm/arm64.py "$O"
}

# Both at once, so that no CPU waits for the end of either.
suite_machines() {
	built machines build O="$O" vm-programs || return
	python3 tests/vm/machines.py "$O" 2>&1 | tee "$log"
	count vm
	count arm64
}

# That nothing has become dearer, by counts that are the same each time.
suite_cost() {
	# The benchmarks themselves are for a quiet machine; that they can be built is seen here.
	built cost build O="$O" all cost-programs bench-programs || return
	suite cost python3 tests/bench/cost_test.py "$O"
}

# ---- this tree -------------------------------------------------------------------------------

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

