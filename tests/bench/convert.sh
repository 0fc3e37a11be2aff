#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Speed of `kfxt convert` on a large ftrace text beside `wc -l` and `grep -c` of
# the same file in the same run, taking turns, so that ratios hold on a noisy
# machine. `make bench-convert` calls it.
#
#   convert.sh BUILD_DIR [MEGABYTES]
#
# Needs twice the size in a temporary directory (TMPDIR). Writes nothing elsewhere.
set -euo pipefail

build=$(realpath "${1:?usage: convert.sh BUILD_DIR [MEGABYTES]}")
mb=${2:-512}
here=$(dirname "$(realpath "$0")")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

echo "making $mb MB of ftrace text ..."
python3 "$here/../convert/gen_large.py" --mb "$mb" --in "$here/../convert/base-mixed-6.12.txt.gz" \
	-o "$tmp/big.txt" --tid-variants 8 >/dev/null
bytes=$(stat -c %s "$tmp/big.txt")

# seconds NAME COMMAND...: user and system seconds and peak KiB, appended to NAME.
seconds() {
	local name=$1
	shift
	/usr/bin/time -f '%U %S %e %M' -a -o "$tmp/$name" "$@" >"$tmp/out" 2>"$tmp/err"
}

cat "$tmp/big.txt" >/dev/null
for _ in 1 2 3 4 5; do
	seconds wc wc -l "$tmp/big.txt"
	seconds grep grep -c sched_switch "$tmp/big.txt"
	seconds convert "$build/kfxt" convert -q -o /dev/null "$tmp/big.txt"
done
records=$("$build/kfxt" convert --stats=json -o "$tmp/big.fxt" "$tmp/big.txt" 2>/dev/null |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["input"]["records"])')

python3 - "$tmp" "$bytes" "$records" <<'END'
import statistics
import sys

tmp, size, records = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
print(f'{size / 1e6:.0f} MB, {records} records; medians of 5, CPU seconds of one core')
print(f'{"":14} {"MB/s":>8} {"ns/record":>10} {"peak MiB":>9} {"x wc -l":>8}')
base = None
for name, label in (('wc', 'wc -l'), ('grep', 'grep -c'), ('convert', 'kfxt convert')):
    rows = [list(map(float, line.split())) for line in open(f'{tmp}/{name}')]
    cpu = statistics.median(r[0] + r[1] for r in rows)
    base = base or cpu
    print(f'{label:14} {size / 1e6 / cpu:8.0f} {cpu / records * 1e9:10.1f} '
          f'{max(r[3] for r in rows) / 1024:9.1f} {cpu / base:8.2f}')
END
