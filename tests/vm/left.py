#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What is in the kernel for as long as somebody uses it: BPF programs, maps and links,
probes, tracing instances, hooked functions.

    left.py             prints it
    left.py BEFORE      prints what is there and not in that file; gives it a minute to go
"""
import ctypes
import errno
import os
import sys
import time

TRACEFS = '/sys/kernel/tracing'
SYS_BPF = {'x86_64': 321}.get(os.uname().machine, 280)     # 280: as in asm-generic
# Commands of bpf(2) that walk all objects of a kind.
NEXT_ID = {'BPF program': 11, 'BPF map': 12, 'BPF link': 31}


def bpf_ids(command):
    """Ids of all objects that BPF_*_GET_NEXT_ID walks."""
    libc = ctypes.CDLL(None, use_errno=True)
    attr = (ctypes.c_uint32 * 3)()      # start_id, next_id, open_flags
    while not libc.syscall(SYS_BPF, command, attr, ctypes.sizeof(attr)):
        yield attr[1]
        attr[0] = attr[1]
    if ctypes.get_errno() not in (errno.ENOENT, errno.EINVAL):     # end; unknown to this kernel
        raise OSError(ctypes.get_errno(), 'bpf')


def lines(name):
    """Lines of a file of tracefs, without their counters."""
    try:
        with open(os.path.join(TRACEFS, name)) as f:
            return [line.split()[0] for line in f]
    except (FileNotFoundError, PermissionError):    # there is no tracefs, or a kernel that is locked down
        return []


def instances():
    try:
        return os.listdir(TRACEFS + '/instances')
    except (FileNotFoundError, PermissionError):    # as above
        return []


def present():
    found = [f'{kind} {number}' for kind, command in NEXT_ID.items() for number in bpf_ids(command)]
    for name in ('kprobe_events', 'uprobe_events', 'enabled_functions'):
        found += [f'{name}: {line}' for line in lines(name)]
    return found + [f'instance {name}' for name in instances()]


def main():
    if len(sys.argv) < 2:
        print('\n'.join(present()))
        return
    with open(sys.argv[1]) as f:
        before = set(f.read().split('\n'))
    end = time.time() + 60
    while (left := [x for x in present() if x not in before]) and time.time() < end:
        time.sleep(0.1)
    print('\n'.join(left))


if __name__ == '__main__':
    main()
