#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the trace of a function call costs, by mechanism, beside the kernel's own function tracer.

    func_bench.py BUILD_DIR         as root, in a virtual machine with one CPU

The same read() loop with nothing attached, with each mechanism of kfxt on the function it
calls, and with the kernel's tracer and the same filter, in turn. What counts is the CPU
time of the loop alone, so draining is not in it. Prints one table: the added time of each
in units of the kernel tracer's, which is 1; all of one run. The last rows are a load of forks
with every function traced, where kfxt leaves out what its programs call themselves.
"""
import json
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import time

from peers import full_rings

BUILD = os.path.abspath(sys.argv[1])
KFXT = os.path.join(BUILD, 'kfxt')
LOAD = os.path.join(BUILD, 'tests/func_load')
TRACING = '/sys/kernel/tracing'
FUNCTION = 'vfs_read'
ROUNDS, CALLS = 3, 2000
FORKS = 30


def write(name, text):
    with open(f'{TRACING}/{name}', 'w') as f:
        f.write(text)


def have():
    found = json.loads(subprocess.run([KFXT, 'check', '--json'], capture_output=True).stdout)
    return {f['name'] for f in found['features'] if f['have']}


class Nothing:
    lost = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Kernel(Nothing):
    """The kernel's tracer @tracer, its ring small enough to be overwritten: nobody reads it."""

    def __init__(self, tracer, glob):
        self.tracer, self.glob = tracer, glob

    def __enter__(self):
        write('trace', '')
        write('set_ftrace_filter', '' if self.glob == '*' else self.glob)
        write('set_ftrace_notrace', '')
        write('current_tracer', self.tracer)
        return self

    def __exit__(self, *_):
        write('current_tracer', 'nop')
        write('set_ftrace_filter', '')


class Kfxt(Nothing):
    def __init__(self, via, glob, *options):
        self.args = [KFXT, 'record', '-o', '/dev/shm/t.fxt' if os.path.isdir('/dev/shm') else '/tmp/t.fxt',
                     '-m', '32M', '-f', glob, '--func-via=' + via, *options]

    def __enter__(self):
        self.process = subprocess.Popen(self.args, stderr=subprocess.PIPE, text=True)
        while 'attached in' not in self.process.stderr.readline():
            if self.process.poll() is not None:
                sys.exit(f'func_bench: {self.args}: exit {self.process.returncode}')
        time.sleep(0.5)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        summary = self.process.communicate()[1]
        self.lost = full_rings(summary)


def loop_ns():
    out = subprocess.run([LOAD, str(ROUNDS), str(CALLS)], capture_output=True, text=True, check=True).stdout
    return statistics.median(float(line) for line in out.split())


def fork_ns():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(FORKS):
        subprocess.run(['/bin/true'])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e9


def added(rows, measure, repeats):
    """What nothing attached takes; name: (median of what each adds to that, events lost), in turn."""
    base, with_it = [], {name: [] for name, _ in rows}
    lost = {name: 0 for name, _ in rows}
    for _ in range(repeats):
        base.append(measure())
        for name, source in rows:
            with source:
                with_it[name].append(measure())
            lost[name] += source.lost
    floor = statistics.median(base)
    return floor, {name: (statistics.median(times) - floor, lost[name]) for name, times in with_it.items()}


def rows_of(glob, returns, mechanisms):
    kernel = 'function_graph' if returns else 'function'
    rows = [(f'kernel: {kernel}', Kernel(kernel, glob))]
    options = ['--returns'] if returns else []
    return rows + [(f'kfxt: {via}', Kfxt(via, glob, *options)) for via in mechanisms]


def table(title, floor, results):
    one = next(iter(results.values()))[0]
    print(f'| {title} | added, kernel tracer = 1 |\n|---|---|')
    for name, (ns, _) in results.items():
        print(f'| {name} | {ns / one:.2f} |', flush=True)
    lost = ''.join(f', {name} lost {n}' for name, (_, n) in results.items() if n)
    print(f'# nothing attached: {floor:.0f} instructions, the kernel tracer adds {one:.0f}{lost}\n')


def main():
    there = have()
    entries = [v for v in ('fentry', 'kprobe.multi', 'module', 'kprobe') if v in there]
    returns = [v for v in ('fentry', 'kprobe.session', 'kprobe.multi', 'kprobe') if v in there]
    wide = [v for v in ('module', 'kprobe.multi') if v in there]
    os.sched_setaffinity(0, {0})
    print(f'# kernel {os.uname().release}, {FUNCTION} and a byte of /dev/zero')
    table('entry of one function', *added(rows_of(FUNCTION, False, entries), loop_ns, 2))
    table('entry and return of one function', *added(rows_of(FUNCTION, True, returns), loop_ns, 2))
    if wide:
        table('entry of every function, a load of forks', *added(rows_of('*', False, wide), fork_ns, 2))


if __name__ == '__main__':
    main()
