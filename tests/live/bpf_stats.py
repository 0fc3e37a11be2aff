# SPDX-License-Identifier: GPL-2.0
"""What BPF programs take by the kernel's own statistics, which share nothing with kfxt."""
import contextlib
import ctypes
import os
import struct

from harness import expect

BPF_PROG_LOAD, BPF_PROG_TEST_RUN, BPF_ENABLE_STATS = 5, 10, 32
CALL_NS = {5: 24, 17: 9, 26: 9}     # what the kernel takes to call a program: tracepoint, raw tracepoint, tracing
SYS_BPF = {'x86_64': 321, 'aarch64': 280}[os.uname().machine]


def bpf(cmd, attr):
    libc = ctypes.CDLL(None, use_errno=True)
    buf = ctypes.create_string_buffer(attr, 128)
    fd = libc.syscall(SYS_BPF, cmd, buf, len(buf))
    expect(fd >= 0, f'bpf({cmd}): {os.strerror(ctypes.get_errno())}')
    return fd


@contextlib.contextmanager
def bpf_stats_on():
    fd = bpf(BPF_ENABLE_STATS, bytes(4))
    try:
        yield
    finally:
        os.close(fd)


def fdinfo(pid, fd):
    with open(f'/proc/{pid}/fdinfo/{fd}') as f:
        return dict(line.split(':\t') for line in f if ':\t' in line)


def programs_of(pid):
    """(runs, ns, ns to call them) of all BPF programs that a process has open, each once."""
    found = {}
    for fd in os.listdir(f'/proc/{pid}/fdinfo'):
        with contextlib.suppress(FileNotFoundError):
            info = fdinfo(pid, fd)
            if 'run_cnt' in info:
                runs = int(info['run_cnt'])
                found[info['prog_id']] = runs, int(info['run_time_ns']), runs * CALL_NS.get(int(info['prog_type']), 0)
    expect(found, f'{pid} has no BPF programs')
    return [sum(column) for column in zip(*found.values())]


def empty_run_ns():
    """What the kernel counts for a run of a program that does nothing, the least of some rounds. Its statistics are on."""
    code = ctypes.create_string_buffer(bytes([0xb7, 0, 0, 0, 0, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0]))
    name = ctypes.create_string_buffer(b'GPL')
    prog = bpf(BPF_PROG_LOAD, struct.pack('IIQQ', 17, 2, ctypes.addressof(code), ctypes.addressof(name)))
    least, before = float('inf'), (0, 0)
    for _ in range(10):
        for _ in range(100):
            bpf(BPF_PROG_TEST_RUN, struct.pack('I', prog))
        info = fdinfo('self', prog)
        now = int(info['run_time_ns']), int(info['run_cnt'])
        least = min(least, (now[0] - before[0]) / (now[1] - before[1]))
        before = now
    os.close(prog)
    return least


def cpu_ns(pid):
    """Of its threads that live."""
    threads, total = f'/proc/{pid}/task', 0
    for tid in os.listdir(threads):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f'{threads}/{tid}/schedstat') as f:
            total += int(f.read().split()[0])
    return total
