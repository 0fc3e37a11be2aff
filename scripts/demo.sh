#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Records this machine for five seconds under a small load and shows what was seen.
# Called by `make demo` once kfxt is built.
#
#   demo.sh BUILD_DIR
#
# Overhead: two threads that hand a token back and forth, and a compressor, for
# five seconds. Leaves kfxt-demo.fxt in the current directory. Exit codes are
# those of kfxt record; without the rights to record it is 5, with one sentence.
set -euo pipefail

build=${1:?usage: demo.sh BUILD_DIR}
trace=kfxt-demo.fxt

load="while :; do $build/tests/pingpong 20000 0; ls -lR /usr/include /usr/lib | gzip >/dev/null; sleep 0.1; done"

echo "recording for 5 seconds ..."
"$build/kfxt" record -q -d 5 -o "$trace" -- sh -c "$load" >/dev/null 2>"$trace.err" || {
	code=$?
	cat "$trace.err" >&2
	rm -f "$trace.err"
	exit "$code"
}
cat "$trace.err" >&2
rm -f "$trace.err"
echo
"$build/kfxt" report "$trace"
cat <<END

The trace is $PWD/$trace. To look at it:
  1. open https://ui.perfetto.dev in a browser (the trace stays on your machine),
  2. drag $trace into the window.
Or stay here: $build/kfxt dump $trace | less
END
