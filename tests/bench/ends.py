# SPDX-License-Identifier: GPL-2.0
"""How long it takes until events are recorded, and from the end until the file is whole."""
import contextlib
import os
import re
import signal
import subprocess
import sys
import time

import peers
import traced
from pairs import Table, in_turn, spread, as_text

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
import fxtread  # noqa: E402

ROUNDS = 7
THREADS = 20_000


def kfxt_first(path):
    """Boot time of the first context switch, in ns."""
    return min(rec['timestamp'] for rec in fxtread.read(path) if rec['type'] == 'context_switch')


def first_line(*command):
    """By the recorder's own reader: when the first event was, in ns."""
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in p.stdout:
        m = re.search(r'(?:^|\s)(\d+\.\d+): ', line)
        if m:
            p.kill()
            p.wait()
            return int(float(m[1]) * 1e9)
    raise RuntimeError(f'{command[0]}: no event')


def ways(kfxt, into):
    """{name: (command, function to read the first event's time, by which clock)}"""
    path = into + '/first'
    events = [w for e in peers.EVENTS for w in ('-e', f'sched:{e}')]
    found = {'kfxt': ([kfxt, 'record', '-o', path], lambda: kfxt_first(path), time.CLOCK_BOOTTIME)}
    if not peers.Perf().missing:
        found['perf record'] = (['perf', 'record', '-a', '-k', 'CLOCK_MONOTONIC', *events, '-o', path],
                                lambda: first_line('perf', 'script', '-F', 'time,event', '--ns', '-i', path), time.CLOCK_MONOTONIC)
    if not peers.TraceCmd().missing:
        found['trace-cmd'] = (['trace-cmd', 'record', '-C', 'boot', *events, '-o', path],
                              lambda: first_line('trace-cmd', 'report', '-t', '-i', path), time.CLOCK_BOOTTIME)
    return found


def once(command, first, clock, into):
    """Milliseconds from starting it to the first event, and from SIGINT until it has ended."""
    begin = time.clock_gettime_ns(clock)
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=into)
    time.sleep(peers.SETTLE + 0.5)
    end = time.time()
    p.send_signal(signal.SIGINT)
    p.wait()
    to_end = (time.time() - end) * 1e3
    to_first = (first() - begin) / 1e6
    for name in os.listdir(into):
        with contextlib.suppress(IsADirectoryError):
            os.unlink(f'{into}/{name}')
    return to_first, to_end


@contextlib.contextmanager
def crowd(tests, threads):
    if not threads:
        yield
        return
    p = subprocess.Popen([tests + '/load', 'crowd', str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        for _ in range(threads):
            p.stdout.readline()
        yield
    finally:
        p.communicate()


def run(build, into, recorders, say):
    rows = []
    os.makedirs(into + '/ends', exist_ok=True)
    found = ways(recorders[0].kfxt, into + '/ends')
    for threads in 0, THREADS:
        with crowd(build + '/tests', threads):
            taken = in_turn({name: (lambda way=way: once(*way, into + '/ends')) for name, way in found.items()}, ROUNDS,
                            lambda text: say(f'start and stop: {text}'))
        for name, values in taken.items():
            rows.append([name, f'{threads:,}' if threads else '', as_text(spread([v[0] for v in values]), 0),
                         as_text(spread([v[1] for v in values]), 0)])
    yield Table('Start and stop', ['', 'threads besides', 'ms to the first event', 'ms from the last to the whole file'], rows,
                f'From starting the program; by each one\'s own reader. {ROUNDS} rounds.')
