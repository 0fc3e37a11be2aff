#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# The live tests of `make check`, again and again on a busy machine that others use: whatever fails here by
# chance would some day fail a check. Beside them run a busy loop for each CPU at normal priority, a second recorder,
# a second mount of tracefs, a tracefs instance of somebody else's and a process that forks and ends all the time.
#
#   tests/under-load.sh N [SUITE[:NAME,...]...]     N times; without names what tests/run.sh --live runs
#
# Prints how often which test failed, with the message of each time; exit status 1 if one failed twice in a row.
# What each run printed stays in a new directory ${O:-build}/under-load.*, which it names. Needs root, and `make all unit` before.
# shellcheck disable=SC2317 # functions that are called by their name
set -uo pipefail
cd "$(dirname "$0")/.." || exit

case ${1:-} in
'' | *[!0-9]*)
	sed -n '4,/^$/{/^#/s/^# \{0,1\}//p}' "$0"
	[ "${1:-}" = --help ]
	exit $(($? * 2))
	;;
esac
times=$1
shift
O=${O:-build}
logs=$(mktemp -d "$O/under-load.XXXXXX") || exit
echo "logs: $logs"
tracefs=/sys/kernel/tracing
instance=$tracefs/instances/somebody-$$
mount=$(mktemp -d)
pids=()

# ---- what runs beside ---------------------------------------------------------------------

begin() {
	"$@" >>"$logs/beside" 2>&1 &
	pids+=($!)
}

busy() {
	taskset -pc "$1" "$BASHPID" >/dev/null
	while :; do :; done
}

fork_all_the_time() {
	while :; do (:); done
}

# One that ends, by whatever it is ended, begins again.
record_all_the_time() {
	trap 'kill -TERM $recorder; wait $recorder; exit' TERM
	while :; do
		"$O/kfxt" record -q -o /dev/null &
		recorder=$!
		wait "$recorder"
	done
}

end() {
	kill "${pids[@]}" 2>/dev/null
	wait "${pids[@]}" 2>/dev/null
	umount "$mount" 2>/dev/null
	rmdir "$mount" "$instance" 2>/dev/null
}
trap end EXIT
trap 'exit 130' INT TERM

for ((cpu = 0; cpu < $(nproc); cpu++)); do
	begin busy $cpu
done
begin fork_all_the_time
begin record_all_the_time
mount -t tracefs none "$mount" || exit
mkdir "$instance" && echo 1 >"$instance/events/sched/sched_switch/enable" || exit

# ---- the runs -----------------------------------------------------------------------------

# "SUITE: TEST<tab>MESSAGE" of each that failed.
failed_in() {
	awk '/^# ---- / { suite = $3; sub(",$", "", suite) }
		/^not ok/ { name = $0; sub(/^not ok *[0-9]* *-? */, "", name); getline message
			print suite ": " name "\t" message }' "$1"
}

twice=0
: >"$logs/before"
for ((n = 1; n <= times; n++)); do
	begin=$SECONDS
	tests/run.sh --live "$@" >"$logs/$n" 2>&1 </dev/null
	failed_in "$logs/$n" >"$logs/failed"
	echo "run $n of $times: $(tail -n 1 "$logs/$n"), $((SECONDS - begin)) s"
	sed 's/\t/\n    /; s/^/  /' "$logs/failed"
	cut -f 1 "$logs/failed" | sort >"$logs/now"
	while read -r name; do
		echo "  $name failed twice in a row"
		twice=1
	done < <(comm -12 "$logs/before" "$logs/now")
	cp "$logs/now" "$logs/before"
	cat "$logs/failed" >>"$logs/all"
done
echo "failed, of $times runs:"
cut -f 1 "$logs/all" 2>/dev/null | sort | uniq -c | sort -rn
exit $twice
