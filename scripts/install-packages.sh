#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Installs what kfxt needs and this machine lacks, from Debian's packages.
#
#   install-packages.sh build    to build and run (make demo)
#   install-packages.sh test     and to test (make check)
#   install-packages.sh bench    and to compare with its peers (make bench)
#
# Does nothing, and needs no right, where all of it is there already.
set -euo pipefail

build=(build-essential clang libbpf-dev bpftool libcap-dev libdw-dev libelf-dev libiberty-dev liblzma-dev libseccomp-dev
	libtraceevent-dev zlib1g-dev libzstd-dev libprotobuf-c-dev protobuf-c-compiler pkg-config)
testing=(busybox-static gcc-aarch64-linux-gnu git groff-base jq kmod less libclang-rt-14-dev libcmocka-dev libdebuginfod1
	libyajl2 linux-perf man-db mandoc nodejs python3 qemu-system-arm qemu-system-x86 shellcheck strace systemd systemtap-sdt-dev util-linux valgrind zstd)
peers=(bpftrace rt-tests trace-cmd)

case ${1:-} in
build) wanted=("${build[@]}") ;;
test) wanted=("${build[@]}" "${testing[@]}") ;;
bench) wanted=("${build[@]}" "${testing[@]}" "${peers[@]}") ;;
*) echo "usage: install-packages.sh build|test|bench" >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null; then
	echo "install-packages: no apt-get here; install what these Debian packages hold: ${wanted[*]}" >&2
	exit 0
fi
missing=()
for package in "${wanted[@]}"; do
	dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
		missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "install-packages: missing packages: as root run: apt-get install ${missing[*]}" >&2
	exit 5
fi
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get -q update && apt-get -q install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	echo "install-packages: apt-get failed (the end of its output is above)" >&2
	exit 1
fi
