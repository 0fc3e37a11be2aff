#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the recording of events costs those that cause them.

    event_bench.py BUILD_DIR         as root

Loops with nothing attached and with each recorder, in turn: getppid(), the cheapest system
call; lines written to /dev/kmsg; two threads that hand a token to each other. What counts is
the loops' CPU time, so draining is not in it. Prints what each adds to one turn, in units of
the first of its table, which is 1, and of the turn itself; all of one run. Then, how much
sources that are on but silent change the switch, beside how much it differs by itself. Last,
what compression does to the size of the trace and to the recorder's own CPU time.
perf and strace are left out where they are not installed.
"""
import contextlib
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import time

from pairs import in_turn

BUILD = os.path.abspath(sys.argv[1])
KFXT = os.path.join(BUILD, 'kfxt')
OUT = '/dev/shm/kfxt-bench' if os.path.isdir('/dev/shm') else '/tmp/kfxt-bench'
INSTANCE = '/sys/kernel/tracing/instances/kfxt-bench'
RATE = '/proc/sys/kernel/printk_devkmsg'      # else ten lines in five seconds are taken
CALLS, LINES, SWITCHES, ROUNDS = 200000, 20000, 50000, 7
SILENT = ['-e', 'signal', '-e', 'block', '-e', 'ext4:*', '-e', 'oom:*', '-e', 'power:pm_*']


def cpu_ns(count, *command):
    """CPU time of a command, a turn of its loop."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / count * 1e9


def calls(*wrapper, count=CALLS):
    return cpu_ns(count, *wrapper, os.path.join(BUILD, 'tests/calls'), f'getppid={count}')


def lines():
    """As quiet as can be: what a console adds is not what is asked."""
    return cpu_ns(LINES, sys.executable, '-c', f'f = open("/dev/kmsg", "wb", buffering=0)\nfor n in range({LINES}):\n'
                  ' f.write(b"<7>kfxt-bench of a line of the usual length, some eighty bytes of text %d" % n)')


def switches():
    return cpu_ns(2 * SWITCHES, os.path.join(BUILD, 'tests/pingpong'), str(SWITCHES), str(max(os.sched_getaffinity(0))))


@contextlib.contextmanager
def beside(command):
    recorder = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    yield
    recorder.send_signal(signal.SIGINT)
    told = recorder.communicate()[1]
    if command[0] == KFXT and (recorder.returncode or not re.search(r' 0 lost', told)):
        print(f'# {" ".join(command)}: {told.strip()}', file=sys.stderr)


def kfxt(loop, *options):
    """Recorded whole: the rings hold it. The time of a recorder that runs beside is not the loop's."""
    def measure():
        with beside([KFXT, 'record', '-m', '64M', '-o', OUT, *options]):
            return loop()
    return measure


def ftrace(loop, event):
    """The kernel's own tracer, in an instance."""
    def measure():
        os.mkdir(INSTANCE)
        try:
            with open(f'{INSTANCE}/events/{event}/enable', 'w') as f:
                f.write('1')
            return loop()
        finally:
            os.rmdir(INSTANCE)
    return measure


def perf(loop):
    def measure():
        with beside(['perf', 'trace', '-a', '-m', '64M', '-o', OUT]):
            return loop()
    return measure


def rounds(rows):
    """Medians of the loops, each in its turn."""
    taken = in_turn(dict(rows), ROUNDS)
    return {name: statistics.median(times) for name, times in taken.items()}, taken


def table(what, loop, rows):
    medians, _ = rounds([('', loop), *rows])
    floor = medians.pop('')
    unit = medians[rows[0][0]] - floor
    print(f'{"added to " + what:34} {"of the first":>12} {"of the turn":>12}')
    for name, ns in medians.items():
        print(f'{name:34} {(ns - floor) / unit:12.2f} {(ns - floor) / floor:12.2f}', flush=True)
    print()


def silent():
    """Plain recordings twice, so that their difference tells what is noise."""
    none = ['-e', '!log', '-e', '!marker']
    rows = [(name, kfxt(switches, *options)) for name, options in
            (('plain', none), ('plain again', none), ('with silent sources', SILENT))]
    medians, taken = rounds(rows)
    print(f'{"a switch, recorded":34} {"of plain":>12} {"least, most":>14}')
    for name, ns in medians.items():
        least, most = (f(taken[name]) / medians['plain'] for f in (min, max))
        print(f'{name:34} {ns / medians["plain"]:12.3f} {least:7.3f} {most:6.3f}')


def recorder(loop, options):
    """Of a recording of @loop: the recorder's CPU time, the events, the bytes."""
    p = subprocess.Popen([KFXT, 'record', '-m', '64M', '-e', '!log', '-e', '!marker', '-o', OUT, *options],
                         stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    loop()
    p.send_signal(signal.SIGINT)
    told = p.stderr.read()
    _, p.returncode, usage = os.wait4(p.pid, 0)
    events = sum(int(n) for n in re.findall(r'(\d+) (?:switches|wakeups),', told))
    return usage.ru_utime + usage.ru_stime, events, os.path.getsize(OUT)


def packed():
    """The CPU time of a recording of next to nothing is that of its start and its end, and taken off."""
    ways = {'plain': [], '-z (gzip, 3)': ['-z'], '-z1': ['-z1'], '-z6': ['-z6'], '-zzstd (3)': ['-zzstd'],
            '-zzstd:1': ['-zzstd:1'], '-zzstd:6': ['-zzstd:6']}
    costs, sizes = {name: [] for name in ways}, {}
    for _ in range(3):
        floor = statistics.median(recorder(lambda: None, [])[0] for _ in range(3))
        for name, options in ways.items():
            cpu, events, size = recorder(lambda: [switches() for _ in range(4)], options)
            costs[name].append((cpu - floor) / events)
            sizes[name] = size / events
    unit = statistics.median(costs['-z (gzip, 3)'])
    print(f'\n{"a switch or wakeup, in the trace":34} {"bytes":>6} {"of plain":>9} {"CPU time of -z":>18}')
    for name, taken in costs.items():
        print(f'{name:34} {sizes[name]:6.1f} {sizes[name] / sizes["plain"]:9.2f} '
              f'{statistics.median(taken) / unit:18.2f}', flush=True)


def set_rate(text):
    with open(RATE) as f:
        was = f.read()
    with open(RATE, 'w') as f:
        f.write(text + '\n')
    return was.strip()


def main():
    rows = [('kfxt -e syscalls: a pair', kfxt(calls, '-e', 'syscalls')),
            ('kfxt -e syscalls:openat: left out', kfxt(calls, '-e', 'syscalls:openat')),
            ('kfxt -e raw_syscalls:sys_enter', kfxt(calls, '-e', 'raw_syscalls:sys_enter')),
            ('the same, filtered out', kfxt(calls, '-e', 'raw_syscalls:sys_enter/id == 9999/')),
            ('ftrace raw_syscalls:sys_enter', ftrace(calls, 'raw_syscalls/sys_enter')),
            ('kfxt, no source', kfxt(calls))]
    if shutil.which('perf'):
        rows.append(('perf trace -a', perf(calls)))
    if shutil.which('strace'):
        rows.append(('strace -c, its time too', lambda: calls('strace', '-f', '-c', '-o', OUT, count=CALLS // 20)))
    table('getppid()', calls, rows)
    was = set_rate('on')
    table('a line of the log', lines, [('kfxt', kfxt(lines)), ("kfxt -e '!log'", kfxt(lines, '-e', '!log')),
                                       ('ftrace printk:console', ftrace(lines, 'printk/console'))])
    set_rate(was)
    silent()
    packed()
    os.unlink(OUT)
    print('bench-events: done')


if __name__ == '__main__':
    main()
