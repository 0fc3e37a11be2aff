#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# First process of a test VM: mounts what a system has, runs /job/command, sends out
# what it printed (port 1) and what it and the kernel left in /out (port 2).
#
#   /job/modules     kernel modules to load first, one per line
#   /job/command     a shell script
#   /job/limit       seconds it may take
#   /out             files it leaves; status, dmesg and leaks are added here
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
if [ "$1" != job ]; then
	echo 'init: the kernel has booted' # into the console, where vm.py looks for it
	/bin/busybox mkdir -p /proc /sys /dev /tmp /out /run /root
	/bin/busybox mount -t proc proc /proc
	/bin/busybox --install -s
	for fs in sysfs:/sys securityfs:/sys/kernel/security debugfs:/sys/kernel/debug \
		tracefs:/sys/kernel/tracing bpf:/sys/fs/bpf cgroup2:/sys/fs/cgroup \
		devtmpfs:/dev devpts:/dev/pts tmpfs:/dev/shm tmpfs:/tmp tmpfs:/out; do
		mkdir -p "${fs#*:}" && mount -t "${fs%:*}" none "${fs#*:}" 2>/dev/null
	done
	ln -sf /proc/self/fd /dev/fd
	ip link set lo up
	while read -r module; do
		insmod "$module"
	done </job/modules
	until [ -c /dev/vport0p2 ] || [ "$((tries += 1))" -gt 100 ]; do
		usleep 50000
	done
	grep -q systemd.unit= /proc/cmdline && exec /usr/lib/systemd/systemd
fi

cd /kfxt || exit
python3 tests/vm/left.py >/tmp/before
timeout -s KILL "$(cat /job/limit)" sh /job/command </dev/null >/dev/vport0p1 2>&1
echo $? >/out/.status
python3 tests/vm/left.py /tmp/before >/out/.left 2>&1
dmesg >/out/.dmesg
tar -c -f - -C /out . >/dev/vport0p2
poweroff -f
